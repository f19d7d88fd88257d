"""Assignment plans and their properties."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt


class CannotBeMetError(ValueError):
    """A plan that these items and annotators cannot satisfy; the message suggests a solution."""


@dataclass(frozen=True)
class DealtPlan:
    """The raters of each item: `raters` holds one tuple of distinct annotators an item."""

    annotators: int
    raters: tuple[tuple[int, ...], ...]

    @cached_property
    def table(self) -> npt.NDArray[np.int64]:
        """(items, annotators): 1 if an annotator rates an item."""
        table = np.zeros((len(self.raters), self.annotators), dtype=np.int64)
        sizes = np.fromiter(map(len, self.raters), np.int64, len(self.raters))
        rated_by = np.fromiter(chain.from_iterable(self.raters), np.int64, int(sizes.sum()))
        table[np.repeat(np.arange(len(sizes)), sizes), rated_by] = 1
        return table

    @cached_property
    def overlap(self) -> npt.NDArray[np.int64]:
        """Items that annotators share, (annotators, annotators); the diagonal holds each annotator's
        number of items.
        """
        return self.table.T @ self.table

    @property
    def loads(self) -> list[int]:
        return list(map(int, self.table.sum(axis=0)))

    @property
    def smallest_overlap(self) -> int | None:
        """Items shared by the pair that shares fewest, None without a pair."""
        pairs = self.overlap[~np.eye(self.annotators, dtype=bool)]
        return int(pairs.min()) if pairs.size else None

    @property
    def ratings(self) -> int:
        return sum(map(len, self.raters))

    @property
    def raters_per_item(self) -> dict[int, int]:
        """Number of items for each number of raters, fewest raters first."""
        return dict(sorted(Counter(map(len, self.raters)).items()))


def severity_between_systems(plan: DealtPlan, systems: Sequence[int]) -> tuple[float, float] | None:
    """Return the difference between two systems due to severity alone:

    over all pairs on average, and the maximum.

    systems: (items,), the system of each item. In points of a mean score for each point of standard deviation
    between raters: sqrt(sum_r (n_ar / n_a - n_br / n_b)^2) for systems a and b with n_ar ratings by rater r;
    the average is the root of the mean square. 0 if every rater has the same share in each system, sqrt(2) if
    each system has a separate rater. None with fewer than two systems with raters. Why it matters: Steen and
    Markert 2021, How to Evaluate a Summarizer, sections 5 and 6.
    """
    of = np.unique(np.asarray(systems, dtype=np.int64), return_inverse=True)[1]
    ratings = np.zeros((int(of.max(initial=-1)) + 1, plan.annotators))
    np.add.at(ratings, of, plan.table)
    ratings = ratings[ratings.sum(axis=1) > 0]
    if len(ratings) < 2:
        return None
    shares = ratings / ratings.sum(axis=1, keepdims=True)
    products = shares @ shares.T
    own = np.diag(products)
    squares = np.maximum(own[:, None] + own - 2 * products, 0)[np.triu_indices(len(shares), 1)]
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))
