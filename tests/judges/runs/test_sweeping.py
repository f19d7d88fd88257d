"""What no living worker holds is freed, whatever its run's state, and is never called complete."""

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from judges.core.models import Judgment, LeaseHolder, Run
from judges.endpoints.prices import EndpointPrices
from judges.endpoints.work import Outcome
from judges.runs.commands.endings import finish_left_undone
from judges.runs.commands.leases import lease, sweep
from judges.runs.commands.outcomes import store
from judges.runs.commands.runs import cancel_run, pause_run, start_run
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, make_run, unpriced
from tests.judges.running import statuses, worked
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)


def abandoned(url, *, how_many=3):
    """Let a worker die while it holds judgments of a run of four."""
    cast = make_project()
    judge = make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, url))
    assert judge.endpoint_id is not None
    run = start_run(run=make_run(cast.project, judge))
    Run.objects.update(untried_judges=None)  # its first judgment was answered before
    holder = uuid4()
    held = lease(run=run.pk, endpoint=judge.endpoint_id, holder=holder, how_many=how_many).judgments
    assert len(held) == how_many
    return run, holder, held


def die():
    """Let the time pass after which a silent worker is taken for dead."""
    long_ago = timezone.now() - timedelta(minutes=1)
    Judgment.objects.filter(status="leased").update(leased_until=long_ago)
    LeaseHolder.objects.update(alive_until=long_ago)


def judge(run):
    """Run the command over the run's project; return what it printed and its exit code."""
    out = StringIO()
    try:
        call_command("judge", run.project.slug, "--judge=A", "--here", stdout=out, stderr=StringIO())
    except SystemExit as ended:
        return out.getvalue(), ended.code
    return out.getvalue(), 0


def test_living_worker_keeps_its_leases(provider):
    run, holder, _ = abandoned(provider.base_url)
    assert sweep() == 0
    assert run.judgments.filter(lease=holder).count() == 3


@pytest.mark.parametrize("status", ["running", "paused", "stopped"])
def test_in_a_run_that_may_go_on_it_is_planned_again(provider, status):
    run, _, _ = abandoned(provider.base_url)
    Run.objects.filter(pk=run.pk).update(status=status, reason="A reason.")
    die()
    assert sweep() == 3
    assert statuses(run) == {"planned": 4}
    assert start_run(run=run).status == "running"
    assert worked(run).status == "finished"
    assert statuses(run) == {"done": 4}


@pytest.mark.parametrize("status", ["cancelled", "finished"])
def test_ended_run_drops_an_abandoned_plan_and_keeps_paid_calls(provider, status):
    run, holder, held = abandoned(provider.base_url)
    outcome = Outcome(held[0], "done", 1, value=4.0, reply="Score: 4")
    store(
        run=run.pk,
        endpoint=LeaseHolder.objects.get().endpoint_id,
        holder=holder,
        outcomes=[outcome],
        prices_of=unpriced,
    )
    Judgment.objects.filter(pk=held[1]).update(reason="There is no number.", reply="Hm.")
    if status == "cancelled":
        cancel_run(run=run)
    else:
        run.judgments.filter(status="planned").delete()
        Run.objects.filter(pk=run.pk).update(status=status)
    die()
    assert sweep() == 2
    assert statuses(run) == {"done": 1, "unreadable": 1}


def test_command_retries_judgments_of_a_dead_worker_in_a_cancelled_run(provider):
    run, _, _ = abandoned(provider.base_url)
    cancel_run(run=run)
    die()
    out, code = judge(run)
    assert "A: 4 of 4 judgments to ask" in out
    assert "is finished: 4 done" in out
    assert code == 0
    assert set(Judgment.objects.values_list("status", flat=True)) == {"done"}


def test_the_command_asks_what_failed_in_a_cancelled_run(provider):
    run, holder, held = abandoned(provider.base_url, how_many=4)
    outcomes = [Outcome(each, "failed", 8, reason="The server failed.") for each in held]
    endpoint = LeaseHolder.objects.get().endpoint_id
    store(
        run=run.pk,
        endpoint=endpoint,
        holder=holder,
        outcomes=outcomes,
        prices_of=unpriced,
    )
    cancel_run(run=run)
    out, code = judge(run)
    assert "A: 4 of 4 judgments to ask" in out
    assert code == 0


def test_calls_in_flight_in_a_cancelled_run_are_pending(provider):
    run, _, _ = abandoned(provider.base_url, how_many=4)
    cancel_run(run=run)
    out, code = judge(run)
    assert "No run was made: 4 judgments wait in another run." in out
    assert "Nothing is missing" not in out
    assert code == 1


def test_early_expired_leases_stay_with_their_holder_until_its_death(provider):
    cast = make_project()
    server = make_priced_endpoint(cast.project, provider.base_url, calls_in_flight=128)
    run = start_run(run=make_run(cast.project, make_judge(cast.project, endpoint=server)))
    Run.objects.update(untried_judges=None)
    dead, other = uuid4(), uuid4()
    first, *rest = lease(run=run.pk, endpoint=server.pk, holder=dead, how_many=3).judgments
    answer = Outcome(first, "done", 1, value=4.0, input_tokens=100, output_tokens=50)
    store(run=run.pk, endpoint=server.pk, holder=dead, outcomes=[answer], prices_of=EndpointPrices(server).of)
    long_ago = timezone.now() - timedelta(minutes=1)
    Judgment.objects.filter(pk__in=rest).update(leased_until=long_ago)  # its heartbeat is later
    taken = lease(run=run.pk, endpoint=server.pk, holder=other, how_many=3).judgments
    assert not set(taken) & set(rest)
    LeaseHolder.objects.filter(pk=dead).update(alive_until=long_ago)
    taken = lease(run=run.pk, endpoint=server.pk, holder=other, how_many=2).judgments
    assert set(taken) == set(rest)
    run.refresh_from_db()
    assert run.spent == 3 * Decimal("0.0006")


@pytest.mark.parametrize("way", ["swept", "taken over", "planned anew"])
def test_calls_of_a_dead_worker_are_spent_once_at_the_mean_cost(provider, way):
    cast = make_project()
    server = make_priced_endpoint(cast.project, provider.base_url)
    judge = make_judge(cast.project, endpoint=server)
    run = start_run(run=make_run(cast.project, judge))
    Run.objects.update(untried_judges=None)
    holder = uuid4()
    first, *_ = lease(run=run.pk, endpoint=server.pk, holder=holder, how_many=3).judgments
    # 100 tokens at 2 and 50 at 8 for a million: 0.0006, and as much for each of the two in flight.
    answer = Outcome(first, "done", 1, value=4.0, input_tokens=100, output_tokens=50)
    prices_of = EndpointPrices(server).of
    store(run=run.pk, endpoint=server.pk, holder=holder, outcomes=[answer], prices_of=prices_of)
    if way == "planned anew":
        cancel_run(run=run)
    die()
    for _ in range(2):
        if way == "swept":
            sweep()
        elif way == "planned anew":
            make_run(cast.project, judge)
        else:
            lease(run=run.pk, endpoint=server.pk, holder=uuid4(), how_many=1)
    run.refresh_from_db()
    assert run.spent == Decimal("0.0018")


def test_calls_that_a_dead_worker_made_for_two_runs_are_counted_once_in_all(provider):
    cast = make_project(dimensions=("fluency", "style"))
    server = make_priced_endpoint(cast.project, provider.base_url, calls_in_flight=4)
    judge, holder = make_judge(cast.project, endpoint=server), uuid4()
    runs = [start_run(run=make_run(cast.project, judge, dimensions=[name])) for name in ("fluency", "style")]
    Run.objects.update(untried_judges=None)
    for run in runs:
        first, *_ = lease(run=run.pk, endpoint=server.pk, holder=holder, how_many=4).judgments
        answer = Outcome(first, "done", 1, value=4.0, input_tokens=100, output_tokens=50)
        prices_of = EndpointPrices(server).of
        store(run=run.pk, endpoint=server.pk, holder=holder, outcomes=[answer], prices_of=prices_of)
    assert [statuses(run) for run in runs] == [{"done": 1, "leased": 3}] * 2
    die()
    assert sweep() == 6
    spent = [each - Decimal("0.0006") for each in Run.objects.order_by("pk").values_list("spent", flat=True)]
    assert spent == [Decimal("0.0012"), Decimal("0.0012")], "4 calls, as many of one as of the other"


def test_delayed_holder_that_leases_again_has_lost_no_call(provider):
    cast = make_project()
    judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project, provider.base_url))
    assert judge.endpoint_id is not None
    run, holder = start_run(run=make_run(cast.project, judge)), uuid4()
    for _ in range(2):
        lease(run=run.pk, endpoint=judge.endpoint_id, holder=holder, how_many=2)
        die()
    run.refresh_from_db()
    assert run.spent == 0


def test_a_worker_sweeps_by_itself(provider, tmp_path):
    run, _, _ = abandoned(provider.base_url)
    pause_run(run=run)
    die()
    with worker(tmp_path) as running_worker:
        assert wait_until(lambda: statuses(run) == {"planned": 4}, seconds=60), running_worker.story()


def answered_but_running(url):
    """Let the last worker die when all answers are stored, before it could finish the run."""
    cast = make_project()
    judge = make_judge(cast.project, endpoint=make_endpoint(cast.project, url))
    run = start_run(run=make_run(cast.project, judge))
    Run.objects.update(untried_judges=None)
    assert worked(run).status == "finished"
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, finished_at=None)
    return run


def test_a_run_whose_last_worker_died_before_it_could_finish_it_is_finished(provider):
    run, (open_run, _, _) = answered_but_running(provider.base_url), abandoned(provider.base_url)
    finish_left_undone()
    run.refresh_from_db()
    open_run.refresh_from_db()
    assert (run.status, open_run.status) == ("finished", "running")
    assert run.finished_at is not None


def test_judgments_returned_to_a_cancelled_run_leave_the_plan(provider):
    run, _, _ = abandoned(provider.base_url)
    cancel_run(run=run)
    run.judgments.update(status=Judgment.Status.PLANNED, lease=None, leased_until=None)
    finish_left_undone()
    assert statuses(run) == {}
    assert make_run(run.project, run.project.judges.get()).judgments.count() == 4


def test_a_worker_finishes_such_a_run_by_itself(provider, tmp_path):
    run = answered_but_running(provider.base_url)
    with worker(tmp_path) as running:
        assert wait_until(lambda: Run.objects.filter(pk=run.pk, status="finished").exists()), running.story()
    assert statuses(run) == {"done": run.judgments.count()}
