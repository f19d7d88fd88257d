"""A judge's samples: self-agreement, and the sufficient number of samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    same = (samples[:, :, None] == samples[:, None, :]).sum(axis=(1, 2)) - given  # without itself
    pairs = given * (given - 1)
    usable = pairs > 0
    shares = same[usable] / pairs[usable]
    of = np.unique(np.asarray(documents)[usable], return_inverse=True)[1]
    size = int(of.max(initial=-1)) + 1
    sums, items = np.bincount(of, shares, size), np.bincount(of, minlength=size)
    found = Weighted(
        "share_repeated",
        "Pairs of samples with the same value",
        "a share; no correction for chance",
        lambda weights: (weights @ sums) / (weights @ items),
        size,
        "documents",
        (0.0, 1.0),
    )
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
    human, own = scores.human_means[known], samples[known]
    documents = np.unique(scores.documents[known], return_inverse=True)[1]
    most = int((~np.isnan(own)).sum(axis=1).max(initial=0))
    shuffled = _shuffle_samples(own, generator_of(generator, "sample_curve"))
    statistics = {
        number: _quality(
            measure, level, human, shuffled[: 1 if number == most else ORDERS], documents, number
        )
        for number in _numbers_up_to(most)
    }
    size = int(documents.max(initial=-1)) + 1
    points = tuple(
        CurvePoint(
            number,
            _coefficient(measure, level, statistic, size, len(human), number, generator, replicates),
            None
            if number == most
            else difference_of_figures(
                (statistics[most], statistic),
                size,
                substream(generator, "gain", number),
                replicates=replicates,
            ),
        )
        for number, statistic in statistics.items()
    )
    return SampleCurve(points, _enough(points))


def _numbers_up_to(most: int) -> list[int]:
    below = [number for number in _NUMBERS if number < most]
    return [*below, most] if most else []


def _shuffle_samples(samples: FloatArray, generator: np.random.Generator) -> FloatArray:
    """(orders, items, samples): each item's samples in several random orders, gaps last."""
    keys = generator.random((ORDERS, *samples.shape))
    keys[:, np.isnan(samples)] = 2  # behind every random number
    return np.take_along_axis(np.broadcast_to(samples, keys.shape), keys.argsort(axis=2), axis=2)


def _quality(
    measure: PairMeasure,
    level: Level,
    human: FloatArray,
    shuffled: FloatArray,
    documents: IntArray,
    number: int,
) -> Statistic:
    means = [np.nanmean(order[:, :number], axis=1) for order in shuffled]
    each = [correlation_statistic(measure, level, human, judge, documents) for judge in means]
    return lambda weights: np.mean([statistic(weights) for statistic in each], axis=0)


def _coefficient(
    measure: PairMeasure,
    level: Level,
    statistic: Statistic,
    size: int,
    items: int,
    number: int,
    generator: Randomness,
    replicates: int,
) -> Coefficient:
    label = measure.estimator.label
    found = Weighted(
        f"{measure.estimator.name}_{level}_of_samples",
        f"{label} of people and the mean of {number} samples",
        _SOURCE,
        statistic,
        size,
        "documents",
        (-1.0, 1.0),
    )
    counts = Counts(units=items, pairable_units=items, raters=2, ratings=2 * items, pairable_values=2 * items)
    why = f"{label} needs items with values of people and the judge that differ on both sides."
    drawn_with = substream(generator, number)
    return found.coefficient(counts, why, drawn_with, Resampling(by="documents", replicates=replicates))


def _enough(points: Sequence[CurvePoint]) -> int | None:
    found = None
    for point in reversed(points):
        if point.gain is None:
            continue
        most = point.gain.value if point.gain.high is None and point.gain.value == 0 else point.gain.high
        if most is None or most >= LEAST_GAIN:
            break
        found = point.samples
    return found
