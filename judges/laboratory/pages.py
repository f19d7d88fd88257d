from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotate.core.models import Project
from annotate.core.page import Request
from annotate.results.registry import Arrangement, Chart, ResultsPage
from judges.core.access import may_change_judges
from judges.core.models import Judge
from judges.laboratory.forms import ExperimentForm
from judges.laboratory.tables.alignment import (
    alignment_sections,
    answer_alignment,
    version_of_alignment,
)
from judges.laboratory.tables.biases import answer_biases, biases_sections, version_of_biases
from judges.laboratory.tables.experiments import RUN, answer_effects, experiments_sections
from judges.laboratory.tables.self_consistency import answer_self_consistency, self_consistency_sections
from judges.results.tables.parameters import (
    ANY_JUDGE,
    COEFFICIENT,
    CORRECTED,
    JUDGE,
    LEVEL,
    ROUND,
    values_of,
    version_of_judges,
)


def experiment_form(request: Request, project: Project) -> str:
    """Return the form of a new experiment as HTML, open if there is no experiment yet.

    Only admins get it.
    """
    if not may_change_judges(request.user, project):
        return ""
    context = {
        "project": project,
        "form": ExperimentForm(None, project=project),
        "is_open": Judge.objects.filter(project=project, judgments__isnull=False).distinct().count() < 2,
    }
    return render_to_string("judges/laboratory/_experiment_form.html", context, request)


SELF_CONSISTENCY_PAGE = ResultsPage(
    "self-consistency",
    gettext_lazy("Agreement with itself"),
    gettext_lazy(
        "Whether a judge’s samples agree with each other, how many of them are worth their cost, and their "
        "distribution and confidence compared with people’s values."
    ),
    self_consistency_sections,
    version_of_judges,
    values_of,
    [JUDGE, COEFFICIENT, LEVEL, ROUND, CORRECTED],
    filled_by="runs",
    # The page of a judge shows this result as one of its tabs.
    shown_at=lambda slug, chosen: reverse("judge", args=[slug, chosen["judge"]]) + "?part=self-consistency",
    arrangement=Arrangement(
        tabs={
            "self-agreement": gettext_lazy("Samples"),
            "samples": gettext_lazy("Number of samples"),
            "distributions": gettext_lazy("Distributions"),
            "confidence": gettext_lazy("Confidence"),
            "raters": gettext_lazy("Raters as judges"),
        },
        chart=Chart("self-agreement", ("alpha",), band="among_people"),
        charts={"samples": "curve", "confidence": "reliability-curve"},
        in_files=("curve", "reliability-curve"),
        columns={
            "distributions": (
                *("dimension", "samples", "items", "tv_judge", "tv_people", "tv_control"),
                *("energy", "energy_control"),
            ),
            "confidence": (
                *("dimension", "items", "confidence", "mode_right", "mode_error", "mode_chance"),
                *("within_right", "within_error"),
            ),
        },
        columns_in_files={"self-agreement": ("judge",), "samples": ("judge",)},
        answer=answer_self_consistency,
    ),
)

BIASES_PAGE = ResultsPage(
    "biases",
    gettext_lazy("Biases"),
    gettext_lazy(
        "Whether a judge prefers a position, long outputs, its own family or round numbers, its severity, "
        "and the correlation of its errors: each compared with a control without the bias."
    ),
    biases_sections,
    version_of_biases,
    values_of,
    [ANY_JUDGE, ROUND, CORRECTED],
    filled_by="runs",
    arrangement=Arrangement(
        tabs={
            "biases": gettext_lazy("Biases found"),
            "severity": gettext_lazy("Severity and range"),
            "frequencies": gettext_lazy("Frequencies of scores"),
        },
        sorts={"frequencies": "-answers"},
        has_chart=False,
        answer=answer_biases,
    ),
)

EXPERIMENTS_PAGE = ResultsPage(
    "experiments",
    gettext_lazy("Experiments"),
    gettext_lazy(
        "What each factor of an experiment changes in agreement with people, then its variants on the same "
        "items with cost and time."
    ),
    experiments_sections,
    version_of_judges,
    values_of,
    [RUN, COEFFICIENT, LEVEL, ROUND, CORRECTED],
    filled_by="judges",
    action=experiment_form,
    arrangement=Arrangement(
        tabs={
            "effects": gettext_lazy("Effects"),
            "effects-named": gettext_lazy("Effects on categories"),
            "experiment": gettext_lazy("Variants"),
            "correlations": gettext_lazy("Correlations"),
            "temperatures": gettext_lazy("Temperature"),
            "most": gettext_lazy("Best judge"),
            "pairs-of-judges": gettext_lazy("Between judges"),
        },
        chart=Chart("effects", ("alpha",), lines=(0,)),
        columns_in_files={"experiment": ("answers", "unreadable")},
        answer=answer_effects,
    ),
)

ALIGNMENT_PAGE = ResultsPage(
    "alignment",
    gettext_lazy("Versions of judges"),
    gettext_lazy(
        "Judges with additions to their prompts, compared with the judges they come from, on the documents "
        "for selecting and on those held out; other judges on the documents for selecting."
    ),
    alignment_sections,
    version_of_alignment,
    values_of,
    [JUDGE],
    filled_by="alignment",
    arrangement=Arrangement(
        tabs={"alignment": gettext_lazy("Versions"), "versions": gettext_lazy("Other judges")},
        chart=Chart("alignment", ("gain",)),
        columns={"alignment": ("judge", "base", "dimension", "items", "before", "after", "gain", "p")},
        answer=answer_alignment,
    ),
)

LABORATORY_RESULTS = (
    SELF_CONSISTENCY_PAGE,
    BIASES_PAGE,
    EXPERIMENTS_PAGE,
    ALIGNMENT_PAGE,
)
