"""The results pages of the laboratory."""

from django.utils.translation import gettext_lazy

from annotate.results.arrangement import Arrangement, Chart
from annotate.results.registry import ResultsPage
from judges.laboratory.actions import experiment_form
from judges.laboratory.tables.alignment import (
    alignment_sections,
    answer_alignment,
    version_of_alignment,
)
from judges.laboratory.tables.biases import answer_biases, biases_sections, version_of_biases
from judges.laboratory.tables.effects import answer_effects
from judges.laboratory.tables.experiments import RUN, experiments_sections
from judges.laboratory.tables.laboratory import laboratory_sections
from judges.results.tables.parameters import ANY_JUDGE, COEFFICIENT, CORRECTED, JUDGE, LEVEL, ROUND
from judges.results.tables.version import values_of, version_of_judges

LABORATORY_PAGE = ResultsPage(
    "laboratory",
    gettext_lazy("Self-consistency"),
    gettext_lazy(
        "Whether a judge agrees with itself, between samples and between prompts; the number of samples "
        "worth their cost; their distribution and confidence compared with people; raters as judges."
    ),
    laboratory_sections,
    version_of_judges,
    values_of,
    [COEFFICIENT, LEVEL, ROUND, CORRECTED],
    filled_by="runs",
    arrangement=Arrangement(
        tabs={
            "self-agreement": gettext_lazy("Agreement with itself"),
            "variants": gettext_lazy("Variants"),
            "samples": gettext_lazy("Number of samples"),
            "distributions": gettext_lazy("Distributions"),
            "confidence": gettext_lazy("Confidence"),
            "reliability-curve": gettext_lazy("Reliability curves"),
        },
        chart=Chart("self-agreement", ("alpha",), band="among_people"),
        columns={
            "distributions": (
                *("judge", "dimension", "samples", "items", "tv_judge", "tv_people", "tv_control"),
                *("energy", "energy_control"),
            ),
            "confidence": (
                *("judge", "dimension", "items", "confidence", "mode_right", "mode_error", "mode_chance"),
                *("within_right", "within_error"),
            ),
        },
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
    LABORATORY_PAGE,
    BIASES_PAGE,
    EXPERIMENTS_PAGE,
    ALIGNMENT_PAGE,
)
