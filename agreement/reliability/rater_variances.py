"""The contribution of a random panel of raters to the variance of means of systems; no judge can reduce
it.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from agreement.data import FloatArray
from agreement.variance_components import VarianceComponents, variance_components, why_no_components

_TINY = 1e-12


def why_raters_are_given(values: FloatArray) -> str:
    """Return the reason why values (raters, documents, systems) show no variance between raters; empty if
    they do.
    """
    given = ~np.isnan(values)
    raters = int(given.any(axis=(1, 2)).sum())
    if raters < 2:
        return "Only one rater gave values, so intervals are about this rater."
    if given.any(axis=(0, 1)).sum() < 2:
        return "Only one system has enough ratings, so intervals are about these raters."
    if reason := why_no_components(values):
        return f"{reason} Intervals are about these raters."
    return ""


@dataclass(frozen=True, eq=False)
class RaterVariances:
    """Variances of raters and of raters by systems, and the share of each in a mean of a system.

    shared: (systems, systems), the factor of the variance of raters in the covariance of two means, beyond
    the part that differences between documents already show. Its diagonal is also the factor of the variance
    of raters by systems. documents: the mean number of documents of a system that a rater rated.
    """

    components: VarianceComponents
    shared: FloatArray
    raters: int
    documents: float

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Estimate both from values (raters, documents, systems), NaN for gaps, 2 documents a system.

        With w_rd the share of a rating in the mean of a system, W_r its sum over documents and n the rated
        documents: n / (n - 1) (sum_r W_ra W_rb - sum_rd w_rda w_rdb), 1 / R if R raters rate everything and 0
        if every document has different raters. Variances by `variance_components`. Source: expectation of the
        variance between documents under the crossed model of `crossed`.
        """
        given = ~np.isnan(values)
        number = given.any(axis=0).sum(axis=0)
        weights = np.where(given, 1 / np.maximum(given.sum(axis=0), 1), 0.0) / number
        totals = weights.sum(axis=1)
        each = np.sqrt(number / (number - 1))
        shared = (totals.T @ totals - np.einsum("rda,rdb->ab", weights, weights)) * np.outer(each, each)
        raters = int(given.any(axis=(1, 2)).sum())
        rated = float(given.sum()) / (raters * values.shape[2])
        return cls(variance_components(values), shared, raters, rated)

    def of_contrast(self, weights: FloatArray) -> tuple[float, float]:
        """Return the contribution of raters to the variance of weights (systems,) @ means, and its sum v^2 /
        f.

        The parts v are the mean squares of the balanced crossed model times their coefficients, each with its
        degrees of freedom f. Source: Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
        """
        found, systems, documents = self.components, len(weights), self.documents
        main = float(weights @ self.shared @ weights)
        main = main if main > _TINY else 0.0
        own = float(weights**2 @ np.diag(self.shared))
        of_raters, of_cells = main / (documents * systems), own / documents
        rest = found.rest
        by_system = rest + documents * found.raters_by_systems
        by_document = rest + systems * found.raters_by_documents
        between = by_system + by_document - rest + documents * systems * found.raters
        one, other, third = self.raters - 1, systems - 1, max(documents - 1, 1)
        terms = (
            (between * of_raters, one),
            (by_system * (of_cells - of_raters), one * other),
            (by_document * of_raters, one * third),
            (rest * (of_raters - of_cells), one * other * third),
        )
        lost = sum(part**2 / freedom for part, freedom in terms)
        return main * found.raters + own * found.raters_by_systems, lost
