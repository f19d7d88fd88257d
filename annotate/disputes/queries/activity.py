"""The time of a dispute's last activity, and the raters that it needs. Defined only here."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, DateTimeField, F, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
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
    Round,
    User,
)
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
        return (
            gettext("less than a day")
            if self.days == 0
            else gettext("{days} to {below} days").format(days=self.days, below=self.below)
        )


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


def annotate_last_activity(disputes: QuerySet[Dispute], round_two: Round | None) -> QuerySet[Dispute]:
    """Return disputes with `last_word`: the time of the last answer, post or decision.

    Silence starts when Round II opens, because answers and posts are impossible before.
    """
    begun = Value(round_two.opened_at if round_two else LONG_AGO, output_field=DateTimeField())
    return disputes.annotate(last_word=Greatest(begun, "active_at"))


def silent_for(disputes: QuerySet[Dispute], days: int, round_two: Round | None) -> QuerySet[Dispute]:
    """Return the open disputes without activity for this number of days, by the index of `active_at`."""
    long_ago = timezone.now() - timedelta(days=days)
    if round_two and round_two.opened_at > long_ago:
        return disputes.none()
    return disputes.filter(status=Dispute.Status.OPEN, active_at__lte=long_ago)


def open_by_age(project: Project, round_two: Round) -> list[AgeCount]:
    """Return the number of open disputes by length of silence, without empty lengths. One query."""
    now, begun = timezone.now(), round_two.opened_at
    # Silence starts when Round II opens. With `active_at` alone, an index covers the query.
    ages = [(low, high) for low, high in AGES if begun <= now - timedelta(days=low)]
    found = (
        disputes_in(project)
        .filter(status=Dispute.Status.OPEN)
        .aggregate(
            **{f"from_{low}": Count("pk", filter=_between(now, begun, low, high)) for low, high in ages}
        )
    )
    return [AgeCount(low, high, count) for low, high in ages if (count := found[f"from_{low}"])]


def _between(now: datetime, begun: datetime, low: int, high: int | None) -> Q:
    silent = Q(active_at__lte=now - timedelta(days=low))
    if high is None or begun > now - timedelta(days=high):
        return silent
    return silent & Q(active_at__gt=now - timedelta(days=high))


@dataclass(frozen=True)
class RaterDisputes:
    """The number of one rater's open disputes, and of the disputes that need this rater."""

    rater: Membership
    open: int
    needing: int


def open_by_rater(project: Project) -> list[RaterDisputes]:
    """Return the raters of open disputes with the number of disputes that need them, by alias.

    Three queries.
    """
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
    """A dispute that needs a person.

    is_new: the need, or any activity in it, is new since the last digest.
    """

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
        .annotate(since=Greatest("asked_since", Subquery(round_two)))
        .filter(since__isnull=False)
        .order_by("round__project__name", "round__project", "number")
    )
    rows = found.values_list(
        "round__project__name", "round__project__slug", "number", "dimension__name", "since"
    )
    return [DigestDispute(*row[:4], is_new=row[4] > since) for row in rows]
