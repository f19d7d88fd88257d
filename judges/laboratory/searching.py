"""A worker's part of a search: the steps after one of its runs or draftings."""

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import JobKind
from annotate.core.models import User
from judges.core.models import Drafting, Judgment, PromptSearch, Proposal, Run
from judges.core.specification import Scope
from judges.laboratory.cases import MOST_CASES, Case, ask_for_reflection, cluster_cases, most_different
from judges.laboratory.commands.draftings import start_drafting, write_drafting
from judges.laboratory.commands.proposals import (
    add_candidates,
    combine,
    make_candidates,
    reveal_candidate,
)
from judges.laboratory.halving import LEAST_SHARE, CandidateRank, choose_best, keep_half
from judges.laboratory.queries.cases import FAR, Part, cases_of, documents_of, find_frozen, learning_material
from judges.laboratory.queries.searches import (
    DRAFTS,
    ENDED,
    rated_documents,
    spent_by,
    stages_of,
    standings_of,
)
from judges.runs.commands.runs import plan_run, retry_failed, start_run

Status, Step = PromptSearch.Status, PromptSearch.Step
RANKING = (Step.SELECT, Step.REPEAT)
LEAST_BUDGET = Decimal("0.0001")  # the smallest amount that a budget with four decimals can hold


def _advance(found: PromptSearch) -> None:
    """Continue a search after the end of its run or drafting.

    The worker reads first, then writes in one transaction. A killed worker has changed nothing.
    """
    if found.step == Step.DRAFT:
        _start_next_round(found)
        return
    assert found.run is not None
    is_finished = found.run.status == Run.Status.FINISHED
    # Slow reads come before the transaction, so the lock on the search is short.
    standings = standings_of(found) if is_finished and found.step in RANKING else []
    cases = _errors_of_best(found) if is_finished and found.step == Step.TEACH else []
    with transaction.atomic():
        search = lock_search(found)
        # Another worker or a person has changed the search during the reads.
        if _has_moved(search, found):
            return
        if not is_finished:
            _stop(
                search, found.run.reason or gettext("Run {number} was cancelled.").format(number=found.run.pk)
            )
        elif search.step == Step.HELD_OUT:
            search.status = Status.FINISHED
            save_progress(search)
        elif search.step == Step.TEACH:
            _draft(search, cases)
        elif _waits_for_other_run(search):
            says = gettext("Another run still asks {name} about these documents. Go on when it has ended.")
            _stop(search, says.format(name=search.judge.name))
        elif search.step == Step.SELECT and _lacks_calls(search, standings):
            _repeat(search, found.run)
        else:
            _rank(search, standings)


def _has_moved(search: PromptSearch, found: PromptSearch) -> bool:
    now = (search.status, search.stage, search.step, search.run_id)
    return now != (found.status, found.stage, found.step, found.run_id)


def _waits_for_other_run(search: PromptSearch) -> bool:
    """Return True if values of the unchanged judge are pending in a run outside the search."""
    status = Judgment.Status
    ours = Judgment.objects.filter(judge=search.judge, dimension=search.dimension)
    ours = ours.filter(item__document__in=search.documents, status__in=(status.PLANNED, status.LEASED))
    return ours.exclude(run=search.run).filter(run__status=Run.Status.RUNNING).exists()


def _lacks_calls(search: PromptSearch, standings: Sequence[CandidateRank]) -> bool:
    """Return True if calls failed, of the unchanged judge or of candidates with too few values for a rank."""
    short = [each.candidate for each in standings if each.share < LEAST_SHARE]
    judges = search.candidates.filter(pk__in=short).values("candidate")
    failed = Judgment.objects.filter(run=search.run, status=Judgment.Status.FAILED)
    return failed.filter(Q(judge__in=judges) | Q(judge=search.judge)).exists()


def _repeat(search: PromptSearch, run: Run) -> None:
    """Repeat failed calls, once, before the stage is ranked."""
    search.step = Step.REPEAT
    # A savepoint: after an error the search can still store why it stopped.
    try:
        with transaction.atomic():
            retry_failed(run=run)
    except DomainError as error:
        _stop(search, error.message)
        return
    save_progress(search)


def _rank(search: PromptSearch, standings: Sequence[CandidateRank]) -> None:
    """Drop the worse half; at the end of a round all but the best."""
    # Without a comparable candidate any ranking would be chance.
    if not any(each.counts for each in standings):
        _stop(
            search,
            gettext(
                "Concord cannot compare any candidate with {name} on this stage: values are "
                "missing. Check the run, then continue."
            ).format(name=search.judge.name),
        )
        return
    candidates = search.candidates.in_bulk([each.candidate for each in standings])
    for each in standings:
        candidate = candidates[each.candidate]
        rank = {"stage": search.stage, "alpha": each.alpha, "base": each.base, "items": each.items}
        candidate.ranks = [*(candidate.ranks or []), rank]
        candidate.save(update_fields=["ranks"])
    ends_round = search.stage + 1 == len(search.stages)
    best = choose_best(standings)
    # The end of a round keeps no candidate that is not better than the unchanged judge.
    kept = ([] if best is None else [best]) if ends_round else keep_half(standings)
    left = search.candidates.filter(dropped_after__isnull=True).exclude(pk__in=kept)
    left.update(dropped_after=search.stage)
    search.stage += 1
    if not ends_round:
        _begin(search, Step.SELECT)
    elif search.round < search.rounds and search.drafter_id is not None:
        _begin(search, Step.TEACH)
    else:
        _choose(search)


def _best(search: PromptSearch) -> Proposal | None:
    """The best candidate at the end of a round; None if the unchanged judge was best."""
    left = search.candidates.filter(dropped_after__isnull=True, candidate__isnull=False)
    return left.select_related("candidate__endpoint", "candidate__template", "judge").order_by("pk").first()


def _choose(search: PromptSearch) -> None:
    """Judge the held-out documents with the best candidate, or end if none is better than the judge."""
    best = _best(search)
    if best is None:
        message = gettext(
            "No candidate agrees better with people on the documents for selecting than the unchanged "
            "{name}, so the search tried none on the documents held out."
        )
        search.status, search.reason = Status.FINISHED, message.format(name=search.judge.name)
        save_progress(search)
        return
    best.is_chosen = True
    best.save(update_fields=["is_chosen"])
    reveal_candidate(best, search.created_by)
    # The best of many looks better than it is, and only documents held out show its worth.
    _begin(search, Step.HELD_OUT)


def _errors_of_best(search: PromptSearch) -> list[Case]:
    """Return the errors of the best candidate on the documents for teaching, the largest first."""
    best = _best(search)
    # If no candidate is better, the unchanged judge's own errors are the material.
    judge = best.candidate if best and best.candidate else search.judge
    # From documents for teaching alone: no rating of a selecting document may reach a prompt.
    cases = cases_of(judge, search.dimension, Part.TEACH)
    return [case for case in most_different(cases) if abs(case.error) >= FAR]


def _draft(search: PromptSearch, cases: Sequence[Case]) -> None:
    """Let a model draft additions to the best prompt, one for each cluster of its errors."""
    assert search.drafter is not None
    # Without an error there is nothing to learn, so the rounds end.
    if not cases:
        _choose(search)
        return
    frozen = find_frozen(current_guideline(search.judge.project).dimensions, search.dimension_id)
    best = _best(search)
    assert search.judge.template is not None
    prompt = best.text if best else search.judge.template.text_about(frozen.id)
    # The drafting model sees earlier attempts, so it does not draft it again.
    parts = Proposal.objects.filter(proposal__search=search).exclude(kind=Proposal.Kind.WORDING)
    tried = list(parts.order_by("pk").distinct().values_list("text", flat=True))
    # A request can show a few errors at once; only more than that need clusters.
    clusters = cluster_cases(cases, DRAFTS) if len(cases) > MOST_CASES else []
    groups = [(each.about, each.cases[:MOST_CASES]) for each in clusters] or [("", tuple(cases[:MOST_CASES]))]
    requests: list[tuple[str, Sequence[Case], str]] = [
        (about, group, ask_for_reflection(prompt, frozen, group, tried).content) for about, group in groups
    ]
    try:
        with transaction.atomic():
            drafting = write_drafting(
                search.judge,
                search.dimension,
                Proposal.Kind.CLARIFICATION,
                search.drafter,
                money_to_spend(search),
                requests,
                search.created_by,
                search=search,
            )
            start_drafting(drafting=drafting, by=search.created_by)
    except DomainError as error:
        _stop(search, error.message)
        return
    search.step, search.run = Step.DRAFT, None
    save_progress(search)


def _start_next_round(found: PromptSearch) -> None:
    """Start the next round with the drafted additions; end the rounds if there are none."""
    with transaction.atomic():
        search = lock_search(found)
        drafting = search.draftings.order_by("-pk").first()
        # Another worker has started the round, or a person has resumed the drafting.
        if _has_moved(search, found) or drafting is None or drafting.status in Drafting.UNDER_WAY:
            return
        drafted = list(drafting.proposals.filter(status=Proposal.Status.PROPOSED).order_by("pk"))
        if drafting.status == Drafting.Status.STOPPED:
            _stop(search, drafting.reason)
        elif not drafted:
            _choose(search)
        else:
            _begin_round(search, drafted)


def _begin_round(search: PromptSearch, drafted: Sequence[Proposal]) -> None:
    best = _best(search)
    before = list(best.parts.order_by("pk")) if best else []
    before.sort(key=lambda each: each.kind != Proposal.Kind.WORDING)  # a wording comes first
    # Each addition alone, and all of them together, on top of the best candidate.
    sets = [[each] for each in drafted] + ([list(drafted)] if len(drafted) > 1 else [])
    try:
        with transaction.atomic():
            add_candidates(search, [combine(search.judge, [*before, *each]) for each in sets])
            make_candidates(search)
    except InvalidValueError as error:
        _stop(search, error.message)
        return
    asked = search.candidates.filter(dropped_after__isnull=True).count()
    # A later round has few candidates, so it is one stage on all documents.
    search.stages = [*search.stages, [asked, len(search.documents)]]
    search.round += 1
    _begin(search, Step.SELECT)


def _begin(search: PromptSearch, step: "PromptSearch.Step") -> None:
    """Start a step; if it is rejected, the search stops with the reason."""
    try:
        with transaction.atomic():
            begin_step(search, step)
    except DomainError as error:
        # The step is stored without a run, so that continuing the search plans its run again.
        search.step, search.run = step, None
        _stop(search, error.message)


def begin_step(search: PromptSearch, step: "PromptSearch.Step") -> None:
    """Plan and start the run of a step. The caller holds the search's lock.

    Raises NotReadyError if the budget is spent, RunRefusedError if a judge cannot be called.
    """
    left = money_to_spend(search)
    # A new run may have failed calls of its own, which again may be repeated once.
    search.step = Step.SELECT if step == Step.REPEAT else step
    related = search.candidates.select_related("candidate__endpoint", "candidate__template").order_by("pk")
    project = search.judge.project
    judges = [search.judge]
    if step == Step.HELD_OUT:
        asked = related.filter(is_chosen=True)
        _, documents = rated_documents(project, learning_material(project), search.dimension)
    elif step == Step.TEACH:
        asked = related.filter(dropped_after__isnull=True)
        documents = sorted(documents_of(project, Part.TEACH))
        # Only the best candidate's errors count; without one, the ones of the unchanged judge.
        judges = [] if asked else judges
    else:
        asked = related.filter(dropped_after__isnull=True)
        # Documents of earlier stages are included; their judgments exist and cost nothing.
        documents = search.documents[: stages_of(search)[search.stage].documents]
    judges += [each.candidate for each in asked if each.candidate]
    scope = Scope(judges, [search.dimension.key], chosen=documents)
    run = plan_run(project=project, scope=scope, by=search.created_by, budget=left)
    # The budget of a search covers all of its runs.
    search.runs.add(run)
    search.run = start_run(run=run)
    save_progress(search)


def money_to_spend(search: PromptSearch) -> Decimal | None:
    """Return the rest of a search's budget; None without one. Raises NotReadyError if it is spent."""
    left = None if search.budget is None else search.budget - spent_by(search)
    if left is not None and left < LEAST_BUDGET:
        raise NotReadyError(
            gettext("The budget of {budget} is spent; give the search a larger one and go on.").format(
                budget=f"{search.budget:f}"
            )
        )
    return left


def continue_drafting(search: PromptSearch, by: User | None) -> None:
    """Resume the drafting between two rounds. The caller holds the search's lock.

    If all proposals are drafted, the worker that advances the search takes the next step.
    """
    drafting = search.draftings.latest("pk")
    if drafting.proposals.filter(status__in=(Proposal.Status.DRAFTING, Proposal.Status.FAILED)).exists():
        left = money_to_spend(search)
        start_drafting(drafting=drafting, budget=None if left is None else left + drafting.spent, by=by)


def _stop(search: PromptSearch, reason: str) -> None:
    search.status, search.reason = Status.STOPPED, reason
    save_progress(search)


def save_progress(search: PromptSearch) -> None:
    """Store the progress of a search and release it for the next worker."""
    # The step succeeded, so the next one has all its attempts.
    search.lease, search.attempts, search.touched_at = None, 0, timezone.now()
    fields = (
        *("status", "reason", "stage", "stages", "step", "round", "run", "budget"),
        *("lease", "attempts", "touched_at"),
    )
    search.save(update_fields=fields)


def lock_search(search: PromptSearch) -> PromptSearch:
    related = (
        *("judge__project", "judge__endpoint", "judge__template", "dimension", "run"),
        "drafter__endpoint",
    )
    return PromptSearch.objects.select_for_update(of=("self",)).select_related(*related).get(pk=search.pk)


def _has_ended() -> Q:
    # A search can go on when its run has ended, or when none of its draftings is in progress.
    drafts = Drafting.objects.filter(search=OuterRef("pk"), status__in=Drafting.UNDER_WAY)
    return Q(run__status__in=ENDED) | Q(Q(step=Step.DRAFT), ~Exists(drafts))


SEARCH_JOB = JobKind(
    "search",
    PromptSearch,
    _advance,
    does="continues a search for a prompt whose run or drafting has ended",
    statuses={Status.RUNNING: Status.RUNNING},
    related=("judge__project", "run", "dimension"),
    condition=_has_ended,
)
