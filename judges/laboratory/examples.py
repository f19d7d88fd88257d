"""Which units become examples in a prompt."""

import math
from collections.abc import Sequence

from judges.laboratory.cases import Case


def choose_examples(cases: Sequence[Case], count: int) -> list[Case]:
    """Return up to `count` units that cover the scale and the kinds of dispute, the lowest value first.

    Greedy: each next one has the point of the scale that was chosen least often so far; of these the kind and
    direction of the judge's error chosen least often; of these one with reasons, the largest error, and the
    first name. A value between two points counts for the nearer one, halves for the upper.
    """
    chosen: list[Case] = []
    while len(chosen) < count and (left := [case for case in cases if case not in chosen]):
        chosen.append(min(left, key=lambda case: _rank(case, chosen)))
    return sorted(chosen, key=lambda case: (case.value, case.name))


def _rank(case: Case, chosen: Sequence[Case]) -> tuple[object, ...]:
    same_point = sum(_point(other) == _point(case) for other in chosen)
    same_kind = sum((other.kind, other.direction) == (case.kind, case.direction) for other in chosen)
    return same_point, same_kind, not case.reasons, -abs(case.error), case.name


def _point(case: Case) -> int:
    return math.floor(case.value + 0.5)
