"""What may vary between the judges of an experiment, and the judges that all combinations make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from annotate.core.models import Dimension
from judges.core.judge_settings import names_of_settings
from judges.core.models import CallOrder, Judge, PromptTemplate
from judges.core.specification import JudgeSpec

MOST_VARIANTS = 24
_NAME = 80  # characters that a judge's name may have

SCALES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "own": ("the dimension’s", {"scale_minimum": None, "scale_maximum": None}),
    "1-10": ("1 to 10", {"scale_minimum": 1, "scale_maximum": 10}),
    "1-100": ("1 to 100", {"scale_minimum": 1, "scale_maximum": 100}),
    "1-5-words": (
        "1 to 5 with weak and strong, 13 values",
        {"scale_minimum": 1, "scale_maximum": 5, "scale_modifiers": True, "scale_thirds": True},
    ),
    "1-5-thirds": ("1 to 5 in thirds", {"scale_minimum": 1, "scale_maximum": 5, "scale_thirds": True}),
}
"""By key a name and the settings of a judge: the granularities of Stureborg and others 2024, table 2."""


@dataclass(frozen=True)
class Factors:
    """The values of each factor besides the base judge's own; an empty factor does not vary.

    prompts: by a short name, versions of prompts or keys of shipped texts. scales: keys of SCALES.
    """

    models: Sequence[str] = ()
    prompts: Mapping[str, PromptTemplate | str] = field(default_factory=dict)
    temperatures: Sequence[float] = ()
    samples: Sequence[int] = ()
    scales: Sequence[str] = ()
    orders: Sequence[CallOrder] = ()


def variants_of(base: JudgeSpec, factors: Factors) -> list[JudgeSpec]:
    """Return the base and every other combination of values, each named by how it differs from the base."""
    found: list[JudgeSpec] = []
    for changes in product(*_levels(factors)):
        named = [name for name, _ in changes if name]
        settings = {key: value for _, each in changes for key, value in each.items()}
        variant = replace(base, name=_name(base.name, named), **settings)
        # The base's own value again makes no other judge.
        if all(replace(each, name=variant.name) != variant for each in found):
            found.append(variant)
    return found


def spec_of(judge: Judge, dimensions: Sequence[Dimension]) -> JudgeSpec:
    """Return a judge's settings, to be given to another; endpoint and template must be loaded."""
    assert judge.endpoint is not None
    assert judge.template is not None
    keys = {each.pk: each.key for each in dimensions}
    settings = {name: getattr(judge, name) for name in names_of_settings()}
    settings["asked_together"] = [keys[pk] for pk in judge.asked_together if pk in keys]
    return JudgeSpec(judge.name, judge.endpoint, judge.model, judge.template, **settings)


_Level = tuple[str, Mapping[str, Any]]


def _levels(factors: Factors) -> list[list[_Level]]:
    """Return the levels of each factor, the base's own first: a name and what it sets."""
    without_scale = {"scale_modifiers": False, "scale_thirds": False, "scale_table": []}
    own: list[_Level] = [("", {})]
    return [
        [*own, *((model, {"model": model}) for model in factors.models)],
        [*own, *((name, {"template": each, "max_tokens": None}) for name, each in factors.prompts.items())],
        [*own, *((f"temperature {each:g}", {"temperature": each}) for each in factors.temperatures)],
        [*own, *((f"{each} samples", {"samples": each}) for each in factors.samples)],
        [*own, *((SCALES[key][0], {**without_scale, **SCALES[key][1]}) for key in factors.scales)],
        [*own, *((f"{each} order", {"call_order": each}) for each in factors.orders)],
    ]


def _name(base: str, differs: Sequence[str]) -> str:
    name = " · ".join([base, *differs])
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
