"""Planning, starting and discarding of draftings, in which a model drafts proposals."""

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import wake_worker
from annotate.core.models import Dimension, User
from judges.core.errors import invalid_field
from judges.core.models import Drafting, Judge, PromptSearch, Proposal
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.prices import prices_of
from judges.laboratory.cases import (
    MOST_CASES,
    STYLES,
    Case,
    CaseKind,
    ask_for_clarification,
    ask_for_wording,
    cluster_cases,
)
from judges.laboratory.drafting import DRAFTING_JOB
from judges.laboratory.queries.cases import cases_of, find_frozen

Status = Drafting.Status


def plan_drafting(
    *,
    judge: Judge,
    dimension: Dimension,
    kind: str,
    most: int,
    drafter: Judge,
    budget: Decimal | None = None,
    by: User | None,
) -> Drafting:
    """Plan a drafting of up to `most` proposals by a judge's model, without calls.

    Clarifications concern clusters of disputes and errors, the largest first. Wordings, each in another
    style, concern the largest disputes and errors. Raises InvalidValueError if there is no case to learn
    from, the drafter cannot be called, or prices are unknown that a budget needs.
    """
    _refuse_drafter(drafter, budget)
    cases = cases_of(judge, dimension)
    frozen = find_frozen(current_guideline(judge.project).dimensions, dimension.pk)
    if kind == Proposal.Kind.WORDING:
        requests = _requests_for_wordings(judge, frozen, cases, most)
    else:
        clusters = cluster_cases(cases, most)
        if not clusters:
            learned = sum(case.kind != CaseKind.AGREED for case in cases)
            raise InvalidValueError(
                gettext(
                    "No two of the {count} disputes and differences on {name} have the same reason in "
                    "different documents."
                ).format(count=learned, name=frozen.name)
            )
        requests = [
            (each.about, each.cases, ask_for_clarification(frozen, each).content) for each in clusters
        ]
    return write_drafting(judge, dimension, kind, drafter, budget, requests, by)


_Requests = list[tuple[str, Sequence[Case], str]]
"""What each proposal is about, its units, and what the model is asked."""


def _requests_for_wordings(
    judge: Judge, frozen: FrozenDimension, cases: Sequence[Case], most: int
) -> _Requests:
    learned = [case for case in cases if case.kind != CaseKind.AGREED]
    # Every style is asked about the same units, so that the wordings differ by style alone.
    learned = sorted(learned, key=lambda case: (-abs(case.error), case.name))[:MOST_CASES]
    if not learned:
        raise InvalidValueError(
            gettext("There is no dispute and no difference to people on {name} to learn from.").format(
                name=frozen.name
            )
        )
    assert judge.template is not None
    text = judge.template.text_about(frozen.id)
    return [
        (style, learned, ask_for_wording(text, frozen, learned, style).content) for style in STYLES[:most]
    ]


@transaction.atomic
def write_drafting(
    judge: Judge,
    dimension: Dimension,
    kind: str,
    drafter: Judge,
    budget: Decimal | None,
    requests: _Requests,
    by: User | None,
    *,
    search: PromptSearch | None = None,
) -> Drafting:
    """Store a drafting with its planned calls. search: the search with the errors that it concerns."""
    drafting = Drafting.objects.create(
        judge=judge, dimension=dimension, drafter=drafter, budget=budget, created_by=by, search=search
    )
    for about, cases, request in requests:
        proposal = Proposal.objects.create(
            judge=judge,
            dimension=dimension,
            kind=kind,
            status=Proposal.Status.DRAFTING,
            # The column takes 200 characters.
            about=about[:200],
            drafting=drafting,
            request=request,
        )
        proposal.items.set([case.item for case in cases])
    return drafting


@transaction.atomic
def start_drafting(*, drafting: Drafting, budget: Decimal | None = None, by: User | None) -> Drafting:
    """Start or resume a drafting in a worker, or retry failed calls. Safe to run twice.

    budget: replaces the stored one, if given. Locks its row. Raises InvalidValueError, and NotReadyError if
    all proposals are drafted.
    """
    drafting = _lock(drafting)
    if drafting.status in Drafting.UNDER_WAY:
        return drafting
    if budget is not None:
        _refuse_drafter(drafting.drafter, budget)
        drafting.budget = budget
    failed = drafting.proposals.filter(status=Proposal.Status.FAILED)
    # A failed proposal loses its reply, since only a proposal without one is asked for again.
    failed.update(status=Proposal.Status.DRAFTING, problem="", reply=None)
    if not drafting.proposals.filter(status=Proposal.Status.DRAFTING).exists():
        raise NotReadyError(gettext("All proposals are drafted; create new ones for more."))
    # Attempts of an earlier start do not count.
    drafting.status, drafting.reason, drafting.attempts = Status.WAITING, "", 0
    drafting.touched_at = timezone.now()
    drafting.save(update_fields=["status", "reason", "attempts", "touched_at", "budget"])
    facts = {"dimension": drafting.dimension.key, "drafter": drafting.drafter.name, "budget": drafting.budget}
    record(drafting.judge.project, "drafting.started", drafting.judge, after=facts, by=by)
    wake_worker(DRAFTING_JOB, drafting.pk)
    return drafting


@transaction.atomic
def discard_drafting(*, drafting: Drafting, by: User | None) -> None:
    """Drop the missing proposals of a drafting; drafted ones stay. Locks its row.

    Raises NotReadyError while a call is in flight.
    """
    drafting = _lock(drafting)
    if drafting.status in Drafting.UNDER_WAY:
        raise NotReadyError(gettext("The model has not answered yet; please wait."))
    # Failed proposals have no text either, so they are dropped too.
    undrafted = drafting.proposals.exclude(text__gt="")
    facts = {"dimension": drafting.dimension.key, "left_out": undrafted.count(), "spent": drafting.spent}
    record(drafting.judge.project, "drafting.discarded", drafting.judge, after=facts, by=by)
    undrafted.delete()
    drafting.status, drafting.reason = Status.FINISHED, ""
    drafting.save(update_fields=["status", "reason"])


def _lock(drafting: Drafting) -> Drafting:
    related = ("judge__project", "dimension", "drafter__endpoint")
    # PostgreSQL cannot lock the outer join of the drafter's endpoint, which may be empty.
    return Drafting.objects.select_for_update(of=("self",)).select_related(*related).get(pk=drafting.pk)


def _refuse_drafter(drafter: Judge, budget: Decimal | None) -> None:
    if drafter.endpoint is None:
        raise InvalidValueError(gettext("{name} is imported and calls no model.").format(name=drafter.name))
    if reason := refuse_archived(drafter):
        raise InvalidValueError(reason)
    refuse_budget(drafter, budget)


def refuse_budget(judge: Judge, budget: Decimal | None) -> None:
    """Raise InvalidValueError if prices are unknown that a budget needs."""
    if budget is not None and not (judge.endpoint and prices_of(judge.endpoint, judge.model).are_known):
        message = gettext("The prices of {name} are unknown, so Concord cannot enforce a budget.").format(
            name=judge.endpoint.name if judge.endpoint else judge.name
        )
        raise invalid_field("budget", message)
