"""The results pages about people."""

from annotate.models import Project
from annotate.queries.agreement import Drawn
from annotate.queries.results.agreement import agreement_sections
from annotate.queries.results.systems import systems_sections
from annotate.queries.results.version import ratings_of, version_of_ratings
from annotate.results.page import Section
from annotate.results_pages import ResultsPage


def _systems(project: Project, _drawn: Drawn) -> list[Section]:
    return systems_sections(project)


OWN_PAGES = (
    ResultsPage(
        "agreement",
        "Agreement",
        "Round I beside what followed discussion: alpha at several levels, other coefficients, pairs of "
        "raters, systems, documents, one rater left out.",
        agreement_sections,
        version_of_ratings,
        ratings_of,
    ),
    ResultsPage(
        "systems",
        "Systems",
        "Mean scores with intervals, possible ranks, and which systems differ.",
        _systems,
        version_of_ratings,
        ratings_of,
    ),
)
