"""Sentences for what cannot be computed, in the words of people and judges instead of first and second."""

from dataclasses import dataclass, replace

import numpy as np

from annotate.agreement import Coefficient
from annotate.agreement.data import FloatArray

_DECIMALS = 10  # what differs behind these differs by rounding


@dataclass(frozen=True)
class ComparedSide:
    """One side of a comparison: what a single value is called, and what to say where it has none at all."""

    value: str
    missing: str


PEOPLE = ComparedSide("mean human score", "No person has rated these items yet.")
JUDGE = ComparedSide("value of the judge", "The judge has no value for these items yet.")
METRIC = ComparedSide("value of the metric", "The metric has no value for these items yet.")
RATER = ComparedSide("value of the rater", "The rater has no value for these items yet.")
OTHER_JUDGE = ComparedSide("value of the other judge", "The other judge has no value for these items yet.")


def explain_undefined(
    coefficient: Coefficient,
    first: FloatArray,
    second: FloatArray,
    sides: tuple[ComparedSide, ComparedSide],
    noun: str,
) -> Coefficient:
    """The coefficient of two arrays (n,), undefined in these words; `noun` is what one of the n is."""
    if coefficient.defined:
        return coefficient
    reason = _why_undefined(first, second, sides, noun)
    return coefficient if reason is None else replace(coefficient, reason=reason)


def _why_undefined(
    first: FloatArray, second: FloatArray, sides: tuple[ComparedSide, ComparedSide], noun: str
) -> str | None:
    for side, values in zip(sides, (first, second), strict=True):
        if np.isnan(values).all():
            return side.missing
    both = ~np.isnan(first) & ~np.isnan(second)
    names = f"a {sides[0].value} and a {sides[1].value}"
    if not both.any():
        return f"No {noun} has both {names}."
    if both.sum() == 1:
        return f"Only one {noun} has both {names}; a correlation needs two or more."
    for side, values in zip(sides, (first[both], second[both]), strict=True):
        if np.ptp(np.round(values, _DECIMALS)) == 0:
            return f"Every {side.value} is {values[0]:g}; a correlation needs values that differ."
    return None
