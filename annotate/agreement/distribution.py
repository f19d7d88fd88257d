"""Which values raters give, and how far apart the values of a unit are."""

from dataclasses import dataclass

import numpy as np

from annotate.agreement.data import FloatArray, ReliabilityData


@dataclass(frozen=True)
class ValueDistribution:
    """How often a rater, or all together (`rater` is None), gave each value of the domain, ascending."""

    rater: str | None
    values: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def ratings(self) -> int:
        """How many values were given."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """The mean value, or None without ratings."""
        if not self.ratings:
            return None
        return float(np.dot(self.values, self.counts) / self.ratings)


def value_distributions(data: ReliabilityData) -> tuple[ValueDistribution, ...]:
    """One distribution of all values together, then one for each rater."""
    size = len(data.value_domain)
    each = [np.bincount(codes, minlength=size + 1)[:size] for codes in data.codes]
    total = np.sum(each, axis=0) if each else np.zeros(size, dtype=np.intp)
    values = tuple(data.value_domain.tolist())
    named = zip((None, *data.raters), (total, *each), strict=True)
    return tuple(ValueDistribution(rater, values, tuple(counts.tolist())) for rater, counts in named)


def value_ranges(data: ReliabilityData) -> FloatArray:
    """(units,): largest minus smallest value, which tells disputes; NaN with fewer than two values."""
    given = ~np.isnan(data.values)
    high = np.max(data.values, axis=0, where=given, initial=-np.inf)
    low = np.min(data.values, axis=0, where=given, initial=np.inf)
    ranges = np.full(data.values.shape[1], np.nan)
    np.subtract(high, low, out=ranges, where=data.ratings_per_unit >= 2)
    return ranges
