"""By what ratings differ: a published table, another model, gaps, and what follows for a larger study."""

import numpy as np
import pytest

from agreement import ErrorVariances, ReliabilityData, intraclass_correlation
from agreement.crossed_fit import fit_by_mean_squares
from agreement.variance_components import (
    VarianceComponents,
    variance_components,
    why_no_components,
)

pytestmark = pytest.mark.fast

# Brennan 2001, synthetic data set 3: ten persons by four items on two occasions.
FIRST = [[2, 4, 5, 5, 4, 4, 2, 3, 0, 6], [6, 5, 5, 9, 3, 4, 6, 4, 5, 8], [7, 6, 4, 8, 5, 4, 6, 4, 4, 7]]
FIRST += [[5, 7, 6, 6, 6, 7, 5, 5, 5, 6]]
SECOND = [[2, 6, 5, 5, 4, 6, 2, 6, 5, 6], [5, 7, 4, 7, 5, 4, 7, 6, 5, 8], [5, 5, 5, 7, 6, 7, 7, 6, 5, 8]]
SECOND += [[5, 7, 5, 6, 4, 8, 5, 4, 3, 6]]
BRENNAN = np.array(
    [FIRST, SECOND], dtype=float
)  # occasions as raters, items as documents, persons as systems


@pytest.mark.oracle("Brennan 2001, synthetic data set 3", of="variance_components", within=5.1e-05)
def test_the_components_and_coefficients_of_brennan() -> None:
    found = variance_components(BRENNAN)
    published = [0.5528, 0.4417, 0.5750, 0.0074, 0.1009, 0.1565, 0.9352]
    assert list(vars(found).values()) == pytest.approx(published, abs=5.1e-5)
    assert found.generalisability(2, 4) == pytest.approx(0.64, abs=0.005)
    assert found.dependability(2, 4) == pytest.approx(0.55, abs=0.005)


def draw_values(seed: int, size: tuple[int, int, int]) -> np.ndarray:
    raters, documents, systems = size
    generator = np.random.default_rng(seed)
    values = 0.5 * generator.normal(size=(1, 1, systems)) + 0.4 * generator.normal(size=(1, documents, 1))
    values = values + 0.3 * generator.normal(size=(1, documents, systems))
    values = (
        values
        + 0.3 * generator.normal(size=(raters, 1, 1))
        + 0.2 * generator.normal(size=(raters, 1, systems))
    )
    return np.asarray(
        values + 0.25 * generator.normal(size=(raters, documents, 1)) + 0.6 * generator.normal(size=size)
    )


def test_components_without_gaps_match_the_model_of_differences() -> None:
    values = draw_values(1, (3, 20, 6))
    assert vars(variance_components(values).of_differences) == pytest.approx(
        vars(fit_by_mean_squares(values).variances)
    )


def test_components_are_recovered_with_a_third_of_the_ratings_missing() -> None:
    found = []
    for seed in range(60):
        values = draw_values(seed, (5, 40, 10))
        values[np.random.default_rng(seed).random(values.shape) < 1 / 3] = np.nan
        found.append(list(vars(variance_components(values)).values()))
    expected = [0.25, 0.16, 0.09, 0.09, 0.04, 0.0625, 0.36]
    assert np.mean(found, axis=0) == pytest.approx(expected, rel=0.12)


def test_phi_of_outputs_matches_the_icc_of_units() -> None:
    """Of many texts, so that units and systems by documents are the same population."""
    values = draw_values(2, (4, 120, 30))
    units = ReliabilityData(
        values.reshape(4, -1), measurement_level="interval", value_domain=np.unique(values)
    )
    icc = intraclass_correlation(units, form="A,k").value
    found = variance_components(values)
    texts = found.systems + found.documents + found.documents_by_systems
    assert texts / (texts + (found.total - texts) / 4) == pytest.approx(icc, abs=0.01)


def test_inseparable_components_have_a_reason() -> None:
    assert why_no_components(draw_values(3, (1, 5, 3)))
    apart = draw_values(3, (2, 6, 3))
    apart[0, :3], apart[1, 3:] = np.nan, np.nan  # no document has two raters
    assert why_no_components(apart) == "Two raters must share texts of two systems on two documents."
    with pytest.raises(ValueError, match="Two raters must share"):
        variance_components(apart)
    assert VarianceComponents(0, 0, 0, 0, 0, 0, 0).dependability(3, 10) is None


def test_power_at_the_smallest_difference_is_the_requested_power() -> None:
    variances = ErrorVariances(0.04, 0.06, 0.3)
    smallest = variances.smallest_difference(6, 3, 32, significance_level=0.01, power=0.8)
    assert variances.power(smallest, 6, 3, 32, significance_level=0.01) == pytest.approx(0.8)
    assert variances.power(0, 6, 3, 32, significance_level=0.01) == pytest.approx(0.005)
    assert ErrorVariances(0, 0, 0).power(0.1, 6, 3, 32, significance_level=0.01) == 1
