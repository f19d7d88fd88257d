import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Document, Item, Project, User
from annotate.rating.commands.rounds import freeze_guideline
from annotate.webhooks.commands import announce
from judges.core.errors import RunRefusedError, RunStateError
from judges.core.models import DocumentUnits, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import refusal, refusal_of_reference, refusal_of_scope
from judges.methods import METHODS
from judges.methods.content_units import METHOD as CONTENT_UNITS
from judges.runs.commands.batches import make_due
from judges.runs.commands.endings import RUN_FINISHED, end_plan, is_under_way
from judges.runs.commands.leases import free_abandoned
from judges.runs.commands.outcomes import judges_to_try, plan_rejected_again
from judges.runs.commands.silence import be_patient_again
from judges.runs.queries.calls import Key, document_key
from judges.runs.queries.runs import abandoned_judgments, judges_of
from judges.runs.queries.samples import ChosenItems, Offer, chosen_items, need_of, offer_in_sql, samples_about
from judges.tasks import collect_judgments

_WAITING = ("waits_for", "resumes_until")
_GOING_ON = (*_WAITING, "finished_at", "looked_up_to", "untried_judges")
ITEMS, DOCUMENTS = (connection.ops.quote_name(model._meta.db_table) for model in (Item, Document))
# The items to judge: individually, or both orders of each pair.
SINGLE = f"""
    SELECT item.id, CAST(NULL AS bigint), item.id, item.document_id, 0, {offer_in_sql("item")}
    FROM {ITEMS} item JOIN {DOCUMENTS} document ON document.id = item.document_id
    WHERE document.project_id = %s
"""
PAIRED = f"""
    SELECT item.id, other.id, pair.position, item.document_id, pair.turn, {Offer.OUTPUT:d}
    FROM pair
    JOIN {ITEMS} item ON item.system_id = pair.first
    JOIN {ITEMS} other ON other.system_id = pair.second AND other.document_id = item.document_id
    JOIN {DOCUMENTS} document ON document.id = item.document_id
    WHERE document.project_id = %s
"""
# With `WHERE`: without it SQLite takes ON CONFLICT for a condition of the join.
WRITE = """
    WITH {tables}, subject (item, other, position, document, turn, offers) AS ({subjects})
    INSERT INTO {judgments} ({columns})
    SELECT {values}
    FROM subject CROSS JOIN dimension CROSS JOIN sample
    WHERE (subject.offers & dimension.need) > 0 AND sample.number < dimension.samples{units}
    ORDER BY subject.document, {order}
    ON CONFLICT DO NOTHING
"""
VARYING = {
    "item_id": "subject.item",
    "other_id": "subject.other",
    "dimension_id": "dimension.id",
    "sample": "sample.number",
}
NOT_PAID = {"input_tokens": 0, "output_tokens": 0, "calls": 0}


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
        # Before the insertion, which skips judgments that exist: these would stay in their ended run.
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
        says = gettext("This run is {status}; plan a new one for the missing judgments.")
        raise RunStateError(says.format(status=run.get_status_display()))
    _refuse_archived(run)
    if run.status == Run.Status.PAUSED and run.reason:  # it paused by itself, for unreadable replies
        run.accepts_unreadable = True
    # Before `judges_to_try`: judges with these planned judgments need a test call.
    plan_rejected_again(run)
    _go_on(run, "run.started")
    # Batches that failures had put off are due now, with the initial patience.
    if run.status == Run.Status.RUNNING:
        make_due(run)
    return run


def _go_on(run: Run, event: str) -> None:
    """Let the workers go on with a run that has judgments left; one without any ends without a worker."""
    now = timezone.now()
    is_over = not is_under_way(Judgment.objects.filter(run=run))
    run.status, run.finished_at = (Run.Status.FINISHED, now) if is_over else (Run.Status.RUNNING, None)
    run.reason, run.started_at = "", run.started_at or now
    run.waits_for = run.resumes_until = None
    run.untried_judges = judges_to_try(run)
    # The lookup of stored answers covers all judgments, at every start or resumption.
    run.looked_up_to = 0 if run.reuses_answers else None
    run.save(update_fields=["status", "reason", "started_at", *_GOING_ON, "accepts_unreadable"])
    record(run.project, event, run)
    be_patient_again(run=run)
    if is_over:
        announce(run.project_id, RUN_FINISHED, {"run": run.pk})
    else:
        _wake_after_commit(run)


@transaction.atomic
def pause_run(*, run: Run) -> Run:
    """Pause a run: no new call starts; calls in flight are finished and stored. Locks the run's row.

    No batch is started or polled either; batches at the provider are collected when the run resumes.
    """
    run = _lock_run(run)
    if run.status == Run.Status.PAUSED:
        return run
    if run.status != Run.Status.RUNNING:
        says = gettext("This run is {status}; only a running one can be paused.")
        raise RunStateError(says.format(status=run.get_status_display()))
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
    # A worker cancels the open batches at the provider and collects the replies that are paid.
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
    # Permanent failures, too: an admin may have corrected the settings of the judge.
    failed = Judgment.objects.filter(run=run, status=Judgment.Status.FAILED)
    if not failed.update(status=Judgment.Status.PLANNED, reason="", problem=""):
        return run
    _go_on(run, "run.retried")
    return run


def _wake_after_commit(run: Run) -> None:
    # Workers look for work by themselves every few seconds, so a broker that is away loses nothing.
    transaction.on_commit(lambda: collect_judgments.delay(run.pk), robust=True)


def _refuse_archived(run: Run) -> None:
    """Raise RunStateError if judgments of an archived judge remain."""
    open_ones = (Judgment.Status.PLANNED, Judgment.Status.LEASED, Judgment.Status.FAILED)
    left = Judgment.objects.filter(run=run, judge=OuterRef("pk"), status__in=open_ones)
    for judge in judges_of(run).filter(Exists(left)):
        if reason := refuse_archived(judge):
            raise RunStateError(reason)


def _lock_run(run: Run) -> Run:
    return Run.objects.select_for_update().get(pk=run.pk)


def _take_over(run: Run, judge: Judge, dimensions: Sequence[FrozenDimension], chosen: ChosenItems) -> None:
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
    # Freed judgments are planned ones of an ended run, so the condition still matches them.
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
    # Without a price the cost of calls stays unknown, and `spent` would never reach the budget.
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
            says = gettext("{name} cannot judge {name_2}: {reason}")
            raise RunRefusedError(says.format(name=judge.name, name_2=dimension.name, reason=reason))


# One statement inserts all judgments of a judge: a row per judgment took Django 9 s for 100,800 of them.


def write_judgments(
    run: Run,
    judge: Judge,
    dimensions: Sequence[FrozenDimension],
    pairs: Sequence[tuple[int, int]],
    chosen: ChosenItems,
) -> None:
    """Write a row for each judgment of this judge that the project does not have yet."""
    # Dimensions may differ in samples: the statement drops the numbers beyond a dimension's own.
    most = max(samples_about(judge, each) for each in dimensions)
    tables = [
        _values(
            "dimension (id, position, need, samples)",
            [
                (each.id, index, int(need_of(each)), samples_about(judge, each))
                for index, each in enumerate(dimensions)
            ],
        ),
        _values("sample (number)", [(number,) for number in range(most)]),
    ]
    if METHODS[judge.method].asks_pairs:
        # Both orders of each pair, which `turn` keeps next to each other.
        both = [
            (*systems, index, turn)
            for index, (first, second) in enumerate(pairs)
            for turn, systems in enumerate([(first, second), (second, first)])
        ]
        tables.append(_values("pair (first, second, position, turn)", both))
        subjects = PAIRED + chosen.condition("item.id", "other.id")
    else:
        subjects = SINGLE + chosen.condition("item.id")
    # Prompts contain the dimension, then the document, then the output. This order makes calls with the same
    # prefix consecutive, for servers that cache prefixes. Judgments of one call are adjacent: a sample of all
    # dimensions, or a dimension's samples.
    order = "dimension.position, subject.position, subject.turn, sample.number"
    if judge.asks_several:
        order = "subject.position, subject.turn, sample.number, dimension.position"
    columns, values, constants = _columns(Judgment(run=run, judge=judge))
    statement = WRITE.format(
        tables=", ".join(tables),
        subjects=subjects,
        judgments=connection.ops.quote_name(Judgment._meta.db_table),
        columns=columns,
        values=values,
        order=order,
        units=chosen.condition_on_units("dimension.id", "subject.item"),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [run.project_id, *constants])


def _values(named: str, rows: Sequence[Sequence[int]]) -> str:
    """Return a table of numbers for use within one statement; without parameters, which SQLite limits."""
    return f"{named} AS (VALUES {', '.join(_row(row) for row in rows)})"


def _row(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers))})"


def _columns(judgment: Judgment) -> tuple[str, str, list[Any]]:
    """Return the columns of a judgment, the expression for each, and the values common to all rows."""
    fields = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
    filled = [VARYING.get(field.attname, "%s") for field in fields]
    # The same values that saving one new instance would write.
    constants = [
        field.get_db_prep_save(field.pre_save(judgment, add=True), connection)
        for field in fields
        if field.attname not in VARYING
    ]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    return names, ", ".join(filled), constants


# A step that the outputs of a document share is paid once: new judgments adopt it from earlier answers.


def adopt_first_steps(run: Run, judge: Judge) -> None:
    """Set the first step of new judgments from their document, if known.

    The sources are the project's content units, if the method uses them, and the judge's earlier answers
    about the document. Only the paid call counts its tokens. Three queries and one for each document, none
    for methods without such a step.
    """
    if not judge.asks_of_documents:
        return
    known = _first_answers(judge)
    new = Judgment.objects.filter(run=run, judge=judge, status=Judgment.Status.PLANNED, steps_done=0)
    of_project = _units(run) if judge.method == CONTENT_UNITS.key else {}
    for document, dimension in new.order_by().values_list("item__document", "dimension").distinct():
        step = of_project.get(document) or known.get(document_key(judge, document, dimension))
        if step is not None:
            new.filter(item__document=document, dimension=dimension).update(steps=[step], steps_done=1)


def _first_answers(judge: Judge) -> dict[Key, dict[str, Any]]:
    """Return the first step of each document that the judge answered, the latest one."""
    # A later row replaces an earlier one of the same document, so the latest answer remains.
    rows = Judgment.objects.filter(judge=judge, steps_done__gte=1).order_by("pk")
    columns = rows.values_list("item__document", "dimension", "steps")
    return {
        document_key(judge, document, dimension): {**steps[0], **NOT_PAID}
        for document, dimension, steps in columns.iterator(1000)
        if steps[0]["reply"]  # not removed by retention
    }


def _units(run: Run) -> dict[int, dict[str, Any]]:
    found = DocumentUnits.objects.filter(document__project=run.project_id)
    return {
        document: {"name": "units of the project", "reply": json.dumps(units, ensure_ascii=False), **NOT_PAID}
        for document, units in found.values_list("document", "units")
    }
