"""When something last happened to a dispute, and which of its raters it waits for. Defined here only."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, Max, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotate.core.models import AskedRater, Dispute, DisputeEvent, Membership, Post, Project, Rating, Round
from annotate.core.raters import RATED

LONG_AGO = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
RATER = "item__assignments__annotator"  # of a queryset that was filtered with RATED
AGES = ((0, 1), (1, 3), (3, 7), (7, None))  # days, from and below


@dataclass(frozen=True)
class AgeCount:
    """How many open disputes have been silent for `days` at least, and less than `below` (None: any)."""

    days: int
    below: int | None
    count: int

    @property
    def name(self) -> str:
        """The length in words."""
        if self.below is None:
            return f"{self.days} days or longer"
        return "less than a day" if self.days == 0 else f"{self.days} to {self.below} days"


def to_decide(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    """Return the disputes that wait for an adjudicator: those that discussion in an open Round II left."""
    of_open_round = {"round__project__rounds__number": 2, "round__project__rounds__status": Round.Status.OPEN}
    return disputes.filter(status=Dispute.Status.IRRESOLVABLE, **of_open_round)


def needing(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    """Return those rows of open disputes, joined with their raters by RATED, whose rater it waits for.

    `asked_since`: when what the rater is to answer was last added to; long ago where nothing was.
    """
    asked = AskedRater.objects.filter(dispute=OuterRef("pk"), rater=OuterRef(RATER)).values("since")
    found = disputes.filter(status=Dispute.Status.OPEN)
    return found.annotate(asked_since=Subquery(asked)).filter(asked_since__isnull=False)


def with_last_word(disputes: QuerySet[Dispute], round_two: Round | None) -> QuerySet[Dispute]:
    """Return disputes with `last_word`: when each was answered, written to or decided last.

    Silence begins when Round II opens; before, nobody can say anything.
    """
    begun = Value(round_two.opened_at if round_two else LONG_AGO, output_field=DateTimeField())
    return disputes.annotate(
        last_word=Greatest(
            begun,
            _latest(_answers(), "updated_at"),
            _latest(Post.objects.filter(dispute=OuterRef("pk")).order_by(), "at"),
            _latest(DisputeEvent.objects.filter(dispute=OuterRef("pk")).order_by(), "at"),
        )
    )


def open_by_age(project: Project, round_two: Round) -> list[AgeCount]:
    """Return how many open disputes have been silent for how long, without lengths of none. One query."""
    now = timezone.now()
    disputes = Dispute.objects.filter(round__project=project, status=Dispute.Status.OPEN)
    rows: QuerySet[Any] = with_last_word(disputes, round_two)
    words: list[datetime] = list(rows.values_list("last_word", flat=True))
    days = [(now - at) // timedelta(days=1) for at in words]
    counts = [
        AgeCount(low, high, sum(low <= day and (high is None or day < high) for day in days))
        for low, high in AGES
    ]
    return [age for age in counts if age.count]


@dataclass(frozen=True)
class RaterDisputes:
    """One rater's open disputes: all of them, and those that wait for this rater."""

    rater: Membership
    open: int
    needing: int


def open_by_rater(project: Project) -> list[RaterDisputes]:
    """Return the raters of open disputes with how many wait for them, by their letters. Three queries."""
    rows = disputes_with_raters(project).filter(status=Dispute.Status.OPEN)
    both = [Counter(found.values_list(RATER, flat=True)) for found in (rows, needing(rows))]
    raters = Membership.objects.filter(pk__in=both[0]).order_by("alias")
    return [RaterDisputes(rater, both[0][rater.pk], both[1][rater.pk]) for rater in raters]


def disputes_with_raters(project: Project) -> QuerySet[Dispute]:
    """Return a row for each dispute of a project and each of its raters (`RATER`)."""
    return Dispute.objects.filter(RATED, round__project=project)


def _answers() -> QuerySet[Rating]:
    # Naming the project lets the database go from its Round II to the item's places to their ratings;
    # otherwise it reads every rating of the dimension.
    return Rating.objects.filter(
        assignment__round__project=OuterRef("round__project"),
        assignment__round__number=2,
        assignment__item=OuterRef("item"),
        dimension=OuterRef("dimension"),
        value__isnull=False,  # what was taken back is no answer
    ).order_by()


def _latest(rows: QuerySet[Rating] | QuerySet[Post] | QuerySet[DisputeEvent], column: str) -> Coalesce:
    group = "assignment__item" if rows.model is Rating else "dispute"
    newest = rows.values(group).annotate(newest=Max(column)).values("newest")
    return Coalesce(Subquery(newest, output_field=DateTimeField()), LONG_AGO, output_field=DateTimeField())
