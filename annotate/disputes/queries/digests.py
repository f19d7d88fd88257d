"""The content of digests of disputes, and their recipients."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest

from annotate.core.models import DisputeDigest, Round, User
from annotate.disputes.queries.activity import LONG_AGO, open_disputes_for


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
