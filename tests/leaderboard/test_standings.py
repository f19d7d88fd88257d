"""The leaderboard of a project: means, groups, metadata and its JSON."""

from statistics import mean

import numpy as np
import pytest

from annotate.core.errors import UndefinedResultError
from annotate.leaderboard.queries import leaderboard_of
from annotate.leaderboard.standings import Leaderboard
from tests.factories import Cast, make_project
from tests.leaderboard.conftest import VALUES

pytestmark = pytest.mark.django_db


def test_leaderboard_lists_systems_by_mean_with_groups(cast: Cast) -> None:
    (board,) = leaderboard_of(cast.project).boards
    best, worst = board.systems
    scores = np.mean(list(VALUES.values()), axis=0)
    assert best.mean == pytest.approx(scores[1::2].mean())
    assert worst.mean == pytest.approx(scores[::2].mean())
    assert (best.letters, worst.letters) == ("a", "b")
    assert (best.best, best.worst, worst.best) == (1, 1, 2)
    assert (best.documents, best.ratings, best.source) == (4, 8, "people")
    assert None not in (best.low, best.mean, best.high)
    assert (best.low or 5) < (best.mean or 0) <= (best.high or 0)


def test_leaderboard_has_means_by_value_of_metadata(cast: Cast) -> None:
    (board,) = leaderboard_of(cast.project).boards
    news = board.values["genre"]["news"]
    assert news[0].mean == pytest.approx(mean([5, 4.5]))
    assert news[0].documents == 2


def test_leaderboard_is_the_same_after_json(cast: Cast) -> None:
    found = leaderboard_of(cast.project)
    assert Leaderboard.from_dict(found.as_dict()) == found


def test_leaderboard_before_round_one_says_what_it_needs() -> None:
    with pytest.raises(UndefinedResultError, match="needs ratings"):
        leaderboard_of(make_project().project)
