"""Probes: short questions that detect when a silent server answers again."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from judges.core.errors import KeyMissingError
from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.endpoints.client import ask_once
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import READY
from judges.endpoints.questions import Question
from judges.methods.base import Message
from judges.runs.commands import askers, leases, silence
from judges.runs.commands.first_judgments import note_max_tokens_name
from judges.runs.queries.runs import goes_on

PROBE_TOKENS = 16


def probe_silent_servers(*, run: int) -> None:
    """Probe each due silent server of a run. Any answer, even a rejection, ends silence."""
    for endpoint in _silent(run).filter(next_probe_at__lte=timezone.now()):
        judge = Judge.with_candidates.filter(endpoint=endpoint, judgments__run=run).first()
        holder = uuid4()
        if judge is not None and silence.take_probe(run=run, endpoint=endpoint.pk, holder=holder):
            _probe(run, judge, holder)


def _probe(run: int, judge: Judge, holder: UUID) -> None:
    """Send a short question to a judge's model, and record whether it is answered."""
    assert judge.endpoint is not None
    endpoint, name = judge.endpoint, judge.max_tokens_name
    question = Question(judge.model, (Message("user", READY),), None, PROBE_TOKENS, max_tokens_name=name)
    try:
        reply = asyncio.run(ask_once(server_of(endpoint, calls_in_flight=1), question))
    except KeyMissingError as error:
        silence.give_up(endpoint=endpoint.pk, reason=error.message)
    except RequestFailed as error:
        assert judge.endpoint_id is not None
        if error.fatal_for_run:
            silence.give_up(endpoint=judge.endpoint_id, reason=error.sentence)
        elif error.permanent:
            silence.note_answer(endpoint=judge.endpoint_id)
        else:
            if error.wait:
                until = timezone.now() + timedelta(seconds=error.wait)
                leases.let_rest(endpoint=judge.endpoint_id, until=until)
            silence.note_failure(endpoint=judge.endpoint_id, sentence=error.sentence)
    else:
        note_max_tokens_name(endpoint.pk, judge.model, reply.max_tokens_name)
        silence.note_answer(endpoint=endpoint.pk)
        cost = prices_of(endpoint, judge.model).cost(
            reply.input_tokens, reply.output_tokens, reply.cached_tokens
        )
        Run.objects.filter(pk=run).update(spent=F("spent") + (cost or Decimal(0)))
    finally:
        askers.let_go(holder=holder)


def _silent(run: int) -> QuerySet[Endpoint]:
    silent = Endpoint.objects.filter(next_probe_at__isnull=False)
    if goes_on(run):
        return silent.filter(Exists(Judgment.objects.filter(run=run, judge__endpoint=OuterRef("pk"))))
    waiting = Run.objects.filter(pk=run, resumes_until__gt=timezone.now())
    return silent.filter(pk__in=waiting.values("waits_for"))
