"""How many raters and documents a study needs: a published table, and simulated larger studies."""

import numpy as np
import pytest

from agreement import ReliabilityData, intraclass_correlation
from agreement.variance_components import expected_width, raters_needed, reliability_of_mean, units_needed

pytestmark = pytest.mark.fast


def test_four_raters_of_shrout_and_fleiss() -> None:
    # Shrout and Fleiss 1979, table 4: ICC(2,1) .29, ICC(2,4) .62.
    assert reliability_of_mean(0.2898, 4) == pytest.approx(0.62, abs=0.005)


@pytest.mark.parametrize(
    ("single", "target", "raters"),
    [(0.5, 0.8, 4), (0.8, 0.8, 1), (1.0, 0.9, 1), (0.4, 0.8, 6), (0.02, 0.8, None), (0.0, 0.8, None)],
)
def test_the_fewest_raters_that_reach_a_target(single: float, target: float, raters: int | None) -> None:
    assert raters_needed(single, target) == raters
    if raters:
        assert reliability_of_mean(single, raters) >= target - 1e-9
    if raters and raters > 1:
        assert reliability_of_mean(single, raters - 1) < target


def ratings(generator: np.random.Generator, raters: int, units: int) -> ReliabilityData:
    values = generator.normal(size=units) + 0.4 * generator.normal(size=(raters, 1))
    values = values + 0.9 * generator.normal(size=(raters, units))
    return ReliabilityData(values, measurement_level="interval", value_domain=np.unique(values))


def test_a_larger_study_is_as_reliable_as_a_small_one_foretold() -> None:
    generator = np.random.default_rng(1)
    # Variances 1, .16 and .81: ICC(A,1) is 1 / 1.97, so that four raters reach .8.
    small = [intraclass_correlation(ratings(generator, 3, 60)).value or 0 for _ in range(60)]
    assert raters_needed(float(np.mean(small)), 0.8) == 4
    large = [intraclass_correlation(ratings(generator, 4, 60), form="A,k").value or 0 for _ in range(60)]
    assert np.mean(large) == pytest.approx(reliability_of_mean(1 / 1.97, 4), abs=0.02)


def test_widths_go_with_the_root_of_units() -> None:
    assert expected_width(0.2, 50, 200) == pytest.approx(0.1)
    assert units_needed(0.2, 50, 0.1) == 200
    assert units_needed(0.1, 50, 0.2) == 13
    with pytest.raises(ValueError, match="at least one"):
        reliability_of_mean(0.5, 0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        raters_needed(0.5, 1)
