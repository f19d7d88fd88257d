"""From rankings of varying sets of systems to strengths and ranks of all systems."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Estimated
from agreement.data import FloatArray, IntArray
from agreement.rankings import Rankings
from agreement.ranks import rank_sets, why_no_strengths
from agreement.ratios import sum_by_document
from agreement.student import t_reach
from agreement.system_differences import SystemDifference, differences_of_estimates

LEAST_DOCUMENTS = 5
_STEPS = 200
_CLOSE = 1e-10
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
        reason = why_no_strengths(_beaten(ranks), rankings.systems)
    fit = None if reason else _fit(*_choices(ranks, documents), number)
    if fit is None:
        return RankingStrengths(counted, number, reason=reason or _NO_MAXIMUM)
    differences = differences_of_estimates(*fit, rankings.systems, number, confidence_level)
    reach = t_reach(1.0, number - 1, confidence_level)
    errors = np.sqrt(fit[1].diagonal())
    found = [
        RankedSystem(
            each.system,
            each.rankings,
            each.times_first,
            Estimated.within(float(value), float(reach * error)),
            ranks_of.best,
            ranks_of.worst,
        )
        for each, value, error, ranks_of in zip(
            counted, fit[0], errors, rank_sets(rankings.systems, differences), strict=True
        )
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


def _beaten(ranks: FloatArray) -> FloatArray:
    """(systems, systems): rankings that put the row's system before the column's, or tie them."""
    return np.array([(ranks[:, [one]] <= ranks).sum(axis=0) for one in range(ranks.shape[1])], dtype=float)


def _choices(ranks: FloatArray, documents: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_], IntArray]:
    """(choices,) the system that is chosen, (choices, systems) those to choose from, (choices,) document."""
    chosen, offered, of_choice = [], [], []
    for system in range(ranks.shape[1]):
        left = ranks >= ranks[:, [system]]  # False if either has no rank
        choice = left.sum(axis=1) >= 2
        chosen.append(np.full(int(choice.sum()), system))
        offered.append(left[choice])
        of_choice.append(documents[choice])
    return np.concatenate(chosen), np.concatenate(offered), np.concatenate(of_choice)


def _fit(
    chosen: IntArray, offered: npt.NDArray[np.bool_], of_choice: IntArray, documents: int
) -> tuple[FloatArray, FloatArray] | None:
    """(systems,) strengths and (systems, systems) their covariance; None if Newton's method does not end.

    Strengths are freed of their common constant by a ridge on their mean, which changes no difference.
    """
    systems = offered.shape[1]
    observed = np.eye(systems)[chosen]
    ridge = np.full((systems, systems), len(chosen) / systems**2)
    strengths = np.zeros(systems)
    for _ in range(_STEPS):
        shares, information = _expect(offered, strengths)
        step = np.linalg.solve(information + ridge, (observed - shares).sum(axis=0))
        strengths = strengths + step * min(1.0, 2 / max(np.abs(step).max(), _CLOSE))
        strengths -= strengths.mean()
        if np.abs(step).max() < _CLOSE:
            break
    else:
        return None
    shares, information = _expect(offered, strengths)
    inverse = np.linalg.inv(information + ridge)
    sums = sum_by_document(observed - shares, of_choice)
    centred = (np.eye(systems) - 1 / systems) @ inverse
    return strengths, centred @ (sums.T @ sums) @ centred.T * documents / (documents - 1)


def _expect(offered: npt.NDArray[np.bool_], strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(choices, systems) probabilities of being chosen, and the information."""
    weights = np.where(offered, np.exp(strengths), 0.0)
    shares = weights / weights.sum(axis=1, keepdims=True)
    return shares, np.diag(shares.sum(axis=0)) - shares.T @ shares
