"""Which units become examples, and with which point of the scale."""

from collections.abc import Sequence
from statistics import mean

import pytest

from judges.laboratory.cases import Case, CaseKind
from judges.laboratory.commands.proposals import choose_examples


def make_case(name: str, after: Sequence[float]) -> Case:
    held = tuple(after)
    return Case(1, name, CaseKind.AGREED, held, mean(held), after=held)


@pytest.mark.parametrize(
    ("after", "point"),
    [
        ((2, 2), 2),
        ((1, 2, 2), 2),
        ((2, 3), None),
        ((1, 3, 3, 3), 3),
        ((2, 2, 2, 4), 2),
        ((1, 2, 3, 4), None),
        ((4,), 4),
    ],
)
def test_point_is_the_nearest_and_of_two_the_median(after: Sequence[float], point: int | None) -> None:
    assert make_case("a", after).point == point


def test_units_of_one_mind_come_first_and_halves_never() -> None:
    cases = [
        make_case("a", (1, 2, 2)),
        make_case("b", (2, 2, 2)),
        make_case("c", (4, 5)),
        make_case("d", (3, 4, 4)),
    ]
    assert [case.name for case in choose_examples(cases, 2)] == ["b", "d"]
    assert [case.name for case in choose_examples(cases, 9)] == ["a", "b", "d"]
