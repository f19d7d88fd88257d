"""The results page of judges beside people, and what its figures follow from."""

from collections.abc import Sequence

from django.db.models import Count, Max

from annotate.models import Project
from annotate.queries.agreement import Drawn
from annotate.queries.results.version import ratings_of, version_of_ratings
from annotate.results.page import Section
from annotate.results_pages import ResultsPage
from judges.models import Judge, Judgment
from judges.queries.results.judges import judges_sections


def _sections(project: Project, _drawn: Drawn) -> list[Section]:
    return judges_sections(project)


def _version(project: Project) -> Sequence[object]:
    """Return what no change of ratings or judgments leaves as it was. Five queries."""
    values = Judgment.objects.filter(judge__project=project, status=Judgment.Status.DONE)
    judges = Judge.objects.filter(project=project).order_by("pk")
    return [
        *version_of_ratings(project),
        list(judges.values_list("pk", "name")),
        *values.aggregate(number=Count("pk"), last=Max("pk"), at=Max("answered_at")).values(),
    ]


def _size(project: Project) -> int:
    return ratings_of(project) + Judgment.objects.filter(judge__project=project).count()


JUDGES_PAGE = ResultsPage(
    "judges",
    "Judges beside people",
    "Correlations by item, system and document, alpha, bias and confusion, quality against agreement, and R.",
    _sections,
    _version,
    _size,
)
