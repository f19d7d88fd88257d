"""Variances by system in the crossed model (`crossed`): which systems keep the common one, and which do not.

Each of the three mean squares of the model (raters by system, documents by system, residual) is estimated for
every system. With three raters a system's own has two degrees of freedom, so the common one is used unless a
test shows that the system's is larger. Shrinking all of them towards the common one (Smyth 2004, with the
robust prior of Phipson and others 2016) was too liberal: see docs/decisions/0041-variances-by-system.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray

LEAST_SYSTEMS = 3
"""Two systems have one variance: that of their difference."""
_OWN, _OUTLYING = 0.15, 0.01
_MOST_ROUNDS = 10
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SystemMeanSquares:
    """One mean square of each system, and the common one of the systems that are not outlying.

    own, freedoms: (systems,), each system's mean square and its degrees of freedom. is_own: (systems,), True
    if it replaces the common one. is_outlying: (systems,), True if it is not part of the common one.
    """

    own: FloatArray
    freedoms: FloatArray
    common: float
    common_freedom: float
    is_own: BoolArray
    is_outlying: BoolArray

    @property
    def used(self) -> FloatArray:
        """(systems,): what tests use, a system's own mean square or the common one."""
        return np.where(self.is_own, self.own, self.common)

    @property
    def ratios(self) -> FloatArray:
        """(systems,): own mean squares over the common one."""
        return self.own / self.common


def choose_mean_squares(own: FloatArray, freedoms: FloatArray) -> SystemMeanSquares:
    """Test each system's mean square (systems,) against the common one of the others by a one-sided F test.

    p < .15: the system uses its own ("sometimes-pool", Bancroft 1944). p < .01 / systems: it is outlying and
    left out of the common one, unless more than every second system would be. The level .15 is the smallest
    with which pairs with an odd system held .93 in simulations (`benchmarks/coverage.py unequal`).
    """
    is_outlying = np.zeros(len(own), dtype=bool)
    for _ in range(2):  # outlying systems can hide others
        sums, kept = own * freedoms * ~is_outlying, freedoms * ~is_outlying
        others = kept.sum() - kept
        p_values = scipy.special.fdtrc(freedoms, others, own * others / (sums.sum() - sums))
        is_outlying = p_values < _OUTLYING / len(own)
        if is_outlying.sum() > (len(own) - 1) // 2:
            is_outlying[:] = False
    kept = freedoms * ~is_outlying
    common = float(kept @ own / kept.sum())
    is_own = (p_values < _OWN) & (own > common)
    return SystemMeanSquares(own, freedoms, common, float(kept.sum()), is_own, is_outlying)


def separate_mean_squares(products: FloatArray, freedom: float) -> SystemMeanSquares:
    """Return mean squares by system from sums of products (systems, systems) over rows of deviations.

    A row holds the independent deviations of one rater, document or rating plus a number that all of its
    systems share, which is estimated by the mean with weights 1 / mean square: a system with a large one
    hardly changes the others'. A system with the share h of the weights has freedom (1 - h) degrees of
    freedom, together freedom (systems - 1). Needs `LEAST_SYSTEMS`.
    """
    systems = len(products)
    weights, used = np.full(systems, 1 / systems), np.zeros(systems)
    # A system without any deviation has no F test; this is nothing but rounding.
    least = 1e-12 * (float(products.diagonal().max()) or 1.0)
    for _ in range(_MOST_ROUNDS):
        shared = products @ weights
        squares = products.diagonal() - 2 * shared + weights @ shared
        freedoms = freedom * (1 - weights)
        found = choose_mean_squares(np.maximum(squares / freedoms, least), freedoms)
        if np.allclose(used, found.used, rtol=1e-6, atol=0):
            break
        used, weights = found.used, 1 / found.used / np.sum(1 / found.used)
    return found


@dataclass(frozen=True, eq=False)
class VariancesBySystem:
    """The three mean squares of every system, as `CrossedMeanSquares` and `CrossedFit` have them for all."""

    raters: SystemMeanSquares
    documents: SystemMeanSquares
    residual: SystemMeanSquares

    def errors_of_pair(
        self, one: int, other: int, parts: tuple[float, float, float]
    ) -> Sequence[tuple[float, float]]:
        """Return variances of a difference of two systems with their degrees of freedom; the widest counts.

        parts: the contributions of a mean square of 1 of raters, documents and the residual for one system.
        The variance is the sum over both systems of raters + documents - residual, neither of the first two
        below the third, with Satterthwaite's degrees of freedom. These rise if a second source is added to a
        system's own mean square, which can make the interval narrower. So each own mean square also counts
        alone.
        """
        pair = [one, other]
        residual = parts[2] * self.residual.used[pair]
        variance, terms, alone = -float(residual.sum()), [], []
        for squares, part in ((self.raters, parts[0]), (self.documents, parts[1])):
            each = np.maximum(part * squares.used[pair], residual)
            is_own, freedoms = squares.is_own[pair], np.maximum(squares.freedoms[pair], 1)
            variance += float(each.sum())
            own = list(zip(each[is_own].tolist(), freedoms[is_own].tolist(), strict=True))
            terms += [*own, (float(each[~is_own].sum()), squares.common_freedom)]
            alone += own
        lost = sum(value**2 / freedom for value, freedom in terms)
        return [(variance, max(variance**2 / lost, 1.0)), *alone]
