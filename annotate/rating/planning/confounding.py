"""How far a plan mixes the severity of raters up with the quality of systems."""

from collections.abc import Sequence

import numpy as np

from annotate.rating.planning.plan import DealtPlan


def severity_between_systems(plan: DealtPlan, systems: Sequence[int]) -> tuple[float, float] | None:
    """Return how far severity alone sets two systems apart: over all pairs on average, and at most.

    systems: (items,), the system of each item. In points of a mean score for each point of standard deviation
    between raters: sqrt(sum_r (n_ar / n_a - n_br / n_b)^2) for systems a and b with n_ar ratings by rater r;
    on average the root of the mean square. 0 where every rater has the same share in each system, sqrt(2)
    where each system has a rater of its own. None with fewer than two systems that anybody rates.
    Why it matters: Steen and Markert 2021, How to Evaluate a Summarizer, sections 5 and 6.
    """
    of = np.unique(np.asarray(systems, dtype=np.int64), return_inverse=True)[1]
    ratings = np.zeros((int(of.max(initial=-1)) + 1, plan.annotators))
    for system, raters in zip(of, plan.raters, strict=True):
        ratings[system, list(raters)] += 1
    ratings = ratings[ratings.sum(axis=1) > 0]
    if len(ratings) < 2:
        return None
    shares = ratings / ratings.sum(axis=1, keepdims=True)
    products = shares @ shares.T
    own = np.diag(products)
    squares = np.maximum(own[:, None] + own - 2 * products, 0)[np.triu_indices(len(shares), 1)]
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))
