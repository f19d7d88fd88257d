"""Errors that go with a property of texts: their length, or how familiar a model finds them."""

import numpy as np

from annotate.agreement.bootstrap import Statistic
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness
from judges.biases.measures import Bias, BiasMeasure, against_dealt, errors_of
from judges.comparison import Scores


def slope_of_errors(
    scores: Scores, property_of_items: FloatArray, name: str, label: str, *, generator: Randomness
) -> Bias:
    """b of f - h = a_system + b z, in points of the scale for one standard deviation of the property.

    property_of_items: (items,), such as the logarithm of a length, NaN where unknown; z is it standardised.
    f is the judge, h the mean of people. The effect a_system of each system is taken out, so that a system
    with long and good texts is no bias. Above 0 the judge prefers more of it than people do. The
    interval resamples documents. Undefined where the property does not vary within systems.
    Source: Dubois and others 2024 (arXiv 2404.04475, length), Stureborg and others 2024 (familiarity).
    """
    judged = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(property_of_items)
    both, values = scores.of_items(judged), property_of_items[judged]
    spread = values.std() if len(values) else 0.0
    z = (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
    measure = BiasMeasure(f"slope_of_errors_{name}", label, _SOURCE)
    why = "The texts of each system are alike in this, so nothing can go with it."
    return against_dealt(measure, lambda each: _slope(each, z), both, why, generator)


_SOURCE = "Stureborg, Alikaniotis and Suhara 2024; slope within systems by least squares"


def _slope(both: Scores, z: FloatArray) -> Statistic:
    """Within systems: sum (z - mean z)(e - mean e) / sum (z - mean z)^2, each mean over the drawn items."""
    errors = errors_of(both)
    tables = {
        name: np.nan_to_num(both.by_document(values))
        for name, values in (
            ("n", np.ones_like(z)),
            ("z", z),
            ("e", errors),
            ("ze", z * errors),
            ("zz", z * z),
        )
    }

    def slopes(weights: FloatArray) -> FloatArray:
        n, of_z, of_e, of_ze, of_zz = (weights @ table for table in tables.values())
        drawn = np.where(n > 0, n, 1)
        together = (of_ze - of_z * of_e / drawn).sum(axis=1)
        alone = (of_zz - of_z**2 / drawn).sum(axis=1)
        found = np.full(len(weights), np.nan)
        np.divide(together, alone, out=found, where=alone > 1e-9)
        return found

    return slopes
