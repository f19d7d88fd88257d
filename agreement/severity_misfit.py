"""Whether the model of raters' severity fits: systems' means and raters' residuals as it predicts them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agreement.data import FloatArray
from agreement.ranks import holm_by_key
from agreement.severity_likelihood import SeverityLikelihood
from agreement.student import t_p_value

NO_VARIANCE = "This difference hardly varies between documents, so it is not tested."
_LEAST_ERROR = 1e-4
"""Of the error that values alone bring; below it, value and error are numerical noise."""


@dataclass(frozen=True, eq=False)
class SeverityMisfit:
    """expected_means: (systems,), the model's prediction from the raters of each unit.

    p_values, adjusted: (systems + raters,), of systems' means and raters' infit, and by Holm over all; None
    for `NO_VARIANCE`.
    """

    expected_means: FloatArray
    p_values: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]


def severity_misfit(
    likelihood: SeverityLikelihood, parameters: FloatArray, inverse: FloatArray
) -> SeverityMisfit:
    """Test the fitted model's predictions against the values, systems by means and raters by infit.

    inverse: (parameters, parameters), of the loss's curvature, 0 if a parameter is fixed. A sum over
    documents of values minus predictions has the mean 0 if the model holds. Its variance is the variance of
    the parts of documents, each with its part in the parameters; p by Student's t, with documents minus one
    degrees of freedom. No p value if the error is below 1e-4 of the largest error with known parameters, or
    of one standard deviation of the values in each document: both value and error are then numerical noise.
    Sources: Hausman 1978, Econometrica 46, 1251-1271, for two estimates of one mean; Newey 1985, Econometrica
    53, 1047-1070, for moments of a fitted model; Holm 1979.
    """
    scores = likelihood.scores_by_document(parameters) @ inverse
    rated = likelihood.rated
    deviation = float(np.std(rated.points[rated.code]))

    def p_values(moments: Callable[[FloatArray], FloatArray], unit: float) -> list[float | None]:
        by_document = moments(parameters)
        _, slopes = likelihood.with_slopes(lambda at: moments(at).sum(axis=0), parameters)
        moved = by_document + scores @ slopes.T
        documents = len(moved)
        errors, known = (np.sqrt(documents) * each.std(axis=0, ddof=1) for each in (moved, by_document))
        least = _LEAST_ERROR * max(float(known.max()), np.sqrt(documents) * unit)
        sums = zip(by_document.sum(axis=0).tolist(), errors.tolist(), strict=True)
        return [t_p_value(each, error, documents - 1) if error > least else None for each, error in sums]

    found = [
        *p_values(likelihood.mean_residuals, deviation / rated.number_of_documents),
        *p_values(likelihood.excess_squares, deviation**2),
    ]
    adjusted = holm_by_key(dict(enumerate(found)))
    expected = rated.means_of_systems() - likelihood.mean_residuals(parameters).sum(axis=0)
    return SeverityMisfit(expected, tuple(found), tuple(adjusted.get(index) for index in range(len(found))))
