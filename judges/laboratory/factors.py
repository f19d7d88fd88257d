"""The factors of an experiment, and the judges of all combinations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.models import Dimension
from judges.core.judge_settings import names_of_settings
from judges.core.models import CallOrder, Judge, PromptTemplate
from judges.core.specification import JudgeSpec

MOST_VARIANTS = 24
FACTORS = {
    "model": gettext_lazy("Model"),
    "prompt": gettext_lazy("Prompt"),
    "temperature": gettext_lazy("Temperature"),
    "samples": gettext_lazy("Samples"),
    "scale": gettext_lazy("Scale"),
    "order": gettext_lazy("Order of dimensions"),
}
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
    """The values of each factor in addition to the base judge's; an empty factor does not vary.

    prompts: by a short name, versions of prompts or keys of shipped prompts. scales: keys of SCALES.
    """

    models: Sequence[str] = ()
    prompts: Mapping[str, PromptTemplate | str] = field(default_factory=dict)
    temperatures: Sequence[float] = ()
    samples: Sequence[int] = ()
    scales: Sequence[str] = ()
    orders: Sequence[CallOrder] = ()


@dataclass(frozen=True)
class CrossedDesign:
    """An experiment: its factors, and the judge of each combination; the last factor changes fastest.

    factors: each with its `key` in FACTORS and the names of its `levels`, the base judge's own first.
    """

    factors: Sequence[dict[str, Any]]
    variants: Sequence[JudgeSpec]


def design_of(base: JudgeSpec, factors: Factors) -> CrossedDesign:
    """Cross all values; a value equal to the base's makes no level, and one level no factor.

    Raises InvalidValueError if nothing varies, or for more than MOST_VARIANTS combinations.
    """
    levels = {}
    for key, (own, others) in _levels(base, factors).items():
        # The base level changes nothing, so values equal to the base's drop out.
        found = [_Level(own)]
        for level in others:
            # Two names of the same settings are one level.
            if all(_change(base, level) != _change(base, each) for each in found):
                found.append(level)
        if len(found) > 1:
            levels[key] = found
    count = prod(map(len, levels.values()))
    if not levels:
        raise InvalidValueError(gettext("Choose at least one value that the judge does not have already."))
    if count > MOST_VARIANTS:
        message = gettext("{count} variants are too many: an experiment can have up to {most}.")
        raise InvalidValueError(message.format(count=count, most=MOST_VARIANTS))
    variants = []
    for position, combination in enumerate(product(*levels.values())):
        # A base level has no settings, and no part of the name.
        changed = [level for level in combination if level.settings]
        variant = base
        for level in changed:
            variant = _change(variant, level)
        variants.append(replace(variant, name=_name(base.name, changed, position)))
    crossed = [{"key": key, "levels": [level.name for level in found]} for key, found in levels.items()]
    return CrossedDesign(crossed, variants)


def spec_of(judge: Judge, dimensions: Sequence[Dimension]) -> JudgeSpec:
    """Return a judge's settings as a spec; endpoint and template must be loaded."""
    assert judge.endpoint is not None
    assert judge.template is not None
    keys = {each.pk: each.key for each in dimensions}
    settings = {name: getattr(judge, name) for name in names_of_settings()}
    settings["asked_together"] = [keys[pk] for pk in judge.asked_together if pk in keys]
    return JudgeSpec(judge.name, judge.endpoint, judge.model, judge.template, **settings)


@dataclass(frozen=True)
class _Level:
    """A level of a factor: its name, its label in a judge's name, and its settings."""

    name: str
    says: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def _levels(base: JudgeSpec, factors: Factors) -> dict[str, tuple[str, list[_Level]]]:
    # A level sets every setting of the scale, so that nothing of the base's own scale remains.
    without_scale = {"scale_modifiers": False, "scale_thirds": False, "scale_table": []}
    return {
        "model": (base.model, [_Level(each, each, {"model": each}) for each in factors.models]),
        "prompt": (
            str(base.template),
            [
                # Another method may write longer replies, so the limit becomes its own default.
                _Level(name, name, {"template": each, "max_tokens": None})
                for name, each in factors.prompts.items()
            ],
        ),
        "temperature": (
            gettext("not sent") if base.temperature is None else f"{base.temperature:g}",
            [
                _Level(f"{each:g}", f"temperature {each:g}", {"temperature": each})
                for each in factors.temperatures
            ],
        ),
        "samples": (
            str(base.samples),
            [_Level(str(each), f"{each} samples", {"samples": each}) for each in factors.samples],
        ),
        "scale": (
            gettext("the dimension’s")
            if base.scale_minimum is None
            else f"{base.scale_minimum} to {base.scale_maximum}",
            [
                _Level(SCALES[key][0], SCALES[key][0], {**without_scale, **SCALES[key][1]})
                for key in factors.scales
            ],
        ),
        "order": (
            str(base.call_order),
            [_Level(str(each), f"{each} order", {"call_order": each}) for each in factors.orders],
        ),
    }


def _change(judge: JudgeSpec, level: _Level) -> JudgeSpec:
    return replace(judge, **level.settings)


def _name(base: str, changed: Sequence[_Level], position: int) -> str:
    name = " · ".join([base, *(level.says for level in changed)])
    end = f"… {position}"  # long names of one experiment stay different
    return name if len(name) <= _NAME else f"{name[: _NAME - len(end)]}{end}"
