"""Places of an endpoint are dealt to runs: equally, nothing is left idle, and turns pass."""

import pytest

from judges.runs.commands.holders import Demand, fair_share


@pytest.mark.parametrize(
    ("wanted", "places", "shares"),
    [
        ([8], 8, [8]),
        ([8, 8], 8, [4, 4]),
        ([8, 1], 8, [7, 1]),
        ([8, 0], 8, [8, 0]),
        ([2, 9, 9], 12, [2, 5, 5]),
        ([1, 1], 8, [1, 1]),
        ([8, 8], 0, [0, 0]),
    ],
)
def test_nobody_has_more_than_another_who_wants_more(wanted, places, shares):
    demands = [Demand(run, each) for run, each in enumerate(wanted)]
    assert [fair_share(each.run, demands, places) for each in demands] == shares


@pytest.mark.parametrize(
    ("demands", "shares"),
    [
        ([Demand(1, 4, turn_began=20.0), Demand(2, 4, turn_began=10.0)], [1, 2]),
        ([Demand(1, 4, has_turn=True, turn_began=20.0), Demand(2, 4, turn_began=10.0)], [2, 1]),
        ([Demand(1, 4, turn_began=20.0), Demand(2, 4)], [1, 2]),
    ],
)
def test_what_cannot_be_divided_goes_by_turns(demands, shares):
    assert [fair_share(each.run, demands, 3) for each in demands] == shares
