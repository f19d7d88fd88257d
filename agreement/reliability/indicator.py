"""The reliability indicator R, whether it tells the agreement with people P, and the meta-correlation M."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt
import scipy

from agreement import Coefficient, Interval, PairMeasure, Resampling, comparison
from agreement.bootstrap import Statistic, count_patterns, independent, resampled_interval
from agreement.coefficient import UNDEFINED
from agreement.comparison import (
    Scores,
    SystemCoefficient,
    coefficient_values,
    correlation_by_system,
    correlation_of_systems,
    indicators_with_correlations,
    reliability_by_system,
    reliability_of_systems,
    scores_by_system,
)
from agreement.data import FloatArray, IntArray
from agreement.groups import CORRELATED, fisher_interval
from agreement.measures import correlations_of_rows
from agreement.reliability.sample import BoolArray
from agreement.streams import Randomness, substream
from agreement.student import t_p_value


def with_interval_of_documents(
    found: Coefficient,
    scores: Scores,
    measure: PairMeasure,
    generator: Randomness,
    resampling: Resampling | None = None,
) -> Coefficient:
    """M of `agreement.comparison.meta_correlation` with the interval over resampled documents.

    Each resample recomputes every P_i and Q_i over the resampled documents, the same for all systems, and M
    from them. It excludes a system whose P_i is then undefined. So the interval is about other documents for
    these systems, not about other systems. Source: Efron and Tibshirani 1993, chapter 13.
    """
    if not found.defined:
        return found
    plan = replace(resampling or Resampling(), by="documents")
    used = ~np.isnan(scores.human_means)
    # Numbered without gaps, so each resampled document has a rated item.
    numbers = np.unique(scores.documents[used], return_inverse=True)[1]
    interval, reason = resampled_interval(
        _meta_correlations(scores.of_items(used), numbers, measure),
        independent(int(numbers.max()) + 1, "documents"),
        substream(generator, found.name, "over documents"),
        plan,
        measure.estimator.bounds,
    )
    return replace(found, interval=interval, interval_reason=reason)


_DECIMALS = 10  # numbers that differ behind these are ties


def _meta_correlations(scores: Scores, documents: IntArray, measure: PairMeasure) -> Statistic:
    """From weights (replicates, documents) to M (replicates,); every item has a mean human score."""
    pairs, number = scores.pairs_of_systems(scores.human_means, scores.as_read), int(documents.max()) + 1
    systems = []
    for items, of_system in zip(scores.items_of_systems, pairs, strict=True):
        own, patterns = documents[items], measure.estimator.patterns(of_system)
        # P by patterns of a document's items with both values; sums and numbers of mean human scores.
        in_documents = count_patterns(own[of_system.ratings_per_unit == 2], number, patterns)
        quality, rated = (np.bincount(own, each, number) for each in (scores.human_means[items], None))
        systems.append((measure.estimator.statistic(patterns), in_documents, quality, rated))

    def meta_correlations(weights: FloatArray) -> FloatArray:
        # (P or Q, replicates, systems): M correlates P and Q over the systems of each replicate.
        sides = np.full((2, len(weights), len(systems)), np.nan)
        for index, (correlation, in_documents, quality, number_rated) in enumerate(systems):
            sides[0, :, index] = correlation(np.asarray((in_documents.T @ weights.T).T))
            # Q needs people's scores alone, so it also uses items without a value of the judge.
            rated = weights @ number_rated
            np.divide(weights @ quality, rated, out=sides[1, :, index], where=rated > 0)
        return correlations_of_rows(measure, *np.round(sides, _DECIMALS))

    return meta_correlations


LEAST_ITEMS = 3  # two items are always on a line
_MOST_FOR_ALL_ORDERS = 7  # 5,040 of them


@dataclass(frozen=True)
class SystemReliability:
    """One system on one dimension.

    indicator: R, over `items`, those with a value of both judges; needs no human score. agreement: P of the
    first judge, over `rated` items, those with its value and a human score. quality: Q, the mean human score.
    """

    system: str
    items: int
    indicator: Coefficient
    rated: int
    agreement: Coefficient
    quality: Coefficient


@dataclass(frozen=True)
class Validity:
    """The validity of R on a dimension: its correlation with P over systems.

    p_value: two-sided, for no correlation; None with `p_value_reason` without one. systems: the number with
    both R and P.
    """

    correlation: Coefficient
    systems: int
    p_value: float | None
    p_value_reason: str | None = None


@dataclass(frozen=True)
class CoefficientSpread:
    """The spread of a coefficient over systems; `systems` have it, the five numbers are over them."""

    systems: int
    smallest: float
    first_quartile: float
    median: float
    third_quartile: float
    largest: float


@dataclass(frozen=True)
class DimensionReliability:
    """All results of the indicator on one dimension, by one measure.

    meta_correlation: M, of P with Q over systems. indicator_spread, agreement_spread: None if no system has
    the coefficient.
    """

    systems: tuple[SystemReliability, ...]
    meta_correlation: Coefficient
    validity: Validity
    indicator_spread: CoefficientSpread | None
    agreement_spread: CoefficientSpread | None


@dataclass(frozen=True)
class DrawnWith:
    """The random streams for the intervals of a pair of judges.

    R belongs to the pair, independent of which judge is compared with people. P and M belong to that judge,
    independent of the other one; only the validity of R belongs to both.
    """

    indicator: Randomness
    agreement: Randomness
    validity: Randomness


def reliability(
    scores: Scores,
    other_judge: npt.ArrayLike,
    measure: PairMeasure,
    *,
    drawn_with: DrawnWith | None = None,
    resampling: Resampling | None = None,
) -> DimensionReliability:
    """R, P, Q for each system in the order of `scores.system_names`, with M and the validity of R.

    scores: the first judge (RTS in the paper) with people; a table of human scores without rows if there are
    no ratings. other_judge: (items,), the second judge's values (MCQ), NaN for a gap. measure: one of
    `agreement.comparison.CORRELATIONS`. drawn_with: None for no intervals; R and P resample a system's items,
    the validity systems, and M documents. Source: Shen and others 2023, equations 2 to 4, table 7.
    """
    of_pair, of_judge, of_both = (
        (drawn_with.indicator, drawn_with.agreement, drawn_with.validity) if drawn_with else (None,) * 3
    )
    indicators = indicator(scores, other_judge, measure, generator=of_pair, resampling=resampling)
    agreements = agreement_with_humans(scores, measure, generator=of_judge, resampling=resampling)
    qualities = [each.human_mean for each in scores_by_system(scores)]
    validities = validity(scores, other_judge, measure, generator=of_both, resampling=resampling)
    return DimensionReliability(
        systems=tuple(
            SystemReliability(
                system=one.system,
                items=one.coefficient.counts.pairable_units,
                indicator=one.coefficient,
                rated=other.coefficient.counts.pairable_units,
                agreement=other.coefficient,
                quality=quality,
            )
            for one, other, quality in zip(indicators, agreements, qualities, strict=True)
        ),
        validity=validities,
        meta_correlation=meta_correlation(scores, measure, generator=of_judge, resampling=resampling),
        indicator_spread=spread_of(indicators),
        agreement_spread=spread_of(agreements),
    )


def indicator(
    scores: Scores,
    other_judge: npt.ArrayLike,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemCoefficient, ...]:
    """R for each system: `agreement.comparison.reliability_by_system`, undefined below 3 items.

    other_judge: (items,), the other method's values, NaN if missing. The interval is
    `agreement.groups`'s, and a percentile bootstrap with more than 200 items, each of another document.
    Fisher's own variance is too small on five points that are used unevenly: its 95% intervals hold the true
    value in 50 to 90% of cases (docs/explanation/reliability.md). Source: Shen and others 2023, equation 4.
    """
    found = reliability_by_system(scores, other_judge, measure, generator=generator, resampling=resampling)
    return tuple(_require_enough_items(each) for each in found)


def agreement_with_humans(
    scores: Scores,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemCoefficient, ...]:
    """P for each system: `agreement.comparison.correlation_by_system`, undefined below 3 items.

    Source: Shen and others 2023, equation 2.
    """
    found = correlation_by_system(scores, measure, generator=generator, resampling=resampling)
    return tuple(_require_enough_items(each) for each in found)


def validity(
    scores: Scores,
    other_judge: npt.ArrayLike,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Validity:
    """The correlation of R with P over systems, its p value and the number of systems; other_judge: (items,).

    The p value is two-sided, for no correlation between the systems' R and P: for Pearson and Spearman over
    all orders of the systems up to 7, by Student's t with n - 2 degrees of freedom beyond; for Kendall
    SciPy's choice between exact and normal. None below 3 systems. A high p value shows that on this dimension
    R does not indicate agreement with people. Source: Shen and others 2023, table 7.
    """
    other = scores.of_judge(other_judge).judge
    # Systems with enough items for R and for P.
    large = _large_systems(scores, scores.judge, other) & _large_systems(
        scores, scores.judge, scores.human_means
    )
    # Without values of the judge, neither R nor P of a system with too few items enters.
    kept = scores.without_judge(~large)
    indicators = reliability_of_systems(kept, other, measure)
    agreements = correlation_of_systems(kept, measure)
    found = indicators_with_correlations(
        kept, indicators, agreements, measure, generator=generator, resampling=resampling
    )
    correlation = _explain_undefined(found, large, scores)
    both = ~np.isnan(indicators) & ~np.isnan(agreements)
    systems = int(both.sum())
    if correlation.value is None:
        return Validity(correlation, systems, None, "The correlation is undefined.")
    if systems < LEAST_ITEMS:
        return Validity(correlation, systems, None, f"A p value needs 3 systems, but {systems} have both.")
    # Ties that differ by rounding would change ranks.
    p_value = _p_value(measure, correlation.value, *np.round([indicators[both], agreements[both]], 10))
    return Validity(correlation, systems, p_value)


def meta_correlation(
    scores: Scores,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """M: `meta_correlation` over systems with 3 items or more, its interval over documents.

    Items need a value of the judge and a human score. Each resample recomputes P and Q of every system over
    the resampled documents, so the interval is about other documents for these systems. Undefined with fewer
    than two such systems, or if P or Q do not vary over them. Source: Shen and others 2023, equation 3;
    interval: Efron and Tibshirani 1993, chapter 13.
    """
    large = _large_systems(scores, scores.judge, scores.human_means)
    kept = scores.without_judge(~large)
    found = comparison.meta_correlation(kept, measure)
    if generator is not None:
        found = with_interval_of_documents(found, kept, measure, generator, resampling)
    return _explain_undefined(found, large, scores)


def spread_of(coefficients: Sequence[SystemCoefficient]) -> CoefficientSpread | None:
    """Least, quartiles and largest of the defined values; None without any.

    Source: Shen and others 2023, figures 1 and 5.
    """
    values = coefficient_values(coefficients)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    return CoefficientSpread(
        len(defined), *(float(each) for each in np.quantile(defined, [0, 0.25, 0.5, 0.75, 1]))
    )


def expected_interval(
    value: float, items: int, measure: PairMeasure, *, confidence_level: float = 0.95
) -> Interval:
    """The interval that a correlation of this value would have over `items` items without ties; for planning.

    Computed as in `fisher_interval`. Spearman .45 gives (.269, .600) over 100 items, (.089, .707) over 30. On
    a scale of few points true intervals are wider, so never show it for collected values. Source: Bonett and
    Wright 2000, Psychometrika 65, 23-28. Raises ValueError below 5 items, outside -1..1, and for other
    measures.
    """
    if items < 5 or not -1 < value < 1:
        raise ValueError("An expected interval needs 5 items or more and a value between -1 and 1.")
    if measure.estimator.name not in CORRELATED:
        raise ValueError(f"{measure.estimator.label} is not a correlation.")
    interval, reason = fisher_interval(measure.estimator.name, value, items, confidence_level, noun="items")
    if interval is None:
        raise ValueError(reason)
    return interval


def _large_systems(scores: Scores, first: FloatArray, second: FloatArray) -> BoolArray:
    """(items,): whether the item's system has at least 3 items with both values."""
    both = ~np.isnan(first) & ~np.isnan(second)
    items = np.bincount(scores.systems[both], minlength=len(scores.system_names))
    return np.asarray(items[scores.systems] >= LEAST_ITEMS)


def _explain_undefined(coefficient: Coefficient, large: BoolArray, scores: Scores) -> Coefficient:
    """The coefficient over systems, with the right reason if all have too few items."""
    # Without any item with both values, the coefficient's own reason is the right one.
    some = not (np.isnan(scores.human_means) | np.isnan(scores.judge)).all()
    if coefficient.defined or large.any() or not some:
        return coefficient
    return replace(coefficient, reason="No system has 3 items with all the values that this needs.")


def _require_enough_items(found: SystemCoefficient) -> SystemCoefficient:
    coefficient = found.coefficient
    items = coefficient.counts.pairable_units
    if not coefficient.defined or items >= LEAST_ITEMS:
        return found
    too_few = replace(
        coefficient,
        value=None,
        reason=f"Only {items} items of this system have both values; 3 are needed, and a bound needs more.",
        interval=None,
        interval_reason=UNDEFINED,
    )
    return SystemCoefficient(found.system, too_few)


def _p_value(measure: PairMeasure, value: float, first: FloatArray, second: FloatArray) -> float:
    if measure.estimator.name == "kendall_tau_b":
        return float(scipy.stats.kendalltau(first, second).pvalue)
    if measure.estimator.name == "spearman":
        first, second = scipy.stats.rankdata(first), scipy.stats.rankdata(second)
    if len(first) <= _MOST_FOR_ALL_ORDERS:
        # The share of orders of the second whose correlation is at least as far from 0.
        # Deviations are the same in all orders, so the product alone tells how far r is from 0.
        centred = first - first.mean()
        orders = np.array(list(permutations(second - second.mean())))
        products = np.abs(orders @ centred)
        # The first order is the observed one; the tolerance counts orders that differ by rounding.
        return float(np.mean(products >= products[0] - 1e-9))
    freedom = len(first) - 2
    # A correlation of 1 or -1 would have a standard error of 0, and t no value.
    return t_p_value(value, np.sqrt(max(1 - value**2, np.finfo(float).eps) / freedom), freedom)
