"""What holds for every coefficient of the registry, and for which it does not."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agreement import COEFFICIENTS, MEASURES, MeasurementLevel
from tests.agreement.tables import GAP, ratings

SCALE = [1, 2, 3, 4, 5]
shapes = st.tuples(st.integers(2, 4), st.integers(2, 25))
tables = arrays.arrays(float, shapes, elements=st.sampled_from([GAP, 1.0, 2.0, 3.0, 4.0, 5.0]))
levels = st.sampled_from(MeasurementLevel)
examples = settings(max_examples=40, deadline=None)

COUNT_LONE_RATINGS = {"fleiss_kappa", "gwet_ac"}  # in the shares that chance is computed from
COUNT_UNUSED_VALUES = {"gwet_ac"}
USE_DISTANCES = {"within_one_agreement", "icc_a1", "icc_ak", "icc_ck"}


def value(name: str, table: np.ndarray, level: str, scale: Sequence[float] | None = None) -> float | None:
    return COEFFICIENTS[name](ratings(table, level, scale or SCALE)).value


def same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@examples
@given(table=tables, level=levels, seed=st.integers(0, 99))
def test_order_of_raters_and_units_does_not_matter(
    name: str, table: np.ndarray, level: str, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(generator.permutation(table, axis=0), axis=1)
    assert same(value(name, table, level), value(name, shuffled, level))


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - COUNT_LONE_RATINGS))
@examples
@given(table=tables, level=levels, lone=st.sampled_from(SCALE))
def test_a_unit_with_one_value_does_not_matter(name: str, table: np.ndarray, level: str, lone: int) -> None:
    raters = np.flatnonzero(~np.isnan(table).all(axis=1))
    if not len(raters):
        return
    column = np.full((len(table), 1), GAP)
    column[raters[0]] = lone
    assert same(value(name, table, level), value(name, np.hstack([table, column]), level))


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - COUNT_UNUSED_VALUES))
@examples
@given(table=tables, level=levels)
def test_value_without_ratings_does_not_matter(name: str, table: np.ndarray, level: str) -> None:
    assert same(value(name, table, level), value(name, table, level, [*SCALE, 6]))


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - USE_DISTANCES))
@examples
@given(table=tables)
def test_order_is_all_that_matters_at_the_ordinal_level(name: str, table: np.ndarray) -> None:
    recoded = [1, 2, 10, 11, 100]
    codes = np.where(np.isnan(table), 1, table).astype(int) - 1
    stretched = np.where(np.isnan(table), GAP, np.array(recoded, dtype=float)[codes])
    assert same(value(name, table, "ordinal"), value(name, stretched, "ordinal", recoded))


@pytest.mark.parametrize("name", COEFFICIENTS)
@examples
@given(row=st.lists(st.sampled_from(SCALE), min_size=2, max_size=20), raters=st.integers(2, 4))
def test_full_agreement_is_one_where_values_vary(name: str, row: list[int], raters: int) -> None:
    if len(set(row)) > 1:
        assert value(name, np.array([row] * raters, dtype=float), "interval") == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", COEFFICIENTS)
@examples
@given(table=tables, level=levels)
def test_the_result_is_a_number_or_a_reason_and_fits_into_json(
    name: str, table: np.ndarray, level: str
) -> None:
    coefficient = COEFFICIENTS[name](ratings(table, level, SCALE), generator=np.random.default_rng(0))
    assert (coefficient.value is None) == bool(coefficient.reason)
    assert coefficient.value is None or coefficient.value <= 1 + 1e-12
    assert (coefficient.interval is None) == bool(coefficient.interval_reason)
    assert coefficient.name.startswith(name)
    json.dumps(coefficient.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", COEFFICIENTS)
@examples
@given(table=tables, level=levels)
def test_the_interval_is_ordered_and_the_same_for_the_same_seed(
    name: str, table: np.ndarray, level: str
) -> None:
    data = ratings(np.tile(table, 2), level, SCALE)
    first, second = (COEFFICIENTS[name](data, generator=np.random.default_rng(5)) for _ in range(2))
    assert first.interval == second.interval
    if first.interval is not None:
        assert first.interval.low < first.interval.high <= 1 + 1e-12


@pytest.mark.parametrize("name", MEASURES)
@examples
@given(table=arrays.arrays(float, (2, 12), elements=st.sampled_from([GAP, 1.0, 2.0, 3.0, 4.0])))
def test_swapping_the_sides_changes_the_sign_of_a_bias_only(name: str, table: np.ndarray) -> None:
    forward, backward = MEASURES[name](table[0], table[1]).value, MEASURES[name](table[1], table[0]).value
    sign = -1 if name == "bias" else 1
    assert same(forward, None if backward is None else sign * backward)
