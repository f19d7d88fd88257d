"""The results pages about people."""

from collections.abc import Callable, Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotate.core.models import Project
from annotate.results.arrangements import (
    AGREEMENT,
    BY_METADATA,
    PASSAGES,
    QUESTIONS,
    SEVERITY,
    SO_FAR,
    STUDY,
    SYSTEMS,
)
from annotate.results.queries.agreement import default_drawn
from annotate.results.queries.agreement_page import agreement_sections
from annotate.results.queries.by_metadata import METADATA, has_metadata, metadata_sections
from annotate.results.queries.compared_systems import ABOUT, ACROSS
from annotate.results.queries.passages import has_passages_to_compare, passages_sections
from annotate.results.queries.severity import severity_sections, size_of_severity
from annotate.results.queries.so_far import so_far_sections
from annotate.results.queries.study import STUDY_PARAMETERS, study_sections
from annotate.results.queries.systems import ORDER, systems_sections
from annotate.results.queries.version import ratings_of, version_of_ratings
from annotate.results.questions.page import QUESTION, has_other_questions, questions_sections
from annotate.results.registry import Chosen, Parameter, ResultsPage


def _ways_to_draw(project: Project) -> Sequence[tuple[str, str]]:
    first = default_drawn(project)
    return [(name, name) for name in sorted(("units", "documents"), key=lambda each: each != first)]


DRAWN = Parameter("drawn", gettext_lazy("Resample"), _ways_to_draw)


def _shown_with_agreement(name: str) -> Callable[[str, Chosen], str]:
    return lambda slug, _: f"{reverse('results_page', args=[slug, 'agreement'])}?part={name}"


OWN_PAGES = (
    ResultsPage(
        "agreement",
        gettext_lazy("Agreement"),
        gettext_lazy(
            "Round I compared with rounds after discussion: alpha at several levels, other coefficients, "
            "pairs "
            "of raters, systems, documents, one rater left out."
        ),
        agreement_sections,
        version_of_ratings,
        ratings_of,
        [DRAWN],
        parts=("severity", "passages"),
        arrangement=AGREEMENT,
    ),
    ResultsPage(
        "systems",
        gettext_lazy("Systems"),
        gettext_lazy("Mean scores with intervals, possible ranks, and which systems differ."),
        systems_sections,
        version_of_ratings,
        ratings_of,
        [ABOUT, ACROSS, ORDER],
        arrangement=SYSTEMS,
    ),
    ResultsPage(
        "questions",
        gettext_lazy("Other questions"),
        gettext_lazy("Agreement and systems by questions about labels, parts, preferences, ranks or spans."),
        questions_sections,
        version_of_ratings,
        ratings_of,
        [QUESTION],
        is_listed=has_other_questions,
        arrangement=QUESTIONS,
    ),
    ResultsPage(
        "metadata",
        gettext_lazy("By metadata"),
        gettext_lazy("Mean scores and alpha for each value of a metadata column."),
        metadata_sections,
        version_of_ratings,
        ratings_of,
        [METADATA],
        is_listed=has_metadata,
        arrangement=BY_METADATA,
    ),
    ResultsPage(
        "severity",
        gettext_lazy("Severity of raters"),
        gettext_lazy(
            "How severe each rater is, whether a rater’s values go with the others’, and what systems would "
            "score with raters of average severity."
        ),
        severity_sections,
        version_of_ratings,
        size_of_severity,
        shown_at=_shown_with_agreement("severity"),
        arrangement=SEVERITY,
    ),
    ResultsPage(
        "passages",
        gettext_lazy("Marked passages"),
        gettext_lazy("Whether raters mark the same passages as reasons for their values."),
        passages_sections,
        version_of_ratings,
        ratings_of,
        shown_at=_shown_with_agreement("passages"),
        is_listed=has_passages_to_compare,
        arrangement=PASSAGES,
    ),
    ResultsPage(
        "study",
        gettext_lazy("Study planner"),
        gettext_lazy(
            "From Round I or your assumptions: raters for a reliable mean, documents for a sure alpha, "
            "power, "
            "hours and money."
        ),
        study_sections,
        version_of_ratings,
        ratings_of,
        STUDY_PARAMETERS,
        arrangement=STUDY,
    ),
    ResultsPage(
        "so-far",
        gettext_lazy("Agreement so far"),
        gettext_lazy("Alpha of the ratings given until now, and whether raters drift."),
        so_far_sections,
        version_of_ratings,
        ratings_of,
        arrangement=SO_FAR,
    ),
)
