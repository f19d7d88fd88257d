"""Changes of raters during a round: by thirds of its time, as changes of severity, and effects of order.

For order effects raters meet items in a random order for each rater, within stretches (the items of a
document, or all of a rater's). Without an order effect every order of a stretch's values was equally likely.
This gives the mean and the variance of each statistic exactly, for any items, raters and values.

`control_chart` asks the same of a judge: is it still the model that gave the first values?
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from agreement.alpha import krippendorff_alpha
from agreement.coefficient import Coefficient, Counts, Estimated, Interval, Parameter
from agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData, divide_where
from agreement.measures import bias
from agreement.ranks import holm_by_key
from agreement.severity import NO_END, NO_VARIANCE, PENALTY, fit_severities
from agreement.severity_likelihood import RatedPoints
from agreement.student import normal_reach, standard_error, t_p_value, t_reach

THIRDS = 3


@dataclass(frozen=True)
class RaterDrift:
    """A rater's mean difference from the others on the same units, by thirds of the rater's own time."""

    rater: str
    by_third: tuple[Coefficient, ...]

    @property
    def change(self) -> float | None:
        """The last third's difference minus the first third's; None if either is undefined."""
        first, last = self.by_third[0].value, self.by_third[-1].value
        return None if first is None or last is None else last - first


def thirds(times: FloatArray) -> IntArray:
    """(n,): 0, 1 or 2 for the first, middle and last third of `times` (n,) in order, -1 for a gap (NaN).

    The parts differ by one at the most; equal times stay in their given order.
    """
    found = np.full(len(times), -1, dtype=np.intp)
    given = np.flatnonzero(~np.isnan(times))
    order = given[np.argsort(times[given], kind="stable")]
    # Integer division spreads the remainder over the thirds.
    found[order] = np.arange(len(order)) * THIRDS // max(len(order), 1)
    return found


def alpha_by_third(data: ReliabilityData, times: FloatArray) -> tuple[Coefficient, ...]:
    """Krippendorff's alpha of the units completed in the first, middle and last third.

    times: (raters, units), the time of each value, in any unit; NaN for a gap. A unit belongs to the third of
    its last value; units with one value do not count. Each is undefined as alpha is.
    """
    timed = np.where(np.isnan(data.values), np.nan, times)
    last = np.full(timed.shape[1], np.nan)
    pairable = np.sum(~np.isnan(timed), axis=0) >= 2
    last[pairable] = np.nanmax(timed[:, pairable], axis=0) if pairable.any() else []
    parts = thirds(last)
    return tuple(krippendorff_alpha(data.of_units(parts == part)) for part in range(THIRDS))


def rater_drift(data: ReliabilityData, times: FloatArray) -> tuple[RaterDrift, ...]:
    """Each rater's mean difference from the mean of the others, by thirds of the rater's own time.

    times: (raters, units), when each value was last given, in seconds since any moment.
    Above 0 the rater gives higher values than the others. Raters' own severity cancels in the change from the
    first to the last third, as long as the others hold still (differential rater functioning over time:
    Myford and Wolfe 2009, Journal of Educational Measurement 46, 371-389). No rater on a nominal dimension,
    whose codes have no differences; undefined in a third without units that another rater has rated.
    """
    if data.measurement_level is MeasurementLevel.NOMINAL:
        return ()
    counts = np.sum(~np.isnan(data.values), axis=0)
    totals = np.nansum(data.values, axis=0)
    found = []
    for rater, own, when in zip(data.raters, data.values, times, strict=True):
        compared = ~np.isnan(own) & (counts >= 2)
        # The mean of the others follows from the unit's total without the rater's own value.
        others = divide_where(compared, totals - np.nan_to_num(own), counts - 1)
        parts = thirds(np.where(compared, when, np.nan))
        by_third = (bias(own[parts == part], others[parts == part]) for part in range(THIRDS))
        found.append(RaterDrift(rater, tuple(by_third)))
    return tuple(found)


LEAST_DOCUMENTS = 18
"""With 9 documents intervals of changes held .88 instead of .95, with 18 .93."""


@dataclass(frozen=True)
class SeverityDrift:
    """A rater's severity, in logits, in each third of the rater's own time, and the last minus the first.

    p_value: two-sided, for no change; adjusted_p_value: by Holm over all raters; neither where the change has
    no variance. If a third has no values, documents are few, or the search does not end, these are missing.
    `reason` gives the reason.
    """

    rater: str
    by_third: tuple[Estimated, ...] = ()
    change: Estimated | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    reason: str = ""


def severity_drift(
    values: FloatArray,
    times: FloatArray,
    points: Sequence[float],
    systems: Sequence[str],
    documents: npt.NDArray[Any],
    raters: Sequence[str],
    *,
    penalty: float = PENALTY,
    confidence_level: float = 0.95,
) -> tuple[SeverityDrift, ...]:
    """The model of `rater_severity` in which each rater has a severity for each third of the rater's own
    time.

    values, times: (raters, units), NaN for gaps; values without a time are excluded. Systems and units are
    constant. So if each rater has a separate order of outputs, changes are due to raters. Needs what
    `rater_severity` needs. Changes are differences of severities with their covariance (sandwich over
    documents) and Student's t. Sources: Linacre 1989, Many-Facet Rasch Measurement; Myford and Wolfe 2009,
    Journal of Educational Measurement 46, 371-389, for time as a facet.
    """
    timed = np.where(np.isnan(times), np.nan, values)
    when = np.stack(
        [thirds(np.where(np.isnan(each), np.nan, at)) for each, at in zip(timed, times, strict=True)]
    )
    # (raters, thirds, units): each third of a rater's time becomes a row, and so a rater of the model.
    parts = np.where(when[:, None] == np.arange(THIRDS)[:, None], timed[:, None], np.nan)
    rated = RatedPoints.of(parts.reshape(-1, values.shape[1]), points, systems, documents)
    enough = rated.number_of_documents >= LEAST_DOCUMENTS
    fit = fit_severities(rated, penalty, confidence_level) if enough else None
    if fit is None:
        few = f"Timed values are on {rated.number_of_documents} documents; {LEAST_DOCUMENTS} are needed."
        return tuple(SeverityDrift(rater, reason=NO_END if enough else few) for rater in raters)
    severities, slopes = fit.likelihood.with_slopes(fit.likelihood.severities, fit.parameters)
    # Thirds without values are no raters of the model, so their rows are looked up.
    row_of = {index: at for at, index in enumerate(rated.rater_indices.tolist())}
    found = []
    for number, rater in enumerate(raters):
        own = [row_of.get(THIRDS * number + third) for third in range(THIRDS)]
        if None in own:
            found.append(SeverityDrift(rater, reason="A third of the rater’s time has no value with a time."))
            continue
        rows = np.array(own, dtype=np.intp)
        # The slope of the difference brings in the covariance of both severities.
        change, slope = severities[rows[-1]] - severities[rows[0]], slopes[rows[-1]] - slopes[rows[0]]
        (changed,) = fit.of(np.array([change]), slope[None])
        error = np.sqrt(float(slope @ fit.covariance @ slope))
        found.append(
            SeverityDrift(
                rater,
                tuple(fit.of(severities[rows], slopes[rows])),
                changed,
                t_p_value(change, error, rated.number_of_documents - 1) if error > 0 else None,
                reason="" if error > 0 else NO_VARIANCE,
            )
        )
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    return tuple(replace(each, adjusted_p_value=adjusted.get(index)) for index, each in enumerate(found))


FEWEST_VALUES = 30
"""From how many values on the statistics are near enough to normal for an interval."""
_LEVEL = 0.95
_METHOD = "normal, with the variance over all orders that could have been drawn"


@dataclass(frozen=True)
class OrderEffect:
    """A coefficient of an order effect, 0 without one, and the p value of there being none."""

    coefficient: Coefficient
    p_value: float | None


@dataclass(frozen=True)
class _Stretches:
    """Values in order of rating, stretch after stretch, without stretches of one value.

    of: (values,): the stretch of each value. sizes: (stretches,). centred: (values,), about the mean of each
    stretch.
    """

    values: FloatArray
    of: IntArray
    sizes: IntArray

    def sums(self, numbers: FloatArray) -> FloatArray:
        """(stretches,): the sum over each."""
        return np.bincount(self.of, weights=numbers, minlength=len(self.sizes)).astype(float)

    def deviations_from_mean(self, numbers: FloatArray) -> FloatArray:
        """(values,): each number minus the mean of its stretch."""
        return numbers - (self.sums(numbers) / self.sizes)[self.of]


def position_effect(values: FloatArray, stretches: IntArray, positions: IntArray) -> OrderEffect:
    """Rank correlation of value with position within the stretch, over all stretches.

    values, stretches, positions: (values,). sum x r / sqrt(sum x^2 sum r^2), with x and r the ranks of
    position and value within the stretch, centred and divided by the stretch's size + 1 so that long ones do
    not dominate (van Elteren 1960). Over all orders its mean is 0. Its variance is the variance of sums of
    products of permuted ranks, sum_b X_b R_b / (k_b - 1) / (sum X sum R). Undefined if no stretch has two
    different values.
    """
    found = _stretches(values, stretches, positions)
    position = found.deviations_from_mean(np.arange(len(found.of), dtype=float)) / (found.sizes + 1)[found.of]
    # Ranks of all values by stretch and value are ranks within a stretch, up to a constant for each.
    codes = np.unique(found.values, return_inverse=True)[1]
    ranks = scipy.stats.rankdata(found.of * len(codes) + codes)
    rank = found.deviations_from_mean(ranks) / (found.sizes + 1)[found.of]
    of_positions, of_ranks = found.sums(position**2), found.sums(rank**2)
    total, scale = float(position @ rank), float(np.sqrt(of_positions.sum() * of_ranks.sum()))
    variance = float(np.sum(of_positions * of_ranks / (found.sizes - 1)))
    source = "Spearman 1904 within stretches, with van Elteren's weights (1960)"
    return _effect("position_effect", "Rank correlation with position", source, found, total, variance, scale)


def carry_over(values: FloatArray, stretches: IntArray, positions: IntArray) -> OrderEffect:
    """The change of a value, in points, per point of the rater's previous value.

    values, stretches, positions: (values,). The serial correlation of lag 1 within stretches, y centred in
    each: sum_b (sum_t y_t y_(t+1) + S_b / k_b) / sum_b (k_b - 1) S_b / k_b, S = sum y^2. Centring alone makes
    the products -S / k on average, which is subtracted. Above 0 values follow the previous one
    (assimilation), below 0 they move away from it (contrast). Mean and variance over all orders: Wald and
    Wolfowitz 1943 for the products of neighbours. Undefined if no stretch of three values or more varies.
    Source: Mathur, Baldwin and Cohn 2017, Sequence Effects in Crowdsourced Annotations.
    """
    found = _stretches(values, stretches, positions, fewest=3)
    y, k = found.deviations_from_mean(found.values), found.sizes
    squares, fourths = found.sums(y**2), found.sums(y**4)
    # Neighbours in two different stretches are no pair.
    neighbours = float(np.sum(y[1:] * y[:-1], where=found.of[1:] == found.of[:-1]))
    total = neighbours + float(np.sum(squares / k))
    # The mean of the squared sum over all orders, from which the square of its mean -S / k is taken.
    second = (squares**2 - fourths) / k + (squares**2 - 2 * fourths) / (k * (k - 1))
    variance = float(np.sum(second - (squares / k) ** 2))
    scale = float(np.sum(squares * (k - 1) / k))
    source = "Mathur, Baldwin and Cohn 2017; moments of Wald and Wolfowitz 1943"
    return _effect("carry_over", "Carry-over from the item before", source, found, total, variance, scale)


def _stretches(values: FloatArray, stretches: IntArray, positions: IntArray, fewest: int = 2) -> _Stretches:
    # np.lexsort sorts by its last key first: by stretch, then by position.
    order = np.lexsort((positions, stretches))
    values, of = np.asarray(values, dtype=float)[order], np.unique(stretches[order], return_inverse=True)[1]
    long = np.bincount(of, minlength=1)[of] >= fewest
    # Stretches are numbered again, as the short ones are excluded.
    of = np.unique(of[long], return_inverse=True)[1]
    return _Stretches(values[long], of, np.bincount(of))


def _effect(
    name: str, label: str, source: str, found: _Stretches, total: float, variance: float, scale: float
) -> OrderEffect:
    counts = Counts(
        units=len(found.of),
        pairable_units=len(found.of),
        raters=0,
        ratings=len(found.of),
        pairable_values=len(found.of),
        groups=len(found.sizes),
    )
    parameters: Mapping[str, Parameter] = {"stretches": len(found.sizes)}
    if not scale > 0:
        reason = (
            "Wherever a rater gave several values in succession, all are the same."
            if len(found.of)
            else "No rater has given enough values in succession yet."
        )
        return OrderEffect(Coefficient(name, label, None, counts, source, reason=reason), None)
    value = float(np.clip(total / scale, -1, 1))
    if len(found.of) < FEWEST_VALUES or not variance > 0:
        few = f"An interval needs {FEWEST_VALUES} values or more, in stretches that vary."
        return OrderEffect(
            Coefficient(name, label, value, counts, source, interval_reason=few, parameters=parameters), None
        )
    error = float(np.sqrt(variance)) / scale
    reach = normal_reach(error, _LEVEL)
    interval = Interval(max(value - reach, -1), min(value + reach, 1), _METHOD, _LEVEL)
    coefficient = Coefficient(name, label, value, counts, source, interval=interval, parameters=parameters)
    return OrderEffect(coefficient, float(2 * scipy.special.ndtr(-abs(total) / np.sqrt(variance))))


Key = TypeVar("Key", bound=Hashable)
BoolArray = npt.NDArray[np.bool_]

LAST_CHECKS = (1, 2, 4, 8)
"""The blocks of last checks that are compared with all values before them."""
_BETS = np.array([0.5, 1.5, 5.0])  # per standard deviation within documents


@dataclass(frozen=True)
class ControlPoint:
    """A check of one dimension against the first values.

    value, low, high: mean of check - first over documents in points, and its t interval for this check alone.
    changed: share of units that moved by more than the tolerance. p_value: for "nothing has changed", by all
    checks up to this one. Value and share are None, with a reason, if no unit has both values; the interval
    is None for one document. units: units with both values; missing: units without a value in this check.
    """

    check: int
    units: int
    missing: int
    value: float | None
    low: float | None
    high: float | None
    changed: float | None
    p_value: float = 1.0
    is_alarm: bool = False
    reason: str = ""


def control_chart(
    values: Mapping[Key, npt.ArrayLike],
    documents: Mapping[Key, npt.ArrayLike],
    *,
    tolerance: float = 1.0,
    significance_level: float = 0.05,
) -> dict[Key, tuple[ControlPoint, ...]]:
    """Compare each check with the first values, and test after each if the judge has changed.

    values: by dimension (1 + checks, units), the first values and then one row a check, NaN for a gap;
    documents: by dimension (units,). All dimensions have the same number of checks.

    The test: if the judge has not changed, the values of a document are exchangeable over time, and documents
    are independent. For a block B of m checks of the T times of a document and a bet l,

    e = prod_{t in B} exp(l x_t) / mean over all blocks of m times of the same product

    then has the mean 1, given the values without their order, even if the judge never varies. The product
    over documents is averaged over blocks (the last 1, 2, 4, 8 checks, and the first values), over l and over
    three directions: up, down, and either for each document by itself. p = 1 / e is a p value by Markov's
    inequality. Check c has the level a / (c (c + 1)), and these levels add up to a over the whole life of the
    monitoring; dimensions are adjusted by Holm. Units must be chosen without regard to their first values.
    Source: Grünwald, de Heide and Koolen 2024, Safe testing, JRSS B 86 (e values); the conditional likelihood
    of a block is from Cox 1972, JRSS B 34.
    """
    tables = {key: np.asarray(each, dtype=float) for key, each in values.items()}
    owners = {key: np.unique(np.asarray(documents[key]), return_inverse=True)[1] for key in tables}
    counts = {len(each) for each in tables.values()}
    if len(counts) > 1 or counts == {0}:
        raise ValueError("All dimensions need the first values and the same number of checks.")
    charts: dict[Key, list[ControlPoint]] = {key: [] for key in tables}
    for check in range(1, min(counts, default=1)):
        points = {
            key: _compare_with_first(table[: check + 1], owners[key], tolerance)
            for key, table in tables.items()
        }
        adjusted = holm_by_key({key: each.p_value for key, each in points.items()})
        level = significance_level / (check * (check + 1))
        for key, point in points.items():
            charts[key].append(replace(point, is_alarm=adjusted[key] <= level))
    return {key: tuple(each) for key, each in charts.items()}


def _compare_with_first(table: FloatArray, owners: npt.NDArray[np.intp], tolerance: float) -> ControlPoint:
    check, missing = len(table) - 1, int(np.isnan(table[-1]).sum())
    both = ~np.isnan(table[0]) & ~np.isnan(table[-1])
    if not both.any():
        reason = "No unit has a value in this check."
        return ControlPoint(check, 0, missing, None, None, None, None, reason=reason)
    table, owners = table[:, both], np.unique(owners[both], return_inverse=True)[1]
    sizes = np.bincount(owners)
    # A time at which a unit of a document has no value does not count for this document.
    by_document = np.array([np.bincount(owners, row) for row in table]).T / sizes[:, None]
    differences = by_document[:, -1] - by_document[:, 0]
    mean, low, high = float(differences.mean()), None, None
    if len(differences) > 1:
        reach = t_reach(standard_error(differences), len(differences) - 1, 0.95)
        low, high = mean - reach, mean + reach
    # A move by exactly the tolerance is no change, even if floats make it slightly larger.
    moved = np.abs(table[-1] - table[0]) > tolerance + 1e-9
    p_value = float(np.exp(-max(_log_evidence(by_document), 0.0)))
    return ControlPoint(
        check, int(both.sum()), missing, mean, low, high, float(moved.mean()), p_value=p_value
    )


def _log_evidence(values: FloatArray) -> float:
    """Return the logarithm of e; values: (documents, times), NaN for a gap."""
    is_known = ~np.isnan(values)
    # Mean and spread are over all times, so no order of the values changes them and e has the mean 1.
    centred = np.where(is_known, values - np.nanmean(values, axis=1, keepdims=True), 0.0)
    spread = np.sqrt((centred**2).sum() / is_known.sum())
    if spread < 1e-12:
        return 0.0
    check = values.shape[1] - 1
    times = np.arange(check + 1)
    blocks = [times == 0] + [times > check - last for last in LAST_CHECKS if last < check]
    bets = np.concatenate([_BETS, -_BETS]) / spread
    scores = bets[:, None, None] * centred
    found = _log_ratios(scores, is_known, blocks)  # (blocks, bets, documents)
    up, down = np.split(found, 2, axis=1)
    # An average of e values is one too; the ones of independent documents multiply.
    either = np.logaddexp(up, down) - np.log(2)
    sums = np.concatenate([up, down, either], axis=1).sum(axis=2)
    return float(scipy.special.logsumexp(sums) - np.log(sums.size))


def _log_ratios(scores: FloatArray, is_known: BoolArray, blocks: list[BoolArray]) -> FloatArray:
    """(blocks, bets, documents): the logarithm of e of each document; scores: (bets, documents, times).

    The sum over all blocks of m times is the elementary symmetric polynomial of order m, built up over times.
    """
    most = max(int(block.sum()) for block in blocks)
    # sums[m] is the logarithm of the sum over all blocks of m known times so far.
    sums = np.full((*scores.shape[:2], most + 1), -np.inf)
    sums[..., 0] = 0.0
    for time in range(scores.shape[2]):
        # Blocks of m times either leave this time out or add it to a block of m - 1.
        added = np.logaddexp(sums[..., 1:], sums[..., :-1] + scores[..., time, None])
        sums[..., 1:] = np.where(is_known[:, time, None], added, sums[..., 1:])
    number = is_known.sum(axis=1)
    found = []
    for block in blocks:
        # Times without a value make the block smaller for this document.
        size = (is_known & block).sum(axis=1)
        own = (scores * block).sum(axis=2)
        # log of (number choose size)
        ways = (
            scipy.special.gammaln(number + 1)
            - scipy.special.gammaln(size + 1)
            - scipy.special.gammaln(number - size + 1)
        )
        index = np.broadcast_to(size[:, None], (*scores.shape[:2], 1))
        # The mean over blocks is their sum divided by the number of ways.
        found.append(own - np.take_along_axis(sums, index, axis=2)[..., 0] + ways)
    return np.array(found)
