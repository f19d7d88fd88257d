"""Restricted maximum likelihood for ratings with crossed raters and documents, whatever is missing.

y = system + document + rater + rater:system + document:system + rater:document + residual, systems fixed, the
rest random. Given the effects of raters and of raters by system, documents are independent. So no matrix is
larger than a document's ratings or than the cells (a rater and a system): time grows in proportion to the
documents, and with the third power of the cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotate.agreement.crossed_errors import ErrorVariances
from annotate.agreement.data import FloatArray, IntArray

RATER, RATER_BY_SYSTEM, DOCUMENT, RATER_BY_DOCUMENT, DOCUMENT_BY_SYSTEM, RESIDUAL = range(6)
_OF_CELLS = (RATER, RATER_BY_SYSTEM)
_OF_DOCUMENT = (DOCUMENT, RATER_BY_DOCUMENT, DOCUMENT_BY_SYSTEM, RESIDUAL)
_NOTHING = 1e-6  # of all variance: smaller components are 0
_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class CrossedFit:
    """The model at the largest restricted likelihood.

    components: (6,), variances in squared points in the order of the constants above. means: (systems,), with
    their covariance (systems, systems). slopes: (active, systems, systems), its derivatives by the variances
    that are not 0; information: (active, active), the second derivatives of -2 log likelihood by them.
    """

    components: FloatArray
    means: FloatArray
    covariance: FloatArray
    slopes: FloatArray
    information: FloatArray
    method: str = "restricted maximum likelihood (Patterson and Thompson 1971)"

    @property
    def variances(self) -> ErrorVariances:
        """What the error of a difference is made of."""
        return ErrorVariances(*self.components[[RATER_BY_SYSTEM, DOCUMENT_BY_SYSTEM, RESIDUAL]].tolist())

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return a difference of two means, its variance, and Satterthwaite's degrees of freedom.

        2 v^2 / Var(v) with Var(v) = g' (2 / information) g, g the derivatives of v by the variances that are
        not 0. Source: Fai and Cornelius 1996; Kuznetsova and others 2017.
        """
        contrast = np.zeros(len(self.means))
        contrast[[one, other]] = 1, -1
        variance = float(contrast @ self.covariance @ contrast)
        slopes = self.slopes @ contrast @ contrast
        spread = float(slopes @ np.linalg.pinv(self.information, rcond=1e-8, hermitian=True) @ slopes)
        return float(contrast @ self.means), variance, variance**2 / spread


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Documents that were rated in the same cells (n,).

    documents: how many. total, products: the sums of their values (n,) and of the values' products (n, n).
    parts: (4, n, n), the covariance of a document's ratings that each of _OF_DOCUMENT brings.
    """

    cells: IntArray
    documents: int
    total: FloatArray
    products: FloatArray
    parts: FloatArray


@dataclass(frozen=True, eq=False)
class _Model:
    """The ratings as sums over documents. system_of: (cells, systems), 1 where a cell is of a system.

    parts: (2, cells, cells), the covariance of cells that each of _OF_CELLS brings.
    """

    patterns: Sequence[_Pattern]
    system_of: FloatArray
    parts: FloatArray

    def at(self, variances: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return -2 log likelihood, its derivatives (6,), the means and their covariance.

        -2 log L = log |V| + log |X'V^-1 X| + y'Py up to a constant; by the variance of a part V_k it is
        tr(P V_k) - y'P V_k P y (Searle, Casella and McCulloch 1992, chapter 6). Here P = A - AZ W Z'A, A the
        inverse covariance of ratings given the effects of cells, M = Z'AZ (`precision`), W (`projection`).
        """
        cells = len(self.system_of)
        precision, weighted, squares, log = np.zeros((cells, cells)), np.zeros(cells), 0.0, 0.0
        inverses = [
            _inverse(np.tensordot(variances[list(_OF_DOCUMENT)], each.parts, 1)) for each in self.patterns
        ]
        for each, inverse in zip(self.patterns, inverses, strict=True):
            precision[np.ix_(each.cells, each.cells)] += each.documents * inverse
            weighted[each.cells] += inverse @ each.total
            squares += float(np.sum(inverse * each.products))
            log -= each.documents * float(np.linalg.slogdet(inverse)[1])
        effects = np.tensordot(variances[list(_OF_CELLS)], self.parts, 1)
        spread = np.eye(cells) + effects @ precision
        shrunk = np.linalg.inv(spread)
        of_systems = shrunk @ self.system_of
        information = self.system_of.T @ precision @ of_systems
        covariance = _inverse(information)
        log += float(np.linalg.slogdet(spread)[1]) + float(np.linalg.slogdet(information)[1])
        projection = shrunk @ effects + of_systems @ covariance @ of_systems.T
        fitted = projection @ weighted
        slopes = self._slopes(inverses, precision, projection, weighted - precision @ fitted, fitted)
        deviance = log + squares - float(weighted @ fitted)
        return deviance, slopes, covariance @ of_systems.T @ weighted, covariance

    def _slopes(
        self,
        inverses: Sequence[FloatArray],
        precision: FloatArray,
        projection: FloatArray,
        residual: FloatArray,
        fitted: FloatArray,
    ) -> FloatArray:
        found = np.zeros(6)
        of_cells = precision - precision @ projection @ precision - np.outer(residual, residual)
        found[list(_OF_CELLS)] = np.tensordot(self.parts, of_cells, 2)
        for each, inverse in zip(self.patterns, inverses, strict=True):
            own = fitted[each.cells]
            left = each.products - np.outer(each.total, own) - np.outer(own, each.total)
            left += each.documents * (np.outer(own, own) + projection[np.ix_(each.cells, each.cells)])
            within = each.documents * inverse - inverse @ left @ inverse
            found[list(_OF_DOCUMENT)] += np.tensordot(each.parts, within, 2)
        return found


def fit_by_reml(values: FloatArray) -> CrossedFit:
    """The model for values (raters, documents, systems), NaN for gaps; every system needs a value.

    Equals lme4's `y ~ system + (1|document) + (1|rater) + (1|rater:system) + (1|document:system) +
    (1|rater:document)`. Variances cannot be negative; one that would be is 0, and what depends on it is as if
    the model had no such part.
    """
    mean, scale = float(np.nanmean(values)), float(np.nanvar(values)) or 1.0
    model = _model((values - mean) / np.sqrt(scale))
    found, _, _ = scipy.optimize.fmin_l_bfgs_b(
        lambda tried: model.at(tried)[:2],
        np.array([0.1] * 5 + [0.5]),
        bounds=[(0.0, None)] * 5 + [(_NOTHING, None)],
        factr=10,
        pgtol=1e-7,
        maxiter=500,
    )
    variances = np.where(found < _NOTHING, 0.0, found)
    _, _, means, covariance = model.at(variances)
    active = np.flatnonzero(variances)
    steps = [np.where(np.arange(6) == each, _STEP * variances, 0.0) for each in active]
    either = [(model.at(variances + step), model.at(variances - step)) for step in steps]
    slopes = [(up[3] - down[3]) / (2 * step.sum()) for (up, down), step in zip(either, steps, strict=True)]
    information = np.array(
        [
            ((up[1] - down[1]) / (2 * step.sum()))[active]
            for (up, down), step in zip(either, steps, strict=True)
        ]
    )
    return CrossedFit(
        variances * scale,
        means * np.sqrt(scale) + mean,
        covariance * scale,
        np.array(slopes),
        (information + information.T) / 2 / scale**2,
    )


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _model(values: FloatArray) -> _Model:
    by_cell = np.swapaxes(values, 0, 1).reshape(values.shape[1], -1)  # documents x (rater, system)
    rated = ~np.isnan(by_cell)
    used = np.flatnonzero(rated.any(axis=0))
    raters, systems = np.divmod(used, values.shape[2])
    same_rater, same_system = (labels[:, None] == labels for labels in (raters, systems))
    kinds, kind_of = np.unique(rated[:, used], axis=0, return_inverse=True)
    patterns = []
    for kind, given in enumerate(kinds):
        cells = np.flatnonzero(given)
        if len(cells):
            own, block = by_cell[kind_of.ravel() == kind][:, used[cells]], np.ix_(cells, cells)
            parts = [np.ones((len(cells),) * 2), same_rater[block], same_system[block], np.eye(len(cells))]
            patterns.append(
                _Pattern(cells, len(own), own.sum(axis=0), own.T @ own, np.array(parts, dtype=float))
            )
    return _Model(
        patterns,
        np.eye(values.shape[2])[systems],
        np.array([same_rater, np.eye(len(used))], dtype=float),
    )
