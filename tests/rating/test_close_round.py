from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from annotate.core import database
from annotate.core.errors import NotReadyError
from annotate.core.jobs import SILENT_AFTER, run_job
from annotate.core.models import Dimension, Dispute, DisputeEvent, DisputeRater, Round
from annotate.disputes.commands.disputes import answer_dispute
from annotate.periodic_tasks import find_due_jobs
from annotate.rating.commands import rounds
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from tests.api.client import concord
from tests.factories import make_project
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def close_with(cast, *values):
    round = opened(cast)
    for annotator, value in zip(cast.annotators, values, strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    return close_round_one(project=cast.project, by=cast.admin)


@pytest.mark.parametrize(
    ("values", "spreads"),
    [((3, 3, 3), []), ((3, 4, 4), []), ((3, 4, 5), [2]), ((1, 5, None), [4]), ((5, None, None), [])],
)
def test_a_range_at_or_above_the_threshold_is_disputed(values, spreads):
    close_with(make_project(), *values)
    assert list(Dispute.objects.values_list("spread", flat=True)) == spreads


def test_named_categories_are_disputed_when_they_differ_at_all():
    cast = make_project()
    Dimension.objects.update(measurement_level="nominal")
    close_with(cast, 2, 3, 3)
    assert Dispute.objects.get().spread == 1


def test_closing_twice_opens_no_dispute_twice():
    cast = make_project()
    close_with(cast, 1, 1, 5)
    close_round_one(project=cast.project, by=cast.admin)
    assert Dispute.objects.count() == 1
    assert list(DisputeEvent.objects.values_list("kind", flat=True)) == ["opened"]


def test_dispute_numbers_reveal_nothing_of_the_item_order():
    cast = make_project(documents=8, systems=3)
    round = opened(cast)
    for item in cast.items:
        for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    in_order = list(Dispute.objects.order_by("number").values_list("item", flat=True))
    assert sorted(in_order) == [item.pk for item in cast.items]
    assert in_order != sorted(in_order)


def test_a_round_that_was_never_opened_cannot_be_closed():
    cast = make_project()
    with pytest.raises(NotReadyError, match="Round I has not been opened"):
        close_round_one(project=cast.project, by=cast.admin)


def test_closing_round_two_leaves_the_rest_open_and_reports_it():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    close_round_two(project=cast.project, by=cast.admin)
    close_round_two(project=cast.project, by=cast.admin)
    dispute.refresh_from_db()
    assert dispute.status == "left_open"
    assert list(dispute.events.values_list("kind", flat=True)) == ["opened", "left_open"]


def test_closing_round_two_keeps_settled_units():
    cast = make_project()
    dispute = discussed(cast, 3, 4, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4)
    close_round_two(project=cast.project, by=cast.admin)
    dispute.refresh_from_db()
    assert dispute.status == "settled"


@pytest.mark.django_db(transaction=True)
def test_two_admins_closing_at_once_open_each_dispute_once():
    cast = make_project(documents=5, systems=4)
    round = opened(cast)
    for item in cast.items:
        for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
            rate(cast, round, annotator, item, value)

    def close(_):
        try:
            return close_round_one(project=cast.project, by=cast.admin).status
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as admins:
        assert list(admins.map(close, range(2))) == ["closed", "closed"]
    assert Dispute.objects.count() == 20
    assert DisputeEvent.objects.count() == 20


def test_the_command_that_closes_round_two_counts_what_stays_apart():
    cast = make_project()
    discussed(cast, 1, 3, 5)
    closed = concord(cast.admin, "rounds", "close-2", cast.project.slug)
    assert closed["disputes"] == {"total": 1, "unresolved": 1, "breakdown": "1 left open"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("helper", ["worker", "admin"])
def test_a_closing_that_dies_is_finished_by_others(monkeypatch, helper):
    cast = make_project(documents=8, systems=3)
    round = opened(cast)
    for item in cast.items:
        for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
            rate(cast, round, annotator, item, value)
    monkeypatch.setattr(database, "sleep", lambda _: None)
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "DISPUTES_AT_ONCE", 10)
        patch.setattr(database, "TARGET_SECONDS", 1)
        asked = iter([vars(rounds)["ask_raters"], _die][connection.vendor != "sqlite" :])
        patch.setattr(rounds, "ask_raters", lambda disputes: next(asked)(disputes))
        with pytest.raises(KeyboardInterrupt):
            close_round_one(project=cast.project, by=cast.admin)
    if connection.vendor == "sqlite":
        assert Round.objects.get().is_unfinished
        assert 0 < Dispute.objects.count() < 24
        with pytest.raises(NotReadyError):
            open_round_two(project=cast.project, by=cast.admin)
        if helper == "worker":
            Round.objects.update(touched_at=timezone.now() - SILENT_AFTER)
            assert ("round", round.pk) in find_due_jobs()
            run_job("round", round.pk)
    if helper == "admin" or connection.vendor != "sqlite":
        close_round_one(project=cast.project, by=cast.admin)
    assert not Round.objects.get().is_unfinished
    assert sorted(Dispute.objects.values_list("number", flat=True)) == list(range(1, 25))
    assert DisputeEvent.objects.count() == 24
    assert DisputeRater.objects.count() == 72


def _die(_disputes):
    raise KeyboardInterrupt
