"""What the error of a difference of two systems is made of, where raters and documents are samples."""

from dataclasses import dataclass

import numpy as np
import scipy

from annotate.agreement.data import FloatArray


@dataclass(frozen=True)
class ErrorVariances:
    """Variances in squared points of the scale, each 0 or more."""

    rater_by_system: float
    document_by_system: float
    residual: float

    def of_difference(self, raters: int, documents: int) -> float:
        """2 (rater:system / R + document:system / D + residual / (R D)), each rater rating everything."""
        of_raters, of_documents = self.rater_by_system / raters, self.document_by_system / documents
        return 2 * (of_raters + of_documents + self.residual / (raters * documents))

    def degrees_of_freedom(self, systems: int, raters: int, documents: int) -> float:
        """Satterthwaite's for MS_rs + MS_ds - MS_e, which is R D / 2 times the variance above.

        A part that is 0 takes its mean square away and one MS_e with it: without rater:system MS_ds is left
        with its (S - 1)(D - 1) degrees of freedom, without both MS_e with its (S - 1)(D - 1)(R - 1).
        Source: Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
        """
        parts = [
            (self.rater_by_system, documents, raters - 1),
            (self.document_by_system, raters, documents - 1),
        ]
        terms = [(self.residual + times * part, freedom) for part, times, freedom in parts if part > 0]
        terms.append((self.residual * (1 - len(terms)), (raters - 1) * (documents - 1)))
        total = sum(square for square, _ in terms)
        return (systems - 1) * total**2 / sum(square**2 / freedom for square, freedom in terms)

    def smallest_difference(
        self, systems: int, raters: int, documents: int, *, significance_level: float, power: float = 0.8
    ) -> float:
        """The difference, in points, that a two-sided t test of this level finds with this power.

        The standard error times the noncentrality at which t exceeds its critical value with this
        probability; what is significant with the wrong sign does not count. At least 2 systems, raters and
        documents.
        """
        freedom = self.degrees_of_freedom(systems, raters, documents)
        critical = scipy.special.stdtrit(freedom, 1 - significance_level / 2)
        noncentrality = scipy.special.nctdtrinc(freedom, 1 - power, critical)
        return float(noncentrality * np.sqrt(self.of_difference(raters, documents)))

    def power(
        self, difference: float, systems: int, raters: int, documents: int, *, significance_level: float
    ) -> float:
        """The probability that the same test finds a true difference of so many points, with its sign."""
        error = np.sqrt(self.of_difference(raters, documents))
        if error == 0:
            return float(difference != 0)
        freedom = self.degrees_of_freedom(systems, raters, documents)
        critical = scipy.special.stdtrit(freedom, 1 - significance_level / 2)
        return float(1 - scipy.special.nctdtr(freedom, abs(difference) / error, critical))


@dataclass(frozen=True, eq=False)
class CrossedMeanSquares:
    """Means (systems,) of complete ratings, and variances by equating mean squares to their expectations."""

    means: FloatArray
    variances: ErrorVariances
    raters: int
    documents: int
    method: str = "mean squares equated to their expectations (Henderson 1953, method 1)"

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return a difference of two means, its variance, and its degrees of freedom."""
        size = len(self.means), self.raters, self.documents
        variance = self.variances.of_difference(*size[1:])
        return float(self.means[one] - self.means[other]), variance, self.variances.degrees_of_freedom(*size)


def fit_by_mean_squares(values: FloatArray) -> CrossedMeanSquares:
    """The model for values (raters, documents, systems) without gaps, 2 of each or more.

    E(MS_e) = residual, E(MS_rs) = residual + D rater:system, E(MS_ds) = residual + R document:system. What
    would be below 0 is 0.
    """
    raters, documents, systems = values.shape
    centred = values - values.mean(axis=2, keepdims=True)
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
    return CrossedMeanSquares(values.mean(axis=(0, 1)), variances, raters, documents)
