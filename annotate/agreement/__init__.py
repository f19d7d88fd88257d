"""Agreement between raters: pure functions over ReliabilityData and over plain arrays, without Django."""

from annotate.agreement.advice import Advice, advice
from annotate.agreement.alpha import krippendorff_alpha
from annotate.agreement.alpha_difference import alpha_difference
from annotate.agreement.bootstrap import Resampling
from annotate.agreement.coefficient import Coefficient, Counts, Interval
from annotate.agreement.concordance import kendall_w
from annotate.agreement.correlation import kendall_tau_b, pearson, spearman
from annotate.agreement.cross_check import checked_alpha, checked_alphas_of_parts
from annotate.agreement.crossed import CrossedDifferences, crossed_differences, why_not_crossed
from annotate.agreement.crossed_errors import ErrorVariances
from annotate.agreement.data import MeasurementLevel, ReliabilityData, observed_domain
from annotate.agreement.dependent_correlations import difference_of_correlations
from annotate.agreement.differences import bias, mean_absolute_error, root_mean_squared_error
from annotate.agreement.distribution import value_distributions, value_ranges
from annotate.agreement.fleiss import fleiss_kappa, gwet_ac
from annotate.agreement.group_means import between_group_means, means_by_group, over_groups
from annotate.agreement.groups import values_within_documents, within_documents
from annotate.agreement.icc import intraclass_correlation
from annotate.agreement.kappa import weighted_kappa
from annotate.agreement.latent_categories import (
    DawidSkene,
    Mace,
    Majority,
    dawid_skene,
    mace,
    majority,
    why_not_latent,
)
from annotate.agreement.measure import PairMeasure
from annotate.agreement.paired_difference import PairedDifference, difference_of_figures
from annotate.agreement.pairs import between_raters, mean_values, with_mean
from annotate.agreement.passages import MarkedText, gamma, unitizing_alpha, word_f1
from annotate.agreement.percent import percent_agreement, within_one_agreement
from annotate.agreement.ranks import RankSet, holm, holm_by_key, rank_sets
from annotate.agreement.registry import COEFFICIENTS, MEASURES
from annotate.agreement.severity import Severity, rater_severity, why_not_severity
from annotate.agreement.severity_drift import severity_drift
from annotate.agreement.streams import Stream
from annotate.agreement.summary import mean, spread_within_units, standard_deviation
from annotate.agreement.system_differences import SystemDifference, system_differences
from annotate.agreement.variance_components import (
    VarianceComponents,
    variance_components,
    why_no_components,
)
