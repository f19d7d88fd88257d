"""Guaranteed intervals: a mean of a finite population by betting against every value it could have."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agreement import Interval
from agreement.data import FloatArray
from agreement.reliability.estimates import Estimate, check_level
from agreement.reliability.sample import RatedSample
from agreement.streams import Randomness, generator_of

Mask = npt.NDArray[np.bool_]

_GRID = 1_000
_CAP = 0.5  # of the largest stake that cannot lose everything


def betting_interval(
    values: npt.ArrayLike,
    units: int | None,
    *,
    low: float,
    high: float,
    confidence_level: float = 0.95,
    planned: int | None = None,
) -> tuple[float, float]:
    """An interval that contains the mean of `units` bounded values with at least the confidence level, at any
    n.

    units: N; None for a population without end, where m_t = m. values: (n,), sampled without replacement, in
    sampling order or in a random one; all values of the population are in low..high. With values scaled to
    0..1, for every mean m the capital of two gamblers is K+-(m) = prod_t (1 +- l_t (x_t - m_t)), m_t = (N m -
    S_{t-1}) / (N - t + 1) the mean of the rest if the mean is m, l_t = sqrt(2 ln(2 / a) / (n var_{t-1})) cut
    at .5 / m_t (.5 / (1 - m_t)), var_{t-1} from the values before with a prior of 1/4. m stays as long as
    max(K+, K-) / 2 < 1 / a at every t. The interval omits means that the rated values exclude, and each end
    moves out by one of 1,000 grid steps. planned: n in l_t, if you look at ratings as they arrive in sampling
    order: then the interval is valid at any time. Source: Waudby-Smith and Ramdas 2024, Estimating means of
    bounded random variables by betting, JRSS B 86, sections 4 and 5. Raises ValueError for values outside
    low..high or more than the units.
    """
    check_level(confidence_level)
    given = np.asarray(values, dtype=float)
    if not low < high:
        raise ValueError("The scale needs a low end below its high end.")
    if units is not None and (len(given) > units or units < 1):
        raise ValueError(f"There are {len(given)} values of {units} units.")
    if np.isnan(given).any() or (given < low - 1e-9).any() or (given > high + 1e-9).any():
        raise ValueError(f"Every value must lie between {low:g} and {high:g}.")
    scaled = np.clip((given - low) / (high - low), 0, 1)
    first, last = 0.0, 1.0
    if units is not None:
        first, last = scaled.sum() / units, (scaled.sum() + units - len(scaled)) / units
    if len(scaled) and first < last:
        first, last = _unbeaten(scaled, units, first, last, 1 - confidence_level, planned or len(scaled))
    return low + (high - low) * float(first), low + (high - low) * float(last)


def guaranteed_mean(
    sample: RatedSample,
    *,
    low: float,
    high: float,
    generator: Randomness,
    confidence_level: float = 0.95,
    beyond_batch: bool = False,
) -> Estimate:
    """The mean human score of the batch with an interval that is valid at any size, from people only.

    `betting_interval` over the rated units in a random order. Units rated for certain (probability 1) are
    known; units that share another probability are a simple random sample given their number, and with
    several such groups each spends its share of 1 - confidence_level. With more than 4 probabilities, as
    after active sampling, units that were not certain are thinned: each remains with the least probability /
    its own, so that the remaining ones have one probability; the others are not used. low, high: the ends of
    the scale. The value is the mean from the groups. The interval is wide, but it keeps its level when
    asymptotic ones do not. Scores on a scale of 5 points need about 40 ratings for a useful interval.
    beyond_batch: the mean of the population that the batch is a random sample of instead; units of different
    probabilities are all thinned to the least. Undefined without ratings in a group, and after skips.
    """
    empty = Estimate("guaranteed", "Guaranteed (betting)", _SOURCE, None, None, sample.ratings, sample.units)
    shuffler = generator_of(generator, "guaranteed_mean")
    rated_units, groups = sample.rated, _groups(sample)
    if len(groups) > (1 if beyond_batch else _MOST_GROUPS):
        rated_units, groups = _thin(sample, shuffler, keep_certain=not beyond_batch)
    reason = _why_none(sample, rated_units, groups)
    if reason is not None:
        return replace(empty, reason=reason)
    uncertain = sum(not np.all(rated_units[group]) for group in groups)
    level = 1 - (1 - confidence_level) / max(uncertain, 1)
    value, ends = 0.0, np.zeros(2)
    for group in groups:
        rated = sample.human[group][rated_units[group]]
        share = group.sum() / sample.units
        order, units = shuffler.permutation(rated), None if beyond_batch else int(group.sum())
        value += share * rated.mean()
        ends += share * np.array(betting_interval(order, units, low=low, high=high, confidence_level=level))
    interval = Interval(float(ends[0]), float(ends[1]), "guaranteed, betting", confidence_level)
    return replace(empty, value=float(value), interval=interval)


def projected_guaranteed_widths(
    sample: RatedSample,
    ratings: Sequence[int],
    *,
    low: float,
    high: float,
    generator: Randomness,
    confidence_level: float = 0.95,
    beyond_batch: bool = False,
) -> list[float | None]:
    """The width of the guaranteed interval after these numbers of ratings, with the spread of the present
    ones.

    `betting_interval` over n' values at evenly spaced quantiles of the rated ones, in a random order: the
    most typical sample, since there is no formula. None below 3 ratings, above N, for unequal probabilities,
    and if fewer than 3 units or all are rated.
    """
    known = np.sort(sample.human[sample.rated])
    if sample.unequal or not 3 <= len(known) < sample.units:
        return [None] * len(ratings)
    widths: list[float | None] = []
    shuffler = generator_of(generator, "projected_guaranteed_widths")
    for number in ratings:
        if not 3 <= number <= sample.units:
            widths.append(None)
            continue
        typical = known[((np.arange(number) + 0.5) / number * len(known)).astype(np.intp)]
        first, last = betting_interval(
            shuffler.permutation(typical),
            None if beyond_batch else sample.units,
            low=low,
            high=high,
            confidence_level=confidence_level,
        )
        widths.append(last - first)
    return widths


_SOURCE = "Waudby-Smith and Ramdas 2024, JRSS B 86, sections 4 and 5"
_MOST_GROUPS = 4


def _unbeaten(
    scaled: FloatArray, units: int | None, first: float, last: float, significance_level: float, planned: int
) -> tuple[float, float]:
    """The ends of the means between first and last that no gambler has beaten, moved out by a grid step.

    Each factor of K+ falls as m grows, with the stake cut or not, and each of K- grows: the means that K+
    beats are below the others, so halving finds both ends.
    """
    means = np.linspace(first, last, _GRID + 1)
    stakes = _stakes(scaled, significance_level, planned)
    before = np.concatenate([[0.0], np.cumsum(scaled)[:-1]])

    def beaten(sign: int, index: int) -> bool:
        rest = np.full(len(scaled), means[index])
        if units is not None:
            rest = np.clip((units * means[index] - before) / (units - np.arange(len(scaled))), 0, 1)
        most = _CAP / np.maximum(rest if sign > 0 else 1 - rest, np.finfo(float).tiny)
        capital = np.cumsum(np.log1p(sign * np.minimum(stakes, most) * (scaled - rest)))
        return bool(capital.max() - np.log(2) >= np.log(1 / significance_level))

    lowest = _first(lambda index: not beaten(1, index))
    highest = _first(lambda index: beaten(-1, index)) - 1
    if lowest > highest:
        return first, last
    return float(means[max(lowest - 1, 0)]), float(means[min(highest + 1, _GRID)])


def _first(holds: Callable[[int], bool]) -> int:
    """The first index of the grid from which on `holds` is true; one behind the grid if it never is."""
    low, high = 0, _GRID + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _stakes(scaled: FloatArray, significance_level: float, planned: int) -> FloatArray:
    """(n,): l_t before it is cut; each uses the values before t only."""
    number = np.arange(1, len(scaled) + 1)
    means = (0.5 + np.cumsum(scaled)) / (number + 1)
    variances = (0.25 + np.cumsum((scaled - means) ** 2)) / (number + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2 * np.log(2 / significance_level) / (planned * before)))


def _groups(sample: RatedSample) -> list[Mask]:
    """Masks (units,) of the units that share a probability."""
    if sample.probabilities is None:
        return [np.ones(sample.units, dtype=bool)]
    return [sample.probabilities == chance for chance in np.unique(sample.probabilities)]


def _thin(
    sample: RatedSample, generator: np.random.Generator, *, keep_certain: bool
) -> tuple[Mask, list[Mask]]:
    """(units,) the used rated units, and the groups of which they are simple random samples.

    keep_certain: True if units of probability 1 remain a separate group.
    """
    assert sample.probabilities is not None  # else there is one group
    certain = (sample.probabilities == 1) & keep_certain
    others = ~certain
    drawn = sample.rated & others
    least = float(sample.probabilities[drawn].min()) if drawn.any() else 1.0
    stays = generator.random(sample.units) < least / sample.probabilities
    groups = [others, certain] if certain.any() else [others]
    return (sample.rated & certain) | (drawn & stays), groups


def _why_none(sample: RatedSample, rated_units: Mask, groups: list[Mask]) -> str | None:
    if not sample.ratings:
        return "No person has rated a unit yet."
    if sample.skipped:
        return f"{sample.skipped} assigned units have no rating, so nothing is guaranteed about them."
    if any(not rated_units[group].any() for group in groups):
        return "None of the units that share a probability is rated yet."
    return None
