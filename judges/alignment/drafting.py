"""A worker's part of a drafting: one call for each proposal, stored before the next one begins."""

import asyncio
import time
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError
from annotate.core.jobs import TakenOverError, own_row, work_on
from judges.alignment.queries.draftings import LONGEST, plan_of_calls
from judges.core.models import Drafting, Judge, Proposal
from judges.endpoints.client import ask_once
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.questions import Question, Server
from judges.endpoints.replies import Reply
from judges.endpoints.work import Prices
from judges.methods import METHODS
from judges.methods.base import Message
from judges.methods.reading.plain import answer_start
from judges.methods.readings import Unreadable

TRIES = 3
LONGEST_WAIT = 30.0  # seconds before a call is made again
Status = Drafting.Status


def run_drafting(*, drafting: int) -> None:
    """Ask for what a drafting waits for, or what a worker died at; one that another has is left alone.

    No transaction is open during a call. A worker that is killed loses the call that was in flight, and
    nothing else; what that call may have cost counts as spent.
    """
    related = ("drafter__endpoint", "judge__template")
    found = Drafting.objects.select_related(*related).filter(pk=drafting).first()
    if found is not None:
        work = partial(_ask_for_all, found)
        work_on(found, waiting=Status.WAITING, running=Status.ASKING, work=work)


@transaction.atomic
def _count_lost_calls(drafting: Drafting) -> None:
    """Count what was in flight when a worker died as spent: the server may have answered."""
    locked = _lock(drafting)
    for lost in drafting.proposals.filter(is_in_flight=True):
        locked.spent += plan_of_calls(drafting.drafter, [lost]).cost or 0
    drafting.proposals.update(is_in_flight=False)
    locked.save(update_fields=["spent"])


def _ask_for_all(drafting: Drafting) -> str:
    """Ask one by one; return why it stopped, or nothing."""
    _count_lost_calls(drafting)
    drafter = drafting.drafter
    if drafter.endpoint is None:
        return gettext("{name} was imported and asks nobody.").format(name=drafter.name)
    try:
        server = server_of(drafter.endpoint, calls_in_flight=1)
    except DomainError as error:
        return error.message
    for proposal in drafting.proposals.filter(status=Proposal.Status.DRAFTING).order_by("pk"):
        if not _affords(drafting, proposal):
            return gettext(
                "The budget of {budget} does not allow one more call; give it a larger one and go on."
            ).format(budget=f"{drafting.budget:f}")
        _mark_in_flight(drafting, proposal)
        try:
            reply = _ask(server, _question(drafter, proposal))
        except RequestFailed as error:
            if not error.permanent:
                _store(drafting, proposal, {}, None)
                return error.sentence
            failed = {"status": Proposal.Status.FAILED, "problem": error.sentence}
            _store(drafting, proposal, failed, None)
            continue
        cost = Prices.of(drafter.endpoint).cost(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        _store(drafting, proposal, _fields_of_reply(drafting, proposal, reply), cost)
    return ""


def _affords(drafting: Drafting, proposal: Proposal) -> bool:
    if drafting.budget is None:
        return True
    spent = Drafting.objects.values_list("spent", flat=True).get(pk=drafting.pk)
    cost = plan_of_calls(drafting.drafter, [proposal]).cost
    return cost is not None and spent + cost <= drafting.budget


def _question(drafter: Judge, proposal: Proposal) -> Question:
    return Question(
        drafter.model,
        (Message("user", proposal.request),),
        temperature=drafter.temperature,
        max_tokens=LONGEST[Proposal.Kind(proposal.kind)],
        max_tokens_name=drafter.max_tokens_name,
        reasoning_effort=drafter.reasoning_effort,
        extra_body=drafter.extra_body,
    )


def _ask(server: Server, question: Question) -> Reply:
    """Ask up to three times, after the time that the server asks for. Raises RequestFailed."""
    for tried in range(1, TRIES):
        try:
            return asyncio.run(ask_once(server, question))
        except RequestFailed as error:
            if error.permanent or error.fatal_for_run:
                raise
            time.sleep(min(error.wait if error.wait is not None else tried, LONGEST_WAIT))
    return asyncio.run(ask_once(server, question))


def _fields_of_reply(drafting: Drafting, proposal: Proposal, reply: Reply) -> Mapping[str, Any]:
    """Return what becomes of a proposal by its reply: a text, or why there is none."""
    usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    start = answer_start(reply.text)
    text = "" if isinstance(start, Unreadable) else reply.text[start:].strip()
    problem = start.reason if isinstance(start, Unreadable) else ""
    if not problem and not text:
        problem = gettext("The reply is empty.")
    if not problem and proposal.kind == Proposal.Kind.WORDING:
        problem = _problem_of_wording(drafting.judge, text)
    if problem:
        return {**usage, "status": Proposal.Status.FAILED, "problem": problem}
    return {**usage, "status": Proposal.Status.PROPOSED, "text": text, "drafted_by": drafting.drafter.model}


def _problem_of_wording(judge: Judge, text: str) -> str:
    try:
        METHODS[judge.method].check(text)
    except ValueError as error:
        return str(error)
    return ""


def _mark_in_flight(drafting: Drafting, proposal: Proposal) -> None:
    with transaction.atomic():
        _lock(drafting)
        Proposal.objects.filter(pk=proposal.pk).update(is_in_flight=True)


@transaction.atomic
def _store(drafting: Drafting, proposal: Proposal, became: Mapping[str, Any], cost: Decimal | None) -> None:
    """Keep what came of a call, with its cost. Locks the drafting."""
    locked = _lock(drafting)
    Proposal.objects.filter(pk=proposal.pk).update(is_in_flight=False, cost=cost, **became)
    locked.spent += cost or 0
    locked.save(update_fields=["spent"])
    if became.get("text"):
        facts = {"kind": proposal.kind, "dimension": proposal.dimension.key, "units": proposal.items.count()}
        judge = drafting.judge
        record(judge.project, "proposal.made", judge, after=facts, by=drafting.created_by)


def _lock(drafting: Drafting) -> Drafting:
    """Return the drafting, locked, while this worker holds it; raises TakenOverError."""
    locked = own_row(drafting).select_for_update().first()
    if locked is None:
        raise TakenOverError
    return locked
