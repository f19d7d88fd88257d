"""Versions that change with the statistics about judges."""

import hashlib
from collections.abc import Sequence

from django.db.models import Count, F, Max, Q, Sum

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.results.queries.kept import ratings_of, version_of_ratings
from judges.core.models import Judge, Judgment
from judges.results.queries.scores import Material


def version_of_judges(project: Project) -> Sequence[object]:
    """Return a version that changes with ratings or judgments. Six queries."""
    drawn = Count("project__documents__development")
    judges = list(Judge.objects.filter(project=project).order_by("pk").annotate(drawn=drawn))
    # Pages report the number of unreadable or failed judgments of each judge.
    status = [Judgment.Status.UNREADABLE, Judgment.Status.FAILED]
    counted = Judgment.objects.filter(judge__project=project, status__in=status).order_by("judge")
    without_value = list(counted.values_list("judge").annotate(Count("pk"), Sum("item"), Sum("dimension")))
    return [
        *version_of_ratings(project),
        [(judge.pk, judge.name, judge.drawn) for judge in judges],
        *version_of_values(judges),
        without_value,
    ]


def version_of_values(judges: Sequence[Judge]) -> Sequence[object]:
    """Return a version that changes when a value of these judges changes or moves to another unit.

    One query.
    """
    done = Judgment.objects.filter(judge__in=judges, status=Judgment.Status.DONE)
    sums = done.order_by("judge").values_list("judge")
    rows = sums.annotate(
        Count("pk"),
        Max("pk"),
        Max("answered_at"),
        corrected=Count("pk", filter=Q(is_corrected=True)),  # these can be excluded
        total=Sum("value"),
        of_items=Sum(F("value") * F("item")),
        of_dimensions=Sum(F("value") * F("dimension")),
    )
    # Twelve digits: a database adds fractions in any order, and the last digits of a sum depend on it.
    return [[f"{each:.12g}" if isinstance(each, float) else each for each in row] for row in rows]


def digest_of_values(
    project: Project, judges: Sequence[Judge], material: Material, *, with_corrected: bool = True
) -> str:
    """Return a digest of all inputs of R of these judges, with its interval. One query.

    with_corrected: the digest differs if corrections by people are excluded. So no decision by R, which
    counts them, uses R of such a page.
    """
    parts = [
        VERSION,
        project.seed,
        [(judge.pk, judge.name) for judge in judges],
        version_of_values(judges),
        [(one.id, one.key) for one in material.dimensions],
        list(material.systems),
        with_corrected,
    ]
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=20)
    digest.update(material.items.tobytes())
    return digest.hexdigest()


def values_of(project: Project) -> int:
    """Return the number of values in statistics about judges. Two queries."""
    return ratings_of(project) + Judgment.objects.filter(judge__project=project).count()
