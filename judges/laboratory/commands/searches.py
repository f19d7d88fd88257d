"""Searching for the wording that agrees best with people: planned, begun, taken further, ended."""

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.jobs import JobKind
from annotate.core.models import Dimension, User
from judges.core.models import Judge, PromptSearch, Proposal, Run
from judges.core.specification import Scope
from judges.endpoints.prices import prices_of
from judges.laboratory.commands.proposals import add_candidate
from judges.laboratory.halving import CandidateRank, choose_best, combine_parts, keep_half
from judges.laboratory.queries.cases import TRIABLE, learning_material
from judges.laboratory.queries.searches import (
    ENDED,
    plan_of_search,
    rated_documents,
    spent_by,
    stages_of,
    standings_of,
)
from judges.laboratory.wording import with_addition
from judges.runs.commands.budgets import change_budget
from judges.runs.commands.runs import cancel_run, plan_run, start_run

Status = PromptSearch.Status
_OVER = (Status.CANCELLED, Status.FINISHED)


def plan_search(
    *,
    judge: Judge,
    dimension: Dimension,
    proposals: Sequence[Proposal],
    most_candidates: int,
    most_calls: int | None = None,
    budget: Decimal | None = None,
    by: User | None,
) -> PromptSearch:
    """Write down which combinations of proposals a search tries, on which documents; nobody is asked yet.

    Raises InvalidValueError where nothing can be tried, too few documents are rated, the calls are too few,
    or prices are unknown that a budget needs.
    """
    _refuse_budget(judge, budget)
    combined = [
        _combine(judge, parts) for parts in _combinations(judge, dimension, proposals, most_candidates)
    ]
    plan = plan_of_search(judge, dimension, [text for _, text in combined], most_calls)
    return _write(
        PromptSearch(
            judge=judge,
            dimension=dimension,
            stages=[[each.candidates, each.documents] for each in plan.stages],
            documents=list(plan.documents),
            most_calls=most_calls,
            planned_calls=plan.calls,
            planned_cost=plan.cost,
            budget=budget,
            created_by=by,
        ),
        combined,
    )


_Combined = tuple[Sequence[Proposal], str]
"""Proposals, and the prompt on the dimension that they make together."""


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
        raise InvalidValueError(message, fields={"proposals": message})
    wordings = [each for each in fitting if each.kind == Proposal.Kind.WORDING]
    return combine_parts(wordings, [each for each in fitting if each not in wordings], most)


def _combine(judge: Judge, parts: Sequence[Proposal]) -> _Combined:
    assert judge.template is not None
    text = judge.template.text_about(parts[0].dimension_id)
    for each in parts:  # a wording comes first
        text = with_addition(text, each.kind, each.text)
    return parts, text


@transaction.atomic
def _write(search: PromptSearch, combined: Sequence[_Combined]) -> PromptSearch:
    search.save(force_insert=True)
    for parts, text in combined:
        candidate = Proposal.objects.create(
            judge=search.judge,
            dimension=search.dimension,
            kind=Proposal.Kind.WORDING,
            status=Proposal.Status.TRIED,
            text=text,
            about=" + ".join(f"{each.get_kind_display()} {each.pk}" for each in parts)[:200],
            search=search,
        )
        candidate.parts.set(parts)
        candidate.items.set({item for each in parts for item in each.items.values_list("pk", flat=True)})
    return search


@transaction.atomic
def start_search(*, search: PromptSearch, budget: Decimal | None = None, by: User | None) -> PromptSearch:
    """Make the candidates' judges and begin the first stage, or go on where it stopped. Safe to run twice.

    budget: another one for the whole search, where given. Locks its row and the project's. Raises
    NotReadyError where it is over, InvalidValueError and RunRefusedError.
    """
    search = _lock(search)
    if search.status == Status.RUNNING:
        return search
    if search.status in _OVER:
        raise NotReadyError(gettext("This search is over; plan a new one."))
    if budget is not None:
        _refuse_budget(search.judge, budget)
        search.budget = budget
    is_new = search.status == Status.PLANNED
    search.status, search.reason = Status.RUNNING, ""
    if is_new:
        _make_candidates(search, by)
        facts = {"dimension": search.dimension.key, "budget": search.budget, "stages": search.stages}
        record(search.judge.project, "search.started", search.judge, after=facts, by=by)
    if search.run and search.run.status in (Run.Status.STOPPED, Run.Status.PAUSED):
        if search.budget is not None:
            change_budget(run=search.run, budget=_money_left(search) + search.run.spent)
        start_run(run=search.run)
        _save(search)
    else:
        _begin_stage(search)
    return search


def _make_candidates(search: PromptSearch, by: User | None) -> None:
    made = search.candidates.select_related(
        "judge__project", "judge__template", "judge__endpoint", "dimension"
    )
    for place, proposal in enumerate(made.order_by("pk"), start=1):
        label = f"search {search.pk}.{place}"
        proposal.candidate = add_candidate(proposal=proposal, wording=proposal.text, label=label, by=by)
        proposal.save(update_fields=["candidate"])


@transaction.atomic
def cancel_search(*, search: PromptSearch, by: User | None) -> PromptSearch:
    """End a search for good, with its run; its candidates and their values stay. Locks its row."""
    search = _lock(search)
    if search.status in _OVER:
        return search
    if search.run:
        cancel_run(run=search.run)
    search.status, search.reason = Status.CANCELLED, ""
    _save(search)
    record(search.judge.project, "search.cancelled", search.judge, by=by)
    return search


def _advance(found: PromptSearch) -> None:
    """Continue a search whose stage has ended.

    The worker reads first, then writes in one transaction. A killed worker has changed nothing.
    """
    assert found.run is not None
    in_development = found.stage < len(found.stages)
    is_finished = found.run.status == Run.Status.FINISHED
    standings = standings_of(found) if is_finished and in_development else []
    with transaction.atomic():
        locked = _lock(found)
        if (locked.status, locked.stage, locked.run_id) != (found.status, found.stage, found.run_id):
            return
        if not is_finished:
            _stop(
                locked, found.run.reason or gettext("Run {number} was cancelled.").format(number=found.run.pk)
            )
        elif not in_development:
            locked.status = Status.FINISHED
            _save(locked)
        else:
            _go_on(locked, standings)


def _go_on(search: PromptSearch, standings: Sequence[CandidateRank]) -> None:
    if not any(each.counts for each in standings):
        _stop(
            search,
            gettext(
                "Concord cannot compare any candidate with {name} on this stage: values are "
                "missing. Check the run, then continue."
            ).format(name=search.judge.name),
        )
        return
    kept = keep_half(standings)
    search.candidates.filter(dropped_after__isnull=True).exclude(pk__in=kept).update(
        dropped_after=search.stage
    )
    search.stage += 1
    if search.stage == len(search.stages):
        chosen = choose_best([each for each in standings if each.candidate in kept])
        if chosen is None:
            search.status = Status.FINISHED
            search.reason = gettext(
                "No candidate agrees better with people on the development documents than the "
                "unchanged {name}, so the search tried none on the held-out documents."
            ).format(name=search.judge.name)
            _save(search)
            return
        search.candidates.filter(pk=chosen).update(is_chosen=True)
    try:
        with transaction.atomic():
            _begin_stage(search)
    except DomainError as error:
        search.run = None
        _stop(search, error.message)


def _begin_stage(search: PromptSearch) -> None:
    """Plan and start the run of the stage that comes now. The caller holds the search's lock."""
    left = _money_left(search) if search.budget is not None else None
    if left is not None and left <= 0:
        raise NotReadyError(
            gettext("The budget of {budget} is spent; give the search a larger one and go on.").format(
                budget=f"{search.budget:f}"
            )
        )
    asked = search.candidates.filter(dropped_after__isnull=True)
    if search.stage < len(search.stages):
        documents = search.documents[: stages_of(search)[search.stage].documents]
    else:
        asked = search.candidates.filter(is_chosen=True)
        material = learning_material(search.judge.project)
        _, documents = rated_documents(search.judge.project, material, search.dimension)
    related = asked.select_related("candidate__endpoint", "candidate__template").order_by("pk")
    judges = [search.judge, *(each.candidate for each in related if each.candidate)]
    scope = Scope(judges, [search.dimension.key], chosen=documents)
    run = plan_run(project=search.judge.project, scope=scope, by=search.created_by, budget=left)
    search.runs.add(run)
    search.run = start_run(run=run)
    _save(search)


def _money_left(search: PromptSearch) -> Decimal:
    assert search.budget is not None
    return search.budget - spent_by(search)


def _stop(search: PromptSearch, reason: str) -> None:
    search.status, search.reason = Status.STOPPED, reason
    _save(search)


def _save(search: PromptSearch) -> None:
    search.lease, search.attempts, search.touched_at = None, 0, timezone.now()
    fields = ("status", "reason", "stage", "run", "budget", "lease", "attempts", "touched_at")
    search.save(update_fields=fields)


def _lock(search: PromptSearch) -> PromptSearch:
    related = ("judge__project", "judge__endpoint", "judge__template", "dimension", "run")
    return PromptSearch.objects.select_for_update(of=("self",)).select_related(*related).get(pk=search.pk)


def _refuse_budget(judge: Judge, budget: Decimal | None) -> None:
    if budget is not None and not (judge.endpoint and prices_of(judge.endpoint, judge.model).are_known):
        message = gettext("The prices of {name} are unknown, so Concord cannot enforce a budget.").format(
            name=judge.endpoint.name if judge.endpoint else judge.name
        )
        raise InvalidValueError(message, fields={"budget": message})


SEARCH_JOB = JobKind(
    "search",
    PromptSearch,
    _advance,
    does="continues a search for a prompt whose run has ended",
    statuses={Status.RUNNING: Status.RUNNING},
    related=("judge__project", "run"),
    condition=lambda: Q(run__status__in=ENDED),
)
