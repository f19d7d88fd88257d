"""Whether the model of raters' severity fits: systems' means and raters' residuals as it predicts them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agreement.data import FloatArray
from agreement.ranks import holm
from agreement.severity_likelihood import SeverityLikelihood
from agreement.student import t_p_value


@dataclass(frozen=True, eq=False)
class SeverityMisfit:
    """expected_means: (systems,), what the model predicts from the raters who rated each unit.

    p_values, adjusted: (systems + raters,), of systems' means and raters' infit, and by Holm over all.
    """

    expected_means: FloatArray
    p_values: FloatArray
    adjusted: FloatArray


def severity_misfit(
    likelihood: SeverityLikelihood, parameters: FloatArray, inverse: FloatArray
) -> SeverityMisfit:
    """Test what the fitted model predicts against the values, systems by means and raters by infit.

    inverse: (parameters, parameters), of the loss's curvature, 0 where a parameter is held. A sum over
    documents of values minus predictions has the mean 0 if the model holds. Its variance is that of the parts
    of documents, each with the part that it has in the parameters; p by Student's t, with documents minus one
    degrees of freedom. Sources: Hausman 1978, Econometrica 46, 1251-1271, for two estimates of one mean;
    Newey 1985, Econometrica 53, 1047-1070, for moments of a fitted model; Holm 1979.
    """
    scores = likelihood.scores_by_document(parameters) @ inverse

    def p_values(moments: Callable[[FloatArray], FloatArray]) -> list[float]:
        by_document = moments(parameters)
        _, slopes = likelihood.with_slopes(lambda at: moments(at).sum(axis=0), parameters)
        moved = by_document + scores @ slopes.T
        documents = len(moved)
        errors = np.sqrt(documents * moved.var(axis=0, ddof=1))
        sums = zip(by_document.sum(axis=0).tolist(), errors.tolist(), strict=True)
        return [t_p_value(each, error, documents - 1) if error > 0 else 1.0 for each, error in sums]

    found = [*p_values(likelihood.mean_residuals), *p_values(likelihood.excess_squares)]
    means = likelihood.rated.means_of_systems()
    expected = means - likelihood.mean_residuals(parameters).sum(axis=0)
    return SeverityMisfit(expected, np.array(found), holm(found))
