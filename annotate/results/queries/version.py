"""A version that changes with every possible change of statistics about a project's ratings."""

from collections.abc import Sequence

from django.db.models import Max, Sum

from annotate.core.models import AuditEntry, ChangeCount, Project, Rating

Source = ChangeCount.Source
MOST_COUNTED = 1_000  # more than are computed at once; to count a million takes a third of a second


def version_of_ratings(project: Project) -> Sequence[object]:
    """Return a value that changes with every change of ratings, disputes or configuration. Two queries.

    The database counts every statement that writes ratings or disputes. Excluding raters from the statistics,
    and changing names and scales, are administrative acts. Downloading data changes nothing.
    """
    acts = AuditEntry.objects.filter(project=project).exclude(act__startswith="export.")
    return [acts.aggregate(last=Max("pk"))["last"], *_changes(project, Source.RATINGS, Source.DISPUTES)]


def version_of_round_one(project: Project) -> Sequence[object]:
    """Return a value that changes with Round I's values and with the set of counted raters. Two queries."""
    acts = AuditEntry.objects.filter(project=project).exclude(act__startswith="export.")
    changes = ChangeCount.objects.filter(round__project=project, round__number=1, source=Source.RATINGS)
    return [acts.aggregate(last=Max("pk"))["last"], changes.aggregate(number=Sum("number"))["number"]]


def ratings_of(project: Project) -> int:
    """Return the number of ratings of a project, counted up to MOST_COUNTED. One query."""
    return Rating.objects.filter(assignment__round__project=project)[:MOST_COUNTED].count()


def _changes(project: Project, *sources: ChangeCount.Source) -> Sequence[object]:
    counts = ChangeCount.objects.filter(round__project=project, source__in=sources)
    return list(counts.values_list("round", "source").annotate(Sum("number")).order_by("round", "source"))
