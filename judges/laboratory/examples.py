"""Which units become examples in a prompt."""

from collections.abc import Sequence

from judges.laboratory.cases import Case


def choose_examples(cases: Sequence[Case], count: int) -> list[Case]:
    """Return up to `count` units that cover the scale and the kinds of dispute, the lowest value first.

    Greedy: each next one has the point of the scale that was chosen least often so far; of these one on which
    people agree exactly; of these the kind and direction of the judge's error chosen least often; of these
    one with reasons, the largest error, and the first name. Units halfway between two points are left out.
    """
    fitting = [case for case in cases if case.point is not None]
    chosen: list[Case] = []
    while len(chosen) < count and (left := [case for case in fitting if case not in chosen]):
        chosen.append(min(left, key=lambda case: _rank(case, chosen)))
    return sorted(chosen, key=lambda case: (case.point, case.name))


def _rank(case: Case, chosen: Sequence[Case]) -> tuple[object, ...]:
    same_point = sum(other.point == case.point for other in chosen)
    same_kind = sum((other.kind, other.direction) == (case.kind, case.direction) for other in chosen)
    return same_point, not case.is_unanimous, same_kind, not case.reasons, -abs(case.error), case.name
