"""What happened to disputes since one of their raters last looked at them."""

from django.db.models import Count, DateTimeField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.models import Dispute, DisputeEvent, DisputeLook, Membership, Post, Rating


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
