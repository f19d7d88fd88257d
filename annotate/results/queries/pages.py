"""The results pages about people."""

from collections.abc import Sequence

from annotate.core.models import Project
from annotate.results.queries.agreement import default_drawn
from annotate.results.queries.agreement_page import agreement_sections
from annotate.results.queries.systems import systems_sections
from annotate.results.queries.version import ratings_of, version_of_ratings
from annotate.results.registry import Parameter, ResultsPage
from annotate.watching.queries.so_far import so_far_sections


def _ways_to_draw(project: Project) -> Sequence[tuple[str, str]]:
    first = default_drawn(project)
    return [(name, name) for name in sorted(("units", "documents"), key=lambda each: each != first)]


DRAWN = Parameter("drawn", "Intervals by drawing", _ways_to_draw)

OWN_PAGES = (
    ResultsPage(
        "agreement",
        "Agreement",
        "Round I beside what followed discussion: alpha at several levels, other coefficients, pairs of "
        "raters, systems, documents, one rater left out.",
        agreement_sections,
        version_of_ratings,
        ratings_of,
        [DRAWN],
    ),
    ResultsPage(
        "systems",
        "Systems",
        "Mean scores with intervals, possible ranks, and which systems differ.",
        systems_sections,
        version_of_ratings,
        ratings_of,
    ),
    ResultsPage(
        "so-far",
        "How Round I goes",
        "Alpha of the ratings given until now, and whether raters drift.",
        so_far_sections,
        version_of_ratings,
        ratings_of,
    ),
)
