"""The demonstration's endpoint of recorded replies, its judges and their runs."""

from decimal import Decimal
from uuid import uuid4

from django.utils import timezone

from annotate.core.models import Project, User
from judges.core.models import Endpoint, Judge, Run
from judges.core.specification import JudgeSpec, Scope
from judges.endpoints.commands import add_judge
from judges.endpoints.prices import prices_of
from judges.endpoints.questions import Reply
from judges.management.demonstration.recorded_server import BASE_URL, MODEL, completion_of
from judges.runs.asking import outcome_of_reply
from judges.runs.commands.endings import finish_if_done
from judges.runs.commands.leases import lease
from judges.runs.commands.outcomes import store
from judges.runs.commands.runs import plan_run
from judges.runs.queries.work import work_of

_CALLS = 16  # in flight
_SECONDS = 0.2  # of a call


def add_recorded_runs(project: Project, by: User) -> None:
    """Add the endpoint with two judges: one with a finished run, one whose run is planned."""
    # Not by the command: if an operator's list of servers lacks this one, its calls are rejected.
    endpoint = Endpoint.objects.create(
        project=project,
        name="Recorded replies (invented prices)",
        base_url=BASE_URL,
        input_price=Decimal("0.15"),
        output_price=Decimal("0.60"),
        calls_in_flight=_CALLS,
    )
    finished, planned = (
        add_judge(
            project=project,
            judge=JudgeSpec(
                name=name, endpoint=endpoint, model=MODEL, template=key, max_tokens_name="max_tokens"
            ),
            by=by,
        )
        for name, key in (
            ("Recorded model, reasons first", "rts"),
            ("Recorded model, multiple choice", "mcq"),
        )
    )
    dimensions = list(project.dimensions.values_list("key", flat=True))
    _answer(plan_run(project=project, scope=Scope([finished], dimensions), by=by), finished)
    plan_run(project=project, scope=Scope([planned], dimensions[:1]), by=by, budget=Decimal(1))


def _answer(run: Run, judge: Judge) -> None:
    """Answer every judgment of a run with its recorded reply, as a worker stores replies."""
    endpoint, holder = judge.endpoint, uuid4()
    assert endpoint is not None
    prices = prices_of(endpoint, MODEL)
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=now)
    while leased := lease(run=run.pk, endpoint=endpoint.pk, holder=holder, how_many=_CALLS).judgments:
        outcomes = [
            outcome_of_reply(each, _reply("\n".join(message.content for message in each.question.messages)))
            for each in work_of(leased)
        ]
        store(run=run.pk, endpoint=endpoint.pk, holder=holder, outcomes=outcomes, prices_of=lambda _: prices)
    finish_if_done(run=run.pk)


def _reply(prompt: str) -> Reply:
    completion = completion_of(prompt, samples=1)
    text, usage = completion["choices"][0]["message"]["content"], completion["usage"]
    return Reply(text, usage["prompt_tokens"], usage["completion_tokens"], _SECONDS, model=MODEL)
