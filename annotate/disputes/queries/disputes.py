"""A rater's disputes, by what they wait for."""

from dataclasses import dataclass

from django.db.models import Count, DateTimeField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    Dispute,
    DisputeEvent,
    DisputeLook,
    Membership,
    Nudge,
    Post,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.raters import disputes_of
from annotate.disputes.queries.activity import needing

# What happened to disputes since one of their raters last looked at them.


def with_news(disputes: QuerySet[Dispute], rater: Membership) -> QuerySet[Dispute]:
    """Return disputes with what others did since the rater looked, in the same query.

    `looked_at`: None where they never did. `new_posts`, `new_answers`: counts. `new_event`: the last kind of
    event, empty where there was none.
    """
    looks = DisputeLook.objects.filter(rater=rater, dispute=OuterRef("pk")).values("at")
    posts = Post.objects.filter(dispute=OuterRef("pk"), at__gt=OuterRef("looked_at")).exclude(author=rater)
    answers = Rating.objects.filter(
        assignment__round__project=OuterRef("round__project"),
        assignment__round__number=2,
        assignment__item=OuterRef("item"),
        dimension=OuterRef("dimension"),
        value__isnull=False,
        updated_at__gt=OuterRef("looked_at"),
    ).exclude(assignment__annotator=rater)
    events = DisputeEvent.objects.filter(dispute=OuterRef("pk"), at__gt=OuterRef("looked_at"))
    others = events.exclude(actor=rater.user_id).order_by("-at", "-pk")
    return disputes.annotate(looked_at=Subquery(looks, output_field=DateTimeField())).annotate(
        new_posts=_count(posts, "dispute"),
        new_answers=_count(answers, "assignment__item"),
        new_event=Coalesce(Subquery(others.values("kind")[:1]), Value("")),
    )


def _count(rows: QuerySet[Post] | QuerySet[Rating], group: str) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n")), 0)


@dataclass(frozen=True)
class WorkList:
    """A rater's disputes: those that need an answer, those that wait for others, those that are done.

    `nudge` is the last time an admin asked to look at those that need an answer, None where none does.
    `round_two` is None until it has been opened; nothing is listed before, since Round I's spreads are not
    a rater's to know.
    """

    round_two: Round | None
    needing_me: list[Dispute]
    waiting: list[Dispute]
    done: list[Dispute]
    nudge: Nudge | None


def work_list(place: Membership) -> WorkList:
    """Return the rater's disputes by what they wait for, with what is new. Four queries at most."""
    round_two = Round.objects.filter(project=place.project_id, number=2).first()
    disputes = list(with_news(disputes_of(place), place).select_related("dimension").order_by("number"))
    open_ones = [dispute for dispute in disputes if dispute.status == Dispute.Status.OPEN]
    needing = set(_needing(place).values_list("pk", flat=True))
    return WorkList(
        round_two=round_two,
        needing_me=[dispute for dispute in open_ones if dispute.pk in needing],
        waiting=[dispute for dispute in open_ones if dispute.pk not in needing],
        done=[dispute for dispute in disputes if dispute.status != Dispute.Status.OPEN],
        nudge=place.nudges.order_by("-at").first() if needing else None,
    )


def _needing(place: Membership) -> QuerySet[Dispute]:
    return needing(disputes_of(place))


def next_needing(place: Membership, after: int) -> int | None:
    """Return the number of the next dispute that needs this rater, going round at the end. One query."""
    numbers = _needing(place).exclude(number=after).order_by("number").values_list("number", flat=True)
    return next((number for number in numbers if number > after), numbers[0] if numbers else None)


@dataclass(frozen=True)
class Answered:
    """An answer that its rater has just given and may take back: whether it changed the value, to what."""

    dispute: Dispute
    rater: Membership
    revision: int
    changed: bool
    value: str


def just_answered(place: Membership, number: int) -> Answered | None:
    """Return the rater's answer to a dispute while it can be taken back. Three queries at most."""
    dispute = disputes_of(place).select_related("round__guideline").filter(number=number).first()
    if dispute is None or not dispute.takes_answers:
        return None
    rating = Rating.objects.filter(
        assignment__round__project=place.project_id,
        assignment__round__number=2,
        assignment__round__status=Round.Status.OPEN,
        assignment__item=dispute.item_id,
        assignment__annotator=place,
        dimension=dispute.dimension_id,
        value__isnull=False,
    ).first()
    change = rating.changes.order_by("-revision").first() if rating else None
    if rating is None or rating.value is None or change is None or change.cause == _TAKEN_BACK:
        return None
    guideline = FrozenGuideline.from_json(dispute.round.guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    changed = change.cause == RatingChange.Cause.CHANGED
    return Answered(dispute, place, rating.revision, changed, dimension.name_of(rating.value))


_TAKEN_BACK = RatingChange.Cause.TAKEN_BACK
