"""Values of a scale with a step that may be less than one; pure functions.

A value has up to two decimals, and a whole one is an int: it is written "3", never "3.0". Two values with the
same decimals are the same float, so they can be compared directly. Values computed from them pass through
`normalize`.
"""

from collections.abc import Sequence
from functools import lru_cache

DECIMALS = 2
SMALLEST_STEP = 0.01
MOST_POINTS = 2001


def normalize(value: float) -> float:
    """Return a value rounded to two decimals, as an int if it is whole."""
    whole = int(value)
    return whole if whole == value else int_if_whole(round(value, DECIMALS))


def int_if_whole(value: float) -> float:
    """Return a whole number as an int, and any other number unchanged: input is validated, not rounded."""
    return int(value) if value.is_integer() else value


def normalize_or_none(value: float | None) -> float | None:
    return None if value is None else normalize(value)


def distance(one: float, other: float) -> float:
    """Return the distance of two values in points:

    2 for 3.3 and 1.3, which is 1.9999999999999998 in floats.
    """
    return normalize(abs(one - other))


@lru_cache(maxsize=1024)
def points_of(lowest: int, highest: int, step: float) -> Sequence[float]:
    """Return all values of a scale, lowest first."""
    if step == 1:
        return range(lowest, highest + 1)
    return tuple(
        normalize(lowest + index * step) for index in range(steps_between(lowest, highest, step) + 1)
    )


def steps_between(lowest: int, highest: int, step: float) -> int:
    return round((highest - lowest) / step)


def is_on_scale(value: float, lowest: int, highest: int, step: float) -> bool:
    if not lowest <= value <= highest:
        return False
    if step == 1:
        return value == int(value)
    # The nearest point of the scale, normalized as stored values are, so that equal decimals are equal.
    return value == normalize(lowest + round((value - lowest) / step) * step)


def problem_of_step(lowest: int, highest: int, step: float) -> str:
    """Return the rule that a step violates: "decimals", "range" or "points"; empty if it is valid."""
    if step < SMALLEST_STEP or step != normalize(step):
        return "decimals"
    # In hundredths, which are whole numbers: a remainder of floats would depend on rounding.
    if (highest - lowest) * 100 % round(step * 100):
        return "range"
    return "points" if steps_between(lowest, highest, step) >= MOST_POINTS else ""
