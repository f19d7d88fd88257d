"""A worker's part of a drafting: one call for each proposal; the reply is stored before parsing."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError
from annotate.core.jobs import JobKind, TakenOverError, own_row, persistently
from judges.core.models import Drafting, Judge, Proposal
from judges.endpoints.client import call_once
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.questions import Question, Reply, Server
from judges.laboratory.queries.searches import LONGEST, plan_of_calls
from judges.methods import METHODS
from judges.methods.base import Message
from judges.methods.nearest import restore_pool
from judges.methods.reading import Unreadable
from judges.methods.reading.plain import answer_start

TRIES = 3
LONGEST_WAIT = 30.0  # seconds before a call is repeated
Status = Drafting.Status


@transaction.atomic
def _count_lost_calls(drafting: Drafting) -> None:
    """Count a call in flight at the death of a worker as spent: the server may have answered."""
    locked = _lock(drafting)
    for lost in drafting.proposals.filter(is_in_flight=True):
        locked.spent += plan_of_calls(drafting.drafter, [lost]).cost or 0
    drafting.proposals.update(is_in_flight=False)
    locked.save(update_fields=["spent"])


def _ask_for_all(drafting: Drafting) -> str:
    """Make the missing calls in sequence; return the reason for stopping, or an empty string.

    No transaction is open during a call. A killed worker loses the call in flight, and its cost counts as
    spent.
    """
    # A worker that died during a call has left its mark in the row.
    _count_lost_calls(drafting)
    drafter = drafting.drafter
    if drafter.endpoint is None:
        return gettext("{name} is imported and calls no model.").format(name=drafter.name)
    try:
        server = server_of(drafter.endpoint, calls_in_flight=1)
    # As without a key: the drafting stops with the reason, and a person can resume it.
    except DomainError as error:
        return error.message
    for proposal in drafting.proposals.filter(status=Proposal.Status.DRAFTING).order_by("pk"):
        # A reply that a dead worker stored is paid already, so only its parsing is repeated.
        if proposal.reply is None:
            if not _affords(drafting, proposal):
                return gettext(
                    "The budget of {budget} does not allow one more call; give it a larger one and go on."
                ).format(budget=f"{drafting.budget:f}")
            with transaction.atomic():
                _lock(drafting)
                # The mark is committed before the call, so that a crash during the call counts as spent.
                Proposal.objects.filter(pk=proposal.pk).update(is_in_flight=True)
            try:
                reply = _ask(server, _question(drafter, proposal))
            except RequestFailed as error:
                # The failure is not about this request, so the drafting stops until a person resumes it.
                if not error.permanent:
                    _store(drafting, proposal, {})
                    return error.sentence
                _store(drafting, proposal, {"status": Proposal.Status.FAILED, "problem": error.sentence})
                continue
            # The call is paid, so a database that is away for a moment must not lose its reply.
            persistently(partial(_store_reply, drafting, proposal, reply))
        _store(drafting, proposal, _fields_of_reply(drafting, proposal))
    return ""


def _affords(drafting: Drafting, proposal: Proposal) -> bool:
    if drafting.budget is None:
        return True
    # `drafting` is older than the calls that this worker has stored.
    spent = Drafting.objects.values_list("spent", flat=True).get(pk=drafting.pk)
    cost = plan_of_calls(drafting.drafter, [proposal]).cost
    # Nothing can enforce a budget without prices.
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
    """Call up to three times, after the delay that the server requests. Raises RequestFailed."""
    for tried in range(1, TRIES):
        try:
            return call_once(server, question)
        except RequestFailed as error:
            if error.permanent or error.fatal_for_run:
                raise
            # Without a delay from the server, the next try waits a second longer.
            time.sleep(min(error.wait if error.wait is not None else tried, LONGEST_WAIT))
    return call_once(server, question)


def _fields_of_reply(drafting: Drafting, proposal: Proposal) -> Mapping[str, Any]:
    assert proposal.reply is not None
    start = answer_start(proposal.reply)
    text = "" if isinstance(start, Unreadable) else proposal.reply[start:].strip()
    problem = start.reason if isinstance(start, Unreadable) else ""
    if not problem and not text:
        problem = gettext("The reply is empty.")
    if not problem and proposal.kind == Proposal.Kind.WORDING:
        template = drafting.judge.template
        # The request hides the pool of examples behind a placeholder, which the reply keeps.
        text = restore_pool(text, template.text_about(proposal.dimension_id)) if template else text
        try:
            METHODS[drafting.judge.method].check(text)
        except ValueError as error:
            problem = str(error)
    if problem:
        return {"status": Proposal.Status.FAILED, "problem": problem}
    return {"status": Proposal.Status.PROPOSED, "text": text, "drafted_by": drafting.drafter.model}


@transaction.atomic
def _store_reply(drafting: Drafting, proposal: Proposal, reply: Reply) -> None:
    """Store a reply with its cost before parsing, so that another attempt pays nothing."""
    assert drafting.drafter.endpoint is not None
    prices = prices_of(drafting.drafter.endpoint, drafting.drafter.model)
    locked = _lock(drafting)
    proposal.reply, proposal.is_in_flight = reply.text, False
    proposal.input_tokens, proposal.output_tokens = reply.input_tokens, reply.output_tokens
    proposal.cost = prices.cost(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
    proposal.save(update_fields=["reply", "is_in_flight", "input_tokens", "output_tokens", "cost"])
    # An unknown cost adds nothing, so `spent` is a lower limit without prices.
    locked.spent += proposal.cost or 0
    locked.save(update_fields=["spent"])


@transaction.atomic
def _store(drafting: Drafting, proposal: Proposal, became: Mapping[str, Any]) -> None:
    """Store the result of a call. Locks the drafting."""
    _lock(drafting)
    Proposal.objects.filter(pk=proposal.pk).update(is_in_flight=False, **became)
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


DRAFTING_JOB = JobKind(
    "drafting",
    Drafting,
    _ask_for_all,
    does="calls a model for proposals",
    statuses={Status.WAITING: Status.ASKING},
    finished=Status.FINISHED,
    related=("drafter__endpoint", "judge__template"),
)
