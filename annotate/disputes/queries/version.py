"""Whether anything about a dispute has changed since a page showed it, told without reading it all."""

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotate.core.models import Dispute, Post, Rating, Round


def version_of(dispute: QuerySet[Dispute]) -> str:
    """Return a word that is another whenever a post, an answer or a decision came, or Round II was closed.

    What it counts is never deleted, so it never comes back to what it was. Empty where there is no such
    dispute. One query.
    """
    posts = Post.objects.filter(dispute=OuterRef("pk")).order_by().values("dispute")
    answers = (
        Rating.objects.filter(
            assignment__round__project=OuterRef("round__project"),
            assignment__round__number=2,
            assignment__item=OuterRef("item"),
            dimension=OuterRef("dimension"),
        )
        .order_by()
        .values("assignment__item")
    )
    round_two = Round.objects.filter(project=OuterRef("round__project"), number=2, status=Round.Status.OPEN)
    found = dispute.values_list(
        "updated_at",
        Coalesce(Subquery(answers.annotate(n=Sum("revision")).values("n")), 0),
        Coalesce(Subquery(posts.annotate(n=Count("pk")).values("n")), 0),
        Exists(round_two),
    ).first()
    if found is None:
        return ""
    decided, *counts = found
    return ".".join(f"{count:x}" for count in (round(decided.timestamp() * 1_000_000), *counts))
