"""The results pages about judges."""

from annotate.results.registry import ResultsPage
from judges.results.tables.alignment import alignment_sections, version_of_alignment
from judges.results.tables.biases import biases_sections, version_of_biases
from judges.results.tables.estimates import estimates_sections
from judges.results.tables.experiments import RUN, experiments_sections
from judges.results.tables.indicator import RELIABILITY_PARAMETERS, reliability_sections
from judges.results.tables.judges import judges_sections
from judges.results.tables.laboratory import laboratory_sections
from judges.results.tables.metrics import (
    METRIC_PARAMETERS,
    metrics_sections,
    size_of_metrics,
    version_of_metrics,
)
from judges.results.tables.parameters import (
    ABOUT,
    COEFFICIENT,
    CONFIDENCE,
    CORRECTED,
    JUDGE,
    LEVEL,
    ROUND,
    UNITS,
)
from judges.results.tables.pilot import pilot_sections
from judges.results.tables.replacement import EPSILON, replacement_sections
from judges.results.tables.version import values_of, version_of_judges

ESTIMATES_PAGE = ResultsPage(
    "estimates",
    "Mean scores from people and a judge",
    "What people would give the outputs of each system on average: from their ratings, from the judge, and "
    "from the judge corrected by what people rated.",
    estimates_sections,
    version_of_judges,
    values_of,
    [JUDGE, ROUND, CONFIDENCE, ABOUT, CORRECTED],
    filled_by="judges",
)

REPLACEMENT_PAGE = ResultsPage(
    "replacement",
    "May a judge replace an annotator?",
    "The alternative annotator test, with a constant and a shuffled judge as controls.",
    replacement_sections,
    version_of_judges,
    values_of,
    [JUDGE, EPSILON, CORRECTED],
    filled_by="judges",
)

JUDGES_PAGE = ResultsPage(
    "judges",
    "Judges and people",
    "How judges agree with people: correlations by item, system and document, alpha, bias, preferences "
    "between systems, quality against agreement, and R; then every judge by itself.",
    judges_sections,
    version_of_judges,
    values_of,
    [ROUND, UNITS, CORRECTED],
    filled_by="judges",
)
RELIABILITY_PAGE = ResultsPage(
    "reliability",
    "Reliability of judges",
    "Where a model agrees with itself (R) and with people (P), system by system, and whether R tells P.",
    reliability_sections,
    version_of_judges,
    values_of,
    RELIABILITY_PARAMETERS,
    filled_by="judges",
)

METRICS_PAGE = ResultsPage(
    "metrics",
    "Metrics, judges and people",
    "How metrics such as ROUGE go with people, beside the judges: by item, system and document.",
    metrics_sections,
    version_of_metrics,
    size_of_metrics,
    METRIC_PARAMETERS,
    filled_by="metrics",
)

LABORATORY_PAGE = ResultsPage(
    "laboratory",
    "Laboratory: judges and themselves",
    "Whether a judge agrees with itself, from sample to sample and from one way of asking to another, and "
    "how many samples are worth asking for; and raters held against each other as judges are.",
    laboratory_sections,
    version_of_judges,
    values_of,
    [COEFFICIENT, LEVEL, ROUND, CORRECTED],
    filled_by="runs",
)

BIASES_PAGE = ResultsPage(
    "biases",
    "Laboratory: biases of judges",
    "Whether judges prefer a place, long texts, their own family or round numbers, how severe they are, and "
    "where their errors go together: each beside a control without the bias.",
    biases_sections,
    version_of_biases,
    values_of,
    [ROUND, CORRECTED],
    filled_by="runs",
)

EXPERIMENTS_PAGE = ResultsPage(
    "experiments",
    "Laboratory: variants of judges",
    "Judges that were asked in different ways, on the same items: agreement with people, cost and time, and"
    " which differ.",
    experiments_sections,
    version_of_judges,
    values_of,
    [RUN, COEFFICIENT, LEVEL, ROUND, CORRECTED],
    filled_by="experiment_new",
)

ALIGNMENT_PAGE = ResultsPage(
    "alignment",
    "Laboratory: judges that learned",
    "Judges whose prompt has examples or clarifications from people's discussions, beside the judges they "
    "come from: on the documents they learned from, and on those held out.",
    alignment_sections,
    version_of_alignment,
    values_of,
    [],
    filled_by="alignment",
)

PILOT_PAGE = ResultsPage(
    "pilot",
    "Pilot: ways of asking on the development documents",
    "A judge beside every other one on the same units of the development documents, to choose a prompt by.",
    pilot_sections,
    version_of_judges,
    values_of,
    [JUDGE],
    filled_by="pilot",
)

JUDGES_RESULTS = (
    JUDGES_PAGE,
    RELIABILITY_PAGE,
    ESTIMATES_PAGE,
    REPLACEMENT_PAGE,
    METRICS_PAGE,
    LABORATORY_PAGE,
    BIASES_PAGE,
    EXPERIMENTS_PAGE,
    ALIGNMENT_PAGE,
    PILOT_PAGE,
)
