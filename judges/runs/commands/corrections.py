"""Changes of a judgment after its reply was stored: a value is set, it is excluded, or parsed again."""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.guidelines import current_guideline
from annotate.core.models import Project, User
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judge, Judgment, JudgmentChange
from judges.methods import METHODS
from judges.runs.queries.corrections import OtherReading, rereadings_in_batches

Kind, Status = JudgmentChange.Kind, Judgment.Status
AT_ONCE = 500
OF_A_PANEL = METHODS["direct"]  # a panel has no method: its values are amounts, or named categories
ANSWERED = (Status.DONE, Status.UNREADABLE, Status.EXCLUDED)  # there is a reply to correct


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
    found = list(rows.filter(status__in=[Status.DONE, Status.UNREADABLE]).order_by("pk"))
    JudgmentChange.objects.bulk_create(
        _change_of(each, Kind.EXCLUDED, Status.EXCLUDED, None, note=note, by=by) for each in found
    )
    excluded = {"status": Status.EXCLUDED, "value": None, "reason": note, "problem": "", "is_corrected": True}
    Judgment.objects.filter(pk__in=[each.pk for each in found]).update(**excluded)
    if found:
        record(project, "judgments.excluded", project, after={"excluded": len(found)}, note=note, by=by)
    return len(found)


def read_again(
    *, judges: Sequence[Judge], by: User | None, report_progress: Callable[[int], None] | None = None
) -> int:
    """Parse stored replies by the present rules; return the number of changed judgments.

    report_progress: receives the number of processed replies after every five hundred, changed or not.

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
    locked = Judgment.objects.select_for_update().in_bulk(meant)
    changed = 0
    for pk, judgment in locked.items():
        found = meant[pk]
        if (judgment.status, judgment.value) != (found.judgment.status, found.judgment.value):
            continue  # somebody was quicker
        judgment.data = found.data
        judgment.rationale = found.rationale or judgment.rationale
        _change(judgment, Kind.READ_AGAIN, found.status, found.value, reason=found.reason, by=by)
        changed += 1
    if changed:
        first = batch[0].judgment.judge
        record(first.project, "judgments.read_again", first, after={"changed": changed}, by=by)
    return changed


def _lock_judgment(judgment: Judgment) -> Judgment:
    rows = Judgment.objects.select_for_update(of=("self",)).select_related("judge__project")
    judgment = rows.get(pk=judgment.pk)
    if judgment.status not in ANSWERED:
        raise JudgmentStandsError(
            gettext("This judgment is {status}: there is no reply to correct.").format(
                status=judgment.get_status_display()
            )
        )
    return judgment


def _reason(note: str) -> str:
    if not note.strip():
        raise InvalidValueError(
            gettext("Enter a reason; the history and exports include it."),
            fields={"note": gettext("Give a reason.")},
        )
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
    _change_of(judgment, kind, status, value, note=note, by=by).save(force_insert=True)
    if kind != Kind.READ_AGAIN:
        before = {"status": judgment.status, "value": judgment.value}
        after = {"status": str(status), "value": value}
        project = judgment.judge.project
        record(project, "judgment.corrected", judgment, before=before, after=after, note=note, by=by)
    judgment.status, judgment.value, judgment.reason, judgment.problem = status, value, reason, problem
    judgment.is_corrected = judgment.is_corrected or kind in JudgmentChange.BY_PEOPLE
    judgment.save(update_fields=["status", "value", "data", "reason", "problem", "rationale", "is_corrected"])
    return judgment


def _change_of(
    judgment: Judgment,
    kind: JudgmentChange.Kind,
    status: Judgment.Status,
    value: float | None,
    *,
    note: str,
    by: User | None,
) -> JudgmentChange:
    return JudgmentChange(
        judgment=judgment,
        at=timezone.now(),
        actor=by,
        kind=kind,
        status_before=judgment.status,
        value_before=judgment.value,
        reason_before=judgment.reason,
        problem_before=judgment.problem,
        status_after=status,
        value_after=value,
        note=note,
    )
