"""What changes whenever figures about judges might."""

import hashlib
from collections.abc import Sequence

from django.db.models import Count, F, Max, Q, Sum

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.results.queries.version import ratings_of, version_of_ratings
from judges.core.models import Judge, Judgment
from judges.results.queries.scores import Material


def version_of_judges(project: Project) -> Sequence[object]:
    """Return what no change of ratings or judgments leaves as it was. Six queries."""
    drawn = Count("project__documents__development")
    judges = list(Judge.objects.filter(project=project).order_by("pk").annotate(drawn=drawn))
    return [
        *version_of_ratings(project),
        [(judge.pk, judge.name, judge.drawn) for judge in judges],
        *version_of_values(judges),
        _without_value(project),
    ]


def _without_value(project: Project) -> Sequence[object]:
    """Return how many judgments of each judge cannot be read or failed: pages say that they are left out."""
    status = [Judgment.Status.UNREADABLE, Judgment.Status.FAILED]
    counted = Judgment.objects.filter(judge__project=project, status__in=status).order_by("judge")
    return list(counted.values_list("judge").annotate(Count("pk"), Sum("item"), Sum("dimension")))


def version_of_values(judges: Sequence[Judge]) -> Sequence[object]:
    """Return what changes whenever a value of these judges does, or goes to another unit. One query."""
    done = Judgment.objects.filter(judge__in=judges, status=Judgment.Status.DONE)
    sums = done.order_by("judge").values_list("judge")
    rows = sums.annotate(
        Count("pk"),
        Max("pk"),
        Max("answered_at"),
        corrected=Count("pk", filter=Q(is_corrected=True)),  # these can be left out
        total=Sum("value"),
        of_items=Sum(F("value") * F("item")),
        of_dimensions=Sum(F("value") * F("dimension")),
    )
    # Twelve digits: a database adds fractions in any order, and the last digits of a sum depend on it.
    return [[f"{each:.12g}" if isinstance(each, float) else each for each in row] for row in rows]


def digest_of_values(
    project: Project, judges: Sequence[Judge], material: Material, *, with_corrected: bool = True
) -> str:
    """Return a word for everything that R of these judges follows from, with its interval. One query.

    with_corrected: another word where what a person corrected is left out, so that no decision by R, which
    counts it, takes such a page's R.
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
    """Return how many values figures about judges rest on. Two queries."""
    return ratings_of(project) + Judgment.objects.filter(judge__project=project).count()
