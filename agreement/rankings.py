"""Agreement on rankings of a few systems' outputs: Kendall's distance, alpha with it, and Kendall's W."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, ratio_of_sums
from agreement.coefficient import Coefficient, Counts, why_not_pairable
from agreement.complete import kendall_w
from agreement.data import (
    FloatArray,
    IntArray,
    ReliabilityData,
    divide_where,
    index_documents,
    observed_domain,
)
from agreement.estimate import Weighted
from agreement.ratios import sum_by_document
from agreement.streams import Randomness

BoolArray = npt.NDArray[np.bool_]

_BY_DOCUMENTS = Resampling(by="documents")
_ALL_TIES = (
    "Every ranking ties all its systems, so agreement cannot be told from chance. Rank outputs that differ "
    "more."
)
_NO_CONCORDANCE = "No item has rankings by two raters and a difference between its systems."


def kendall_distance(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The share of pairs of systems that two rankings order differently; a pair tied in one counts half.

    first, second: (systems,), ranks, equal ones for ties; which end is best does not matter. 0 for the same
    order, 1 for the reverse. Without ties it is (1 - Kendall's tau) / 2. Source: Kendall 1938, Biometrika 30,
    81-93; with half for ties Fagin and others 2006, SIAM Journal on Discrete Mathematics 20, 628-648.
    ValueError for gaps, other shapes, or fewer than two systems.
    """
    ranks = np.array([first, second], dtype=float)
    if ranks.ndim != 2 or ranks.shape[1] < 2 or np.isnan(ranks).any():
        raise ValueError("Two rankings need ranks of the same two or more systems.")
    one, other = _orders(ranks)
    return float(np.abs(one - other).mean() / 2)


def _orders(ranks: FloatArray) -> FloatArray:
    """(..., pairs): -1, 0 or 1 for how each pair of systems is ordered; ranks: (..., systems)."""
    rows, columns = np.triu_indices(ranks.shape[-1], 1)
    return np.asarray(np.sign(ranks[..., rows] - ranks[..., columns]))


@dataclass(frozen=True, eq=False, init=False)
class Rankings:
    """How raters rank the systems whose outputs an item has.

    ranks: (raters, items, systems), 1 the best, equal for ties, NaN for a system that the item lacks and in
    all of an item that a rater did not rank. systems: their names. documents: (items,), any labels, kept as
    indices; an item without one is its own.
    Raises ValueError if a ranking has fewer than two systems, or not all that others ranked for its item.
    """

    ranks: FloatArray
    systems: tuple[str, ...]
    documents: IntArray

    def __init__(
        self, ranks: npt.ArrayLike, *, systems: Sequence[str], documents: npt.ArrayLike | None = None
    ) -> None:
        table = np.array(ranks, dtype=float)
        if table.ndim != 3 or table.shape[2] != len(systems):
            raise ValueError(f"Ranks must be raters by items by {len(systems)} systems.")
        ranked = ~np.isnan(table)
        number = ranked.sum(axis=2)
        if (number == 1).any():
            raise ValueError("A ranking needs two systems or more.")
        if ((number > 0) & (number < ranked.any(axis=0).sum(axis=1))).any():
            raise ValueError("A ranking must have all systems that other raters ranked for the same item.")
        fields = {
            "ranks": table,
            "systems": tuple(systems),
            "documents": index_documents(documents, table.shape[1]),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def ranked(self) -> BoolArray:
        """(raters, items): whether a rater ranked an item."""
        return np.asarray(~np.isnan(self.ranks).all(axis=2))

    @property
    def counts(self) -> Counts:
        """A unit is an item, a rating one ranking."""
        per_item = self.ranked.sum(axis=0)
        return Counts(
            units=len(per_item),
            pairable_units=int((per_item >= 2).sum()),
            raters=int(self.ranked.any(axis=1).sum()),
            ratings=int(per_item.sum()),
            pairable_values=int(per_item[per_item >= 2].sum()),
        )


def ranking_alpha(
    rankings: Rankings, *, generator: Randomness | None = None, resampling: Resampling | None = None
) -> Coefficient:
    """Alpha with `kendall_distance`; chance is two rankings with random names of systems.

    alpha = 1 - D_o / D_e. D_o is the mean distance of two rankings of an item, each item's pairs over m - 1,
    as in Krippendorff's alpha. D_e is the mean over pairs of different rankings of the distance they have if
    systems change names at random: (1 - t_a t_b) / 2, with t the share of pairs that a ranking ties. So items
    may have different systems, as in `preference_alpha`, and raters agree who always rank one system first.
    Without ties D_e is 1/2 and alpha the mean of Kendall's tau. For alpha beyond a general order of the same
    systems, give rankings and distance to `alpha_by_distance`.

    The interval resamples documents. Source: Krippendorff 2011 for alpha; the distance as in
    `kendall_distance`. Undefined without an item that has two rankings, and if all rankings tie everything.
    """
    orders = _orders(rankings.ranks)
    ranked, raters = rankings.ranked, rankings.ranked.sum(axis=0)
    pairs = np.maximum((~np.isnan(orders)).sum(axis=2), 1)
    tied = np.where(ranked & (raters >= 2), np.sum(orders == 0, axis=2) / pairs, 0.0)
    apart = np.zeros(len(raters))
    for one, other in combinations(range(len(ranked)), 2):
        both = ranked[one] & ranked[other]
        distances = np.nansum(np.abs(orders[one] - orders[other]), axis=1) / (2 * pairs[one])
        apart += np.where(both, 2 * distances / np.maximum(raters - 1, 1), 0.0)
    used = np.where(raters >= 2, raters, 0).astype(float)
    of_item = np.stack([used, apart, tied.sum(axis=0), (tied**2).sum(axis=0)], axis=1)
    sums = sum_by_document(of_item, rankings.documents)
    sums = sums[sums[:, 0] > 0]

    def alphas(weights: FloatArray) -> FloatArray:
        number, observed, ties, squares = (weights @ sums).T
        both_tied = divide_where(number >= 2, ties**2 - squares, number * (number - 1))
        expected = (1 - both_tied) / 2
        defined = (number >= 2) & (expected > 1e-12)
        return 1 - divide_where(defined, divide_where(number > 0, observed, number), expected)

    weighted = Weighted(
        name="ranking_alpha",
        label="Alpha of rankings",
        source="Krippendorff 2011; Kendall 1938",
        statistic=alphas,
        size=len(sums),
        noun="documents",
        bounds=(-1.0, 1.0),
    )
    reason = why_not_pairable(rankings.counts) or _ALL_TIES
    return weighted.coefficient(rankings.counts, reason, generator, resampling or _BY_DOCUMENTS)


def concordances(rankings: Rankings) -> tuple[Coefficient, ...]:
    """Kendall's W of each item, by `kendall_w`: the raters who ranked it, over the item's systems."""
    found = []
    for item in range(rankings.ranks.shape[1]):
        ranks = rankings.ranks[rankings.ranked[:, item], item]
        ranks = ranks[:, ~np.isnan(ranks).all(axis=0)] if len(ranks) else np.empty((0, 0))
        domain = observed_domain(ranks) if ranks.size else np.zeros(1)
        found.append(kendall_w(ReliabilityData(ranks, measurement_level="ordinal", value_domain=domain)))
    return tuple(found)


def mean_concordance(
    rankings: Rankings, *, generator: Randomness | None = None, resampling: Resampling | None = None
) -> Coefficient:
    """The mean over items of Kendall's W; items without one are excluded and counted.

    W is not corrected for chance: m raters who rank at random have 1 / m on average. The interval resamples
    documents. Source: Kendall and Gibbons 1990, chapter 6. Undefined without an item that has a W.
    """
    values = np.array([np.nan if each.value is None else each.value for each in concordances(rankings)])
    known = ~np.isnan(values)
    sums = sum_by_document(np.stack([values, np.ones(len(values))], axis=1)[known], rankings.documents[known])
    parts, wholes = sums[sums[:, 1] > 0].T
    weighted = Weighted(
        name="mean_concordance",
        label="Kendall's W, mean over items",
        source="Kendall and Gibbons 1990, Rank correlation methods, chapter 6",
        statistic=ratio_of_sums(parts, wholes),
        size=len(parts),
        noun="documents",
        bounds=(0.0, 1.0),
    )
    counts = replace(rankings.counts, groups=len(values), undefined_groups=int((~known).sum()))
    reason = why_not_pairable(rankings.counts) or _NO_CONCORDANCE
    return weighted.coefficient(counts, reason, generator, resampling or _BY_DOCUMENTS)
