"""How many raters and documents a study needs, from the agreement of raters in a smaller one."""

import math

MOST_RATERS = 100


def reliability_of_mean(single: float, raters: int) -> float:
    """ICC(A,m) of the mean of m raters, from ICC(A,1) of one: m r / (1 + (m - 1) r).

    With the variances of units, raters and the rest, ICC(A,m) is units / (units + (raters + rest) / m), which
    is the dependability phi of generalisability theory for raters that are drawn, so one figure gives all
    others. Source: Brennan 2001, Generalizability Theory, chapter 2; McGraw and Wong 1996. Raises ValueError
    for fewer than one rater, and for an ICC(A,1) below 0, of which no mean follows.
    """
    if raters < 1:
        raise ValueError("A mean needs at least one rater.")
    if single < 0:
        raise ValueError("Raters who agree less than by chance have no reliable mean.")
    return raters * single / (1 + (raters - 1) * single)


def raters_needed(single: float, target: float) -> int | None:
    """The fewest raters whose mean reaches this reliability, from ICC(A,1) of one rater.

    None where more than 100 would be needed, or where raters do not agree at all (ICC(A,1) of 0 or less).
    Raises ValueError for a target that is not between 0 and 1.
    """
    if not 0 < target < 1:
        raise ValueError("A reliability to reach lies between 0 and 1.")
    if single <= 0:
        return None
    if single >= 1:
        return 1
    # Of a reliability that is reached exactly rounding must not ask one rater more.
    needed = max(1, math.ceil(target * (1 - single) / (single * (1 - target)) - 1e-9))
    return needed if needed <= MOST_RATERS else None


def expected_width(width: float, units: int, planned: int) -> float:
    """How wide an interval is with so many units (documents), from its width with others: as 1 / sqrt(n)."""
    return width * math.sqrt(units / planned)


def units_needed(width: float, units: int, target: float) -> int:
    """The fewest units (documents) with which an interval is no wider than the target."""
    return math.ceil(units * (width / target) ** 2 - 1e-9)
