"""Exact bounds against worked figures, fractions, and each other."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from agreement.reliability import Guarantee, bounds, least_accepted_ratings

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.01, 0.05, 0.1, 0.2])


def hypergeometric(wrong: int, units: int, wrong_units: int, ratings: int) -> Fraction:
    ways = sum(comb(wrong_units, k) * comb(units - wrong_units, ratings - k) for k in range(wrong + 1))
    return Fraction(ways, comb(units, ratings))


@pytest.mark.parametrize(
    ("errors", "ratings", "units", "batch", "population"),
    [
        (5, 100, 200, 0.0750, 0.0908),
        (3, 65, 120, 0.0833, 0.0999),
        (0, 22, 100, 0.0800, 0.0994),
        (8, 100, 1000, 0.1240, 0.1267),
    ],
)
def test_worked_bounds(errors: int, ratings: int, units: int, batch: float, population: float) -> None:
    wrong = bounds.hypergeometric_upper(errors, ratings, units, 0.1)
    assert wrong / units == pytest.approx(batch, abs=5e-5)
    assert bounds.clopper_pearson_upper(errors, ratings, 0.1) == pytest.approx(population, abs=5e-5)


def test_worked_p_values() -> None:
    assert bounds.hoeffding_bentkus_p_value(0.05, 200, 0.1) == pytest.approx(0.021939, abs=1e-6)
    assert bounds.binomial_p_value(10, 200, 0.1) == pytest.approx(0.008071, abs=5e-7)


@pytest.mark.oracle("Jung, Brahman and Choi 2025: ln(delta) / ln(1 - risk)", of="least_accepted_ratings")
@pytest.mark.parametrize(
    ("risk", "level", "least"),
    [(0.1, 0.1, 22), (0.1, 0.05, 29), (0.05, 0.1, 45), (0.05, 0.05, 59), (0.2, 0.1, 11), (0.2, 0.05, 14)],
)
def test_the_fewest_ratings_without_an_error(risk: float, level: float, least: int) -> None:
    assert least_accepted_ratings(Guarantee(risk, level)) == least
    assert least == int(np.ceil(np.log(level) / np.log(1 - risk)))


@given(count=counts, level=levels)
def test_clopper_and_pearson_solve_their_equation(count: tuple[int, int], level: float) -> None:
    errors, ratings = count
    bound = float(bounds.clopper_pearson_upper(errors, ratings, level))
    if errors == ratings:
        assert bound == 1
        return
    solved = optimize.brentq(lambda rate: stats.binom.cdf(errors, ratings, rate) - level, 0, 1, xtol=1e-13)
    assert bound == pytest.approx(solved, abs=1e-9)


@given(count=counts, more=st.integers(0, 60), level=levels)
def test_the_hypergeometric_bound_is_the_largest_count_not_rejected(
    count: tuple[int, int], more: int, level: float
) -> None:
    errors, ratings = count
    units = ratings + more
    bound = int(bounds.hypergeometric_upper(errors, ratings, units, level))
    exact = Fraction(level)
    largest = units - (ratings - errors)
    assert errors <= bound <= largest
    assert hypergeometric(errors, units, bound, ratings) > exact or bound == errors
    assert bound == largest or hypergeometric(errors, units, bound + 1, ratings) <= exact


@given(count=counts, more=st.integers(0, 60), level=levels, risk=st.sampled_from([0.05, 0.1, 0.3, 0.5]))
def test_a_p_value_below_the_level_is_a_bound_below_the_risk(
    count: tuple[int, int], more: int, level: float, risk: float
) -> None:
    errors, ratings = count
    units = ratings + more
    rejected = bounds.hypergeometric_p_value(errors, ratings, units, risk) <= level
    within = bounds.hypergeometric_upper(errors, ratings, units, level) <= bounds.largest_allowed(units, risk)
    assert rejected == within
    rejected = bounds.binomial_p_value(errors, ratings, risk) <= level
    assert rejected == (bounds.clopper_pearson_upper(errors, ratings, level) <= risk)


@given(count=counts, level=levels)
def test_more_errors_or_fewer_ratings_never_lower_a_bound(count: tuple[int, int], level: float) -> None:
    errors, ratings = count
    bound = bounds.clopper_pearson_upper(errors, ratings, level)
    assert bounds.clopper_pearson_upper(errors, ratings + 1, level) <= bound
    assert bounds.clopper_pearson_upper(errors + 1, ratings + 1, level) >= bound
    assert bounds.clopper_pearson_upper(errors, ratings, level / 2) >= bound
    mean = errors / ratings
    hoeffding = bounds.hoeffding_bentkus_upper(mean, ratings, level)
    assert hoeffding >= bounds.hoeffding_bentkus_upper(mean, 2 * ratings, level) - 1e-8
    assert hoeffding >= mean


@given(count=counts, more=st.integers(0, 500), level=levels)
def test_a_closed_batch_never_has_the_wider_bound(count: tuple[int, int], more: int, level: float) -> None:
    errors, ratings = count
    units = ratings + more
    closed = bounds.hypergeometric_upper(errors, ratings, units, level) / units
    assert closed <= bounds.clopper_pearson_upper(errors, ratings, level) + 1e-9


def test_no_rating_rejects_nothing() -> None:
    assert bounds.clopper_pearson_upper(0, 0, 0.1) == 1
    assert bounds.binomial_p_value(0, 0, 0.1) == 1
    assert bounds.hypergeometric_p_value(0, 0, 50, 0.1) == 1
    assert bounds.hypergeometric_upper(0, 0, 50, 0.1) == 50
    assert bounds.hoeffding_bentkus_p_value(0, 0, 0.1) == 1
    assert bounds.hoeffding_bentkus_upper(0, 0, 0.1) == pytest.approx(1)


def test_arrays_go_through_at_once() -> None:
    wrong = bounds.hypergeometric_upper([5, 0], [100, 22], [200, 100], 0.1)
    assert wrong.tolist() == [15, 8]


def test_impossible_counts_are_rejected() -> None:
    with pytest.raises(ValueError, match="between 0 and the number"):
        bounds.clopper_pearson_upper(3, 2, 0.1)
    with pytest.raises(ValueError, match="more ratings than units"):
        bounds.hypergeometric_upper(0, 3, 2, 0.1)
    with pytest.raises(ValueError, match="significance level"):
        bounds.clopper_pearson_upper(0, 2, 1)


def test_the_share_that_a_risk_allows_does_not_depend_on_rounding() -> None:
    assert bounds.largest_allowed(10, 0.3) == 3  # 10 * .3 is 3.0000000000000004 - or below, elsewhere
    assert bounds.largest_allowed(100, 0.29) == 29  # 28.999999999999996
