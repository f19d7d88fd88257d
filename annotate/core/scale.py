"""Values of a scale, whose points may lie less than one apart: pure.

A value has two decimals at most, and a whole one is an int: it is written "3", never "3.0". Two values with
the same decimals are the same float, so they are compared as they are; what is computed from them goes
through `normalize`.
"""

from collections.abc import Sequence
from functools import lru_cache

DECIMALS = 2
SMALLEST_STEP = 0.01
MOST_POINTS = 2001


def normalize(value: float) -> float:
    """Return a value with two decimals at most, as an int where it is whole."""
    whole = int(value)
    return whole if whole == value else int_if_whole(round(value, DECIMALS))


def int_if_whole(value: float) -> float:
    """Return a number as an int where it is whole, else as it is: what is entered is judged, not rounded."""
    return int(value) if value.is_integer() else value


def normalize_or_none(value: float | None) -> float | None:
    """Return the same of a value that may be missing."""
    return None if value is None else normalize(value)


def distance(one: float, other: float) -> float:
    """Return how many points two values lie apart: 3.3 and 1.3 lie 2, as floats 1.9999999999999998."""
    return normalize(abs(one - other))


@lru_cache(maxsize=1024)
def points_of(lowest: int, highest: int, step: float) -> Sequence[float]:
    """Return all values of a scale, lowest first."""
    if step == 1:
        return range(lowest, highest + 1)
    return tuple(
        normalize(lowest + place * step) for place in range(steps_between(lowest, highest, step) + 1)
    )


def steps_between(lowest: int, highest: int, step: float) -> int:
    """Return how many steps lie between the ends of a scale."""
    return round((highest - lowest) / step)


def is_on_scale(value: float, lowest: int, highest: int, step: float) -> bool:
    """Whether a scale has a value."""
    if not lowest <= value <= highest:
        return False
    if step == 1:
        return value == int(value)
    return value == normalize(lowest + round((value - lowest) / step) * step)


def problem_of_step(lowest: int, highest: int, step: float) -> str:
    """Return which rule a step breaks: "decimals", "range" or "points"; empty where it is one."""
    if step < SMALLEST_STEP or step != normalize(step):
        return "decimals"
    if (highest - lowest) * 100 % round(step * 100):
        return "range"
    return "points" if steps_between(lowest, highest, step) >= MOST_POINTS else ""
