"""Best-worst scaling: scores of systems from answers that name the best and the worst output shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Coefficient, Counts
from agreement.data import index_documents
from agreement.ratios import RatioName, ratio_coefficient, sum_by_document


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
    hits = sum_by_document((sizes + points) / 2, of_answer)
    of_document = sum_by_document(sizes, of_answer)
    found = [
        BestWorstScore(
            name,
            shown=int(sizes[:, index].sum()),
            best=int((points[:, index] > 0).sum()),
            worst=int((points[:, index] < 0).sum()),
            score=_score(hits[:, [index]], of_document[:, [index]], confidence_level),
        )
        for index, name in enumerate(systems)
    ]
    return tuple(sorted(found, key=lambda one: -(one.score.value or 0.0)))


def _score(
    hits: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64], confidence_level: float
) -> Coefficient:
    times = int(sizes.sum())
    counts = Counts(units=times, pairable_units=0, raters=0, ratings=times, pairable_values=0)
    share = ratio_coefficient(_NAMED, hits, sizes, counts, confidence_level)
    assert share.value is not None
    interval = share.interval and replace(
        share.interval, low=2 * share.interval.low - 1, high=2 * share.interval.high - 1
    )
    return replace(share, value=2 * share.value - 1, interval=interval)


_NAMED = RatioName(
    "best_worst_score", "Best-worst score", "Kiritchenko and Mohammad 2017", "The system was never shown."
)
