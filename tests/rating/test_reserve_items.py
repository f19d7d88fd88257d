from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from annotate.core.errors import RoundClosedError
from annotate.core.models import Assignment
from annotate.rating.commands.assignments import renew_reservation, renew_reservations, reserve_items
from annotate.rating.commands.rounds import close_round_one
from tests.factories import make_member, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


def order_of(round, annotator):
    mine = Assignment.objects.filter(round=round, annotator=annotator).order_by("position")
    return list(mine.values_list("item", flat=True))


def test_the_order_is_random_per_annotator_and_the_same_again():
    cast = make_project(documents=6, systems=4)
    round = opened(cast)
    first, second, _ = cast.annotators
    for annotator in (first, second):
        while reserve_items(round=round, annotator=annotator):
            pass
    before = order_of(round, first)
    assert sorted(before) == sorted(item.pk for item in cast.items)
    assert before != order_of(round, second)
    assert before != sorted(before)
    Assignment.objects.filter(annotator=first).update(annotator=None, position=None, reserved_until=None)
    while reserve_items(round=round, annotator=first):
        pass
    assert order_of(round, first) == before


def test_asking_again_reserves_nothing_twice():
    cast = make_project()
    round = opened(cast)
    assert reserve_items(round=round, annotator=cast.annotators[0], how_many=10) == 4
    assert reserve_items(round=round, annotator=cast.annotators[0], how_many=10) == 0


def test_of_more_annotators_than_raters_per_item_each_item_still_gets_n():
    cast = make_project(annotators=5, raters_per_item=2)
    round = opened(cast)
    for annotator in cast.annotators:
        reserve_items(round=round, annotator=annotator, how_many=10)
    taken = Assignment.objects.filter(round=round, annotator__isnull=False)
    assert set(Counter(taken.values_list("item", flat=True)).values()) == {2}


def test_unused_reservation_passes_to_another_after_its_time():
    cast = make_project(documents=1, systems=1, annotators=2, raters_per_item=1)
    round = opened(cast)
    slow, quick = cast.annotators
    reserve_items(round=round, annotator=slow)
    assert reserve_items(round=round, annotator=quick) == 0
    Assignment.objects.update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert reserve_items(round=round, annotator=quick) == 1
    assert order_of(round, slow) == []


def test_used_reservation_stays():
    cast = make_project(documents=1, systems=1, annotators=2, raters_per_item=1)
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 4)
    Assignment.objects.update(reserved_until=timezone.now() - timedelta(days=9))
    assert reserve_items(round=round, annotator=cast.annotators[1]) == 0


def test_looking_at_an_item_renews_its_reservation():
    cast = make_project(documents=1, systems=1, annotators=2, raters_per_item=1)
    round = opened(cast)
    reserve_items(round=round, annotator=cast.annotators[0])
    Assignment.objects.update(reserved_until=timezone.now() - timedelta(seconds=1))
    renew_reservation(assignment=Assignment.objects.get(), annotator=cast.annotators[0])
    assert reserve_items(round=round, annotator=cast.annotators[1]) == 0


def test_page_use_renews_preloaded_items_and_nothing_lost():
    cast = make_project(documents=4, systems=3, annotators=2, raters_per_item=1)
    round = opened(cast)
    slow, quick = cast.annotators
    assert reserve_items(round=round, annotator=slow, how_many=11) == 11
    first, *_ = Assignment.objects.filter(annotator=slow).order_by("position")
    Assignment.objects.filter(annotator=slow).update(reserved_until=timezone.now() - timedelta(seconds=1))
    Assignment.objects.filter(annotator=slow, position=3).update(annotator=quick, position=1)
    held = renew_reservations(assignment=first, annotator=slow)
    assert [each.position for each in held] == [1, 2, 4, 5, 6, 7, 8, 9]
    renewed = Assignment.objects.filter(reserved_until__gt=timezone.now()).order_by("position")
    assert [each.position for each in renewed] == [1, 2, 4, 5, 6, 7, 8, 9]
    assert renewed.exclude(annotator=slow).count() == 0


def test_a_closed_round_hands_out_nothing():
    cast = make_project()
    round = opened(cast)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(RoundClosedError):
        reserve_items(round=round, annotator=cast.annotators[0])


def test_database_rejects_a_duplicate_annotator_for_an_item():
    cast = make_project(documents=1, systems=1)
    round = opened(cast)
    reserve_items(round=round, annotator=cast.annotators[0])
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(annotator=None).update(annotator=cast.annotators[0], position=99)


@pytest.mark.django_db(transaction=True)
def test_exactly_n_raters_when_many_ask_at_the_same_moment():
    cast = make_project(documents=3, systems=2, annotators=6, raters_per_item=2)
    round = opened(cast)
    together = Barrier(6)

    def ask(annotator):
        try:
            together.wait(timeout=20)
            while reserve_items(round=round, annotator=annotator, how_many=2):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as people:
        list(people.map(ask, cast.annotators))
    late = make_member(cast.project)
    reserve_items(round=round, annotator=late, how_many=10)
    taken = Assignment.objects.filter(round=round)
    assert taken.filter(annotator=None).count() == 0
    assert set(Counter(taken.values_list("item", flat=True)).values()) == {2}
    assert max(Counter(taken.values_list("item", "annotator")).values()) == 1
