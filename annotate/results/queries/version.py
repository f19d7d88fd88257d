"""What changes whenever figures about a project's ratings might."""

from collections.abc import Sequence

from django.db.models import Count, Max, Sum

from annotate.core.models import AuditEntry, Dispute, Project, Rating, RevisedValue


def version_of_ratings(project: Project) -> Sequence[object]:
    """Return what no change of ratings, disputes or configuration leaves as it was. Three queries.

    Every saved state of a rating raises its revision; what takes ratings away, or away from the statistics,
    and what changes names and scales, is an administrative act. Taking data away changes nothing.
    """
    acts = AuditEntry.objects.filter(project=project).exclude(act__startswith="export.")
    ratings = Rating.objects.filter(assignment__round__project=project)
    disputes = Dispute.objects.filter(round__project=project)
    return [
        acts.aggregate(last=Max("pk"))["last"],
        *ratings.aggregate(number=Count("pk"), saves=Sum("revision")).values(),
        *disputes.aggregate(number=Count("pk"), last=Max("updated_at")).values(),
    ]


def ratings_of(project: Project) -> int:
    """Return how many ratings a project has. One query."""
    return Rating.objects.filter(assignment__round__project=project).count()


def version_of_revised_values(project: Project) -> Sequence[object]:
    """Return what no revised value leaves as it was: every save raises a revision. One query."""
    revised = RevisedValue.objects.filter(rating__assignment__round__project=project)
    return list(revised.aggregate(number=Count("pk"), saves=Sum("revision")).values())
