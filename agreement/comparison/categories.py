"""How a judge goes with people where values are categories: accuracy and F1; closeness of other answers.

Also whether a judge is right as often as its confidence says: calibration error and reliability curve.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, Statistic, ratio_of_sums
from agreement.coefficient import Coefficient, Counts
from agreement.comparison.scores import Scores
from agreement.data import FloatArray, IntArray, divide_where
from agreement.estimate import Weighted
from agreement.groups import mean_values
from agreement.streams import Randomness, generator_of, substream
from agreement.student import ratio_interval, sum_by_document

_NO_ITEM = "No item has a value of the judge and one of a person."
_NEVER = "Neither the judge nor a person gave this category."


@dataclass(frozen=True)
class CategoryAgreement:
    """A judge compared with people on one nominal dimension.

    f1, judged, people: by category, in the requested order: F1, the number of items to which the judge gave
    it, and the number to which people gave it, an item divided among its raters.
    """

    accuracy: Coefficient
    macro_f1: Coefficient
    f1: tuple[Coefficient, ...]
    judged: tuple[int, ...]
    people: tuple[float, ...]


def category_agreement(
    scores: Scores, categories: Sequence[float], *, generator: Randomness | None = None
) -> CategoryAgreement:
    """Accuracy, F1 of each category and their mean, over the items with a value of both.

    With p_ic the share of an item's raters with category c: accuracy is the mean of p_ic at the judge's
    category, F1_c = 2 sum_i p_ic [judge gave c] / (sum_i p_ic + sum_i [judge gave c]). So every item counts
    once, ties of raters need no rule, and no judge reaches 1 if people differ. Macro-F1: the mean of F1_c
    over the categories that anyone gave. Intervals resample documents; F1 of one category, which may be rare,
    has `ratio_interval`. Undefined without such an item, F1 also for a category without any value. Source:
    van Rijsbergen 1979, Information Retrieval, chapter 7.
    """
    both = ~np.isnan(scores.human).all(axis=0) & ~np.isnan(scores.judge)
    people = np.array([(scores.human[:, both] == each).sum(axis=0) for each in categories], dtype=float)
    # p_ic: an item counts once, divided among its raters.
    people /= np.maximum((~np.isnan(scores.human[:, both])).sum(axis=0), 1)
    judge = np.array([scores.judge[both] == each for each in categories], dtype=float)
    documents = np.unique(scores.documents[both], return_inverse=True)[1]
    # (documents, 3 x categories): agreed, given by people, given by the judge.
    sums = np.stack(
        [np.bincount(documents, each) for part in (people * judge, people, judge) for each in part], axis=1
    ).astype(float)
    ratings = int((~np.isnan(scores.human[:, both])).sum())
    items = int(both.sum())
    counts = Counts(
        len(both), items, raters=len(scores.human), ratings=ratings, pairable_values=ratings + items
    )

    def f1_of_categories(weights: FloatArray) -> FloatArray:
        """(replicates, categories); NaN for a category without any value."""
        agreed, *given = np.split(weights @ sums, 3, axis=1)
        either = given[0] + given[1]
        return divide_where(either > 0, 2 * agreed, either)

    def accuracy(weights: FloatArray) -> FloatArray:
        agreed, _, judged = np.split(weights @ sums, 3, axis=1)
        return np.asarray(agreed.sum(axis=1) / judged.sum(axis=1))

    def macro_f1(weights: FloatArray) -> FloatArray:
        # The mean over the categories that anyone gave.
        found = f1_of_categories(weights)
        return np.asarray(np.nansum(found, axis=1) / np.sum(~np.isnan(found), axis=1))

    def coefficient(
        name: str, label: str, statistic: Statistic, why: str, drawn_with: Randomness | None = None
    ) -> Coefficient:
        source = "van Rijsbergen 1979, Information Retrieval, chapter 7"
        weighted = Weighted(name, label, source, statistic, len(sums), "documents", (0.0, 1.0))
        return weighted.coefficient(counts, why, drawn_with, Resampling(by="documents"))

    def f1(index: int) -> Coefficient:
        found = coefficient(
            "f1", "F1", lambda weights: f1_of_categories(weights)[:, index], _NEVER if len(sums) else _NO_ITEM
        )
        if generator is None or not found.defined:
            return found
        # The columns are three blocks of categories; this stride takes one column of each.
        agreed, people, judged = sums[:, index :: len(categories)].T
        # F1 as a ratio of two sums: agreed over the mean of people's and the judge's.
        interval, reason = ratio_interval(agreed, (people + judged) / 2)
        return replace(found, interval=interval, interval_reason=reason)

    return CategoryAgreement(
        coefficient("accuracy", "Accuracy", accuracy, _NO_ITEM, generator),
        coefficient("macro_f1", "Macro-F1", macro_f1, _NO_ITEM, generator),
        tuple(map(f1, range(len(categories)))),
        tuple(judge.sum(axis=1).astype(int).tolist()),
        tuple(people.sum(axis=1).tolist()),
    )


_NOTHING = "No item has two answers to compare."


def mean_closeness(
    closeness: FloatArray,
    documents: Sequence[Hashable],
    *,
    answers: int,
    raters: int,
    generator: Randomness | None = None,
) -> Coefficient:
    """The mean of 1 - distance over items, from 0 to 1; it is not corrected for chance.

    closeness: (items,), of each item the mean of 1 - distance over its pairs of answers, NaN for an item
    without a pair. documents: (items,), which the interval resamples. answers, raters: their numbers.
    Each item counts once, whatever its number of raters. Undefined if all items lack a pair.
    Source: observed agreement, as in Artstein and Poesio 2008, Computational Linguistics 34, 555-596.
    """
    compared = ~np.isnan(closeness)
    labels = [each for each, is_compared in zip(documents, compared.tolist(), strict=True) if is_compared]
    index_of = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    group = np.array([index_of[each] for each in labels], dtype=np.intp)
    source = "Artstein and Poesio 2008, Computational Linguistics 34, 555-596"
    weighted = Weighted.mean_of_items(
        "mean_closeness", "Mean closeness", source, closeness[compared], group, (0.0, 1.0)
    )
    items = int(compared.sum())
    counts = Counts(len(closeness), items, raters=raters, ratings=answers, pairable_values=answers)
    return weighted.coefficient(counts, _NOTHING, generator, Resampling(by="documents"))


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
    # A single sample always has the share 1, which shows no confidence.
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
    differ = np.abs(values - mean_values(human))
    # A distance of one point counts as within it despite rounding.
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
    # Each bin has its upper end, also if rounding puts a share just above it.
    bins = np.clip(np.ceil(sure * BINS - 1e-9).astype(np.intp) - 1, 0, BINS - 1)
    # (documents, bins): the sums of items, confidences and correct answers.
    items, confident, accurate = (
        sum_by_document(each, of * BINS + bins, len(labels) * BINS).reshape(-1, BINS)
        for each in (np.ones(len(sure)), sure, correct)
    )

    def coefficient(name: str, label: str, statistic: Statistic, low: float = 0.0) -> Coefficient:
        weighted = Weighted(name, label, _SOURCE, statistic, len(labels), "documents", (low, 1.0))
        counts = Counts.of_pairs(len(confidence), len(sure))
        own = substream(generator, "calibration")
        return weighted.coefficient(counts, _ITEMS, own, Resampling(by="documents"))

    def error(weights: FloatArray) -> FloatArray:
        # Sums instead of means of a bin: the difference then has the weight of the bin's items.
        differ = np.abs(weights @ accurate - weights @ confident).sum(axis=1)
        total = (weights @ items).sum(axis=1)
        return divide_where(total > 0, differ, total)

    number, whole, hits = (each.sum(axis=1) for each in (items, confident, accurate))
    # The errors of simulated judges whose accuracy equals their confidence.
    random = generator_of(generator, "calibrated judges")
    simulated = random.random((_SIMULATIONS, len(sure))) < sure
    # A product with indicators of bins sums all simulations at once.
    differ = np.abs((simulated - sure) @ np.eye(BINS)[bins]).sum(axis=1)
    by_chance = differ / max(len(sure), 1)
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


def _around_bias(error: Coefficient, by_chance: FloatArray) -> Coefficient:
    found = error.interval
    if error.value is None or found is None:
        return error
    # The basic interval is the percentile interval reflected at the value.
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
    # Of equally frequent points the nearest to the mean; argmin takes the lower of two.
    distance = np.where(counts == most[:, None], np.abs(scale - np.nan_to_num(means)[:, None]), np.inf)
    modes = np.where(number > 0, scale[distance.argmin(axis=1)], np.nan)
    return modes, divide_where(number > 0, most, number), counts
