"""Whether a judge is right as often as its confidence says: calibration error and reliability curve."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, Statistic, ratio_of_sums
from agreement.coefficient import Coefficient, Counts
from agreement.data import FloatArray, IntArray, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness, generator_of, substream

BINS = 10
_SIMULATIONS = 400
_SOURCE = "Naeini, Cooper and Hauskrecht 2015; Guo and others 2017"
_ITEMS = "Needs items with two samples of the judge and a value of a person."


@dataclass(frozen=True)
class ConfidenceBin:
    """The items of one bin: their mean confidence, and the share on which the judge is right."""

    items: int
    confidence: float
    accuracy: Coefficient


@dataclass(frozen=True)
class ConfidenceCalibration:
    """How confidence and correctness go together.

    error: the expected calibration error. by_chance: its mean for a judge with the same confidences that is
    right exactly as often as they say, which is above 0. overconfidence: mean confidence minus accuracy.
    """

    items: int
    error: Coefficient
    by_chance: float | None
    confidence: Coefficient
    accuracy: Coefficient
    overconfidence: Coefficient
    bins: tuple[ConfidenceBin, ...]


def confidence_of_samples(samples: FloatArray, points: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """(items,), (items,): the most frequent value of a judge's samples, and its share of them.

    samples: (items, samples) at points of the scale, NaN for a gap. Of several values as frequent the one
    nearest to the mean of the samples counts, the lower of two. NaN with fewer than two samples.
    """
    modes, shares, _ = _modes(samples, np.asarray(points, dtype=float))
    few = (~np.isnan(samples)).sum(axis=1) < 2
    return np.where(few, np.nan, modes), np.where(few, np.nan, shares)


def equals_mode(values: FloatArray, human: FloatArray, points: npt.ArrayLike) -> FloatArray:
    """(items,): 1 if a value is people's most frequent one, else 0; 1/k if k values are as frequent.

    values: (items,); human: (raters, items) at points of the scale. NaN without either.
    """
    scale = np.asarray(points, dtype=float)
    _, _, counts = _modes(human.T, scale)
    most = counts.max(axis=1, initial=0)
    modes = (counts == most[:, None]) & (most > 0)[:, None]
    chosen = values[:, None] == scale
    found = (modes & chosen).any(axis=1) / np.maximum(modes.sum(axis=1), 1)
    return np.where((most > 0) & ~np.isnan(values), found, np.nan)


def is_within_one(values: FloatArray, human: FloatArray) -> FloatArray:
    """(items,): 1 if a value is within one point of people's mean, else 0; NaN without either."""
    number = (~np.isnan(human)).sum(axis=0)
    means = divide_where(number > 0, np.nansum(human, axis=0), number)
    differ = np.abs(values - means)
    return np.where(np.isnan(differ), np.nan, (differ <= 1 + 1e-9).astype(float))


def confidence_calibration(
    confidence: FloatArray, right: FloatArray, *, documents: npt.ArrayLike, generator: Randomness
) -> ConfidenceCalibration:
    """Compare confidences (items,) from 0 to 1 with the judge's correctness (items,), 0 to 1.

    Ten bins of equal width, each with its upper end. The expected calibration error is the mean over items of
    |accuracy - mean confidence| of their bin. It is above 0 for a calibrated judge too, since bins are small:
    `by_chance` is the mean of 400 simulated judges of the same confidences that are calibrated. Intervals
    resample documents (items,). The interval of the error contains the percentile and the basic bootstrap
    interval (Davison and Hinkley 1997, equations 5.6 and 5.18), since each alone misses the bias on one side,
    and 0 if a fortieth of calibrated judges has a larger error. Undefined without an item that has both.
    Sources: Naeini and others 2015, AAAI; Guo and others 2017, ICML.
    """
    known = ~np.isnan(confidence) & ~np.isnan(right)
    sure, correct = confidence[known], right[known]
    labels, of = np.unique(np.asarray(documents)[known], return_inverse=True)
    bins = np.clip(np.ceil(sure * BINS - 1e-9).astype(np.intp) - 1, 0, BINS - 1)
    sums = _BinSums(of, len(labels), bins)
    items, confident, accurate = sums.add_up(np.ones(len(sure))), sums.add_up(sure), sums.add_up(correct)

    def coefficient(name: str, label: str, statistic: Statistic, low: float = 0.0) -> Coefficient:
        weighted = Weighted(name, label, _SOURCE, statistic, len(labels), "documents", (low, 1.0))
        counts = Counts(len(confidence), len(sure), 2, 2 * len(sure), 2 * len(sure))
        own = substream(generator, "calibration")
        return weighted.coefficient(counts, _ITEMS, own, Resampling(by="documents"))

    def error(weights: FloatArray) -> FloatArray:
        differ = np.abs(weights @ accurate - weights @ confident).sum(axis=1)
        total = (weights @ items).sum(axis=1)
        return divide_where(total > 0, differ, total)

    number, whole, hits = (each.sum(axis=1) for each in (items, confident, accurate))
    by_chance = _errors_by_chance(sure, bins, generator)
    return ConfidenceCalibration(
        len(sure),
        _around_bias(coefficient("calibration_error", "Expected calibration error", error), by_chance),
        float(by_chance.mean()) if len(sure) else None,
        coefficient("confidence", "Mean confidence", ratio_of_sums(whole, number)),
        coefficient("accuracy", "Share on which the judge is right", ratio_of_sums(hits, number)),
        coefficient("overconfidence", "Confidence minus accuracy", ratio_of_sums(whole - hits, number), -1.0),
        tuple(
            ConfidenceBin(
                int(items[:, at].sum()),
                float(confident[:, at].sum() / items[:, at].sum()),
                coefficient(f"accuracy_{at}", "Accuracy", ratio_of_sums(accurate[:, at], items[:, at])),
            )
            for at in range(BINS)
            if items[:, at].any()
        ),
    )


@dataclass(frozen=True, eq=False)
class _BinSums:
    """Sums of values of items by document and bin; `of`, `place`: (items,)."""

    of: IntArray
    documents: int
    bins: IntArray

    def add_up(self, values: FloatArray) -> FloatArray:
        """(documents, bins): the sums of values (items,)."""
        cells = np.bincount(self.of * BINS + self.bins, values, self.documents * BINS)
        return cells.astype(float).reshape(self.documents, BINS)


def _errors_by_chance(confidence: FloatArray, bins: IntArray, generator: Randomness) -> FloatArray:
    """(simulations,): the errors of simulated judges whose accuracy equals their confidence."""
    random = generator_of(generator, "calibrated judges")
    right = random.random((_SIMULATIONS, len(confidence))) < confidence
    differ = (right - confidence) @ np.eye(BINS)[bins]
    return np.asarray(np.abs(differ).sum(axis=1) / max(len(confidence), 1))


def _around_bias(error: Coefficient, by_chance: FloatArray) -> Coefficient:
    """Return the error with the interval that allows for its bias."""
    found = error.interval
    if error.value is None or found is None:
        return error
    low = max(min(found.low, 2 * error.value - found.high), 0.0)
    high = min(max(found.high, 2 * error.value - found.low), 1.0)
    if error.value <= np.quantile(by_chance, 0.975):
        low = 0.0
    method = f"{found.method}, percentile and basic, allowing for calibrated judges"
    return replace(error, interval=replace(found, low=low, high=high, method=method))


def _modes(values: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return modes and their shares (items,), and counts (items, points), of values (items, values)."""
    counts = np.stack([(values == point).sum(axis=1) for point in scale], axis=1)
    number = counts.sum(axis=1)
    means = divide_where(number > 0, counts @ scale, number)
    most = counts.max(axis=1, initial=0)
    distance = np.where(counts == most[:, None], np.abs(scale - np.nan_to_num(means)[:, None]), np.inf)
    modes = np.where(number > 0, scale[distance.argmin(axis=1)], np.nan)
    return modes, divide_where(number > 0, most, number), counts
