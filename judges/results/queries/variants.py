"""Judges of one model that are asked in different ways, and what differs between them."""

from collections.abc import Sequence
from itertools import combinations

from judges.core.models import CallOrder, Judge
from judges.methods import METHODS

_SETTINGS = (
    ("samples", "samples"),
    ("temperature", "temperature"),
    ("top p", "top_p"),
    ("reasoning effort", "reasoning_effort"),
    ("system message", "system_message"),
    ("extra settings", "extra_body"),
)
_SHORT = 30  # characters of a setting that are shown


def variants_of_models(judges: Sequence[Judge]) -> list[tuple[Judge, Judge]]:
    """Return every two judges of one model that give values to single texts, in the order they are given."""
    scoring = [judge for judge in judges if not judge.asks_pairs and judge.model]
    return [(one, other) for one, other in combinations(scoring, 2) if one.model == other.model]


def settings_that_differ(first: Judge, second: Judge) -> list[str]:
    """Return what two judges differ in, each setting as "name: first / second"."""
    described = zip(_describe(first).items(), _describe(second).values(), strict=True)
    return [f"{name}: {one} / {other}" for (name, one), other in described if one != other]


def _describe(judge: Judge) -> dict[str, str]:
    method = METHODS.get(judge.method)
    return {
        "model": judge.model,
        "method": str(method.label) if method else judge.method,
        "prompt": str(judge.template) if judge.template else "unknown",
        "scale": _scale(judge),
        **{name: _short(getattr(judge, field)) for name, field in _SETTINGS},
        "score from": judge.get_score_from_display(),
        "structured output": "yes" if judge.structured else "no",
        "dimensions in a call": str(len(judge.asked_together) or "all") if judge.asks_several else "one",
        "order of dimensions": "rotated" if judge.call_order == CallOrder.ROTATED else "fixed",
        "reference": "shown" if judge.reference_id else "none",
    }


def _scale(judge: Judge) -> str:
    scale = judge.own_scale
    if scale is None:
        return "the dimension’s"
    steps = " with weak and strong" if judge.scale_modifiers else " in thirds" if judge.scale_thirds else ""
    return f"{scale.minimum} to {scale.maximum}{steps}"


def _short(value: object) -> str:
    words = (
        "none" if value in (None, "", {}, []) else f"{value:g}" if isinstance(value, float) else str(value)
    )
    return words if len(words) <= _SHORT else f"{words[: _SHORT - 1]}…"
