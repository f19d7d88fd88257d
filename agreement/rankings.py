"""Rankings of a few systems' outputs: agreement, and strengths of systems from rankings of varying sets.

Best-worst answers, which name only the best and the worst output shown, give scores of systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, ratio_of_sums
from agreement.coefficient import Coefficient, Counts, Estimated, why_not_pairable
from agreement.complete import kendall_w
from agreement.data import (
    FloatArray,
    IntArray,
    ReliabilityData,
    divide_where,
    index_documents,
    set_once,
)
from agreement.estimate import Weighted
from agreement.ranks import rank_sets, why_no_strengths
from agreement.streams import Randomness
from agreement.student import RatioName, ratio_coefficient, sum_by_document, t_reach
from agreement.system_differences import SystemDifference, differences_of_estimates

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
        set_once(self, fields)

    @property
    def ranked(self) -> BoolArray:
        """(raters, items): whether a rater ranked an item."""
        return np.asarray(~np.isnan(self.ranks).all(axis=2))

    @property
    def counts(self) -> Counts:
        """A unit is an item, a rating one ranking."""
        return Counts.of_answers(self.ranked.sum(axis=0), int(self.ranked.any(axis=1).sum()))


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
    # All rankings of an item have the same systems, so one ranking's number of pairs serves all.
    pairs = np.maximum((~np.isnan(orders)).sum(axis=2), 1)
    tied = np.where(ranked & (raters >= 2), np.sum(orders == 0, axis=2) / pairs, 0.0)
    apart = np.zeros(len(raters))
    for one, other in combinations(range(len(ranked)), 2):
        both = ranked[one] & ranked[other]
        distances = np.nansum(np.abs(orders[one] - orders[other]), axis=1) / (2 * pairs[one])
        # Both orders of the two raters count, each over m - 1, as in coincidences.
        apart += np.where(both, 2 * distances / np.maximum(raters - 1, 1), 0.0)
    used = np.where(raters >= 2, raters, 0).astype(float)
    # Alpha is a function of these four sums, so that resamples can weight documents.
    of_item = np.stack([used, apart, tied.sum(axis=0), (tied**2).sum(axis=0)], axis=1)
    sums = sum_by_document(of_item, rankings.documents)
    # Documents without two rankings of an item have no part in alpha, so they are not resampled.
    sums = sums[sums[:, 0] > 0]

    def alphas(weights: FloatArray) -> FloatArray:
        number, observed, ties, squares = (weights @ sums).T
        # The mean of t_a t_b over ordered pairs of different rankings, by (sum t)^2 - sum t^2.
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
        found.append(kendall_w(ReliabilityData(ranks, measurement_level="ordinal", value_domain=None)))
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


LEAST_DOCUMENTS = 5
_STEPS = 200
_CLOSE = 1e-10  # the largest step of Newton's method with which it ends
_NO_MAXIMUM = (
    "The likelihood has no maximum that can be computed: one system nearly always comes before another."
)


@dataclass(frozen=True)
class RankedSystem:
    """A system: the number of its rankings, of first ranks (ties share one), its strength and ranks."""

    system: str
    rankings: int
    times_first: float
    strength: Estimated | None
    best: int | None = None
    worst: int | None = None


@dataclass(frozen=True)
class RankingStrengths:
    """Systems by strength, the strongest first; without estimates `reason` gives the reason.

    documents: the number with rankings. differences: of every pair, in strength.
    """

    systems: tuple[RankedSystem, ...]
    documents: int
    differences: tuple[SystemDifference, ...] = ()
    reason: str = ""


def plackett_luce(rankings: Rankings, *, confidence_level: float = 0.95) -> RankingStrengths:
    """Strengths s of systems by Plackett and Luce's model, from rankings of any sets of them.

    A ranking is a series of choices, of the best system, then of the best of those left:

        P = prod_k exp(s_k) / sum_{l not before k} exp(s_l)

    by maximum likelihood (Newton's method), the mean strength being 0. exp(s_i - s_j) are the odds that i
    comes before j, whatever others are in the set. Each system of a tie is chosen from the tie and all that
    come later (Breslow's approximation, 1974), which pulls strengths towards each other if ties are many.

    Rankings of one document, by all raters, are not independent: variances are the sandwich's, summed within
    documents, and t has one degree of freedom less than there are documents. Ranks invert the intervals of
    all pairs at once (`rank_sets`). Source: Luce 1959; Plackett 1975, Applied Statistics 24, 193-202; Hunter
    2004, Annals of Statistics 32, 384-406; Liang and Zeger 1986 for the variances.
    Undefined with rankings of fewer than 5 documents, and if a system, or a group of them, comes before or
    after all others in each ranking they share, or shares none.
    """
    raters, items = np.nonzero(rankings.ranked)
    ranks = rankings.ranks[raters, items]
    documents = np.unique(rankings.documents[items], return_inverse=True)[1]
    number = int(documents.max(initial=-1)) + 1
    counted = _count_systems(ranks, rankings.systems)
    reason = f"There are rankings of {number} documents; {LEAST_DOCUMENTS} are needed."
    if number >= LEAST_DOCUMENTS:
        # A tie counts as a win of both, as each of its systems is chosen once from all of the tie.
        reason = why_no_strengths(
            np.array([(ranks[:, [one]] <= ranks).sum(axis=0) for one in range(ranks.shape[1])], dtype=float),
            rankings.systems,
        )
    fit = None if reason else _fit(ranks, documents, number)
    if fit is None:
        return RankingStrengths(counted, number, reason=reason or _NO_MAXIMUM)
    differences = differences_of_estimates(*fit, rankings.systems, number, confidence_level)
    reach = t_reach(1.0, number - 1, confidence_level)
    errors = np.sqrt(np.maximum(fit[1].diagonal(), 0))  # rounding can leave a variance just below 0
    sets = rank_sets(rankings.systems, differences)
    found = [
        replace(
            each,
            strength=Estimated.within(float(value), float(reach * error)),
            best=own.best,
            worst=own.worst,
        )
        for each, value, error, own in zip(counted, fit[0], errors, sets, strict=True)
    ]
    found.sort(key=lambda one: -one.strength.value if one.strength else 0.0)
    return RankingStrengths(tuple(found), number, differences)


def _count_systems(ranks: FloatArray, systems: Sequence[str]) -> tuple[RankedSystem, ...]:
    """ranks: (rankings, systems)."""
    best = np.nanmin(ranks, axis=1, keepdims=True, initial=np.inf)
    first = ranks == best
    shares = (first / np.maximum(first.sum(axis=1, keepdims=True), 1)).sum(axis=0)
    numbers = (~np.isnan(ranks)).sum(axis=0)
    return tuple(
        RankedSystem(name, int(number), float(share), None)
        for name, number, share in zip(systems, numbers, shares, strict=True)
    )


def _fit(
    ranks: FloatArray, document_of_ranking: IntArray, documents: int
) -> tuple[FloatArray, FloatArray] | None:
    """(systems,) strengths and (systems, systems) their covariance; None if Newton's method does not end.

    Strengths are freed of their common constant by a ridge on their mean, which changes no difference.
    """
    systems = ranks.shape[1]
    # A choice: each system of a ranking, from those that do not come before it; False if either has no rank.
    left = ranks[:, None, :] >= ranks[:, :, None]
    # Without another system there is no choice.
    chosen, ranking = np.nonzero((left.sum(axis=2) >= 2).T)
    offered, of_choice = left[ranking, chosen], document_of_ranking[ranking]
    observed = np.eye(systems)[chosen]
    ridge = np.full((systems, systems), len(chosen) / systems**2)
    strengths = np.zeros(systems)
    for _ in range(_STEPS):
        shares, information = _expect(offered, strengths)
        step = np.linalg.solve(information + ridge, (observed - shares).sum(axis=0))
        # A step is cut to 2 logits, as Newton's method can overshoot far from the maximum.
        strengths = strengths + step * min(1.0, 2 / max(np.abs(step).max(), _CLOSE))
        strengths -= strengths.mean()
        if np.abs(step).max() < _CLOSE:
            break
    else:
        return None
    shares, information = _expect(offered, strengths)
    inverse = np.linalg.inv(information + ridge)
    sums = sum_by_document(observed - shares, of_choice)
    # Centring removes the direction of the ridge: the covariance is of strengths about their mean.
    centred = (np.eye(systems) - 1 / systems) @ inverse
    return strengths, centred @ (sums.T @ sums) @ centred.T * documents / (documents - 1)


def _expect(offered: npt.NDArray[np.bool_], strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(choices, systems) probabilities of being chosen, and the information."""
    weights = np.where(offered, np.exp(strengths), 0.0)
    shares = weights / weights.sum(axis=1, keepdims=True)
    # Each choice is multinomial, with the information diag(p) - p p'.
    return shares, np.diag(shares.sum(axis=0)) - shares.T @ shares


@dataclass(frozen=True)
class BestWorstScore:
    """The score of a system, with the numbers of answers that show it and name it the best or the worst."""

    system: str
    shown: int
    best: int
    worst: int
    score: Coefficient


def best_worst_scores(
    shown: Sequence[Sequence[str]],
    best: Sequence[str],
    worst: Sequence[str],
    *,
    documents: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> tuple[BestWorstScore, ...]:
    """(times best - times worst) / times shown for each system, from -1 to 1, the highest first.

    shown: for each answer the systems whose outputs a rater saw. best, worst: (answers,), which of them.
    documents: (answers,), any labels; an answer without one is independent of all others. The score is 2 F -
    1 with F = sum (1 + best - worst) / 2 over times shown, and its interval `ratio_interval`'s of F over
    documents. It depends on the other systems in an answer: combine each with the same ones equally often, or
    use `plackett_luce`. Source: Kiritchenko and Mohammad 2017, ACL (short papers), 465-470.
    ValueError if an answer names a system outside `shown`, or the same system twice.
    """
    if not len(shown) == len(best) == len(worst):
        raise ValueError("Each answer needs the systems shown, the best and the worst.")
    of_answer = index_documents(documents, len(shown))
    for offered, one, other in zip(shown, best, worst, strict=True):
        if len(set(offered)) < len(offered) or one == other or not {one, other} <= set(offered):
            raise ValueError("The best and the worst must be two of the different systems that were shown.")
    systems = list(dict.fromkeys(name for offered in shown for name in offered))
    index_of = {name: index for index, name in enumerate(systems)}
    rows = np.repeat(np.arange(len(shown)), [len(offered) for offered in shown])
    sizes = np.zeros((len(shown), len(systems)))
    sizes[rows, [index_of[name] for offered in shown for name in offered]] = 1
    each = np.arange(len(shown))
    points = np.zeros_like(sizes)
    points[each, [index_of[name] for name in best]] = 1
    points[each, [index_of[name] for name in worst]] = -1
    # (1 + best - worst) / 2 is 1, 1/2 or 0 each time: a share, as the interval requires.
    hits = sum_by_document((sizes + points) / 2, of_answer)
    of_document = sum_by_document(sizes, of_answer)
    found = []
    for index, name in enumerate(systems):
        times, own = int(sizes[:, index].sum()), points[:, index]
        counts = Counts(units=times, pairable_units=0, raters=0, ratings=times, pairable_values=0)
        share = ratio_coefficient(_NAMED, hits[:, [index]], of_document[:, [index]], counts, confidence_level)
        assert share.value is not None
        # Back from the share F to the score 2 F - 1.
        interval = share.interval and replace(
            share.interval, low=2 * share.interval.low - 1, high=2 * share.interval.high - 1
        )
        score = replace(share, value=2 * share.value - 1, interval=interval)
        found.append(BestWorstScore(name, times, int((own > 0).sum()), int((own < 0).sum()), score))
    return tuple(sorted(found, key=lambda one: -(one.score.value or 0.0)))


_NAMED = RatioName(
    "best_worst_score", "Best-worst score", "Kiritchenko and Mohammad 2017", "The system was never shown."
)
