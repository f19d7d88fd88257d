"""Changes of a judgment after its reply was stored: a value is set, it is excluded, or parsed again."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import JobKind, TakenOverError, own_row, wake_worker
from annotate.core.models import Project, User
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.errors import JudgmentStandsError, RunRefusedError
from judges.core.models import Judge, Judgment, JudgmentChange, Rereading, Run
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.queries import refusal
from judges.methods import METHODS
from judges.runs.commands.outcomes import EMPTY, change_of, keep_answers
from judges.runs.commands.runs import start_run
from judges.runs.queries.judgments import OtherReading, as_row, is_silent, judges_of, rereadings_in_batches

Kind, Status, Step = JudgmentChange.Kind, Judgment.Status, Rereading.Status
AT_ONCE = 500
OF_A_PANEL = METHODS["direct"]  # a panel has no method: its values are amounts, or named categories
ANSWERED = (Status.DONE, Status.UNREADABLE, Status.EXCLUDED)  # there is a reply to correct
NOTHING_LEFT = _("There is no answer to request again; a request may already be pending.")
PREVIEWED_CHANGES = 100


@transaction.atomic
def set_value(*, judgment: Judgment, value: float, note: str, by: User) -> Judgment:
    """Set the value that a person reads in a reply, with the reason; the previous value stays in the history.

    Safe to run twice. Raises InvalidValueError, JudgmentStandsError.
    """
    judgment = _lock_judgment(judgment)
    guideline = current_guideline(judgment.judge.project)
    dimension = next(each for each in guideline.dimensions if each.id == judgment.dimension_id)
    asked = judgment.judge.rescale(dimension)
    if problem := METHODS.get(judgment.judge.method, OF_A_PANEL).refuses_value(value, asked):
        raise InvalidValueError(problem, fields={"value": problem})
    if (judgment.status, judgment.value) == (Status.DONE, value):
        return judgment
    return _change(judgment, Kind.SET, Status.DONE, value, note=_reason(note), by=by)


@transaction.atomic
def exclude(*, judgment: Judgment, note: str, by: User) -> Judgment:
    """Exclude a judgment from every statistic, with the reason. Safe to run twice.

    Raises the same errors as `set_value`.
    """
    judgment = _lock_judgment(judgment)
    note = _reason(note)
    if judgment.status == Status.EXCLUDED:
        return judgment
    return _change(judgment, Kind.EXCLUDED, Status.EXCLUDED, None, reason=note, note=note, by=by)


@transaction.atomic
def include(*, judgment: Judgment, note: str, by: User) -> Judgment:
    """Restore a judgment's state before its exclusion. Safe to run twice.

    Raises the same errors as `set_value`.
    """
    judgment = _lock_judgment(judgment)
    note = _reason(note)
    if judgment.status != Status.EXCLUDED:
        return judgment
    before = judgment.changes.filter(kind=Kind.EXCLUDED).order_by("pk").last()
    assert before is not None  # nothing else excludes
    # An excluded judgment may have been unreadable, with a reason of its own.
    status = Status(before.status_before)
    stood = {"reason": before.reason_before, "problem": before.problem_before}
    return _change(judgment, Kind.INCLUDED, status, before.value_before, **stood, note=note, by=by)


def exclude_all(*, project: Project, judgments: Sequence[int], note: str, by: User) -> int:
    """Exclude judgments of a project from every statistic, all with one reason; return the number excluded.

    Judgments without a reply and excluded ones do not change. Each five hundred are a transaction; safe to
    run twice. Raises InvalidValueError.
    """
    note, excluded = _reason(note), 0
    for start in range(0, len(judgments), AT_ONCE):
        excluded += _exclude_some(project, judgments[start : start + AT_ONCE], note, by)
    return excluded


@transaction.atomic
def _exclude_some(project: Project, judgments: Sequence[int], note: str, by: User) -> int:
    rows = Judgment.objects.select_for_update().filter(judge__project=project, pk__in=judgments)
    # In the order of ids: two of these that lock in different orders could deadlock.
    found = list(rows.filter(status__in=[Status.DONE, Status.UNREADABLE]).order_by("pk"))
    JudgmentChange.objects.bulk_create(
        change_of(each, Kind.EXCLUDED, Status.EXCLUDED, note=note, actor=by) for each in found
    )
    # The flag keeps later readings of the replies from undoing a person's exclusion.
    excluded = {"status": Status.EXCLUDED, "value": None, "reason": note, "problem": "", "is_corrected": True}
    Judgment.objects.filter(pk__in=[each.pk for each in found]).update(**excluded)
    if found:
        record(project, "judgments.excluded", project, after={"excluded": len(found)}, note=note, by=by)
    return len(found)


def read_again(
    *, judges: Sequence[Judge], by: User | None, report_progress: Callable[[int], None] | None = None
) -> int:
    """Parse stored replies by the present rules; return the number of changed judgments.

    report_progress: receives the number of judgments changed so far, after every five hundred replies.

    Values that a person set or excluded stay, and so do values from probabilities, which no reply contains.
    The changes of five hundred replies are a transaction; safe to run twice, and to resume after a crash.
    """
    changed = 0
    for batch in rereadings_in_batches(judges):
        if batch:
            changed += _read_anew(batch, by)
        if report_progress is not None:
            report_progress(changed)
    return changed


@transaction.atomic
def _read_anew(batch: Sequence[OtherReading], by: User | None) -> int:
    meant = {found.judgment.pk: found for found in batch}
    # In the order of ids: two that lock in different orders could deadlock.
    locked = Judgment.objects.select_for_update().filter(pk__in=meant).order_by("pk")
    changed = 0
    for judgment in locked:
        found = meant[judgment.pk]
        if (judgment.status, judgment.value) != (found.judgment.status, found.judgment.value):
            continue  # somebody was quicker
        judgment.data = found.data
        # An unreadable reply has no rationale, and the earlier one stays.
        judgment.rationale = found.rationale or judgment.rationale
        _change(judgment, Kind.READ_AGAIN, found.status, found.value, reason=found.reason, by=by)
        changed += 1
    if changed:
        first = batch[0].judgment.judge
        record(first.project, "judgments.read_again", first, after={"changed": changed}, by=by)
    return changed


def _lock_judgment(judgment: Judgment) -> Judgment:
    # Only this row: a lock of the joined judge and project would hold up their other writes.
    rows = Judgment.objects.select_for_update(of=("self",)).select_related("judge__project")
    judgment = rows.get(pk=judgment.pk)
    if judgment.status not in ANSWERED:
        says = gettext("This judgment is {status}: there is no reply to correct.")
        raise JudgmentStandsError(says.format(status=judgment.get_status_display()))
    return judgment


def _reason(note: str) -> str:
    if not note.strip():
        message = gettext("Enter a reason; the history and exports include it.")
        raise InvalidValueError(message, fields={"note": gettext("Give a reason.")})
    return note.strip()


def _change(
    judgment: Judgment,
    kind: JudgmentChange.Kind,
    status: Judgment.Status,
    value: float | None,
    *,
    reason: str = "",
    problem: str = "",
    note: str = "",
    by: User | None,
) -> Judgment:
    change_of(judgment, kind, status, value, note=note, actor=by).save(force_insert=True)
    # `_read_anew` records one entry for all judgments that it changes.
    if kind != Kind.READ_AGAIN:
        before = {"status": judgment.status, "value": judgment.value}
        after = {"status": str(status), "value": value}
        project = judgment.judge.project
        record(project, "judgment.corrected", judgment, before=before, after=after, note=note, by=by)
    judgment.status, judgment.value, judgment.reason, judgment.problem = status, value, reason, problem
    judgment.is_corrected = judgment.is_corrected or kind in JudgmentChange.BY_PEOPLE
    judgment.save(update_fields=["status", "value", "data", "reason", "problem", "rationale", "is_corrected"])
    return judgment


# Repeated calls of answered judgments: one from its page, or all that match a filter.


def ask_again(*, project: Project, judgments: QuerySet[Judgment], by: User | None) -> Run:
    """Request judgments again in a separate run; their earlier answers stay in the history.

    In transactions of five hundred, each of which locks its judgments. The run starts when it has all of
    them: a crash leaves a planned run, to start or cancel. Judgments with a pending answer are skipped, so
    that no call repeats. Messages are stored if an earlier run stored them. Raises JudgmentStandsError if no
    judgment remains, and RunRefusedError.
    """
    answered = judgments.filter(judge__project=project, status__in=ANSWERED).order_by("pk")
    run = _make_run(project, answered, by)
    count = last = 0
    # By id and not by offset, since moved judgments leave the filter.
    while moved := _move_to(run, answered.filter(pk__gt=last)[:AT_ONCE], by):
        count, last = count + len(moved), moved[-1]
    with transaction.atomic():
        if not count:  # somebody was quicker
            run.delete()
        else:
            record(project, "judgments.asked_again", run, after={"judgments": count}, by=by)
            return start_run(run=run)
    raise JudgmentStandsError(str(NOTHING_LEFT))


@transaction.atomic
def _make_run(project: Project, answered: QuerySet[Judgment], by: User | None) -> Run:
    """Plan a run for judgments without adding them yet. Locks the project."""
    project = Project.objects.select_for_update().get(pk=project.pk)
    if not answered.exists():
        # Outside the transaction, where the error would undo the deletion of the empty run.
        raise JudgmentStandsError(str(NOTHING_LEFT))
    guideline = freeze_guideline(project)
    _refuse_unsuitable(answered, FrozenGuideline.from_json(guideline.content))
    keeps = answered.filter(run__keeps_messages=True).exists()
    return Run.objects.create(project=project, guideline=guideline, created_by=by, keeps_messages=keeps)


@transaction.atomic
def _move_to(run: Run, answered: QuerySet[Judgment], by: User | None) -> list[int]:
    found = list(answered.select_for_update(of=("self",)))
    keys = [each.pk for each in found]
    keep_answers(found, by=by)
    Judgment.objects.filter(pk__in=keys).update(run=run, status=Judgment.Status.PLANNED, **EMPTY)
    return keys


def refuse_other_count(found: int, shown: int | None) -> None:
    """Raise JudgmentStandsError unless the number of judgments equals `shown`; None: no number to compare."""
    if shown is not None and shown != found:
        says = gettext("There were {shown} judgments, and there are {found} now. Look at them again.")
        raise JudgmentStandsError(says.format(shown=shown, found=found))


def _refuse_unsuitable(judgments: QuerySet[Judgment], guideline: FrozenGuideline) -> None:
    dimensions = {dimension.id: dimension for dimension in guideline.dimensions}
    asked = set(judgments.order_by().values_list("judge", "dimension").distinct())
    judges = Judge.with_candidates.select_related("endpoint").in_bulk({pk for pk, key in asked})
    for judge, key in ((judges[pk], key) for pk, key in asked):
        if archived := refuse_archived(judge):
            raise RunRefusedError(archived)
        if judge.endpoint_id is None:
            raise RunRefusedError(
                gettext("{name} is imported and has no endpoint to call.").format(name=judge.name)
            )
        if reason := refusal(judge, dimensions[key]):
            raise RunRefusedError(reason)


# Stored replies parsed again by a worker: first a preview of the changes, then the changes.


def start_rereading(*, project: Project, judge: Judge | None, by: User | None) -> Rereading:
    """Start a worker's preview of the changes of stored replies under the present rules."""
    rereading = Rereading.objects.create(
        project=project, judge=judge, created_by=by, touched_at=timezone.now()
    )
    wake_worker(REREADING_JOB, rereading.pk)
    return rereading


@transaction.atomic
def confirm_rereading(*, rereading: Rereading, by: User) -> Rereading:
    """Start the application of the previewed changes. Safe to run twice. Locks its row.

    Raises JudgmentStandsError without a preview.
    """
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if locked.would_change is None and locked.status == Step.STOPPED:
        raise JudgmentStandsError(locked.reason)
    if locked.would_change is None:
        raise JudgmentStandsError(
            gettext("The replies are still being read. Check the preview before you change them.")
        )
    # A stopped job with a preview was applying its changes, and continues with them.
    if locked.status in (Step.PREVIEWED, Step.STOPPED):
        locked.confirmed_by = by
        _wait(locked, Step.CONFIRMED)
    wake_worker(REREADING_JOB, locked.pk)
    return locked


@transaction.atomic
def restart_rereading(*, rereading: Rereading) -> Rereading:
    """Let another worker continue after silence or a failure. Locks its row."""
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if is_silent(locked) or locked.status == Step.STOPPED:
        _wait(locked, Step.WAITING if locked.would_change is None else Step.CONFIRMED)
        wake_worker(REREADING_JOB, locked.pk)
    return locked


def _wait(locked: Rereading, status: str) -> None:
    # A person wants it to continue, so it has all attempts again.
    locked.status, locked.lease, locked.reason, locked.attempts = status, None, "", 0
    locked.touched_at = timezone.now()
    locked.save(update_fields=["status", "lease", "reason", "attempts", "touched_at", "confirmed_by"])


def _read(rereading: Rereading) -> None:
    """Preview or apply. A worker without the lease stops; its changes stay, and another continues."""
    (_preview_changes if rereading.status == Step.READING else _apply_changes)(rereading)


def _preview_changes(rereading: Rereading) -> None:
    first: list[dict[str, Any]] = []
    number = 0
    for batch in rereadings_in_batches(judges_of(rereading)):
        first += [as_row(found) for found in batch[: PREVIEWED_CHANGES - len(first)]]
        number += len(batch)
        # The report also renews the lease: a worker that lost it stops here.
        _report_progress(rereading)
    _report_progress(rereading, status=Step.PREVIEWED, would_change=number, first_changes=first, lease=None)


def _apply_changes(rereading: Rereading) -> None:
    # A worker that continues adds to the count of the worker before.
    before = rereading.changed
    changed = read_again(
        judges=judges_of(rereading),
        by=rereading.confirmed_by,
        report_progress=lambda so_far: _report_progress(rereading, changed=before + so_far),
    )
    _report_progress(rereading, status=Step.APPLIED, changed=before + changed, lease=None)


def _report_progress(rereading: Rereading, **fields: object) -> None:
    if not own_row(rereading).update(touched_at=timezone.now(), **fields):
        raise TakenOverError


REREADING_JOB = JobKind(
    "rereading",
    Rereading,
    _read,
    does="reads stored replies again: a preview, then the change",
    statuses={Step.WAITING: Step.READING, Step.CONFIRMED: Step.APPLYING},
    related=("project", "confirmed_by"),
)
