"""The crossed model of ratings (`crossed`) fitted by mean squares, or by restricted maximum likelihood.

Given the effects of raters and of raters by system, documents are independent. So no matrix is larger than a
document's ratings or than the cells (a rater and a system): time grows in proportion to the documents, and
with the third power of the cells.

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

from agreement.data import FloatArray, IntArray
from agreement.student import noncentrality_with_power, satterthwaite_freedom, t_power

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
        # Each F ratio has the pooled mean square of the other kept systems in its denominator.
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
        # Squared deviations from the weighted mean over systems follow from the products alone.
        shared = products @ weights
        squares = products.diagonal() - 2 * shared + weights @ shared
        freedoms = freedom * (1 - weights)
        found = choose_mean_squares(np.maximum(squares / freedoms, least), freedoms)
        # Weights depend on the mean squares in use, so both are repeated until the latter settle.
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
        # Raters and documents both contain the residual, so each system subtracts it once.
        variance, terms, alone = -float(residual.sum()), [], []
        for squares, part in ((self.raters, parts[0]), (self.documents, parts[1])):
            each = np.maximum(part * squares.used[pair], residual)
            is_own, freedoms = squares.is_own[pair], np.maximum(squares.freedoms[pair], 1)
            variance += float(each.sum())
            own = list(zip(each[is_own].tolist(), freedoms[is_own].tolist(), strict=True))
            # Common mean squares of both systems are one estimate, so their parts form a single term.
            terms += [*own, (float(each[~is_own].sum()), squares.common_freedom)]
            alone += own
        lost = sum(value**2 / freedom for value, freedom in terms)
        return [(variance, max(variance**2 / lost, 1.0)), *alone]


NO_ERROR = "The crossed model finds no error variance in these values."


class CrossedModelError(ValueError):
    """The crossed model has no result for these values; the message is the reason."""


@dataclass(frozen=True)
class ErrorVariances:
    """Variances in squared points of the scale, each 0 or more."""

    rater_by_system: float
    document_by_system: float
    residual: float

    def of_difference(self, raters: int, documents: int, per_document: int | None = None) -> float:
        """2 (rater:system / R + document:system / D + residual / (k D)).

        per_document: k, the number of the R raters who rate all outputs for a document, each rater about
        equally many documents; by default all.
        """
        of_raters, of_documents = self.rater_by_system / raters, self.document_by_system / documents
        return 2 * (of_raters + of_documents + self.residual / ((per_document or raters) * documents))

    def degrees_of_freedom(
        self, systems: int, raters: int, documents: int, per_document: int | None = None
    ) -> float:
        """Satterthwaite's for MS_rs + MS_ds - MS_e, which is k D / 2 times the variance above.

        If not all raters rate a document, the mean squares are of raters and of documents alone, with k D - R
        - D + 1 degrees of freedom for MS_e. The overlap of raters with documents is ignored.

        A part that is 0 removes its mean square and one MS_e: without rater:system MS_ds remains with its (S
        - 1)(D - 1) degrees of freedom, without both MS_e with its (S - 1)(D - 1)(R - 1). Source:
        Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
        """
        each = per_document or raters
        # The mean squares are residual + (k D / R) rater:system and residual + k document:system.
        parts = [
            (self.rater_by_system, each * documents / raters, raters - 1),
            (self.document_by_system, each, documents - 1),
        ]
        terms = [(self.residual + times * part, freedom) for part, times, freedom in parts if part > 0]
        left = max(each * documents - raters - documents + 1, 1)
        # With both parts MS_e is subtracted once, with one part it cancels, with none it remains.
        terms.append((self.residual * (1 - len(terms)), left))
        return (systems - 1) * (satterthwaite_freedom(terms) or np.inf)

    def smallest_difference(
        self, systems: int, raters: int, documents: int, *, significance_level: float, power: float = 0.8
    ) -> float:
        """The difference, in points, that a two-sided t test of this level finds with this power.

        The standard error times the noncentrality at which t exceeds its critical value with this
        probability; significant results with the wrong sign do not count. At least 2 systems, raters and
        documents.
        """
        freedom = self.degrees_of_freedom(systems, raters, documents)
        noncentrality = noncentrality_with_power(power, freedom, significance_level)
        return float(noncentrality * np.sqrt(self.of_difference(raters, documents)))

    def power(
        self,
        difference: float,
        systems: int,
        raters: int,
        documents: int,
        *,
        significance_level: float,
        per_document: int | None = None,
    ) -> float:
        """The probability that the same test finds a true difference of this many points, with its sign."""
        error = np.sqrt(self.of_difference(raters, documents, per_document))
        if error == 0:
            return float(difference != 0)
        freedom = self.degrees_of_freedom(systems, raters, documents, per_document)
        return t_power(abs(difference) / error, freedom, significance_level)


@dataclass(frozen=True, eq=False)
class CrossedMeanSquares:
    """Means (systems,) of complete ratings, and variances by equating mean squares to their expectations.

    by_system: None with two systems.
    """

    means: FloatArray
    variances: ErrorVariances
    raters: int
    documents: int
    by_system: VariancesBySystem | None
    method: str = "mean squares equated to their expectations (Henderson 1953, method 1)"

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return a difference of two means, its variance, and its degrees of freedom."""
        size = len(self.means), self.raters, self.documents
        variance = self.variances.of_difference(*size[1:])
        return float(self.means[one] - self.means[other]), variance, self.variances.degrees_of_freedom(*size)

    def parts_of_pair(self, _one: int, _other: int, /) -> tuple[float, float, float]:
        """Return the variance that a mean square of 1 adds for each system: raters, documents, residual."""
        return (1 / (self.raters * self.documents),) * 3


def fit_by_mean_squares(values: FloatArray) -> CrossedMeanSquares:
    """The model for values (raters, documents, systems) without gaps, 2 of each or more.

    E(MS_e) = residual, E(MS_rs) = residual + D rater:system, E(MS_ds) = residual + R document:system. What
    would be below 0 is 0.
    """
    raters, documents, systems = values.shape
    # Effects that all systems share cancel in deviations from the mean over systems.
    centred = values - values.mean(axis=2, keepdims=True)
    # The means of systems are fixed effects and no part of any variance.
    centred -= centred.mean(axis=(0, 1))
    of_raters, of_documents = centred.mean(axis=1), centred.mean(axis=0)
    left = centred - of_raters[:, None] - of_documents
    residual = float(np.sum(left**2)) / ((systems - 1) * (raters - 1) * (documents - 1))
    squares_of_raters = documents * float(np.sum(of_raters**2)) / ((systems - 1) * (raters - 1))
    squares_of_documents = raters * float(np.sum(of_documents**2)) / ((systems - 1) * (documents - 1))
    variances = ErrorVariances(
        max(0.0, (squares_of_raters - residual) / documents),
        max(0.0, (squares_of_documents - residual) / raters),
        residual,
    )
    by_system = None
    if systems >= LEAST_SYSTEMS:
        by_system = VariancesBySystem(
            # A mean over D documents (R raters) has 1 / D (1 / R) of its mean square without the factor.
            separate_mean_squares(documents * of_raters.T @ of_raters, raters - 1),
            separate_mean_squares(raters * of_documents.T @ of_documents, documents - 1),
            separate_mean_squares(np.einsum("rds,rdt->st", left, left), (raters - 1) * (documents - 1)),
        )
    return CrossedMeanSquares(values.mean(axis=(0, 1)), variances, raters, documents, by_system)


RATER, RATER_BY_SYSTEM, DOCUMENT, RATER_BY_DOCUMENT, DOCUMENT_BY_SYSTEM, RESIDUAL = range(6)
_OF_CELLS = (RATER, RATER_BY_SYSTEM)
_OF_DOCUMENT = (DOCUMENT, RATER_BY_DOCUMENT, DOCUMENT_BY_SYSTEM, RESIDUAL)
_NOTHING = 1e-6  # of all variance: smaller components are 0
_STEP = 1e-3  # of differences, as a share of each variance
_AS_FIXED = 1e4  # times all variances: effects with such a variance are not shrunk


@dataclass(frozen=True, eq=False)
class CrossedFit:
    """The model at the largest restricted likelihood.

    components: (6,), variances in squared points in the order of the constants above. means: (systems,), with
    their covariance (systems, systems). slopes: (active, systems, systems), its derivatives by the variances
    that are not 0; information: (active, active), the second derivatives of -2 log likelihood by them.
    by_system: mean squares relative to their expectations; None with two systems.
    """

    components: FloatArray
    means: FloatArray
    covariance: FloatArray
    slopes: FloatArray
    information: FloatArray
    by_system: VariancesBySystem | None
    method: str = "restricted maximum likelihood (Patterson and Thompson 1971)"

    @property
    def variances(self) -> ErrorVariances:
        """The components of the error variance of a difference."""
        return ErrorVariances(*self.components[[RATER_BY_SYSTEM, DOCUMENT_BY_SYSTEM, RESIDUAL]].tolist())

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return a difference of two means, its variance, and Satterthwaite's degrees of freedom.

        2 v^2 / Var(v) with Var(v) = g' (2 / information) g, g the derivatives of v by the variances that are
        not 0. Source: Fai and Cornelius 1996; Kuznetsova and others 2017. Raises CrossedModelError where
        v or Var(v) is not above 0.
        """
        contrast = np.zeros(len(self.means))
        contrast[[one, other]] = 1, -1
        variance = float(contrast @ self.covariance @ contrast)
        slopes = self.slopes @ contrast @ contrast
        # The pseudo-inverse drops directions in which the likelihood is flat.
        spread = float(slopes @ np.linalg.pinv(self.information, rcond=1e-8, hermitian=True) @ slopes)
        if not (variance > 0 and spread > 0):
            raise CrossedModelError(NO_ERROR)
        return float(contrast @ self.means), variance, variance**2 / spread

    def parts_of_pair(self, one: int, other: int, /) -> tuple[float, float, float]:
        """Return the contributions of a relative mean square of 1 for each of two systems: raters, documents,
        residual.

        A variance of a difference is the sum over components of component times derivative (Euler), so each
        has its part. Effects that two systems do not fully share because of gaps count as residual.
        """
        contrast = np.zeros(len(self.means))
        contrast[[one, other]] = 1, -1
        each = np.zeros(6)
        active = np.flatnonzero(self.components)
        each[active] = self.components[active] * (self.slopes @ contrast @ contrast)
        raters, documents = max(each[RATER_BY_SYSTEM], 0.0), max(each[DOCUMENT_BY_SYSTEM], 0.0)
        rest = float(contrast @ self.covariance @ contrast) - raters - documents
        return (raters + rest) / 2, (documents + rest) / 2, rest / 2


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Documents that were rated in the same cells (n,).

    documents: the number of documents. total, products: the sums of their values (n,) and of the values'
    products (n, n). parts: (4, n, n), the covariance of a document's ratings from each of _OF_DOCUMENT.
    """

    cells: IntArray
    documents: int
    total: FloatArray
    products: FloatArray
    parts: FloatArray


@dataclass(frozen=True, eq=False)
class _Model:
    """The ratings as sums over documents. system_of: (cells, systems), 1 if a cell belongs to a system.

    parts: (2, cells, cells), the covariance of cells from each of _OF_CELLS.
    """

    patterns: Sequence[_Pattern]
    system_of: FloatArray
    parts: FloatArray

    def at(self, variances: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return -2 log likelihood, its derivatives (6,), the means and their covariance."""
        solved, slopes = self.solve(variances), np.zeros(6)
        # tr(P V_k) - y'P V_k P y for each component: first of cells, then within documents.
        of_cells = solved.expected_of_cells - np.outer(solved.residual, solved.residual)
        slopes[list(_OF_CELLS)] = np.tensordot(self.parts, of_cells, 2)
        for each, inverse in zip(self.patterns, solved.inverses, strict=True):
            expected, squares = solved.of_pattern(each, inverse)
            slopes[list(_OF_DOCUMENT)] += np.tensordot(each.parts, expected - squares, 2)
        return solved.deviance, slopes, solved.means, solved.covariance

    def solve(self, variances: FloatArray) -> "_Solution":
        """Return the components of the likelihood, derivatives and mean squares.

        -2 log L = log |V| + log |X'V^-1 X| + y'Py up to a constant; by the variance of a part V_k it is tr(P
        V_k) - y'P V_k P y (Searle, Casella and McCulloch 1992, chapter 6). Here P = A - AZ W Z'A, A the
        inverse covariance of ratings given the effects of cells, M = Z'AZ (`precision`), W (`projection`).
        """
        cells = len(self.system_of)
        precision, weighted, squares, log = np.zeros((cells, cells)), np.zeros(cells), 0.0, 0.0
        # A for one document of each pattern: the inverse covariance of its ratings, given the cells.
        inverses = [
            _inverse(np.tensordot(variances[list(_OF_DOCUMENT)], each.parts, 1)) for each in self.patterns
        ]
        # Sums over documents: M = Z'AZ, Z'Ay, y'Ay and -log |A|.
        for each, inverse in zip(self.patterns, inverses, strict=True):
            precision[np.ix_(each.cells, each.cells)] += each.documents * inverse
            weighted[each.cells] += inverse @ each.total
            squares += float(np.sum(inverse * each.products))
            log -= each.documents * float(np.linalg.slogdet(inverse)[1])
        # |V| = |A|^-1 |I + E M| with E the covariance of cells, so no matrix is larger than the cells.
        effects = np.tensordot(variances[list(_OF_CELLS)], self.parts, 1)
        spread = np.eye(cells) + effects @ precision
        shrunk = np.linalg.inv(spread)
        # X'V^-1 X = X'M (I + E M)^-1 X, with X the systems of the cells.
        of_systems = shrunk @ self.system_of
        information = self.system_of.T @ precision @ of_systems
        covariance = _inverse(information)
        log += float(np.linalg.slogdet(spread)[1]) + float(np.linalg.slogdet(information)[1])
        # The second term of W is for the means of systems, which are estimated and not known.
        projection = shrunk @ effects + of_systems @ covariance @ of_systems.T
        fitted = projection @ weighted
        # The deviance ends with y'Py = y'Ay - y'AZ W Z'Ay.
        return _Solution(
            log + squares - float(weighted @ fitted),
            covariance @ of_systems.T @ weighted,
            covariance,
            inverses,
            precision,
            projection,
            weighted - precision @ fitted,
            fitted,
        )

    def squares_by_system(self, variances: FloatArray) -> VariancesBySystem | None:
        """Return the mean squares of every system, relative to their expectations at these variances.

        They come from P y, summed over the ratings of a system by a rater, by a document, or not at all.
        Effects that all systems share (rater, document, rater on a document) are nearly fixed here:
        so without gaps these are nearly the usual ones. Degrees of freedom: tr(A)^2 / tr(A^2), A the
        covariance of the sums, averaged over systems (Box 1954, Annals of Mathematical Statistics 25).
        None if gaps leave a system without any.
        """
        shared = np.isin(np.arange(6), (RATER, DOCUMENT, RATER_BY_DOCUMENT))
        solved = self.solve(np.where(shared, _AS_FIXED * variances.sum(), variances))
        systems = self.system_of.shape[1]
        products, lost = np.zeros((3, systems, systems)), np.zeros((3, systems))
        expected = np.zeros((3, systems))
        of_cells, squares = solved.expected_of_cells, np.outer(solved.residual, solved.residual)
        # Raters by system: products of residuals of one rater's cells.
        products[0] = self.system_of.T @ (squares * self.parts[0]) @ self.system_of
        # tr(A) and tr(A^2) of the covariance A of a system's cells.
        expected[0] = self.system_of.T @ of_cells.diagonal()
        lost[0] = (self.system_of * (of_cells**2 @ self.system_of)).sum(axis=0)
        for each, inverse in zip(self.patterns, solved.inverses, strict=True):
            own, (covariance, squares) = self.system_of[each.cells], solved.of_pattern(each, inverse)
            same_rater = each.parts[1]
            of_document, of_rating = (own.T @ covariance @ own).diagonal(), own.T @ covariance.diagonal()
            # Documents by system: all pairs of a document's ratings; residual: pairs of one rater.
            products[1:] += [own.T @ squares @ own, own.T @ (squares * same_rater) @ own]
            expected[1:] += [of_document, of_rating]
            # The n documents of a pattern have one variance v, so their sum of squares is (n v)^2 / n.
            lost[1:] += [of_document**2 / each.documents, own.T @ covariance.diagonal() ** 2 / each.documents]
        if (expected <= _NOTHING * expected.max(axis=1, keepdims=True)).any():
            return None
        found: list[SystemMeanSquares] = []
        for index in range(3):
            # Documents and ratings lose one degree of freedom to their mean, which raters have lost already.
            freedom = max(float(np.mean(expected[index] ** 2 / lost[index])) - (index > 0), 1.0)
            # A mean square of 1 is then the one that the fitted variances predict.
            scale = np.sqrt(freedom * (1 - 1 / systems) / expected[index])
            found.append(separate_mean_squares(products[index] * np.outer(scale, scale), freedom))
        return VariancesBySystem(*found)


@dataclass(frozen=True, eq=False)
class _Solution:
    """The model at given variances. residual, fitted: (cells,), Z'Py and W times the weighted ratings."""

    deviance: float
    means: FloatArray
    covariance: FloatArray
    inverses: Sequence[FloatArray]
    precision: FloatArray
    projection: FloatArray
    residual: FloatArray
    fitted: FloatArray

    @property
    def expected_of_cells(self) -> FloatArray:
        """(cells, cells): Z'PZ, the covariance of the residual."""
        return self.precision - self.precision @ self.projection @ self.precision

    def of_pattern(self, pattern: _Pattern, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the covariance of Py of a pattern's documents, and its squares, both (n, n) summed."""
        own, block = self.fitted[pattern.cells], np.ix_(pattern.cells, pattern.cells)
        # Products of residuals from the fitted effects of cells, summed over documents.
        left = pattern.products - np.outer(pattern.total, own) - np.outer(own, pattern.total)
        left += pattern.documents * np.outer(own, own)
        expected = pattern.documents * (inverse - inverse @ self.projection[block] @ inverse)
        return expected, inverse @ left @ inverse


def fit_by_reml(values: FloatArray) -> CrossedFit:
    """The model for values (raters, documents, systems), NaN for gaps; every system needs a value.

    Equals lme4's `y ~ system + (1|document) + (1|rater) + (1|rater:system) + (1|document:system) +
    (1|rater:document)`. Variances cannot be negative; a variance that would be negative is 0, as if the model
    had no such part. Raises CrossedModelError if all are 0.
    """
    mean, scale = float(np.nanmean(values)), float(np.nanvar(values)) or 1.0
    # On values of variance 1, tolerances and _NOTHING are shares of all variance.
    model = _model((values - mean) / np.sqrt(scale))
    found, _, _ = scipy.optimize.fmin_l_bfgs_b(
        lambda tried: model.at(tried)[:2],
        np.array([0.1] * 5 + [0.5]),
        bounds=[(0.0, None)] * 5 + [(_NOTHING, None)],
        factr=10,
        pgtol=1e-7,
        maxiter=500,
    )
    is_zero = found <= _NOTHING
    variances = np.where(is_zero, 0.0, found)
    variances[RESIDUAL] = found[RESIDUAL]  # without it the covariance of ratings has no inverse
    _, _, means, covariance = model.at(variances)
    active = np.flatnonzero(~is_zero)
    if not len(active):
        raise CrossedModelError(NO_ERROR)
    # Central differences for each variance that is not 0, with steps in proportion to it.
    steps = [np.where(np.arange(6) == each, _STEP * variances, 0.0) for each in active]
    either = [(model.at(variances + step), model.at(variances - step)) for step in steps]
    slopes = [(up[3] - down[3]) / (2 * step.sum()) for (up, down), step in zip(either, steps, strict=True)]
    information = np.array(
        [
            ((up[1] - down[1]) / (2 * step.sum()))[active]
            for (up, down), step in zip(either, steps, strict=True)
        ]
    )
    # Back on the scale of the values, second derivatives by variances shrink by its square.
    return CrossedFit(
        np.where(is_zero, 0.0, variances) * scale,
        means * np.sqrt(scale) + mean,
        covariance * scale,
        np.array(slopes),
        (information + information.T) / 2 / scale**2,
        model.squares_by_system(variances) if values.shape[2] >= LEAST_SYSTEMS else None,
    )


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _model(values: FloatArray) -> _Model:
    by_cell = np.swapaxes(values, 0, 1).reshape(values.shape[1], -1)  # documents x (rater, system)
    rated = ~np.isnan(by_cell)
    used = np.flatnonzero(rated.any(axis=0))
    raters, systems = np.divmod(used, values.shape[2])
    same_rater, same_system = (labels[:, None] == labels for labels in (raters, systems))
    # Documents rated in the same cells share every matrix, so their values are added up.
    kinds, kind_of = np.unique(rated[:, used], axis=0, return_inverse=True)
    patterns = []
    for kind, given in enumerate(kinds):
        cells = np.flatnonzero(given)
        if len(cells):
            own, block = by_cell[kind_of.ravel() == kind][:, used[cells]], np.ix_(cells, cells)
            # In the order of _OF_DOCUMENT: document, rater:document, document:system, residual.
            parts = [np.ones((len(cells),) * 2), same_rater[block], same_system[block], np.eye(len(cells))]
            patterns.append(
                _Pattern(cells, len(own), own.sum(axis=0), own.T @ own, np.array(parts, dtype=float))
            )
    # The last argument is in the order of _OF_CELLS: rater, rater:system.
    return _Model(
        patterns,
        np.eye(values.shape[2])[systems],
        np.array([same_rater, np.eye(len(used))], dtype=float),
    )
