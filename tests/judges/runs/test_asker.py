"""One worker calls an endpoint for all runs; when it stops, nothing is lost or asked twice."""

import signal
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from functools import partial
from threading import Event, Semaphore

import pytest
from django.db import OperationalError
from django.utils import timezone

from judges.core.models import Endpoint, Judgment, LeaseHolder, Run
from judges.runs import asker
from judges.runs.asker import wait_for_calls
from judges.runs.commands import leases, outcomes, silence
from judges.runs.commands.collecting import collect, start_collecting
from judges.runs.commands.leases import sweep
from judges.runs.commands.runs import pause_run, start_run
from judges.runs.queries.runs import runs_with_open_judgments
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.news import news_project
from tests.judges.provider import providing
from tests.judges.rabbit import rabbit
from tests.judges.running import running, statuses, worked
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_goes_on_after_a_test(transactional_db, monkeypatch):
    monkeypatch.setattr(asker, "_stopping", Event())
    yield
    asker._stopping.set()
    wait_for_calls()


def slow_run(provider, *, temperature=0, **fields):
    """Plan four judgments at an endpoint that takes one call at a time."""
    project = news_project(documents=1, systems=1)
    endpoint = make_priced_endpoint(
        project, provider.base_url, **{"calls_in_flight": 1, "timeout_seconds": 60, **fields}
    )
    return running(project, make_judge(project, endpoint=endpoint, temperature=temperature))


def begin_a_call(run, provider):
    """Let this process call in the background until a call has begun."""
    before = len(provider.asked)
    start_collecting(run=run.pk, seconds=1)
    assert wait_until(lambda: len(provider.asked) > before, seconds=60)
    assert len(provider.asked) == before + 1
    assert statuses(run)["leased"] == 1, "no more is leased than may be in flight"
    assert LeaseHolder.objects.filter(calls_in_flight=1).exists()


def wait_until_over():
    """Wait until it makes no more calls: answered before, it would rightly make another one."""
    assert wait_until(lambda: all(worker.is_over for worker in asker._at_work.values()), seconds=60)


def one_call(run, provider, answers, monkeypatch):
    """Begin a call, stop the worker, then let the call be answered."""
    monkeypatch.setattr(asker, "_stopping", Event())
    begin_a_call(run, provider)
    asker._stopping.set()
    wait_until_over()
    answers.release()
    wait_for_calls()
    assert "leased" not in statuses(run)
    assert not LeaseHolder.objects.exists()


def test_calls_in_flight_keep_no_thread_of_the_worker_and_are_stored():
    answers = Semaphore(0)
    with providing(answers=answers) as provider:
        run = slow_run(provider)
        begin_a_call(run, provider)
        assert statuses(run) == {"leased": 1, "planned": 3}
        assert runs_with_open_judgments() == [run.pk]
        start_collecting(run=run.pk, seconds=1)
        collect(run=run.pk, seconds=1)
        assert len(provider.asked) == 1, "the endpoint is called by one worker"
        answers.release(4)
        assert wait_until(lambda: Run.objects.get(pk=run.pk).status == "finished", seconds=30)
    assert statuses(run) == {"done": 4}
    assert len(provider.asked) == 4
    assert provider.most_in_flight == 1


def test_what_waits_to_be_asked_again_is_given_back_when_time_is_up():
    with providing(status=500, error="busy") as provider:
        run = slow_run(provider, calls_in_flight=2)
        while not provider.asked:
            collect(run=run.pk, seconds=3)
    assert statuses(run) == {"planned": 4}
    assert set(run.judgments.values_list("answered_at", flat=True)) == {None}
    assert sum(run.judgments.values_list("attempts", flat=True)) == len(provider.asked)


def test_calls_that_fail_after_a_stop_are_counted_until_the_judgment_has_failed(monkeypatch):
    answers = Semaphore(0)
    with providing(answers=answers, status=500, error="busy") as provider:
        run = slow_run(provider)
        one_call(run, provider, answers, monkeypatch)
        assert statuses(run) == {"planned": 4}
        assert run.judgments.get(attempts=1).reason == ""
        run.judgments.filter(attempts=1).update(attempts=7)
        one_call(run, provider, answers, monkeypatch)
    assert statuses(run) == {"planned": 3, "failed": 1}
    failed = run.judgments.get(status="failed")
    assert (failed.attempts, failed.reason) == (8, "8 calls failed. The last one: The server failed: busy")


def test_an_unreadable_reply_is_asked_for_once_more_after_a_stop_and_both_are_paid(monkeypatch):
    answers = Semaphore(0)
    with providing(answers=answers, reply="No number.") as provider:
        run = slow_run(provider, temperature=0.7)
        one_call(run, provider, answers, monkeypatch)
        (first,) = run.judgments.filter(attempts=1)
        assert (first.status, first.reply, first.output_tokens) == ("planned", "No number.", 50)
        one_call(run, provider, answers, monkeypatch)
        first.refresh_from_db()
        assert (first.status, first.attempts) == ("unreadable", 2)
        assert (first.input_tokens, first.output_tokens) == (200, 100)
        provider.reply = "Score: 4"
        one_call(run, provider, answers, monkeypatch)
    run.refresh_from_db()
    assert run.spent == 3 * Decimal("0.0006")  # 100 x 2 + 50 x 8 in millionths
    assert run.spent == sum(cost or 0 for cost in run.judgments.values_list("cost", flat=True))


def test_a_call_that_fails_after_a_stop_is_stored_with_the_endpoint(monkeypatch):
    answers = Semaphore(0)
    with providing(answers=answers, status=500, error="busy") as provider:
        run = slow_run(provider)
        one_call(run, provider, answers, monkeypatch)
        endpoint = Endpoint.objects.get()
        assert (endpoint.unanswered_since, endpoint.failure) == (endpoint.tried_at, "The server failed: busy")
        provider.status = 200
        one_call(run, provider, answers, monkeypatch)
    endpoint.refresh_from_db()
    assert endpoint.unanswered_since is None


def test_two_endpoints_are_called_at_the_same_time():
    first_answers, second_answers = Semaphore(0), Semaphore(0)
    with providing(answers=first_answers) as first, providing(answers=second_answers) as second:
        runs = [slow_run(first), slow_run(second)]
        for run in runs:
            start_collecting(run=run.pk, seconds=1)
        assert wait_until(lambda: len(first.asked) == len(second.asked) == 1, seconds=60)
        second_answers.release(4)
        assert wait_until(lambda: Run.objects.get(pk=runs[1].pk).status == "finished", seconds=60)
        assert len(first.asked) == 1
        first_answers.release(4)
        assert wait_until(lambda: Run.objects.get(pk=runs[0].pk).status == "finished", seconds=60)


def test_a_run_that_is_paused_and_resumed_is_called_for_beside_its_last_call():
    answers = Semaphore(0)
    with providing(answers=answers) as provider:
        run = slow_run(provider, calls_in_flight=2)
        start_collecting(run=run.pk, seconds=1)
        assert wait_until(lambda: len(provider.asked) == 2, seconds=60)
        pause_run(run=run)
        answers.release()
        assert wait_until(lambda: statuses(run).get("done") == 1, seconds=60)
        start_run(run=run)
        answers.release(10)
        assert wait_until(lambda: Run.objects.get(pk=run.pk).status == "finished", seconds=60)
    assert statuses(run) == {"done": 4}
    assert len(provider.asked) == 4


def test_changed_settings_of_an_endpoint_hold_for_the_calls_after_a_renewal(monkeypatch):
    monkeypatch.setattr(asker, "RENEWED_EVERY", 0.0)
    answers = Semaphore(0)
    with providing(answers=answers) as provider, providing() as other:
        run = slow_run(provider)
        begin_a_call(run, provider)
        Endpoint.objects.update(base_url=other.base_url, calls_in_flight=2)
        wait_until_over()
        answers.release()
        wait_for_calls()
        assert worked(run).status == "finished"
    assert (len(provider.asked), len(other.asked)) == (1, 3)


# Two runs at one endpoint


@contextmanager
def two_at_work(provider, calls_in_flight):
    """Let a run make all calls that an endpoint takes, then start another one there."""
    project = news_project(documents=3, systems=4)
    endpoint = make_endpoint(project, provider.base_url, calls_in_flight=calls_in_flight, timeout_seconds=60)
    runs = [running(project, make_judge(project, endpoint=endpoint, model=name)) for name in ("one", "two")]
    start_collecting(run=runs[0].pk, seconds=1)
    assert wait_until(lambda: provider.in_flight["one"] == calls_in_flight, seconds=30)
    start_collecting(run=runs[1].pk, seconds=1)
    yield
    assert provider.answers is not None
    provider.answers.release(1000)
    wait_for_calls()
    assert [worked(run).status for run in runs] == ["finished", "finished"]
    assert len(provider.asked) == 96


def test_a_run_that_made_all_calls_leaves_half_of_them_to_another():
    answers = Semaphore(0)
    with providing(answers=answers) as provider, two_at_work(provider, 4):

        def share():
            answers.release()
            return wait_until(lambda: provider.in_flight == {"one": 2, "two": 2}, seconds=1)

        assert wait_until(share, seconds=30)
        asked = len(provider.asked)
        assert asked < 48, "while the first run still has much to ask"
    assert provider.most_in_flight == 4


def test_two_runs_take_turns_where_one_call_is_allowed():
    answers = Semaphore(0)
    with providing(answers=answers) as provider, two_at_work(provider, 1):

        def turned(to):
            answers.release()
            return wait_until(lambda: provider.asked[-1]["model"] == to, seconds=0.2)

        for name in ("two", "one", "two"):
            assert wait_until(partial(turned, name), seconds=60)
        models = [asked["model"] for asked in provider.asked]
        assert models.count("one") < 48
        assert models.count("two") < 48
    assert provider.most_in_flight == 1


# Real workers


def test_stopping_worker_stores_its_call_and_starts_no_other(tmp_path):
    answers = Semaphore(0)
    with providing(answers=answers) as provider, worker(tmp_path) as running_worker:
        run = slow_run(provider)
        assert wait_until(lambda: len(provider.asked) == 1, seconds=60), running_worker.story()
        assert running_worker.process is not None
        running_worker.process.send_signal(signal.SIGTERM)
        # Answered before it knows that it stops, it would rightly begin another call, never answered.
        assert wait_until(lambda: "it begins no more calls" in running_worker.log.read_text())
        answers.release()
        assert running_worker.process.wait(60) == 0
        assert statuses(run) == {"done": 1, "planned": 3}
        assert len(provider.asked) == 1


@pytest.mark.long
@pytest.mark.once  # it is about RabbitMQ, whatever the database
def test_calls_beyond_the_rabbitmq_consumer_timeout_cost_no_worker(tmp_path):
    with rabbit(consumer_timeout=3) as broker, providing(seconds=4) as provider:
        first = slow_run(provider)
        with worker(tmp_path, broker=broker.url) as running_worker:

            def finished(run):
                return Run.objects.get(pk=run.pk).status == "finished"

            assert wait_until(lambda: finished(first)), running_worker.story()
            assert "timed out" not in broker.log(), "a task acknowledges its message when it begins"
            # Both threads are at work and a message waits behind them: RabbitMQ closes the channel.
            others = [slow_run(provider), slow_run(provider)]
            assert wait_until(lambda: all(map(finished, others))), running_worker.story()
            assert running_worker.process is not None
            assert running_worker.process.poll() is None
            assert wait_until(lambda: "celery\t1" in consumers(broker))
    for run in (first, *others):
        assert statuses(run) == {"done": 4}
    assert len(provider.asked) == 12
    assert set(Judgment.objects.values_list("attempts", flat=True)) == {1}


def consumers(broker):
    """Return the queues of a broker with how many consumers each has."""
    return broker.ask("list_queues", "--no-table-headers", "name", "consumers").splitlines()


def test_run_whose_answers_cannot_be_stored_keeps_no_judgment(monkeypatch):
    """Its worker gives the endpoint back, and the other run ends with the next worker."""
    store = outcomes.store

    with providing() as provider:
        run = slow_run(provider)
        other = running(run.project, make_judge(run.project, endpoint=Endpoint.objects.get(), name="Other"))

        def fail_for_run(**what):
            if what["run"] == run.pk:
                raise ValueError("A value that no column takes.")
            return store(**what)

        monkeypatch.setattr(outcomes, "store", fail_for_run)
        start_collecting(run=run.pk, seconds=1)
        wait_for_calls()
        assert not LeaseHolder.objects.exists()
        monkeypatch.setattr(outcomes, "store", store)
        Judgment.objects.filter(status="leased").update(leased_until=timezone.now() - timedelta(minutes=1))
        sweep()
        for each in (run, other):
            start_collecting(run=each.pk, seconds=1)
            wait_for_calls()
        assert statuses(run) == statuses(other) == {"done": 4}


def test_lease_is_renewed_while_one_run_is_locked(monkeypatch):
    lease, renewed, free = leases.lease, [], Event()
    renew = leases.renew
    monkeypatch.setattr(asker, "RENEWED_EVERY", 0.05)

    def count(**what):
        renewed.append(what)
        return renew(**what)

    monkeypatch.setattr(leases, "renew", count)
    monkeypatch.setattr(leases, "lease", lambda **what: free.wait(60) and lease(**what))
    with providing() as provider:
        run = slow_run(provider)
        start_collecting(run=run.pk, seconds=1)
        assert wait_until(lambda: len(renewed) > 2, seconds=60)
        assert not provider.asked
        free.set()
        wait_for_calls()
        assert statuses(run) == {"done": 4}


def test_cost_counts_once_if_a_step_after_the_write_fails(monkeypatch):
    store, note, events = outcomes.store, silence.note_answer, []

    def count_store(**what):
        events.append("outcomes stored")
        return store(**what)

    def fail_first(*, endpoint):
        is_first = "database away" not in events
        events.append("database away" if is_first else "answer noted")
        if is_first:
            raise OperationalError("The database is away.")
        note(endpoint=endpoint)

    monkeypatch.setattr(outcomes, "store", count_store)
    monkeypatch.setattr(silence, "note_answer", fail_first)
    with providing() as provider:
        run = slow_run(provider)
        start_collecting(run=run.pk, seconds=1)
        wait_for_calls()
    run.refresh_from_db()
    assert statuses(run) == {"done": 4}
    costs = Judgment.objects.filter(run=run).values_list("cost", flat=True)
    assert run.spent == sum(cost or 0 for cost in costs) > 0
    assert events[:3] == ["outcomes stored", "database away", "answer noted"]
