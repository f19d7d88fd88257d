"""The results pages about people."""

from collections.abc import Callable, Sequence
from functools import partial

from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotate.core.models import Project
from annotate.results.answers import (
    RELIABLE,
    TENTATIVE,
    answer_agreement,
    answer_alpha,
    answer_disputes,
    answer_passages,
    answer_question,
    answer_severity,
    answer_so_far,
    answer_study,
    answer_systems,
    group_systems,
)
from annotate.results.queries.agreement_page import agreement_sections
from annotate.results.queries.by_system import METADATA, has_metadata, metadata_sections
from annotate.results.queries.compared_systems import ABOUT, ACROSS
from annotate.results.queries.kept import ratings_of, version_of_ratings
from annotate.results.queries.material import default_drawn
from annotate.results.queries.passages import has_passages_to_compare, passages_sections
from annotate.results.queries.severity import severity_sections, size_of_severity
from annotate.results.queries.so_far import interim_sections
from annotate.results.queries.study import STUDY_PARAMETERS, study_sections
from annotate.results.queries.systems import ORDER, systems_sections
from annotate.results.questions.page import QUESTION, has_other_questions, questions_sections
from annotate.results.registry import Arrangement, Chart, Chosen, FrontQuestion, Parameter, ResultsPage

_ALPHA = Chart("alpha", lines=(TENTATIVE, RELIABLE))
_MEANS = Chart("means", refine=group_systems)

AGREEMENT = Arrangement(
    tabs={
        "rounds": gettext_lazy("By dimension"),
        "pairs": gettext_lazy("By pair of raters"),
        "by-system": gettext_lazy("By system"),
        "with-one-rater-left-out": gettext_lazy("Without one rater"),
        "coefficients": gettext_lazy("Other coefficients"),
        "distribution": gettext_lazy("Values given"),
        "alpha": gettext_lazy("Levels of measurement"),
        "movement": gettext_lazy("Disputes before and after"),
        "splits": gettext_lazy("Units that split raters"),
        "split-units": gettext_lazy("Units with two camps"),
    },
    chart=_ALPHA,
    columns={
        "rounds": (
            *("dimension", "round_1_alpha", "round_1_within_one", "opened", "settled", "adjudicated"),
            *("irresolvable", "left_open", "round_2_alpha", "round_2_within_one"),
        ),
        "split-units": ("dimension", "document", "lower", "upper", "range", "p_adjusted", "split"),
    },
    # The first table has Round II's alpha and agreement within one point next to Round I.
    in_files=("alpha", "round-?-by-document", "round-?-rmse*", "round-?-kendall", "round-2-*"),
    columns_in_files={"coefficients": ("rmse",)},
    answer=answer_agreement,
    cards=[
        FrontQuestion(gettext_lazy("Agreement"), _ALPHA, answer_alpha),
        FrontQuestion(
            gettext_lazy("Disputes before and after discussion"), Chart("movement"), answer_disputes
        ),
    ],
)
SYSTEMS = Arrangement(
    tabs={
        "means": gettext_lazy("Means"),
        "differences": gettext_lazy("Differences"),
        "ranks": gettext_lazy("Possible ranks"),
        "quartiles": gettext_lazy("Spread"),
        "error-sources": gettext_lazy("Sources of error"),
        "smallest-differences": gettext_lazy("Smallest differences"),
    },
    chart=_MEANS,
    sorts={"differences": "p_adjusted"},
    answer=answer_systems,
    cards=[FrontQuestion(gettext_lazy("Systems"), _MEANS, answer_systems)],
)
QUESTIONS = Arrangement(
    tabs={
        "agreement": gettext_lazy("Agreement"),
        "systems": gettext_lazy("Systems"),
        "labels": gettext_lazy("By label"),
        "categories": gettext_lazy("By category"),
        "errors": gettext_lazy("Errors"),
        "position": gettext_lazy("Position"),
        "best-worst": gettext_lazy("Best and worst"),
    },
    chart=Chart("systems"),
    answer=answer_question,
)
BY_METADATA = Arrangement(
    tabs={"means": gettext_lazy("Means"), "by-metadata": gettext_lazy("Alpha")}, chart=Chart("means")
)
SEVERITY = Arrangement(
    tabs={
        "raters": gettext_lazy("Raters"),
        "fair": gettext_lazy("Systems"),
        "fit": gettext_lazy("Fit of the model"),
        "drift": gettext_lazy("Over time"),
    },
    chart=Chart("raters", ("severity",)),
    columns_in_files={"raters": ("values",)},
    answer=answer_severity,
)
PASSAGES = Arrangement(chart=Chart("passages", ("alpha",)), answer=answer_passages)
STUDY = Arrangement(
    tabs={
        "designs": gettext_lazy("Cheapest design"),
        "raters-needed": gettext_lazy("Raters"),
        "documents-needed": gettext_lazy("Documents"),
        "power": gettext_lazy("Power"),
        "dependability": gettext_lazy("Dependability"),
        "variances": gettext_lazy("Sources of variance"),
    },
    chart=Chart("power-curve"),
    charts={
        "raters-needed": "reliability-curve",
        "documents-needed": "width-curve",
        "power": "power-curve",
        "dependability": "dependability-curve",
    },
    in_files=("*-curve", "designs-by-dimension"),
    columns_in_files={"designs": ("reaches",)},
    answer=answer_study,
)
SO_FAR = Arrangement(
    tabs={
        "alpha": gettext_lazy("Alpha"),
        "stopping": gettext_lazy("Enough ratings?"),
        "systems-so-far": gettext_lazy("Systems"),
        "pairs-so-far": gettext_lazy("Pairs of systems"),
        "drift": gettext_lazy("Rater drift"),
        "order": gettext_lazy("Order of work"),
    },
    chart=Chart("alpha", lines=(TENTATIVE, RELIABLE)),
    sorts={"pairs-so-far": "p_adjusted"},
    answer=answer_so_far,
)


def _ways_to_draw(project: Project) -> Sequence[tuple[str, str]]:
    first = default_drawn(project)
    # The first option of a parameter is its default.
    return [(name, name) for name in sorted(("units", "documents"), key=lambda each: each != first)]


DRAWN = Parameter("drawn", gettext_lazy("Resample"), _ways_to_draw)


def _show_with_agreement(name: str) -> Callable[[str, Chosen], str]:
    return lambda slug, _: f"{reverse('results_page', args=[slug, 'agreement'])}?part={name}"


# The ratings are the only data of these pages, so their version is that of the pages.
_page = partial(ResultsPage, version=version_of_ratings, size=ratings_of)
OWN_PAGES = (
    _page(
        "agreement",
        gettext_lazy("Agreement"),
        gettext_lazy(
            "Round I compared with rounds after discussion: alpha at several levels, other coefficients, "
            "pairs of raters, systems, documents, one rater left out."
        ),
        agreement_sections,
        parameters=[DRAWN],
        parts=("severity", "passages"),
        arrangement=AGREEMENT,
    ),
    _page(
        "systems",
        gettext_lazy("Systems"),
        gettext_lazy("Mean scores with intervals, possible ranks, and which systems differ."),
        systems_sections,
        parameters=[ABOUT, ACROSS, ORDER],
        arrangement=SYSTEMS,
    ),
    _page(
        "questions",
        gettext_lazy("Other questions"),
        gettext_lazy("Agreement and systems by questions about labels, parts, preferences, ranks or spans."),
        questions_sections,
        parameters=[QUESTION],
        is_listed=has_other_questions,
        arrangement=QUESTIONS,
    ),
    _page(
        "metadata",
        gettext_lazy("By metadata"),
        gettext_lazy("Mean scores and alpha for each value of a metadata column."),
        metadata_sections,
        parameters=[METADATA],
        is_listed=has_metadata,
        arrangement=BY_METADATA,
    ),
    _page(
        "severity",
        gettext_lazy("Severity of raters"),
        gettext_lazy(
            "How severe each rater is, whether a rater’s values go with the others’, and what systems would "
            "score with raters of average severity."
        ),
        severity_sections,
        size=size_of_severity,
        shown_at=_show_with_agreement("severity"),
        arrangement=SEVERITY,
    ),
    _page(
        "passages",
        gettext_lazy("Marked passages"),
        gettext_lazy("Whether raters mark the same passages as reasons for their values."),
        passages_sections,
        shown_at=_show_with_agreement("passages"),
        is_listed=has_passages_to_compare,
        arrangement=PASSAGES,
    ),
    _page(
        "study",
        gettext_lazy("Study planner"),
        gettext_lazy(
            "From Round I or your assumptions: raters for a reliable mean, documents for a sure alpha, "
            "power, hours and money."
        ),
        study_sections,
        parameters=STUDY_PARAMETERS,
        arrangement=STUDY,
    ),
    _page(
        "so-far",
        gettext_lazy("Agreement so far"),
        gettext_lazy("Alpha of the ratings given until now, and whether raters drift."),
        interim_sections,
        arrangement=SO_FAR,
    ),
)
