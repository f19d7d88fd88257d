"""The first page of a project, by role, and the open tasks of its admins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from annotate.core.access import active_memberships
from annotate.core.jobs import SILENT_AFTER as LEASE_ENDS_AFTER
from annotate.core.jobs import WORKER_SHOULD_TAKE, WorkerHealth, worker_health
from annotate.core.models import DataImport, Export, Item, Membership, Project, Role, Round, Submission
from annotate.core.rounds import rounds_of
from annotate.disputes.queries.activity import (
    AgeCount,
    DisputeCounts,
    RaterDisputes,
    dispute_counts,
    open_by_age,
    open_by_rater,
)
from annotate.disputes.queries.disputes import MOST_NEW, WorkCounts, count_needing_and_new, work_counts
from annotate.fastpath.queries import MOMENTS, NUMBERS, compile_once
from annotate.leaderboard.queries import finished_additions
from annotate.material.import_kinds import KINDS
from annotate.material.queries.imports import SILENT_FOR
from annotate.rating.queries.own_items import Progress, count_left, progress
from annotate.rating.queries.work import new_wording
from annotate.watching.queries.round_progress import RaterProgress, RoundProgress, round_progress
from annotate.watching.registry import WATCHED, Need, OverviewSection

NOT_BEGUN_AFTER = timedelta(days=3)
SILENT_AFTER = timedelta(days=7)
UNANSWERED_DAYS = 3
LISTED = 5
Status = DataImport.Status


def needs_of(
    project: Project, first: RoundProgress | None, second: Round | None, ages: Sequence[AgeCount]
) -> list[Need]:
    """Return an admin's open tasks, the most urgent first. Five queries, and the queries of other apps."""
    rounds = [round for round in (first.round if first else None, second) if round]
    found = [
        *_imports(project),
        *_rounds(rounds),
        *_webhooks(project),
        *_submissions(project),
        *_versions(project),
        *(need for watched in WATCHED.values() for need in watched.needs(project)),
        *_deadlines(project, rounds),
        *_people(project, first),
        *_disputes(project, ages),
    ]
    # Sorting is stable, so tasks of equal urgency stay in the order above.
    return sorted(found, key=lambda need: not need.is_urgent)


def _imports(project: Project) -> Iterator[Need]:
    stuck = DataImport.objects.filter(
        project=project, status__in=(Status.REFUSED, Status.STOPPED, Status.UPLOADED)
    )
    messages = {
        Status.REFUSED: gettext(
            "The file {name} was rejected. Correct the listed lines and import it again."
        ),
        Status.STOPPED: gettext("The import of {name} stopped. Start it again."),
        Status.UPLOADED: gettext("The file {name} is uploaded but not imported yet."),
    }
    for each in stuck.order_by("-pk")[:LISTED]:
        page = reverse(KINDS[each.kind].page, args=[project.slug, each.pk])
        yield Need(messages[Status(each.status)].format(name=each.name), page)


def _webhooks(project: Project) -> Iterator[Need]:
    for webhook in project.webhooks.filter(disabled_at__isnull=False)[:LISTED]:
        page = reverse("webhook", args=[project.slug, webhook.pk])
        message = gettext("The webhook {url} is disabled: {reason}")
        yield Need(message.format(url=webhook.url, reason=webhook.disabled_because), page)


def _submissions(project: Project) -> Iterator[Need]:
    if count := project.submissions.filter(status=Submission.Status.WAITING).count():
        message = ngettext(
            "{count} submission to the leaderboard waits for a decision.",
            "{count} submissions to the leaderboard wait for a decision.",
            count,
        )
        yield Need(message.format(count=count), reverse("submissions", args=[project.slug]))


def _versions(project: Project) -> Iterator[Need]:
    additions = finished_additions(project)
    newest = project.versions.first() if additions else None
    new = sum(each.number not in newest.additions for each in additions) if newest else 0
    if new:
        message = ngettext(
            "{count} finished addition is in no version.",
            "{count} finished additions are in no version.",
            new,
        )
        yield Need(message.format(count=new), reverse("versions", args=[project.slug]))


def _rounds(rounds: Sequence[Round]) -> Iterator[Need]:
    for round in rounds:
        # Until the round is complete the project rejects other changes, so this task comes first.
        if round.problem:
            slug, step = round.project.slug, f"{'open' if round.is_open else 'close'}-{round.number}"
            message = gettext(
                "{round} is not complete, and the project cannot change until it is. {problem} "
                "An admin can try again: concord rounds {step} {slug}"
            )
            yield Need(
                message.format(round=round, problem=round.problem, slug=slug, step=step),
                reverse("project", args=[slug]),
                is_urgent=True,
            )


def _deadlines(project: Project, rounds: Sequence[Round]) -> Iterator[Need]:
    for round in rounds:
        if round.is_open and round.deadline and round.deadline_passed:
            day = date_format(round.deadline, "MONTH_DAY_FORMAT")
            message = gettext(
                "{round} is still open after its deadline, {day}. Close the round or move the deadline."
            )
            page = reverse("deadline", args=[project.slug, round.number])
            yield Need(message.format(round=round, day=day), page)


def _people(project: Project, first: RoundProgress | None) -> Iterator[Need]:
    if first is None or not first.round.is_open:
        return
    people = reverse("people", args=[project.slug])
    active = [rater for rater in first.raters if rater.active]
    asked = project.raters_per_item
    # In a routed round only some units need raters, so this comparison does not hold.
    if first.round.every_item and len(active) < asked:
        message = gettext("Each item needs {raters} raters, but the project has {annotators}. Invite more.")
        yield Need(message.format(raters=asked, annotators=len(active)), people)
    with_account = [rater for rater in active if rater.has_account]
    now = timezone.now()
    late = [
        rater
        for rater in with_account
        # Raters can start only after they have joined and the round has opened.
        if rater.last_rated is None and max(rater.joined_at, first.round.opened_at) < now - NOT_BEGUN_AFTER
    ]
    if late:
        message = gettext("Not started for {days} days: {raters}.")
        yield Need(message.format(days=NOT_BEGUN_AFTER.days, raters=_join_names(late)), people)
    silent = [
        rater
        for rater in with_account
        if rater.last_rated
        and rater.last_rated < now - SILENT_AFTER
        # A rater who has finished all items is silent for a good reason.
        and rater.counts.done < rater.counts.taken
    ]
    if silent:
        message = gettext("Unfinished items, but no ratings for {days} days: {raters}.")
        yield Need(message.format(days=SILENT_AFTER.days, raters=_join_names(silent)), people)


def _join_names(raters: Sequence[RaterProgress]) -> str:
    names = [rater.label or rater.name for rater in raters[:LISTED]]
    listed = ", ".join(names)
    if len(raters) <= LISTED:
        return listed
    return gettext("{names} and {count} more").format(names=listed, count=len(raters) - LISTED)


def _disputes(project: Project, ages: Sequence[AgeCount]) -> Iterator[Need]:
    count = sum(age.count for age in ages if age.days >= UNANSWERED_DAYS)
    if count:
        message = ngettext(
            "{count} open dispute has had no activity for {days} days. Remind its raters or decide it.",
            "{count} open disputes have had no activity for {days} days. Remind their raters or decide them.",
            count,
        )
        yield Need(
            message.format(count=count, days=UNANSWERED_DAYS),
            f"{reverse('disputes', args=[project.slug])}?all=1&status=open&silent={UNANSWERED_DAYS}",
        )


def memberships_on_page(user: int, project: int) -> list[dict[str, Any]]:
    """Return what the frame of a page shows of a person's memberships in a project.

    waits: True if the project has work that no worker claims. number, slug, name: of an addition, its number
    and its benchmark. One query, compiled once because every page of a project makes it.
    """
    now = timezone.now()
    long_ago = now - WORKER_SHOULD_TAKE
    return _MEMBERSHIPS.all(user, project, now, long_ago, min(long_ago, now - LEASE_ENDS_AFTER))


def _memberships(
    user: int, project: int, now: datetime, long_ago: datetime, silent_since: datetime
) -> QuerySet[Any, Any]:
    imports = DataImport.objects.filter(
        Q(status=Status.WAITING, touched_at__lt=long_ago)
        | Q(status__in=[each for each, after in SILENT_FOR.items() if after], touched_at__lt=silent_since)
    )
    exports = Export.objects.filter(status=Export.Status.WAITING, touched_at__lt=long_ago)
    waiting: list[Exists] = [
        Exists(imports.filter(project=OuterRef("project"))),
        Exists(exports.filter(project=OuterRef("project"))),
        *(watched.work_waits(now, long_ago) for watched in WATCHED.values()),
    ]
    waits = ExpressionWrapper(reduce(or_, waiting, Q()), output_field=BooleanField())
    rows = active_memberships(user).filter(project=project).annotate(waits=waits)
    benchmark = "project__addition__benchmark"
    return rows.values(
        "role",
        "waits",
        number=F("project__addition__number"),
        slug=F(f"{benchmark}__slug"),
        name=F(f"{benchmark}__name"),
    )


_MEMBERSHIPS = compile_once(_memberships, *NUMBERS[:2], *MOMENTS)


@dataclass(frozen=True)
class Overview:
    items: int
    comparisons: int
    dimensions: int
    annotators: int
    round_one: RoundProgress | None
    round_two: Round | None
    disputes: DisputeCounts
    ages: list[AgeCount]
    waited_for: list[RaterDisputes]
    sections: list[OverviewSection]
    needs: list[Need]
    workers: WorkerHealth | None


@dataclass(frozen=True)
class OwnWork:
    """An annotator's view of a project: progress in an open Round I, disputes in Round II."""

    round_one: Round | None
    round_two: Round | None
    progress: Progress | None
    disputes: WorkCounts | None
    practises: bool


def overview(project: Project, *, for_admin: bool) -> Overview:
    """Return a project's progress; for admins with labels, workers, and open tasks.

    Up to eighteen queries, two more for admins, and the queries of other apps' parts.
    """
    rounds = rounds_of(project)
    first, second = rounds.get(1), rounds.get(2)
    progress_one = round_progress(first, with_labels=for_admin) if first else None
    annotators = project.memberships.filter(role=Role.ANNOTATOR, active=True).count()
    ages = open_by_age(project, second) if second and second.is_open else []
    found = [watched.section(project) for watched in WATCHED.values()]
    items = Item.objects.filter(document__project=project)
    by_kind = dict(items.order_by().values_list("kind").annotate(Count("pk")))
    return Overview(
        items=by_kind.get(Item.Kind.OUTPUT, 0),
        comparisons=sum(count for kind, count in by_kind.items() if kind != Item.Kind.OUTPUT),
        dimensions=project.dimensions.count(),
        annotators=annotators,
        round_one=progress_one,
        round_two=second,
        disputes=dispute_counts(project),
        ages=ages,
        waited_for=open_by_rater(project) if second and second.is_open else [],
        sections=[section for section in found if section],
        needs=needs_of(project, progress_one, second, ages) if for_admin else [],
        workers=worker_health() if for_admin else None,
    )


@dataclass(frozen=True)
class Waiting:
    """An annotator's open tasks in an open round: items to rate, or disputes, and disputes with news.

    is_reworded: whether the annotator must read changed wording.
    """

    round: Round
    left: int
    new: int = 0
    is_reworded: bool = False

    @property
    def new_is_most(self) -> bool:
        """Whether there may be more disputes with news than counted."""
        return self.new == MOST_NEW


def waiting_for(membership: Membership, rounds: Sequence[Round]) -> Waiting | None:
    """Return an annotator's open tasks, None without an open round.

    Two queries, and three more if wording has changed. The rounds need their guideline.
    """
    current = next((each for each in rounds if each.is_open and each.number in (1, 2)), None)
    if current is None:
        return None
    left, new = (
        (count_left(current, membership), 0) if current.number == 1 else count_needing_and_new(membership)
    )
    return Waiting(current, left, new, new_wording(current, membership) is not None)


def own_work(membership: Membership) -> OwnWork:
    """Return this annotator's open tasks. Up to ten queries."""
    rounds = rounds_of(membership.project)
    first, second = rounds.get(1), rounds.get(2)
    return OwnWork(
        round_one=first,
        round_two=second,
        # Not for a closed round: the query would read all of the annotator's ratings.
        progress=progress(first, membership) if first and first.is_open else None,
        disputes=work_counts(membership) if second else None,
        practises=membership.must_practise,
    )
