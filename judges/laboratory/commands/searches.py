"""Planning, starting and ending of searches for the prompt that agrees best with people."""

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import NotReadyError
from annotate.core.models import Dimension, User
from judges.core.errors import invalid_field
from judges.core.models import Drafting, Judge, PromptSearch, Proposal, Run
from judges.laboratory.commands.draftings import refuse_budget
from judges.laboratory.commands.proposals import Combined, add_candidates, combine, make_candidates
from judges.laboratory.halving import combine_parts
from judges.laboratory.queries.cases import TRIABLE
from judges.laboratory.queries.searches import plan_of_search
from judges.laboratory.searching import (
    begin_step,
    continue_drafting,
    lock_search,
    money_to_spend,
    save_progress,
)
from judges.runs.commands.endings import change_budget
from judges.runs.commands.runs import cancel_run, retry_failed, start_run

Status = PromptSearch.Status
_OVER = (Status.CANCELLED, Status.FINISHED)


def plan_search(
    *,
    judge: Judge,
    dimension: Dimension,
    proposals: Sequence[Proposal],
    most_candidates: int,
    rounds: int = 1,
    drafter: Judge | None = None,
    most_calls: int | None = None,
    budget: Decimal | None = None,
    by: User | None,
) -> PromptSearch:
    """Plan a search over combinations of proposals and its documents, without calls.

    drafter: its model drafts additions from the errors of the best candidate between `rounds`; None: the
    judge's own model. Raises InvalidValueError if no combination is possible, too few documents are rated,
    the calls are too few, or prices are unknown that a budget needs.
    """
    drafter = drafter or judge
    for asked in (judge, drafter):
        refuse_budget(asked, budget)
    combined = [
        combine(judge, parts) for parts in _combinations(judge, dimension, proposals, most_candidates)
    ]
    stages, documents, calls, cost = plan_of_search(
        judge, dimension, [text for _, text in combined], most_calls, rounds=rounds, drafter=drafter
    )
    return _write(
        PromptSearch(
            judge=judge,
            dimension=dimension,
            stages=[[each.candidates, each.documents] for each in stages],
            documents=documents,
            rounds=rounds,
            # One round drafts nothing.
            drafter=drafter if rounds > 1 else None,
            most_calls=most_calls,
            planned_calls=calls,
            planned_cost=cost,
            budget=budget,
            created_by=by,
        ),
        combined,
    )


def _combinations(
    judge: Judge, dimension: Dimension, proposals: Sequence[Proposal], most: int
) -> list[tuple[Proposal, ...]]:
    fitting = [
        each
        for each in sorted(proposals, key=lambda each: each.pk)
        if (each.judge_id, each.dimension_id) == (judge.pk, dimension.pk) and each.status in TRIABLE
    ]
    if not fitting or len(fitting) < len(proposals):
        message = gettext("Choose drafted proposals for {judge} on {name}.").format(
            judge=judge.name, name=dimension.name
        )
        raise invalid_field("proposals", message)
    wordings = [each for each in fitting if each.kind == Proposal.Kind.WORDING]
    return combine_parts(wordings, [each for each in fitting if each not in wordings], most)


@transaction.atomic
def _write(search: PromptSearch, combined: Sequence[Combined]) -> PromptSearch:
    search.save(force_insert=True)
    add_candidates(search, combined)
    return search


@transaction.atomic
def start_search(*, search: PromptSearch, budget: Decimal | None = None, by: User | None) -> PromptSearch:
    """Create the candidates' judges and start the first stage, or resume the search. Safe to run twice.

    budget: replaces the budget of the whole search, if given. Locks its row and the project's. Raises
    NotReadyError if it has ended, InvalidValueError and RunRefusedError.
    """
    search = lock_search(search)
    # A running search with a paused run waits for a person, so starting it again resumes the run.
    waits = search.run is not None and search.run.status == Run.Status.PAUSED
    if search.status == Status.RUNNING and not waits:
        return search
    if search.status in _OVER:
        raise NotReadyError(gettext("This search is over; plan a new one."))
    if budget is not None:
        # A search of one round has no drafter.
        for asked in filter(None, (search.judge, search.drafter)):
            refuse_budget(asked, budget)
        search.budget = budget
    is_new = search.status == Status.PLANNED
    search.status, search.reason = Status.RUNNING, ""
    if is_new:
        make_candidates(search)
        facts = {"dimension": search.dimension.key, "budget": search.budget, "stages": search.stages}
        record(search.judge.project, "search.started", search.judge, after=facts, by=by)
    # Where it stopped: a drafting, a stopped run, a run without a ranking, or before a run.
    if search.step == PromptSearch.Step.DRAFT:
        continue_drafting(search, by)
        save_progress(search)
    elif search.run and search.run.status in (Run.Status.STOPPED, Run.Status.PAUSED):
        left = money_to_spend(search)
        if left is not None:
            # The rest of the search's budget, plus what this run has spent of it already.
            change_budget(run=search.run, budget=left + search.run.spent)
        start_run(run=search.run)
        save_progress(search)
    elif search.run and search.run.status == Run.Status.FINISHED:  # the stage could not be ranked
        retry_failed(run=search.run)
        save_progress(search)
    else:
        begin_step(search, PromptSearch.Step(search.step))
    return search


@transaction.atomic
def cancel_search(*, search: PromptSearch, by: User | None) -> PromptSearch:
    """End a search permanently, with its run; its candidates and their values stay. Locks its row."""
    search = lock_search(search)
    if search.status in _OVER:
        return search
    if search.run:
        cancel_run(run=search.run)
    # Without its lease, the drafting worker writes and calls no more.
    search.draftings.filter(status__in=Drafting.UNDER_WAY).update(
        status=Drafting.Status.STOPPED, reason=gettext("The search was ended."), lease=None
    )
    search.status, search.reason = Status.CANCELLED, ""
    save_progress(search)
    record(search.judge.project, "search.cancelled", search.judge, by=by)
    return search
