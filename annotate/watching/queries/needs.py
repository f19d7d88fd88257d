"""What waits for an admin of a project, in sentences with the page where it is done."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import reduce
from operator import or_

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from annotate.core.models import DataImport, Export, Project, Round
from annotate.disputes.queries.activity import AgeCount
from annotate.material.import_kinds import KINDS
from annotate.material.queries.imports import SILENT_FOR, WORKER_SHOULD_TAKE
from annotate.watching.queries.round_progress import RaterProgress, RoundProgress
from annotate.watching.registry import WATCHED, Need

NOT_BEGUN_AFTER = timedelta(days=3)
SILENT_AFTER = timedelta(days=7)
UNANSWERED_DAYS = 3
LISTED = 5
Status = DataImport.Status


def needs_of(
    project: Project, first: RoundProgress | None, second: Round | None, ages: Sequence[AgeCount]
) -> list[Need]:
    """Return what needs an admin now, the most pressing first. Two queries, and those of other apps."""
    return [
        *_imports(project),
        *_webhooks(project),
        *(need for watched in WATCHED.values() for need in watched.needs(project)),
        *_deadlines(project, [first.round if first else None, second]),
        *_people(project, first),
        *_disputes(project, ages),
    ]


def _imports(project: Project) -> Iterator[Need]:
    stuck = DataImport.objects.filter(
        project=project, status__in=(Status.REFUSED, Status.STOPPED, Status.UPLOADED)
    )
    said = {
        Status.REFUSED: "was refused; see why, mend it and import it again",
        Status.STOPPED: "stopped; start it again",
        Status.UPLOADED: "is uploaded and not imported yet",
    }
    for each in stuck.order_by("-pk")[:LISTED]:
        page = reverse(KINDS[each.kind].page, args=[project.slug, each.pk])
        yield Need(f"The file {each.name} {said[Status(each.status)]}.", page)


def _webhooks(project: Project) -> Iterator[Need]:
    for webhook in project.webhooks.filter(disabled_at__isnull=False)[:LISTED]:
        page = reverse("webhook", args=[project.slug, webhook.pk])
        yield Need(f"The webhook {webhook.url} is disabled: {webhook.disabled_because}", page)


def _deadlines(project: Project, rounds: Sequence[Round | None]) -> Iterator[Need]:
    for round in rounds:
        if round and round.is_open and round.deadline and round.deadline_passed:
            day = date_format(round.deadline, "MONTH_DAY_FORMAT")
            yield Need(
                f"{round}’s deadline, {day}, has passed and it is open: close it, or move the deadline.",
                reverse("deadline", args=[project.slug, round.number]),
            )


def _people(project: Project, first: RoundProgress | None) -> Iterator[Need]:
    if first is None or not first.round.is_open:
        return
    people = reverse("people", args=[project.slug])
    active = [rater for rater in first.raters if rater.active]
    asked = project.raters_per_item
    if first.round.every_item and len(active) < asked:
        yield Need(f"{len(active)} annotators cannot give {asked} ratings to an item; invite more.", people)
    with_account = [rater for rater in active if rater.has_account]
    now = timezone.now()
    late = [
        rater
        for rater in with_account
        if rater.last_rated is None and max(rater.joined_at, first.round.opened_at) < now - NOT_BEGUN_AFTER
    ]
    if late:
        yield Need(f"{_join_names(late)} never began, {NOT_BEGUN_AFTER.days} days after they could.", people)
    silent = [
        rater
        for rater in with_account
        if rater.last_rated
        and rater.last_rated < now - SILENT_AFTER
        and rater.counts.done < rater.counts.taken
    ]
    if silent:
        yield Need(
            f"{_join_names(silent)} rated nothing for {SILENT_AFTER.days} days and hold unfinished items.",
            people,
        )


def _join_names(raters: Sequence[RaterProgress]) -> str:
    names = [rater.label or rater.name for rater in raters[:LISTED]]
    if len(raters) > LISTED:
        names.append(f"{len(raters) - LISTED} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _disputes(project: Project, ages: Sequence[AgeCount]) -> Iterator[Need]:
    count = sum(age.count for age in ages if age.days >= UNANSWERED_DAYS)
    if count:
        noun = "dispute has" if count == 1 else "disputes have"
        yield Need(
            f"{count} open {noun} had no word for {UNANSWERED_DAYS} days: nudge their raters, or decide.",
            f"{reverse('disputes', args=[project.slug])}?all=1&status=open&silent={UNANSWERED_DAYS}",
        )


def work_waits() -> "ExpressionWrapper[Q]":
    """Return whether the project of a row (its `project`) has work that no worker takes, as an expression."""
    others = (watched.work_waits() for watched in WATCHED.values())
    waiting: list[Exists] = [_imports_wait(), _exports_wait(), *others]
    return ExpressionWrapper(reduce(or_, waiting, Q()), output_field=BooleanField())


def _imports_wait() -> Exists:
    now = timezone.now()
    silent = reduce(
        or_, (Q(status=status, touched_at__lt=now - _patience(status)) for status in SILENT_FOR), Q()
    )
    return Exists(DataImport.objects.filter(silent, project=OuterRef("project")))


def _exports_wait() -> Exists:
    should_be_taken = timezone.now() - WORKER_SHOULD_TAKE
    waiting = Export.objects.filter(status=Export.Status.WAITING, touched_at__lt=should_be_taken)
    return Exists(waiting.filter(project=OuterRef("project")))


def _patience(status: str) -> timedelta:
    return max(SILENT_FOR[DataImport.Status(status)], WORKER_SHOULD_TAKE)
