"""The results pages about judges."""

from django.utils.translation import gettext_lazy

from annotate.results.registry import ResultsPage
from judges.results.arrangements import COMPARE, ESTIMATES, JUDGES, METRICS, RELIABILITY, REPLACEMENT
from judges.results.tables.estimates import estimates_sections
from judges.results.tables.indicator import RELIABILITY_PARAMETERS, reliability_sections
from judges.results.tables.judges import judges_sections
from judges.results.tables.metrics import (
    METRIC_PARAMETERS,
    metrics_sections,
    size_of_metrics,
    version_of_metrics,
)
from judges.results.tables.parameters import (
    ABOUT,
    CONFIDENCE,
    CORRECTED,
    JUDGE,
    ROUND,
    UNITS,
)
from judges.results.tables.replacement import EPSILON, replacement_sections
from judges.results.tables.two_sources import (
    FIRST,
    SECOND,
    compare_sources_sections,
    version_of_chosen_sources,
)
from judges.results.tables.version import values_of, version_of_judges

ESTIMATES_PAGE = ResultsPage(
    "estimates",
    gettext_lazy("Estimates"),
    gettext_lazy(
        "What people would give the outputs of each system on average: from their ratings, from the judge, "
        "and "
        "from the judge corrected by what people rated."
    ),
    estimates_sections,
    version_of_judges,
    values_of,
    [JUDGE, ROUND, CONFIDENCE, ABOUT, CORRECTED],
    filled_by="judges",
    arrangement=ESTIMATES,
)

REPLACEMENT_PAGE = ResultsPage(
    "replacement",
    gettext_lazy("Replacement"),
    gettext_lazy(
        "The alternative annotator test with its controls, and alpha with the judge as one more rater."
    ),
    replacement_sections,
    version_of_judges,
    values_of,
    [JUDGE, EPSILON, CORRECTED],
    filled_by="judges",
    arrangement=REPLACEMENT,
)

JUDGES_PAGE = ResultsPage(
    "judges",
    gettext_lazy("Judges and people"),
    gettext_lazy(
        "How judges agree with people: correlations by item, system and document, alpha, bias, preferences "
        "between systems, quality against agreement, and R; then every judge by itself."
    ),
    judges_sections,
    version_of_judges,
    values_of,
    [ROUND, UNITS, CORRECTED],
    filled_by="judges",
    arrangement=JUDGES,
)
RELIABILITY_PAGE = ResultsPage(
    "reliability",
    gettext_lazy("Reliability"),
    gettext_lazy(
        "R: does the model agree with itself? P: does it agree with people? And does R predict P, system by "
        "system?"
    ),
    reliability_sections,
    version_of_judges,
    values_of,
    RELIABILITY_PARAMETERS,
    filled_by="judges",
    arrangement=RELIABILITY,
)

METRICS_PAGE = ResultsPage(
    "metrics",
    gettext_lazy("Metrics"),
    gettext_lazy(
        "Metrics such as ROUGE compared with people, and the judges as well: by item, system and document."
    ),
    metrics_sections,
    version_of_metrics,
    size_of_metrics,
    METRIC_PARAMETERS,
    filled_by="metrics",
    arrangement=METRICS,
)

COMPARE_PAGE = ResultsPage(
    "compare",
    gettext_lazy("Compare"),
    gettext_lazy(
        "Two sources of values on their common units: agreement, bias, and ranks of systems that change. A "
        "source is people in a round, people of an addition or edition, a judge, or a panel."
    ),
    compare_sources_sections,
    version_of_judges,
    values_of,
    [FIRST, SECOND],
    version_of_chosen_sources,
    arrangement=COMPARE,
)

JUDGES_RESULTS = (
    JUDGES_PAGE,
    RELIABILITY_PAGE,
    ESTIMATES_PAGE,
    REPLACEMENT_PAGE,
    METRICS_PAGE,
    COMPARE_PAGE,
)
