"""The disputes of a project: activity, the raters that they need, counts, lists and digests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import overload

from django.db.models import Count, DateTimeField, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest, Left
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import (
    Dispute,
    DisputeDigest,
    DisputeEvent,
    DisputeRater,
    Membership,
    Post,
    Project,
    Rating,
    RatingChange,
    Round,
    User,
)
from annotate.core.models.ratings import HAS_REASON
from annotate.core.rounds import disputes_in

# By each status, which an index finds; it finds none by a status that is not meant.
HAS_ENDED = Q(status__in=[each for each in Dispute.Status if each != Dispute.Status.OPEN])
LONG_AGO = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
AGES = ((0, 1), (1, 3), (3, 7), (7, None))  # days, from and below


@dataclass(frozen=True)
class AgeCount:
    """The number of open disputes silent for `days` or more, and less than `below` (None: any)."""

    days: int
    below: int | None
    count: int

    @property
    def name(self) -> str:
        if self.below is None:
            return gettext("{days} days or longer").format(days=self.days)
        if self.days == 0:
            return gettext("less than a day")
        return gettext("{days} to {below} days").format(days=self.days, below=self.below)


def to_decide(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    """Return the disputes that need an adjudicator: discussion in an open Round II did not resolve them."""
    of_open_round = {"round__project__rounds__number": 2, "round__project__rounds__status": Round.Status.OPEN}
    return disputes.filter(status=Dispute.Status.IRRESOLVABLE, **of_open_round)


def open_disputes_for(**rater: object) -> QuerySet[Dispute]:
    """Return the open disputes that need a rater: `rater=membership`, or by conditions on the rater's row.

    `asked_since`: the time of the latest addition that the rater is to answer; long ago if there is none.
    """
    # In one filter(), or the conditions apply to different raters.
    waits = {"raters__since__isnull": False, **{f"raters__{name}": value for name, value in rater.items()}}
    found = Dispute.objects.filter(status=Dispute.Status.OPEN, **waits)
    return found.annotate(asked_since=F("raters__since"))


def silent_for(disputes: QuerySet[Dispute], days: int, round_two: Round | None) -> QuerySet[Dispute]:
    """Return the open disputes without activity for this number of days, by the index of `active_at`."""
    long_ago = timezone.now() - timedelta(days=days)
    # Silence starts when Round II opens, so none can be this long.
    if round_two and round_two.opened_at > long_ago:
        return disputes.none()
    return disputes.filter(status=Dispute.Status.OPEN, active_at__lte=long_ago)


def open_by_age(project: Project, round_two: Round) -> list[AgeCount]:
    """Return the number of open disputes by length of silence, without empty lengths. One query."""
    now, begun = timezone.now(), round_two.opened_at
    # Silence starts when Round II opens. With `active_at` alone, an index covers the query.
    ages = [(low, high) for low, high in AGES if begun <= now - timedelta(days=low)]
    counts: dict[str, Count] = {}
    for low, high in ages:
        silent = Q(active_at__lte=now - timedelta(days=low))
        if high is not None and begun <= now - timedelta(days=high):
            silent &= Q(active_at__gt=now - timedelta(days=high))
        counts[f"from_{low}"] = Count("pk", filter=silent)
    found = disputes_in(project).filter(status=Dispute.Status.OPEN).aggregate(**counts)
    return [AgeCount(low, high, count) for low, high in ages if (count := found[f"from_{low}"])]


@dataclass(frozen=True)
class RaterDisputes:
    """The number of one rater's open disputes, and of the disputes that need this rater."""

    rater: Membership
    open: int
    needing: int


def open_by_rater(project: Project) -> list[RaterDisputes]:
    """Return the raters of open disputes, by alias, with the number that needs each. Three queries."""
    raters = {each.pk: each for each in Membership.objects.filter(project=project).order_by("alias")}
    rows = DisputeRater.objects.filter(rater__in=list(raters)).order_by().values_list("rater")
    # Subtracts ended disputes: while most are open, a join with all of them is slowest.
    ended = dict(rows.filter(dispute__in=disputes_in(project).filter(HAS_ENDED)).annotate(Count("pk")))
    found = {
        rater: (every - ended.get(rater, 0), needing)
        for rater, every, needing in rows.annotate(Count("pk"), Count("since"))
    }
    return [RaterDisputes(rater, *found[pk]) for pk, rater in raters.items() if found.get(pk, (0, 0))[0]]


def last_activity(project: Project) -> Greatest:
    """Return `active_at` as the history implies it, for disputes imported with a history."""
    # With the project in the condition the database goes from its Round II to the item's assignments to their
    # ratings; otherwise it reads every rating of the dimension.
    answers = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=2,
        assignment__item=OuterRef("item"),
        dimension=OuterRef("dimension"),
        value__isnull=False,  # A withdrawn answer does not count.
    ).order_by()
    return Greatest(
        "active_at",
        _latest(answers, "updated_at"),
        _latest(Post.objects.filter(dispute=OuterRef("pk")).order_by(), "at"),
        _latest(DisputeEvent.objects.filter(dispute=OuterRef("pk")).order_by(), "at"),
    )


def _latest(rows: QuerySet[Rating] | QuerySet[Post] | QuerySet[DisputeEvent], column: str) -> Coalesce:
    group = "assignment__item" if rows.model is Rating else "dispute"
    newest = rows.values(group).annotate(newest=Max(column)).values("newest")
    return Coalesce(Subquery(newest, output_field=DateTimeField()), LONG_AGO, output_field=DateTimeField())


@dataclass(frozen=True)
class DisputeCounts:
    settled: int = 0
    adjudicated: int = 0
    open: int = 0
    left_open: int = 0
    irresolvable: int = 0

    @property
    def total(self) -> int:
        return self.settled + self.adjudicated + self.unresolved

    @property
    def unresolved(self) -> int:
        """The number of disputes that are neither settled nor adjudicated."""
        return self.open + self.left_open + self.irresolvable

    @property
    def breakdown(self) -> str:
        """The unresolved disputes by status, in the language of the page."""
        status = Dispute.Status
        unresolved = (status.OPEN, status.LEFT_OPEN, status.IRRESOLVABLE)
        counts = [(getattr(self, each), each.label) for each in unresolved]
        return ", ".join(f"{count:,} {label}" for count, label in counts if count)


def dispute_counts(project: Project) -> DisputeCounts:
    """Return the counts of a project. One query."""
    by_status = disputes_in(project).order_by().values_list("status").annotate(Count("pk"))
    return DisputeCounts(**dict(by_status))


def dispute_counts_by_dimension(project: Project) -> dict[int, DisputeCounts]:
    """Return the counts by the dimension's id, without dimensions that have no dispute. One query."""
    disputes = disputes_in(project).order_by()
    found: dict[int, dict[str, int]] = {}
    for dimension, status, count in disputes.values_list("dimension", "status").annotate(Count("pk")):
        found.setdefault(dimension, {})[status] = count
    return {dimension: DisputeCounts(**counts) for dimension, counts in found.items()}


@dataclass(frozen=True)
class DigestDispute:
    """A dispute that needs a person. is_new: because of something since the last digest."""

    project: str
    slug: str
    number: int
    dimension: str
    is_new: bool


def users_due_for_digest(today: datetime) -> QuerySet[User]:
    """Return the subscribers of digests without a digest on this day."""
    sent = DisputeDigest.objects.filter(day=today.date())
    asked = User.objects.filter(is_active=True, preferences__digest_address__gt="")
    return asked.exclude(pk__in=sent.values("user"))


def last_digest_at(user: User) -> datetime:
    """Return the end of the period of this person's last digest."""
    # Only successful mails count: the disputes of a failed one are still new.
    sent = DisputeDigest.objects.filter(user=user, mail_due_at=None, mail_problem="")
    last = sent.order_by("-at").values_list("at", flat=True).first()
    return last or LONG_AGO


def disputes_needing(user: User, *, since: datetime) -> list[DigestDispute]:
    """Return the open disputes of all projects that need this person. One query."""
    round_two = Round.objects.filter(
        project=OuterRef("round__project"), number=2, status=Round.Status.OPEN
    ).values("opened_at")
    found = (
        open_disputes_for(rater__user=user, rater__active=True)
        # Filtered before the comparison: `Greatest` ignores a missing time on PostgreSQL.
        .annotate(opened=Subquery(round_two))
        .filter(opened__isnull=False)
        .annotate(since=Greatest("asked_since", "opened"))
        .order_by("round__project__name", "round__project", "number")
    )
    rows = found.values_list(
        "round__project__name", "round__project__slug", "number", "dimension__name", "since"
    )
    return [DigestDispute(*row[:4], is_new=row[4] > since) for row in rows]


START_OF_TEXT = Left("item__text", 160)  # enough for the words that a list shows


@dataclass(frozen=True)
class DisputeFilter:
    """A filter for disputes: empty matches all. `silent`: open ones without activity for so many days."""

    status: str = ""
    dimension: str = ""
    silent: int | None = None
    rater: str = ""


@dataclass(frozen=True)
class WaitingRater:
    """A rater that a dispute needs, with the alias for raters and the label for admins."""

    name: str
    label: str


class DisputesByNumber(Sequence[Dispute]):
    """The project's disputes that match the filter, by number. Only the current page is read in full.

    Disputes before a page are skipped by their keys only: with outputs and counts of posts, page 500 took
    half a second.
    """

    def __init__(self, project: Project, chosen: DisputeFilter, *, round_two: Round | None) -> None:
        self._keys = _filter(project, chosen, round_two).order_by("number").values_list("pk", flat=True)
        self._whole = disputes_of_project(project, DisputeFilter(), round_two=round_two)

    def __len__(self) -> int:
        return self._keys.count()

    @overload
    def __getitem__(self, index: int) -> Dispute: ...
    @overload
    def __getitem__(self, index: slice) -> list[Dispute]: ...
    def __getitem__(self, index: int | slice) -> Dispute | list[Dispute]:
        """Return a dispute, or some of them in two queries."""
        if isinstance(index, int):
            return self[index : index + 1][0]
        # Outputs are long; the list shows only their first words.
        whole = self._whole.defer("item__text", "item__document__parts").annotate(start=START_OF_TEXT)
        return list(whole.filter(pk__in=list(self._keys[index])))


def disputes_of_project(
    project: Project, chosen: DisputeFilter, *, round_two: Round | None
) -> QuerySet[Dispute]:
    """Return the project's disputes that match the filter, by number, with `last_word` and `posts_count`."""
    found = _filter(project, chosen, round_two).select_related("dimension", "item__document", "item__system")
    # Not a join: the database would count all disputes' posts before it takes one page.
    posts = Post.objects.filter(dispute=OuterRef("pk")).order_by().values("dispute")
    count = Subquery(posts.annotate(count=Count("pk")).values("count"))
    return found.annotate(posts_count=Coalesce(count, 0)).order_by("number")


def count_reasons(project: Project) -> list[tuple[str, int]]:
    """Return the frequency of each short reason for keeping a value in Round II, and of "the raters differ".

    The most frequent comes first. A withdrawn answer counts with its original reason, like one that was
    changed later. One query.
    """
    answers = RatingChange.objects.filter(
        HAS_REASON, rating__assignment__round__project=project, rating__assignment__round__number=2
    ).order_by()
    reasons: Counter[str] = Counter()
    differs = 0
    for reason, cause, count in answers.values_list("short_reason", "cause").annotate(Count("pk")):
        reasons[reason] += count
        differs += count if cause == RatingChange.Cause.DIFFERS else 0
    del reasons[""]
    found = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return [*found, (gettext("We differ"), differs)] if differs else found


def waiting_for_adjudicator(project: Project) -> dict[str, int | None]:
    """Return the `count` of disputes for an adjudicator, and the number of the `first`. One query."""
    waiting = to_decide(disputes_in(project)).order_by()
    return waiting.aggregate(count=Count("pk"), first=Min("number"))


def dispute_rows(disputes: Sequence[Dispute]) -> list[tuple[Dispute, list[WaitingRater]]]:
    """Return disputes with the raters that they need. One query."""
    asked = DisputeRater.objects.filter(dispute__in=disputes, since__isnull=False)
    found: dict[int, list[WaitingRater]] = {}
    named = asked.order_by("rater__alias").values_list("dispute", "rater__alias", "rater__label")
    for dispute, alias, label in named:
        rater = WaitingRater(Membership(alias=alias).rater_name, label)
        found.setdefault(dispute, []).append(rater)
    return [(dispute, found.get(dispute.pk, [])) for dispute in disputes]


def count_pending_by_rater(project: Project, chosen: DisputeFilter, round_two: Round) -> Mapping[int, int]:
    """Return the number of matching disputes that need each rater (by key). One query."""
    meant = _filter(project, chosen, round_two).values("pk")
    asked = DisputeRater.objects.filter(dispute__in=meant, since__isnull=False)
    return dict(asked.order_by().values_list("rater").annotate(Count("pk")))


def _filter(project: Project, chosen: DisputeFilter, round_two: Round | None) -> QuerySet[Dispute]:
    # The time of the last answer, post or decision. Silence starts when Round II opens, because answers and
    # posts are impossible before.
    begun = Value(round_two.opened_at if round_two else LONG_AGO, output_field=DateTimeField())
    found: QuerySet[Dispute] = disputes_in(project).annotate(last_word=Greatest(begun, "active_at"))
    if chosen.status:
        found = found.filter(status=chosen.status)
    if chosen.dimension:
        found = found.filter(dimension__key=chosen.dimension)
    if chosen.silent is not None:
        found = silent_for(found, chosen.silent, round_two)
    if chosen.rater:
        # A rater has one row per dispute, so a join yields no duplicates.
        raters = Membership.objects.filter(project=project, alias=chosen.rater).values_list("pk", flat=True)
        found = found.filter(raters__rater__in=list(raters), raters__since__isnull=False)
    return found
