"""A worker is killed while each call gives several dimensions: no judgment is lost, torn or stored twice."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from threading import Semaphore

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from judges.core.models import Judgment, LeaseHolder
from tests.factories import make_project
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.provider import providing
from tests.judges.running import running, statuses, worked
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)

DIMENSIONS = ("fluency", "coherence", "style")
REPLY = "Fluency: 4\nCoherence: 2\nStyle: 5"
ITEMS, IN_FLIGHT, BEFORE = 12, 4, 3  # BEFORE: calls that are answered before the worker is killed
CALL = Decimal("0.0006")  # 100 tokens at 2 and 50 at 8 for a million


def test_a_killed_worker_repeats_only_whole_calls_and_each_judgment_is_paid_once(tmp_path: Path) -> None:
    cast = make_project(dimensions=DIMENSIONS, documents=ITEMS // 2)
    answers = Semaphore(BEFORE)
    with providing(reply=REPLY, answers=answers) as provider:
        endpoint = make_priced_endpoint(
            cast.project, provider.base_url, calls_in_flight=IN_FLIGHT, timeout_seconds=120
        )
        judge = make_judge(cast.project, "several", endpoint=endpoint, temperature=1)
        run = running(cast.project, judge, dimensions=DIMENSIONS)
        judgments = Judgment.objects.filter(run=run)

        def is_stuck() -> bool:
            """Whether what was answered is stored, and every place waits for the provider."""
            done = judgments.filter(status="done").count()
            return done == 3 * BEFORE and provider.in_flight.total() == IN_FLIGHT

        # A worker that a busy machine holds up keeps its leases; those of the killed one are ended here.
        with worker(tmp_path, lease=600) as process:
            assert wait_until(is_stuck), process.story()
            process.kill()
            end_leases(judgments)
            stored = set(judgments.filter(status="done").values_list("pk", flat=True))
            assert {len(of_call) for of_call in by_item(judgments.filter(status="done"))} == {3}
            assert statuses(run)["leased"] >= 3 * IN_FLIGHT
            asked = len(provider.asked)
            assert asked == BEFORE + IN_FLIGHT
        answers.release(10 * ITEMS)
        # Another worker comes, here.
        assert wait_until(lambda: worked(run).status == "finished")
    assert len(provider.asked) == ITEMS + IN_FLIGHT, "calls in flight are repeated, and no others"
    assert statuses(run) == {"done": 3 * ITEMS}
    found = list(judgments.order_by("item", "dimension__position"))
    assert [each.value for each in found] == [4, 2, 5] * ITEMS
    assert {each.attempts for each in found} == {1}
    assert stored <= {each.pk for each in found}
    for of_call in by_item(judgments):
        assert sum(each.input_tokens or 0 for each in of_call) == 100
        assert sum(each.output_tokens or 0 for each in of_call) == 50
        assert len({each.messages_hash for each in of_call}) == 1
    assert sum(each.cost or 0 for each in found) == ITEMS * CALL
    assert run.spent == len(provider.asked) * CALL, "calls that ended with the worker are spent, too"
    assert not judgments.filter(lease__isnull=False).exists()
    assert not LeaseHolder.objects.filter(calls_in_flight__gt=0, alive_until__gte=timezone.now()).exists()


def end_leases(judgments: QuerySet[Judgment]) -> None:
    """Let the time pass after which what a dead worker held is free."""
    past = timezone.now() - timedelta(seconds=1)
    LeaseHolder.objects.update(alive_until=past)
    judgments.filter(status="leased").update(leased_until=past)


def by_item(judgments: QuerySet[Judgment]) -> list[list[Judgment]]:
    """Return the judgments of each item: those of one call."""
    found: dict[int, list[Judgment]] = {}
    for each in judgments.order_by("item", "pk"):
        found.setdefault(each.item_id, []).append(each)
    return list(found.values())
