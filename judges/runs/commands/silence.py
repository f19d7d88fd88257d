"""Silence of servers, shared by all workers, and its effect on runs.

A failed call starts a silence, and the next answer ends it. After some seconds of silence, workers send only
one short probe at a time. After the endpoint's patience its runs stop, and the first answer within
`resume_hours` resumes them.
"""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from judges.core.errors import KeyMissingError
from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.endpoints.client import ask_once
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import READY
from judges.endpoints.questions import Question
from judges.methods.base import Message
from judges.runs.commands import leases
from judges.runs.commands.endings import stop_run
from judges.runs.commands.leases import hold_probe, lock_endpoint
from judges.runs.commands.outcomes import note_max_tokens_name
from judges.runs.queries.runs import goes_on

# A restarting server is back within seconds: until then its calls are retried with separate pauses.
PROBED_AFTER = timedelta(seconds=10)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=1)
# Failed calls with a longer gap than this plus a call's timeout are two silences, without calls in between.
NOBODY_ASKED = timedelta(minutes=10)
PROBE_TOKENS = 16


def note_failure(*, endpoint: int, sentence: str, asked_to_wait: bool = False) -> bool:
    """Record a failed call; return True if only probes should start now.

    asked_to_wait: the server is reachable and accepts no calls yet. So its pause is respected without probes,
    but this time also counts against its patience. Stops the endpoint's runs when its patience is over. Locks
    the endpoint and, after that is committed, each run in turn.
    """
    server = _note(endpoint, sentence, asked_to_wait)
    assert server.patience_until is not None
    if timezone.now() >= server.patience_until:
        for run in _runs_that_ask(server):
            stop_run(run, no_answer_from(server, sentence), waits_for=server)
    return server.next_probe_at is not None


@transaction.atomic
def _note(endpoint: int, sentence: str, asked_to_wait: bool) -> Endpoint:
    now = timezone.now()
    server = Endpoint.objects.select_for_update().get(pk=endpoint)
    forgotten = NOBODY_ASKED + timedelta(seconds=server.timeout_seconds)
    if server.unanswered_since is None or server.tried_at is None or now - server.tried_at > forgotten:
        server.unanswered_since = now
        server.patience_until = now + patience_of(server)
    server.tried_at, server.failure = now, sentence
    assert server.patience_until is not None
    # A server that asks to wait is reachable: it needs no probes until its patience is over.
    lasts = not asked_to_wait and now - server.unanswered_since >= PROBED_AFTER
    if server.next_probe_at is None and (lasts or now >= server.patience_until):
        server.next_probe_at = now + FIRST_PAUSE
    server.save(update_fields=["unanswered_since", "patience_until", "tried_at", "failure", "next_probe_at"])
    return server


def note_answer(*, endpoint: int) -> None:
    """Record an answer of the server, which ends its silence and resumes the runs that stopped for it.

    Locks each run in turn. One query if there was no silence.
    """
    ended = Endpoint.objects.filter(pk=endpoint, unanswered_since__isnull=False).update(
        unanswered_since=None, patience_until=None, next_probe_at=None, failed_probes=0
    )
    # Of several workers, only the one that ended the silence resumes the runs.
    if ended:
        waiting = Run.objects.filter(waits_for=endpoint, resumes_until__gt=timezone.now())
        for run in waiting.values_list("pk", flat=True):
            resume_run(run)


@transaction.atomic
def resume_run(run: int) -> None:
    """Resume a run that stopped for lack of an answer; other runs do not change. Locks the run."""
    locked = Run.objects.select_for_update().filter(pk=run, status=Run.Status.STOPPED).first()
    if locked is None or locked.waits_for is None:
        return
    record(locked.project, "run.resumed", locked, note=f"{locked.waits_for.name} answers again.")
    locked.status, locked.reason, locked.finished_at = Run.Status.RUNNING, "", None
    locked.waits_for = locked.resumes_until = None
    locked.save(update_fields=["status", "reason", "finished_at", "waits_for", "resumes_until"])


def be_patient_again(*, run: Run) -> None:
    """Restore the initial patience for silent servers of a run that a person resumes, and try them soon."""
    now = timezone.now()
    asked = Exists(Judgment.objects.filter(run=run, judge__endpoint=OuterRef("pk")))
    for server in Endpoint.objects.filter(asked, unanswered_since__isnull=False):
        # The condition is repeated: an answer may have ended the silence since the query.
        Endpoint.objects.filter(pk=server.pk, unanswered_since__isnull=False).update(
            patience_until=now + patience_of(server), tried_at=now, next_probe_at=now, failed_probes=0
        )


@transaction.atomic
def take_probe(*, run: int, endpoint: int, holder: UUID) -> bool:
    """Return whether this holder shall try a silent server now; it then has a lease for that call.

    Locks the run, then the endpoint. The next probe is due after a pause that doubles from 5 s up to a
    minute.
    """
    now = timezone.now()
    server = lock_endpoint(run=run, endpoint=endpoint)
    if server is None or server.next_probe_at is None:
        return False
    # A pause that the server asked for delays probes, too.
    if max(server.next_probe_at, server.resting_until or now) > now:
        return False
    if not hold_probe(endpoint=server, run=run, holder=holder):
        return False
    # Stored before this probe is created: another one follows even if its worker dies.
    pause = min(FIRST_PAUSE * 2 ** min(server.failed_probes, 8), LONGEST_PAUSE)
    server.next_probe_at, server.failed_probes = now + pause, min(server.failed_probes + 1, 8)
    server.save(update_fields=["next_probe_at", "failed_probes"])
    return True


def give_up(*, endpoint: int, reason: str) -> None:
    """Stop the runs that call or await an endpoint, for a permanent reason."""
    for run in _runs_that_ask(Endpoint(pk=endpoint)):
        stop_run(run, reason)
    # Runs that stopped before now need a person: no answer resumes them.
    Run.objects.filter(waits_for=endpoint).update(reason=reason, waits_for=None, resumes_until=None)


def _runs_that_ask(server: Endpoint) -> QuerySet[Run]:
    open_ones = Judgment.objects.filter(
        judge__endpoint=server, status__in=(Judgment.Status.PLANNED, Judgment.Status.LEASED)
    )
    # Batches have a patience of their own (`batch_worker`).
    running = Run.objects.filter(status=Run.Status.RUNNING, via=Run.Via.CALLS)
    return running.filter(pk__in=open_ones.values("run")).order_by("pk")


def patience_of(server: Endpoint) -> timedelta:
    """Return the permitted duration of a server's silence before its runs stop."""
    return timedelta(minutes=server.patience_minutes)


def no_answer_from(server: Endpoint, last: str) -> str:
    """Return the reason for stopping a run with a silent server; `last`: the result of the last call."""
    return gettext("No answer from {server} for {minutes} minutes. The last call: {last}").format(
        server=server.name, minutes=server.patience_minutes, last=last
    )


# Probes: short questions that detect when a silent server answers again.


def probe_silent_servers(*, run: int) -> None:
    """Probe each due silent server of a run. Any answer, even a rejection, ends silence."""
    now = timezone.now()
    silent = Endpoint.objects.filter(next_probe_at__lte=now)
    if goes_on(run):
        of_run = Judgment.objects.filter(run=run, judge__endpoint=OuterRef("pk"))
        silent = silent.filter(Exists(of_run))
    else:  # it stopped for the silence of a server, and resumes once that answers
        silent = silent.filter(pk__in=Run.objects.filter(pk=run, resumes_until__gt=now).values("waits_for"))
    for endpoint in silent:
        judge = Judge.with_candidates.filter(endpoint=endpoint, judgments__run=run).first()
        holder = uuid4()
        if judge is not None and take_probe(run=run, endpoint=endpoint.pk, holder=holder):
            _probe(run, judge, holder)


def _probe(run: int, judge: Judge, holder: UUID) -> None:
    """Send a short question to a judge's model, and record whether it is answered."""
    assert judge.endpoint is not None
    endpoint, name = judge.endpoint, judge.max_tokens_name
    # No temperature, because some models reject any, and the words of the reply do not matter.
    question = Question(judge.model, (Message("user", READY),), None, PROBE_TOKENS, max_tokens_name=name)
    try:
        reply = ask_once(server_of(endpoint, calls_in_flight=1), question)
    except KeyMissingError as error:
        give_up(endpoint=endpoint.pk, reason=error.message)
    except RequestFailed as error:
        if error.fatal_for_run:
            give_up(endpoint=endpoint.pk, reason=error.sentence)
        elif error.permanent:
            note_answer(endpoint=endpoint.pk)
        else:
            if error.wait:
                until = timezone.now() + timedelta(seconds=error.wait)
                # The pause that the server asks for is for calls and probes of all workers.
                leases.let_rest(endpoint=endpoint.pk, until=until)
            note_failure(endpoint=endpoint.pk, sentence=error.sentence)
    else:
        note_max_tokens_name(endpoint.pk, judge.model, reply.max_tokens_name)
        note_answer(endpoint=endpoint.pk)
        # A probe is a paid call of the run.
        cost = prices_of(endpoint, judge.model).cost(
            reply.input_tokens, reply.output_tokens, reply.cached_tokens
        )
        Run.objects.filter(pk=run).update(spent=F("spent") + (cost or Decimal(0)))
    finally:
        leases.let_go(holder=holder)
