"""Whether a mean lies below a bound: by hand, against SciPy, and how often a true null is rejected."""

import numpy as np
import pytest
from scipy import stats

from agreement.reliability.alternative_annotator import p_value_below
from benchmarks.coverage_replacement import KINDS, LosingJudge, rejected_true_nulls

pytestmark = pytest.mark.fast


def test_from_thirty_values_on_it_is_the_t_test() -> None:
    values = np.tile([0.1, 0.2, -0.3], 10)
    assert p_value_below(values, 0.1) == stats.ttest_1samp(values, 0.1, alternative="less").pvalue


def test_without_skewness_few_values_have_a_t_test_with_divisor_n() -> None:
    values = np.array([-0.5, -0.25, 0.0, 0.25, 0.5])
    expected = stats.t.cdf(np.sqrt(5) * (0 - 0.2) / np.sqrt(0.125), 4)
    assert p_value_below(values, 0.2) == pytest.approx(expected)


def test_skewness_correction_matches_hand_calculation() -> None:
    # Of 0, 0, 0, 1: mean 1/4, variance 3/16, skewness 2 / sqrt 3; T = -1 / sqrt 3 for a bound of 1/2.
    values = np.array([0.0, 0.0, 0.0, 1.0])
    skewness, distance = 2 / np.sqrt(3), -1 / np.sqrt(3)
    straight = distance + 2 / (9 * np.sqrt(3)) - 4 / (243 * np.sqrt(3)) + skewness / 24
    assert skewness * distance**2 / 3 == pytest.approx(2 / (9 * np.sqrt(3)))
    assert p_value_below(values, 0.5) == pytest.approx(stats.t.cdf(2 * straight, 3))


def test_much_better_judge_is_detected_despite_skewed_wins() -> None:
    values = np.array([-1.0] * 11 + [-0.6])
    assert p_value_below(values, 0.2) < 1e-6


@pytest.mark.parametrize(("same", "documents"), [(0.0, 12), (-1.0, 5), (-0.5, 8)])
def test_equal_differences_reach_but_never_exceed_the_null_probability(same: float, documents: int) -> None:
    """The others would have to be 1 for a mean of the bound."""
    share = (1 - 0.2) / (1 - same)
    assert share * same + (1 - share) == pytest.approx(0.2)
    assert p_value_below(np.full(documents, same), 0.2) == pytest.approx(share**documents)
    assert p_value_below(np.full(documents, 0.2), 0.2) == 1


@pytest.mark.parametrize("documents", [12, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_true_nulls_are_rejected_at_about_their_level(kind: tuple[float, float], documents: int) -> None:
    """Of 400 simulations: a share of .05 has a standard error of .011. The document has those of 2,000."""
    assert rejected_true_nulls(LosingJudge(documents, 4, *kind), 400) <= 0.1
