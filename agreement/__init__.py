"""Agreement between raters, with NumPy and SciPy only.

`ReliabilityData` is a table of ratings, raters by units. `COEFFICIENTS` of it are Krippendorff's alpha,
percent agreement, kappas, Gwet's AC, intraclass correlations and Kendall's W; `advice` lists those allowed by
a measurement level. `MEASURES` compare two arrays: correlations, RMSE, MAE and bias. Further functions
model raters (severity, Dawid and Skene, MACE), compare systems (paired t, the crossed model, rank sets) and
passages (gamma, alpha of units, F1 of words). Answers of other kinds are sets of labels, rankings, spans with
categories and severities, and parts. A `Coefficient` has a value with interval and counts, or the reason for
a missing value; a `Stream` makes its interval the same in every run.

`agreement.comparison` compares a judge with people and reads their preferences, `agreement.biases` finds what
a judge prefers, and `agreement.reliability` finds the units on which it can be trusted.
"""

from agreement.alpha import (
    alpha_by_distance,
    alpha_difference,
    checked_alpha,
    checked_alphas_of_parts,
    krippendorff_alpha,
)
from agreement.bootstrap import Resampling
from agreement.camps import SplitUnits, UnitSplit, split_units
from agreement.coefficient import Coefficient, Counts, Interval
from agreement.complete import intraclass_correlation, kendall_w
from agreement.crossed import CrossedDifferences, crossed_differences
from agreement.crossed_fit import CrossedModelError, ErrorVariances
from agreement.data import MeasurementLevel, ReliabilityData, observed_domain
from agreement.drift import ControlPoint, control_chart, severity_drift
from agreement.groups import (
    between_group_means,
    between_raters,
    mean_values,
    means_by_group,
    over_groups,
    values_within_documents,
    with_mean,
    within_documents,
)
from agreement.kappa import fleiss_kappa, gwet_ac, percent_agreement, weighted_kappa, within_one_agreement
from agreement.labels import (
    LabelAgreement,
    LabelAnswers,
    LabelRate,
    agreement_by_label,
    jaccard_distance,
    label_alpha,
    label_rates,
    masi_distance,
    share_of_yes,
    shares_by_item,
)
from agreement.latent_categories import (
    DawidSkene,
    Mace,
    Majority,
    dawid_skene,
    mace,
    majority,
    why_not_latent,
)
from agreement.measures import (
    PairMeasure,
    bias,
    kendall_tau_b,
    mean_absolute_error,
    pearson,
    root_mean_squared_error,
    spearman,
)
from agreement.paired_difference import PairedDifference, difference_of_correlations, difference_of_figures
from agreement.passages import MarkedText, gamma, unitizing_alpha, word_f1
from agreement.rankings import (
    BestWorstScore,
    RankedSystem,
    Rankings,
    RankingStrengths,
    best_worst_scores,
    concordances,
    kendall_distance,
    mean_concordance,
    plackett_luce,
    ranking_alpha,
)
from agreement.ranks import RankSet, holm, holm_by_key, rank_sets
from agreement.registry import COEFFICIENTS, MEASURES, Advice, advice
from agreement.severity import Bridge, Offset, Severity, bridge, rater_severity, why_not_severity
from agreement.spans import (
    MarkedSpan,
    SpannedText,
    SpanOverlap,
    SpanWeights,
    alpha_by_category,
    mqm_alpha,
    mqm_scores,
    span_f1,
    span_overlaps,
    unitizing_alpha_by_category,
)
from agreement.streams import Stream
from agreement.summary import (
    mean,
    mean_score,
    normalised_entropy,
    rater_effects,
    severity_share,
    spread_within_units,
    standard_deviation,
    value_distributions,
    value_ranges,
)
from agreement.system_differences import (
    SystemDifference,
    SystemRange,
    TwoRankings,
    compare_rankings,
    compare_with_systems,
    system_differences,
)
from agreement.variance_components import (
    VarianceComponents,
    variance_components,
    why_no_components,
)
