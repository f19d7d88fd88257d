"""A judge's samples: self-agreement, the sufficient number, and their distribution compared with people's."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement import (
    Coefficient,
    Counts,
    PairedDifference,
    PairMeasure,
    Resampling,
    difference_of_figures,
)
from agreement.bootstrap import Statistic
from agreement.comparison.between_judges import correlation_statistic
from agreement.comparison.correlations import Level
from agreement.comparison.scores import Scores
from agreement.data import FloatArray, IntArray
from agreement.estimate import Weighted
from agreement.streams import Randomness, generator_of, substream

_BY_DOCUMENTS = Resampling(by="documents")


def bin_values(values: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Values of any shape at the nearest point of a scale, halves at the upper; NaN remains NaN.

    points: of the scale, ascending, equally spaced, two at least.

    Variants are compared on one scale: 1 to 100, mapped to 1 to 5, has values between the points that 1 to 5
    cannot have (Stureborg and others 2024, table 7).
    """
    scale, table = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    # np.round would put halves at the even point, not at the upper one.
    positions = np.clip(np.floor((table - scale[0]) / (scale[1] - scale[0]) + 0.5), 0, len(scale) - 1)
    known = ~np.isnan(table)
    found = np.full(table.shape, np.nan)
    found[known] = scale[positions[known].astype(np.intp)]
    return found


def share_repeated(
    samples: FloatArray, *, documents: npt.ArrayLike, generator: Randomness | None = None
) -> Coefficient:
    """The share of pairs of samples of one item with the same value.

    samples: (items, samples), NaN for a gap. Each item with two samples counts once; the interval resamples
    documents (items,). Undefined if no item has two samples.
    """
    given = (~np.isnan(samples)).sum(axis=1)
    # (items, samples, samples): NaN equals nothing, so gaps form no pair.
    same = (samples[:, :, None] == samples[:, None, :]).sum(axis=(1, 2)) - given  # without itself
    pairs = given * (given - 1)
    usable = pairs > 0
    shares = same[usable] / pairs[usable]
    of = np.unique(np.asarray(documents)[usable], return_inverse=True)[1]
    label, source = "Pairs of samples with the same value", "a share; no correction for chance"
    found = Weighted.mean_of_items("share_repeated", label, source, shares, of, (0.0, 1.0))
    number = int(usable.sum())
    counts = Counts(len(samples), number, samples.shape[1], int(given.sum()), int(given[usable].sum()))
    why = "No item has two samples; ask the judge more than once about the same items."
    return found.coefficient(counts, why, generator, _BY_DOCUMENTS)


LEAST_GAIN = 0.01
"""A gain in correlation that is not worth another sample."""
ORDERS = 5  # random orders of the samples whose correlations are averaged
_REPLICATES = 500
_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50, 75, 100)
_SOURCE = "Siledar and others 2024: agreement by number of samples"


@dataclass(frozen=True)
class CurvePoint:
    """The value of a number of samples.

    quality: the correlation with people of the mean of this number of samples. gain: the additional
    correlation with all samples, with a paired interval; None for all of them.
    """

    samples: int
    quality: Coefficient
    gain: PairedDifference | None


@dataclass(frozen=True)
class SampleCurve:
    """Agreement with people by number of samples.

    enough: the number of samples beyond which all remaining samples surely gain less than LEAST_GAIN; None if
    even the last ones may gain more.
    """

    points: tuple[CurvePoint, ...]
    enough: int | None


def sample_curve(
    scores: Scores,
    samples: FloatArray,
    measure: PairMeasure,
    level: Level = Level.DATASET,
    *,
    generator: Randomness,
    replicates: int = _REPLICATES,
) -> SampleCurve:
    """The correlation of mean human scores with the mean of n of a judge's samples, for growing n.

    samples: (items, samples) as read, NaN for a gap; an item with fewer than n counts with all its samples.
    For n below all, the correlation is the mean over five random orders of each item's samples, with the
    first n of each order; with all samples it is the judge's own correlation. Intervals resample documents,
    for the gain paired. `enough` requires the upper end of every later gain's 95 % interval to be below
    LEAST_GAIN: a difference that is not significant need not be small. Undefined as the measure is. Source:
    Siledar and others 2024, who plot it for up to 100 samples.
    """
    known = ~np.isnan(scores.human_means) & ~np.isnan(samples).all(axis=1)
    human, samples = scores.human_means[known], samples[known]
    documents = np.unique(scores.documents[known], return_inverse=True)[1]
    most = int((~np.isnan(samples)).sum(axis=1).max(initial=0))
    shuffled = _shuffle_samples(samples, generator_of(generator, "sample_curve"))

    def quality(number: int) -> Statistic:
        # All samples of an item have the same mean in every order. Gaps are last, so an item with fewer
        # samples counts with all it has.
        orders = shuffled[: 1 if number == most else ORDERS]
        means = [np.nanmean(order[:, :number], axis=1) for order in orders]
        each = [correlation_statistic(measure, level, human, judge, documents) for judge in means]
        return lambda weights: np.mean([statistic(weights) for statistic in each], axis=0)

    size, label = int(documents.max(initial=-1)) + 1, measure.estimator.label
    why = f"{label} needs items with values of people and the judge that differ on both sides."
    numbers = [*(each for each in _NUMBERS if each < most), *([most] if most else [])]
    statistics, points = {number: quality(number) for number in numbers}, []
    for number, statistic in statistics.items():
        weighted = Weighted(
            f"{measure.estimator.name}_{level}_of_samples",
            f"{label} of people and the mean of {number} samples",
            _SOURCE,
            statistic,
            size,
            "documents",
            (-1.0, 1.0),
        )
        plan = Resampling(by="documents", replicates=replicates)
        counts, drawn_with = Counts.of_pairs(len(human), len(human)), substream(generator, number)
        own, gain = weighted.coefficient(counts, why, drawn_with, plan), None
        if number < most:
            pair, drawn_with = (statistics[most], statistic), substream(generator, "gain", number)
            gain = difference_of_figures(pair, size, drawn_with, replicates=replicates)
        points.append(CurvePoint(number, own, gain))
    enough = None
    # From the largest number down, as all later gains must be small too.
    for point in reversed(points[:-1]):
        gain = point.gain
        assert gain is not None  # the last point alone has none
        upper = gain.value if gain.high is None and gain.value == 0 else gain.high
        if upper is None or upper >= LEAST_GAIN:
            break
        enough = point.samples
    return SampleCurve(tuple(points), enough)


def _shuffle_samples(samples: FloatArray, generator: np.random.Generator) -> FloatArray:
    """(orders, items, samples): each item's samples in several random orders, gaps last."""
    keys = generator.random((ORDERS, *samples.shape))
    keys[:, np.isnan(samples)] = 2  # behind every random number
    return np.take_along_axis(np.broadcast_to(samples, keys.shape), keys.argsort(axis=2), axis=2)


REPEATS = 40
"""Random halves of people, and random samples of the judge, over which distances of one size are averaged."""
_ITEMS = "Needs items with two samples of the judge and values from two people."


@dataclass(frozen=True)
class SampleDistance:
    """One distance between distributions, as a mean over items.

    whole: all samples and all people. judge, people, control: as many values from the judge, from other
    people, and from all values of other documents, each compared with the same remaining people.
    difference: judge minus people, with an interval over documents.
    """

    whole: Coefficient
    judge: Coefficient
    people: Coefficient
    control: Coefficient
    difference: Coefficient


@dataclass(frozen=True)
class SampleDistributions:
    """A judge's samples and people's values on one dimension.

    items: the number with two samples and two people. samples: the maximum number of samples. half: the mean
    number of people in a half. energy, energy_control: the energy distance, corrected for sample sizes, of
    the judge's samples and of all values of other documents.
    """

    items: int
    samples: int
    half: float
    total_variation: SampleDistance
    jensen_shannon: SampleDistance
    energy: Coefficient
    energy_control: Coefficient


def total_variation(first: FloatArray, second: FloatArray) -> FloatArray:
    """(...,): half the sum of absolute differences of two distributions (..., points): 0 to 1."""
    return np.asarray(np.abs(first - second).sum(axis=-1) / 2)


def jensen_shannon(first: FloatArray, second: FloatArray) -> FloatArray:
    """(...,): the Jensen-Shannon distance of distributions (..., points), base 2: 0 to 1.

    The root of the mean divergence from their middle. Source: Endres and Schindelin 2003, IEEE Transactions
    on Information Theory 49, 1858-1860.
    """
    middle = (first + second) / 2
    parts = scipy.special.rel_entr(first, middle) + scipy.special.rel_entr(second, middle)
    # Rounding may put the divergence of equal distributions just below 0.
    return np.asarray(np.sqrt(np.maximum(parts.sum(axis=-1) / 2 / np.log(2), 0.0)))


def energy_distance(first: FloatArray, second: FloatArray, points: FloatArray) -> FloatArray:
    """(items,): 2 E|x - y| - E|x - x'| - E|y - y'| of the distributions behind two samples, without bias.

    first, second: counts (items, points) with two values or more each; x, x' and y, y' are different values
    of one sample. 0 on average if both samples come from one distribution, whatever their sizes; it can be
    below 0. In points of the scale. Source: Szekely and Rizzo 2013, Journal of Statistical Planning and
    Inference 143, 1249-1272.
    """
    apart = np.abs(points[:, None] - points)
    sizes = first.sum(axis=1), second.sum(axis=1)
    across = ((first @ apart) * second).sum(axis=1) / (sizes[0] * sizes[1])
    within = [
        # Without bias: n (n - 1) pairs, since a value is no pair with itself.
        ((each @ apart) * each).sum(axis=1) / (size * (size - 1))
        for each, size in zip((first, second), sizes, strict=True)
    ]
    return np.asarray(2 * across - within[0] - within[1])


def sample_distributions(
    samples: FloatArray,
    human: FloatArray,
    points: npt.ArrayLike,
    *,
    documents: npt.ArrayLike,
    generator: Randomness,
) -> SampleDistributions:
    """Compare the distribution of a judge's samples of each item with the distribution of people's values.

    samples: (items, samples) on the scale, rounded to its nearest point; human: (raters, items); NaN for
    gaps. points: of the scale, ascending, equally spaced. documents: (items,).

    An item's n people are divided at random into a half of n // 2 and the rest. The half, as many samples of
    the judge, and as many values sampled from people's values of all other documents are each compared with
    the rest. So all three have the same sizes. The result is the mean over 40 divisions. With three people a
    half is one person: this is leave-one-out, and favours judges that always give the most common value. The
    energy distance does not, and needs no halves. Intervals resample documents. Undefined without such items.
    """
    scale = np.asarray(points, dtype=float)
    labels = np.asarray(documents)
    # Items with two samples and two people, as positions on the scale.
    usable = ((~np.isnan(samples)).sum(axis=1) >= 2) & ((~np.isnan(human)).sum(axis=0) >= 2)
    codes = _codes(bin_values(samples[usable], scale), scale)
    people = _codes(bin_values(human.T[usable], scale), scale)
    of = np.unique(labels[usable], return_inverse=True)[1]
    number = (people < len(scale)).sum(axis=1)
    random = generator_of(generator, "halves of people")
    whole = _counts(codes, len(scale)), _counts(people, len(scale))
    others = _other_documents(whole[1], of)
    halves = number // 2
    # With fewer samples than people in a half, the two could not have the same size.
    enough = (codes < len(scale)).sum(axis=1) >= halves
    found: dict[str, list[FloatArray]] = {"tv": [], "js": []}
    for _ in range(REPEATS):
        # A half of people and the rest, then as many values of the judge and of other documents.
        shuffled = _shuffle(people, len(scale), random)
        # Gaps are last in each row, so the first entries are values.
        taken = np.arange(people.shape[1]) < halves[:, None]
        rest = _shares(_counts(np.where(taken, len(scale), shuffled), len(scale)))
        of_half = _shares(_counts(np.where(taken, shuffled, len(scale)), len(scale)))
        own = _shuffle(codes, len(scale), random)
        of_judge = _counts(np.where(np.arange(codes.shape[1]) < halves[:, None], own, len(scale)), len(scale))
        # As many values for each item as its half of people has.
        # Without items there are no shares, and any empty table of this shape serves.
        of_control = random.multinomial(halves, others) if len(others) else of_half
        for name, measure in (("tv", total_variation), ("js", jensen_shannon)):
            compared = (_shares(of_judge), of_half, _shares(of_control))
            found[name].append(np.stack([measure(each, rest) for each in compared]))
    # Means over items, with intervals over documents.
    compare = _Means(of, generator)
    energy = energy_distance(*whole, scale) if len(of) else np.empty(0)
    of_others = _energy_of_control(others, whole[1], scale)
    return SampleDistributions(
        len(of),
        int((codes < len(scale)).sum(axis=1).max(initial=0)),
        float(halves.mean()) if len(of) else 0.0,
        compare.distance("total_variation", "Total variation", whole, found["tv"], enough),
        compare.distance("jensen_shannon", "Jensen-Shannon distance", whole, found["js"], enough),
        compare.mean("energy_distance", "Energy distance of samples and people", energy, (-np.inf, np.inf)),
        compare.mean(
            "energy_of_control", "Energy distance of all values and people", of_others, (-np.inf, np.inf)
        ),
    )


def _codes(values: FloatArray, scale: FloatArray) -> IntArray:
    """Return positions on the scale, its length for a gap."""
    return np.where(np.isnan(values), len(scale), np.searchsorted(scale, np.nan_to_num(values, nan=scale[0])))


def _counts(codes: IntArray, points: int) -> FloatArray:
    """(items, points): the number of times each point occurs in codes (items, values)."""
    return np.stack([(codes == point).sum(axis=1) for point in range(points)], axis=1).astype(float)


def _shares(counts: npt.NDArray[np.number]) -> FloatArray:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def _shuffle(codes: IntArray, gap: int, random: np.random.Generator) -> IntArray:
    """Return each row in random order, gaps last."""
    # Gaps have keys of 1 or more, behind every random number.
    keys = random.random(codes.shape) + (codes == gap)
    return np.take_along_axis(codes, keys.argsort(axis=1), axis=1)


def _other_documents(counts: FloatArray, of: IntArray) -> FloatArray:
    """(items, points): the shares of people's values of all other documents, of all if there is one only."""
    if not len(of):
        return np.empty((0, counts.shape[1]))
    by_document = np.stack([np.bincount(of, column) for column in counts.T], axis=1)
    total = by_document.sum(axis=0)
    return _shares((total - by_document if len(by_document) > 1 else by_document)[of])


def _energy_of_control(shares: FloatArray, people: FloatArray, points: FloatArray) -> FloatArray:
    """(items,): the energy distance of a known distribution and people's values, without bias."""
    apart = np.abs(points[:, None] - points)
    size = people.sum(axis=1)
    across = ((shares @ apart) * people).sum(axis=1) / size
    # The shares are the distribution itself, so this expectation needs no correction for a sample.
    within = ((shares @ apart) * shares).sum(axis=1)
    among = ((people @ apart) * people).sum(axis=1) / (size * (size - 1))
    return np.asarray(2 * across - within - among)


class _Means:
    """Means over items as coefficients whose intervals resample documents; of: (items,), the document."""

    def __init__(self, of: IntArray, generator: Randomness) -> None:
        self.of, self.generator = of, generator

    def distance(
        self,
        name: str,
        label: str,
        whole: tuple[FloatArray, FloatArray],
        repeats: list[FloatArray],
        enough: npt.NDArray[np.bool_],
    ) -> SampleDistance:
        measure = total_variation if name == "total_variation" else jensen_shannon
        own = np.where(enough, np.mean(repeats, axis=0), np.nan)
        judge, people, control = own
        return SampleDistance(
            self.mean(name, label, measure(*map(_shares, whole)), (0.0, 1.0)),
            self.mean(f"{name}_of_judge", label, judge, (0.0, 1.0)),
            self.mean(f"{name}_of_people", label, people, (0.0, 1.0)),
            self.mean(f"{name}_of_control", label, control, (0.0, 1.0)),
            self.mean(f"{name}_difference", f"{label}: judge minus people", judge - people, (-1.0, 1.0)),
        )

    def mean(self, name: str, label: str, values: FloatArray, bounds: tuple[float, float]) -> Coefficient:
        known = ~np.isnan(values)
        of = np.unique(self.of[known], return_inverse=True)[1]
        found = Weighted.mean_of_items(name, label, "mean over items", values[known], of, bounds)
        counts = Counts.of_pairs(len(values), int(known.sum()))
        return found.coefficient(
            counts, _ITEMS, substream(self.generator, "distributions"), Resampling(by="documents")
        )
