from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Project, User
from annotate.rating.commands.rounds import freeze_guideline
from annotate.webhooks.commands import announce
from judges.core.errors import RunRefusedError, RunStateError
from judges.core.models import Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import refusal, refusal_of_reference, refusal_of_scope
from judges.methods import METHODS
from judges.runs.commands.askers import free_abandoned
from judges.runs.commands.batches import make_due
from judges.runs.commands.first_judgments import judges_to_try, plan_rejected_again
from judges.runs.commands.first_steps import adopt_first_steps
from judges.runs.commands.leases import RUN_FINISHED, end_plan, is_under_way
from judges.runs.commands.planned import write_judgments
from judges.runs.commands.silence import be_patient_again
from judges.runs.queries.runs import abandoned_judgments, judges_of
from judges.runs.queries.samples import ChosenItems, chosen_items
from judges.tasks import collect_judgments

_WAITING = ("waits_for", "resumes_until")
_GOING_ON = (*_WAITING, "finished_at", "looked_up_to", "untried_judges")


@transaction.atomic
def plan_run(
    *,
    project: Project,
    scope: Scope,
    by: User | None,
    budget: Decimal | None = None,
    via: Run.Via = Run.Via.CALLS,
    keeps_messages: bool = False,
    reuses_answers: bool = False,
) -> Run:
    """Create a run with one row for each judgment of the scope that the project does not have yet.

    Locks the project's row. Judgments planned or answered in another run are not planned, and so not paid,
    again; unanswered judgments of an ended run move to this run. reuses_answers: True to answer identical
    calls from stored answers. Raises RunRefusedError.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    guideline = freeze_guideline(project)
    frozen = FrozenGuideline.from_json(guideline.content)
    dimensions = _dimensions(frozen, scope.dimensions)
    for judge in scope.judges:
        _refuse_unsuitable(judge, project, dimensions, scope, budget)
        reason = refusal_of_scope(judge, dimensions, frozen.scales) or refusal_of_reference(judge)
        if reason:
            raise RunRefusedError(f"{judge.name}: {reason}")
    run = Run.objects.create(
        project=project,
        guideline=guideline,
        budget=budget,
        via=via,
        keeps_messages=keeps_messages,
        reuses_answers=reuses_answers,
        created_by=by,
    )
    chosen = chosen_items(project, scope)
    for judge in scope.judges:
        _take_over(run, judge, dimensions, chosen.for_judge(judge))
    for judge in scope.judges:
        write_judgments(run, judge, dimensions, scope.pairs, chosen.for_judge(judge))
        adopt_first_steps(run, judge)
    planned = {"judges": [judge.name for judge in scope.judges], "budget": budget, "via": via}
    record(project, "run.planned", run, after=planned, by=by)
    return run


@transaction.atomic
def start_run(*, run: Run) -> Run:
    """Release a run to the workers:

    start a planned run, resume a paused or stopped one. Locks the run's row.
    """
    run = _lock_run(run)
    if run.status == Run.Status.RUNNING:
        return run
    if run.status in Run.OVER:
        raise RunStateError(
            gettext("This run is {status}; plan a new one for the missing judgments.").format(
                status=run.get_status_display()
            )
        )
    _refuse_archived(run)
    now = timezone.now()
    if run.status == Run.Status.PAUSED and run.reason:  # it paused by itself, for unreadable replies
        run.accepts_unreadable = True
    run.status, run.reason, run.finished_at = Run.Status.RUNNING, "", None
    run.started_at = run.started_at or now
    plan_rejected_again(run)
    run.untried_judges = judges_to_try(run)
    if not is_under_way(Judgment.objects.filter(run=run)):
        run.status, run.finished_at = Run.Status.FINISHED, now
    run.waits_for = run.resumes_until = None
    run.looked_up_to = _look_up_from(run)
    run.save(update_fields=["status", "reason", "started_at", *_GOING_ON, "accepts_unreadable"])
    record(run.project, "run.started", run)
    be_patient_again(run=run)
    if run.status == Run.Status.RUNNING:
        make_due(run)
        _wake_after_commit(run)
    else:
        announce(run.project_id, RUN_FINISHED, {"run": run.pk})
    return run


@transaction.atomic
def pause_run(*, run: Run) -> Run:
    """Pause a run: no new call starts; calls in flight are finished and stored. Locks the run's row.

    No batch is started or polled either; batches at the provider are collected when the run resumes.
    """
    run = _lock_run(run)
    if run.status == Run.Status.PAUSED:
        return run
    if run.status != Run.Status.RUNNING:
        raise RunStateError(
            gettext("This run is {status}; only a running one can be paused.").format(
                status=run.get_status_display()
            )
        )
    run.status = Run.Status.PAUSED
    run.save(update_fields=["status"])
    record(run.project, "run.paused", run)
    return run


@transaction.atomic
def cancel_run(*, run: Run) -> Run:
    """End a run permanently: unanswered judgments leave the plan, answers stay. Locks the run's row.

    Batches are cancelled at their provider; answers given by then are paid, and collected.
    """
    run = _lock_run(run)
    if run.status in Run.OVER:
        return run
    run.status, run.finished_at = Run.Status.CANCELLED, timezone.now()
    run.waits_for = run.resumes_until = None
    run.save(update_fields=["status", "finished_at", *_WAITING])
    record(run.project, "run.cancelled", run)
    end_plan(run)
    if run.via == Run.Via.BATCH:
        make_due(run)
        _wake_after_commit(run)
    return run


@transaction.atomic
def retry_failed(*, run: Run) -> Run:
    """Repeat failed calls, and resume the run. Unreadable replies count as answers and do not change."""
    run = _lock_run(run)
    if run.status == Run.Status.CANCELLED:
        raise RunStateError(gettext("This run was cancelled; plan a new one for the missing judgments."))
    _refuse_archived(run)
    failed = Judgment.objects.filter(run=run, status=Judgment.Status.FAILED)
    if not failed.update(status=Judgment.Status.PLANNED, reason="", problem=""):
        return run
    run.status, run.reason, run.finished_at = Run.Status.RUNNING, "", None
    run.started_at = run.started_at or timezone.now()
    run.waits_for = run.resumes_until = None
    run.looked_up_to, run.untried_judges = _look_up_from(run), judges_to_try(run)
    run.save(update_fields=["status", "reason", "started_at", *_GOING_ON])
    record(run.project, "run.retried", run)
    be_patient_again(run=run)
    _wake_after_commit(run)
    return run


def _wake_after_commit(run: Run) -> None:
    # Workers look for work by themselves every few seconds, so a broker that is away loses nothing.
    transaction.on_commit(lambda: collect_judgments.delay(run.pk), robust=True)


def _look_up_from(run: Run) -> int | None:
    """Return the judgment after which the lookup of stored answers starts:

    all, at every start or resumption.
    """
    return 0 if run.reuses_answers else None


def _refuse_archived(run: Run) -> None:
    """Raise RunStateError if judgments of an archived judge remain."""
    open_ones = (Judgment.Status.PLANNED, Judgment.Status.LEASED, Judgment.Status.FAILED)
    left = Judgment.objects.filter(run=run, judge=OuterRef("pk"), status__in=open_ones)
    for judge in judges_of(run).filter(Exists(left)):
        if reason := refuse_archived(judge):
            raise RunStateError(reason)


def _lock_run(run: Run) -> Run:
    return Run.objects.select_for_update().get(pk=run.pk)


def _take_over(
    run: Run,
    judge: Judge,
    dimensions: Sequence[FrozenDimension],
    chosen: ChosenItems,
) -> None:
    """Plan judgments again that failed in a cancelled run, or were in flight at a run's end without an
    answer.

    The possible cost of these calls stays with their earlier run. Locks these runs.
    """
    now = timezone.now()
    left = Judgment.objects.filter(
        abandoned_judgments(now), judge=judge, dimension__in=[dimension.id for dimension in dimensions]
    )
    left = chosen.filter_judgments(left)
    died = left.filter(status=Judgment.Status.LEASED).values("run")
    for earlier in Run.objects.select_for_update().filter(pk__in=died).order_by("pk"):
        free_abandoned(run=earlier, at=now)
    left.update(run=run, status=Judgment.Status.PLANNED, reason="", problem="", lease=None, leased_until=None)


def _dimensions(guideline: FrozenGuideline, keys: Iterable[str]) -> list[FrozenDimension]:
    found = []
    for key in keys:
        dimension = guideline.dimension(key)
        if dimension is None:
            raise RunRefusedError(gettext("The project has no dimension {key!r}.").format(key=key))
        found.append(dimension)
    if not found:
        raise RunRefusedError(gettext("Choose at least one dimension."))
    return found


def _refuse_unsuitable(
    judge: Judge,
    project: Project,
    dimensions: Sequence[FrozenDimension],
    scope: Scope,
    budget: Decimal | None,
) -> None:
    if judge.project_id != project.pk:
        raise RunRefusedError(gettext("This judge belongs to another project."))
    if archived := refuse_archived(judge):
        raise RunRefusedError(archived)
    if judge.endpoint is None:
        raise RunRefusedError(
            gettext("{name} is imported and has no endpoint to call.").format(name=judge.name)
        )
    if budget is not None and not prices_of(judge.endpoint, judge.model).are_known:
        raise RunRefusedError(
            gettext(
                "The prices of {model} at {name} are unknown, so Concord cannot enforce a budget; enter "
                "its prices or leave the budget out."
            ).format(model=judge.model, name=judge.endpoint.name)
        )
    method = METHODS[judge.method]
    if method.asks_pairs and not scope.pairs:
        raise RunRefusedError(
            gettext("{name} compares two systems at a time; choose pairs of systems.").format(name=judge.name)
        )
    for dimension in dimensions:
        if reason := refusal(judge, dimension):
            raise RunRefusedError(
                gettext("{name} cannot judge {name_2}: {reason}").format(
                    name=judge.name, name_2=dimension.name, reason=reason
                )
            )
