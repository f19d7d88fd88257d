"""Units sampled for people by a stored seed, and a batch with the judge's values and the few ratings."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy

from agreement.comparison.scores import index_labels, numbers
from agreement.data import FloatArray, IntArray, set_once

Unit = int | str
BoolArray = npt.NDArray[np.bool_]

_POINTS = 2**53  # equally spaced doubles in [0, 1)


@dataclass(frozen=True)
class DrawnUnit:
    """A sampled unit, with its sampling probability."""

    unit: Unit
    probability: float


def draw_audit(units: Sequence[Unit], *, share: float, seed: int) -> tuple[DrawnUnit, ...]:
    """The audited ones among units that stay with the judge, in the given order.

    Each is sampled with probability `share`, independently: its uniform number comes from a hash of seed and
    unit, so neither the order of the units nor the other units matter. Units that join later do not change
    the existing sample. The sample size therefore varies; by chance it can be 0. Source: Poisson sampling,
    Saerndal, Swensson and Wretman 1992, section 3.5. Raises ValueError if the share is outside (0, 1], or if
    a unit occurs twice.
    """
    if not 0 < share <= 1:
        raise ValueError(f"The audit share must be above 0 and at most 1, but is {share}.")
    return draw(units, np.full(len(units), share), seed=seed)


def draw(units: Sequence[Unit], probabilities: npt.ArrayLike, *, seed: int) -> tuple[DrawnUnit, ...]:
    """Units sampled independently, each with its own probability (units,), as in `draw_audit`.

    Raises ValueError if a probability is outside (0, 1] (no estimate covers units with probability 0).
    """
    wanted = np.asarray(probabilities, dtype=float)
    if wanted.shape != (len(units),):
        raise ValueError(f"There are {len(units)} units, but probabilities of the shape {wanted.shape}.")
    if not ((wanted > 0) & (wanted <= 1)).all():
        raise ValueError("Every probability must be above 0 and at most 1.")
    chosen = np.flatnonzero(uniform_numbers(units, seed=seed) < wanted).tolist()
    return tuple(DrawnUnit(units[index], float(wanted[index])) for index in chosen)


def draw_at_least(units: Sequence[Unit], *, share: float, least: int, seed: int) -> tuple[DrawnUnit, ...]:
    """The sample of `draw_audit`, with further units until it has `least`, in the given order.

    All units whose uniform number is below `share`, or else the `least` units with the smallest numbers, or
    all if there are fewer. Given their number, they are a simple random sample. Each has the probability
    `share_with_least`; with least=0 this is `draw_audit`. Raises ValueError if the share is outside (0, 1],
    or if `least` is below 0.
    """
    number = max(len(draw_audit(units, share=share, seed=seed)), min(least, len(units)))
    probability = share_with_least(len(units), share=share, least=least)
    # The smallest numbers include those below `share`, so the audit's own units are all in it.
    drawn = draw_sample(units, size=number, seed=seed)
    return tuple(DrawnUnit(each.unit, probability) for each in drawn)


def share_with_least(units: int, *, share: float, least: int) -> float:
    """The share of N units that `draw_at_least` samples on average: E max(M, least) / N, M ~ Bin(N, share).

    1 if there are no more units than `least`. Raises ValueError if `least` is below 0.
    """
    if least < 0:
        raise ValueError(f"The least number of units must be 0 or more, but is {least}.")
    if least == 0:
        return share
    if least >= units:
        return 1.0
    # E max(least - M, 0): the units that the minimum adds on average.
    fewer = np.arange(least)
    short = float(np.sum((least - fewer) * scipy.stats.binom.pmf(fewer, units, share)))
    return min(share + short / units, 1.0)


def share_to_reach(least: int, units: int, *, certainty: float = 0.95) -> float:
    """The share at which independent sampling reaches at least `least` of the units with this certainty.

    The least p with P(Bin(units, p) >= least) >= certainty: the quantile of Beta(least, units - least + 1); 1
    if there are no more units than `least`, 0 for least=0.
    """
    if least <= 0:
        return 0.0
    return 1.0 if least >= units else float(scipy.special.betaincinv(least, units - least + 1, certainty))


def thin_to_one_probability(units: Sequence[Unit], probabilities: npt.ArrayLike, *, seed: int) -> BoolArray:
    """(units,): mask of the sampled units that remain so that all units had the same probability.

    Each sampled unit remains with the least of the probabilities / its own, by a separate number from seed
    and unit. The remaining sample has the least probability, each unit independently of the others' values.
    probabilities: (units,), of the sampled units. Raises ValueError if a unit occurs twice.
    """
    given = np.asarray(probabilities, dtype=float)
    if not len(given):
        return np.zeros(0, dtype=bool)
    # Other names give numbers that are independent of the ones that sampled the units.
    numbers = uniform_numbers([f"thinned:{unit}" for unit in units], seed=seed)
    return np.asarray(numbers < given.min() / given)


def draw_sample(units: Sequence[Unit], *, size: int, seed: int) -> tuple[DrawnUnit, ...]:
    """A simple random sample of exactly `size` units, in the given order; for calibration.

    The units with the smallest uniform numbers; a larger size with the same seed keeps the units of the
    smaller sample. Each has the probability size / units. Raises ValueError if there are fewer units than
    `size`.
    """
    if not 0 <= size <= len(units):
        raise ValueError(f"A sample of {size} cannot be drawn from {len(units)} units.")
    order = np.argsort(uniform_numbers(units, seed=seed), kind="stable")
    chosen = np.sort(order[:size]).tolist()
    return tuple(DrawnUnit(units[index], size / len(units)) for index in chosen)


def uniform_numbers(units: Sequence[Unit], *, seed: int) -> FloatArray:
    """(units,): a number in [0, 1) for each unit, a function of the seed and the unit alone.

    A number and its string are the same unit. Raises ValueError if a unit occurs twice.
    """
    names = [str(unit) for unit in units]
    if len(set(names)) < len(names):
        raise ValueError("A unit occurs twice.")
    digests = [hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest() for name in names]
    # A double has 53 bits, so the upper 53 of the 64 give equally spaced numbers below 1.
    return np.array([(int.from_bytes(digest) >> 11) / _POINTS for digest in digests], dtype=float)


def size_of_audit(units: int, share: float) -> tuple[float, float]:
    """Return the expected number of units that an audit samples, and the standard deviation of that number.

    Each unit is sampled on its own with this probability (binomial distribution).
    """
    return units * share, math.sqrt(units * share * (1 - share))


_DECIMALS = 12


@dataclass(frozen=True, eq=False, init=False)
class RatedSample:
    """A batch of N units (one system on one dimension, say), n of them rated by people.

    judge: (units,), its value for each; a gap is replaced by the mean of the others, which biases no
    estimate. human: (units,), the panel's mean if the unit was rated, NaN otherwise. probabilities: (units,),
    of having been sampled for rating; None for a simple random sample. 1 for units that a rule sent to
    people, the audit share for units that stay with the judge. assigned: (units,), True if the unit was
    sampled; a sampled unit without a value is a skip. Within units of one probability skips count as random:
    the probability is multiplied by the share that was rated. documents: (units,), any labels, for intervals
    that allow for documents. strata: (units,), any labels, for `stratified_estimate`. Raises ValueError with
    one message if these do not fit together.
    """

    judge: FloatArray
    human: FloatArray
    probabilities: FloatArray | None
    documents: IntArray | None
    strata: IntArray | None
    skipped: int = field(init=False)
    """Units that were drawn and have no value."""
    unjudged: int = field(init=False)
    """Units without a value of the judge."""
    stratum_names: tuple[str, ...] = field(init=False)

    def __init__(
        self,
        *,
        judge: npt.ArrayLike,
        human: npt.ArrayLike,
        probabilities: npt.ArrayLike | None = None,
        assigned: npt.ArrayLike | None = None,
        documents: npt.ArrayLike | None = None,
        strata: npt.ArrayLike | None = None,
    ) -> None:
        values = numbers(judge, "The judge's values", dimensions=1)
        # Equal means from sums in another order differ behind these decimals.
        people = np.round(numbers(human, "Human scores", dimensions=1), _DECIMALS)
        if len(values) != len(people):
            raise ValueError(f"There are {len(values)} values of the judge, but {len(people)} units.")
        unjudged = np.isnan(values)
        if not unjudged.all():
            values[unjudged] = values[~unjudged].mean()
        drawn = _sampled_units(people, probabilities, assigned)
        names, of_stratum = ((), None) if strata is None else index_labels(strata, "strata", len(values))
        set_once(
            self,
            {
                "judge": values,
                "human": people,
                "probabilities": _probabilities(people, probabilities, drawn),
                "documents": None
                if documents is None
                else index_labels(documents, "documents", len(values))[1],
                "strata": of_stratum,
                "skipped": int(np.sum(drawn & np.isnan(people))),
                "unjudged": int(unjudged.sum()),
                "stratum_names": tuple(str(name) for name in names),
            },
        )

    @property
    def rated(self) -> BoolArray:
        """(units,): whether people rated the unit."""
        return np.asarray(~np.isnan(self.human))

    @property
    def units(self) -> int:
        """N, the size of the batch."""
        return len(self.human)

    @property
    def ratings(self) -> int:
        """n, the number of rated units."""
        return int(self.rated.sum())

    @property
    def unequal(self) -> bool:
        """True if units were sampled with different probabilities."""
        return self.probabilities is not None and len(np.unique(self.probabilities)) > 1

    @property
    def judged(self) -> bool:
        """Whether the judge has values."""
        return self.units > self.unjudged

    def of_units(self, chosen: npt.ArrayLike) -> "RatedSample":
        """These units only, a mask, without strata; a simple random sample if they share a probability."""
        kept = np.asarray(chosen)
        documents = None if self.documents is None else self.documents[kept]
        chances = None if self.probabilities is None else self.probabilities[kept]
        if chances is not None and len(np.unique(chances)) == 1:
            chances = None
        return RatedSample(
            judge=self.judge[kept], human=self.human[kept], probabilities=chances, documents=documents
        )


def _sampled_units(
    people: FloatArray, probabilities: npt.ArrayLike | None, assigned: npt.ArrayLike | None
) -> BoolArray:
    """(units,): True for each sampled unit, from the known arguments."""
    drawn = ~np.isnan(people)
    if assigned is not None:
        given = np.asarray(assigned, dtype=bool)
        if given.shape != people.shape:
            raise ValueError("Say of each unit whether it was assigned.")
        if (drawn & ~given).any():
            raise ValueError("A unit has a rating, but was not assigned.")
        drawn = given
    if probabilities is not None:
        # A unit of probability 1 is sampled for certain, so without a rating it is a skip.
        drawn = drawn | (np.asarray(probabilities, dtype=float) == 1)
    return np.asarray(drawn)


def _probabilities(
    people: FloatArray, probabilities: npt.ArrayLike | None, drawn: BoolArray
) -> FloatArray | None:
    """(units,): the probability of a rating: the sampling probability times the share rated among units with
    the same one.
    """
    if probabilities is None:
        return None
    wanted = numbers(probabilities, "Probabilities", dimensions=1)
    if wanted.shape != people.shape or not ((wanted > 0) & (wanted <= 1)).all():
        raise ValueError("Every unit needs a probability above 0 and at most 1.")
    # Rounding keeps units together whose probabilities differ by the last digits alone.
    kinds, of_unit = np.unique(np.round(wanted, _DECIMALS), return_inverse=True)
    assigned = np.bincount(of_unit[drawn], minlength=len(kinds))
    rated = np.bincount(of_unit[~np.isnan(people)], minlength=len(kinds))
    share = np.ones(len(kinds))
    # A share of 0 would make weights infinite, so units without any rating keep their probability.
    np.divide(rated, assigned, out=share, where=(assigned > 0) & (rated > 0))
    return np.asarray(wanted * share[of_unit])
