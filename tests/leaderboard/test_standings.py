"""The leaderboard of a project: means, groups, metadata and its JSON."""

import json
from decimal import Decimal
from statistics import mean

import numpy as np
import pytest

from annotate.core.errors import UndefinedResultError
from annotate.core.models import Assignment, GoldValue
from annotate.leaderboard.queries import finished_additions, leaderboard_of
from annotate.leaderboard.results import answer_leaderboard, board_table
from annotate.leaderboard.standings import JUDGED, Board, JudgedScores, Leaderboard, ListedSystem
from annotate.rating.commands.rounds import close_round_one, open_round_one
from tests.additions.scenes import make_addition, make_benchmark, make_new_raters, rate_all
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
    assert Leaderboard.from_dict(found.to_dict()) == found


def test_leaderboard_before_round_one_states_its_requirement() -> None:
    with pytest.raises(UndefinedResultError, match="needs ratings"):
        leaderboard_of(make_project().project)


def test_addition_is_on_the_scale_of_the_first_raters_once_closed() -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=6)
    strict, mild = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=cast.admin)

    def one_less(assignment: Assignment, _: str) -> float:
        gold = GoldValue.objects.filter(gold__item=assignment.item).first()
        return 3 if gold is None else gold.value - 1

    rate_all(round, strict, one_less)
    rate_all(round, mild, lambda each, key: one_less(each, key) + 1)
    before = leaderboard_of(cast.project)
    assert [each.addition for each in before.boards[0].systems] == [None, None]
    close_round_one(project=addition.project, by=cast.admin)
    found = leaderboard_of(cast.project)
    new = found.boards[0].systems[0]
    assert (new.system, new.addition, new.source) == ("newcomer", 1, "people")
    # The raters give 3 and 4, and are half a point more severe than the first raters.
    assert (new.mean, new.severity_correction) == (4, 0.5)
    assert (new.documents, new.ratings) == (6, 12)
    assert (new.best, new.letters) == (1, "a")
    assert [each.addition for each in found.parts] == [None, 1]
    assert Leaderboard.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_addition_without_bridging_items_has_no_mean() -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=0)
    (rater,) = make_new_raters(addition, 1)
    rate_all(open_round_one(project=addition.project, by=cast.admin), rater, lambda *_: 5)
    close_round_one(project=addition.project, by=cast.admin)
    last = leaderboard_of(cast.project).boards[0].systems[-1]
    assert (last.system, last.mean, last.letters) == ("newcomer", None, "")
    assert "severe" in last.reason


def test_corrected_system_mean_covers_the_outputs_the_judge_may_score(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = leaderboard_of(cast.project).boards[0].key
    scores = {key: {item.pk: 3.0 + 3 * index for index, item in enumerate(cast.items[1:6:2])}}
    fake = JudgedScores(lambda _: scores, lambda _: Decimal(0), lambda _: [])
    monkeypatch.setitem(JUDGED, "judges", fake)
    found = {each.system: each for each in leaderboard_of(cast.project).boards[0].systems}
    corrected = found["system-2"]
    # People rated a fourth document, which is in development.
    assert (corrected.source, corrected.documents, corrected.mean) == ("judge corrected by people", 3, 6)
    assert (corrected.high or 0) > 6  # a score of 9 is beyond the scale
    assert found["system-1"].documents == 4


def test_answer_reads_letters_as_groups() -> None:
    def answer(*letters: str) -> str:
        systems = [
            ListedSystem(f"S{number}", 4, 3, 5, 9, 9, letters=own, best=1)
            for number, own in enumerate(letters, start=1)
        ]
        return answer_leaderboard({"standings": board_table(Board("fluency", "Fluency", "", 1, 5, systems))})

    assert "surely differs from every other system." in answer("a", "a1", "b")
    assert "do not surely differ from it: S3." in answer("ab", "c", "bc")
    assert "every system that is compared" in answer("a", "b", "")
    assert "No other" in answer("a", "a")
    assert answer("", "").endswith("4.00.")


def test_addition_counts_only_while_no_round_is_open() -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=0)
    round = open_round_one(project=addition.project, by=cast.admin)
    close_round_one(project=addition.project, by=cast.admin)
    assert finished_additions(cast.project) == [addition]
    round.pk, round.number, round.status = None, 2, "open"
    round.save()
    assert finished_additions(cast.project) == []
