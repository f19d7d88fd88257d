"""Designs that reach a goal, and the widths of intervals that they promise."""

import math

import numpy as np
import pytest
import scipy

from agreement.crossed_fit import ErrorVariances
from agreement.design import Design, cheapest_designs, deviation_of_alpha, width_of_alpha, width_of_difference
from agreement.variance_components import VarianceComponents
from benchmarks.coverage_power import STUDIES, design_of_alpha, design_of_differences


def test_designs_have_the_fewest_documents_for_each_number_of_raters() -> None:
    found = cheapest_designs([lambda raters, documents: raters * documents >= 35], 2, raters=(2, 4, 5, 20))
    assert found == [Design(5, 7, 2, 5), Design(2, 18, 2, 2), Design(4, 9, 2, 4), Design(20, 3, 2, 20)]
    assert [each.ratings for each in found] == [70, 72, 72, 120]


def test_training_counts_and_every_goal_is_reached() -> None:
    goals = [lambda raters, documents: raters * documents >= 60, lambda raters, _: raters > 2]
    assert [each.raters for each in cheapest_designs(goals, 1, raters=(2, 3, 6))] == [3, 6]
    many = cheapest_designs(goals[:1], 1, training=100, raters=(6, 3))
    assert [each.raters for each in many] == [3, 6]
    assert cheapest_designs([lambda _raters, _documents: False], 3) == []


def test_three_of_ten_raters_form_a_separate_design() -> None:
    found = cheapest_designs([lambda _, documents: documents >= 3], 2, raters=(2, 3, 10), per_document=3)
    # Ten raters need five documents of three raters before each shares a document with others.
    assert found == [Design(3, 3, 2, 3), Design(10, 5, 2, 3)]
    assert found[1].ratings == 3 * 5 * 2


def test_one_rater_of_each_document_is_rejected() -> None:
    for per_document in (0, 1):
        says = f"At least 2 raters rate each document, not {per_document}."
        with pytest.raises(ValueError, match=says):
            cheapest_designs([lambda _, documents: documents >= 3], 2, per_document=per_document)
        with pytest.raises(ValueError, match=says):
            deviation_of_alpha(VarianceComponents(0, 0.3, 0.2, 0, 0, 0, 0.5), 2, 3, per_document)


def test_variance_of_a_three_of_ten_difference_matches_its_covariances() -> None:
    rater, document = np.array([((3 * each + n) % 10, each) for each in range(20) for n in range(3)]).T
    covariance = 0.04 * (rater[:, None] == rater) + 0.09 * (document[:, None] == document) + 0.36 * np.eye(60)
    expected = 2 * covariance.sum() / 60**2
    assert ErrorVariances(0.04, 0.09, 0.36).of_difference(10, 20, 3) == pytest.approx(expected)


def test_width_of_three_of_ten_raters_is_reached() -> None:
    (study,) = (each for each in STUDIES if each.raters == 10)
    _, width = design_of_differences(study, 40)
    assert width.reached == pytest.approx(width.promised, rel=0.06)


def test_width_of_a_difference_is_worked_by_hand() -> None:
    """v = 2 (.04 / 4 + .09 / 9 + .36 / 36) = .06; mean squares .72, .72 and .36 with 3, 8 and 24."""
    variances = ErrorVariances(0.04, 0.09, 0.36)
    freedom = (0.72 + 0.72 - 0.36) ** 2 / (0.72**2 / 3 + 0.72**2 / 8 + 0.36**2 / 24)
    expected = 2 * scipy.stats.t.ppf(0.975, freedom) * math.sqrt(0.06)
    assert width_of_difference(variances, 2, 4, 9) == pytest.approx(expected)
    assert width_of_difference(ErrorVariances(0, 0, 0), 2, 4, 9) == 0


def test_alpha_of_a_design_is_the_share_of_variance_between_units() -> None:
    components = VarianceComponents(0, 0.3, 0.2, 0, 0, 0, 0.5)
    alpha, deviation = deviation_of_alpha(components, 4, 3)
    assert alpha == pytest.approx(0.5, abs=0.03)
    assert width_of_alpha(deviation, 400) == pytest.approx(width_of_alpha(deviation, 100) / 2)
    assert deviation_of_alpha(components, 4, 12)[1] < deviation


def test_promised_power_and_widths_are_reached() -> None:
    """`python benchmarks/coverage.py power` measures more."""
    power, width = design_of_differences(STUDIES[0], 300)
    assert power.reached == pytest.approx(power.promised, abs=0.07)
    assert width.reached == pytest.approx(width.promised, rel=0.06)
    alpha = design_of_alpha(STUDIES[1], 12)
    assert alpha.reached == pytest.approx(alpha.promised, rel=0.2)
