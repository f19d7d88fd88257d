"""The change of alpha when raters revise values, or when one more rater joins."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import (
    MeasurementLevel,
    ReliabilityData,
    Resampling,
    Stream,
    alpha_difference,
    krippendorff_alpha,
)

GAP = np.nan
SCALE = [1, 2, 3, 4, 5]


def data(values: list[list[float]], level: str = "interval", **more: object) -> ReliabilityData:
    return ReliabilityData(np.array(values), measurement_level=level, value_domain=SCALE, **more)  # type: ignore[arg-type]


@pytest.mark.oracle("fraction worked by hand", of="alpha_difference", within=1e-06)
def test_it_is_one_alpha_minus_the_other() -> None:
    # Nominal, n = 8: before o_12 = o_23 = 1, after only o_23 = 1.
    before = data([[1, 2, 3, 1], [2, 3, 3, 1]], "nominal")
    after = data([[1, 2, 3, 1], [1, 3, 3, 1]], "nominal")
    first = 1 - Fraction(7 * 2, 3 * 2 + 2 * 3 + 3 * 3)
    second = 1 - Fraction(7 * 1, 4 * 1 + 4 * 3 + 1 * 3)
    assert alpha_difference(before, after).value == pytest.approx(float(second - first))


@settings(deadline=None, max_examples=40)
@given(
    level=st.sampled_from(list(MeasurementLevel)),
    values=st.lists(st.lists(st.integers(1, 5), min_size=6, max_size=6), min_size=6, max_size=6),
    gap=st.integers(0, 5),
)
def test_it_agrees_with_both_alphas(level: MeasurementLevel, values: list[list[int]], gap: int) -> None:
    table = np.array(values, dtype=float)
    table[[0, 3], gap] = GAP
    before, after = data(table[:3].tolist(), level), data(table[3:].tolist(), level)
    alphas = [krippendorff_alpha(each).value for each in (before, after)]
    found = alpha_difference(before, after)
    if None in alphas:
        assert found.reason
    else:
        assert found.value == pytest.approx(alphas[1] - alphas[0])  # type: ignore[operator]
    assert found.counts == krippendorff_alpha(before).counts


@pytest.mark.parametrize("by", ["units", "documents"])
def test_what_both_share_cancels_in_the_interval(by: str) -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    noise = generator.integers(-1, 2, size=(3, 60))
    values = np.clip(generator.integers(1, 6, size=60) + noise, 1, 5).astype(float)
    revised = values.copy()
    revised[:, :12] = revised[1, :12]
    documents = np.arange(60) // 2
    before, after = (data(each.tolist(), documents=documents) for each in (values, revised))
    plan = Resampling(by=by)  # type: ignore[arg-type]
    found = alpha_difference(before, after, generator=Stream(1).of("test"), resampling=plan)
    assert found.value is not None
    assert found.interval is not None
    assert 0 < found.interval.low < found.value < found.interval.high
    alpha = krippendorff_alpha(before, generator=Stream(1).of("test"), resampling=plan).interval
    assert alpha is not None
    assert found.interval.high - found.interval.low < alpha.high - alpha.low


def test_one_more_rater_moves_alpha_by_hand() -> None:
    # 1 1, 2 2, 3 5 has 12/17. With a third value: (c - k)^2 / (m - 1) summed in units, (c - k)^2 overall.
    before = data([[1, 2, 3], [1, 2, 5]])
    after = data([[1, 2, 3], [1, 2, 5], [1, 2, 3]])
    observed, values = Fraction(2 * (4 + 4), 2), [1, 1, 1, 2, 2, 2, 3, 3, 5]
    expected = sum((one - other) ** 2 for one in values for other in values)
    second = 1 - Fraction(8) * observed / expected
    assert alpha_difference(before, after).value == pytest.approx(float(second - Fraction(12, 17)))


def test_one_more_rater_counts_where_two_rated_before() -> None:
    before = data([[1, 2, 3, 4, 5], [2, 2, 3, 5, GAP], [1, 3, 3, GAP, GAP]])
    after = data([*before.values.tolist(), [2, 1, 3, 4, 1]])
    two = slice(0, 4)
    alphas = [krippendorff_alpha(data(each.values[:, two].tolist())).value for each in (before, after)]
    found = alpha_difference(before, after)
    assert found.value == pytest.approx(alphas[1] - alphas[0])  # type: ignore[operator]
    assert found.counts.pairable_units == 4


def test_one_more_rater_has_a_value_for_each_unit() -> None:
    before = data([[1, 2], [2, 2]])
    for row in ([[1, GAP]], [[1, 2], [1, 2]]):
        with pytest.raises(ValueError, match="At most one rater joins, with a value for each unit"):
            alpha_difference(before, data([*before.values.tolist(), *row]))


def test_missing_variation_or_pairs_give_a_reason() -> None:
    varied, equal = data([[1, 2], [2, 2]]), data([[2, 2], [2, 2]])
    assert "undefined before or after" in (alpha_difference(varied, equal).reason or "")
    alone = data([[1, 2], [GAP, GAP]])
    assert alpha_difference(alone, alone).reason == krippendorff_alpha(alone).reason


def test_revised_values_need_earlier_values() -> None:
    with pytest.raises(ValueError, match="where there were values before"):
        alpha_difference(data([[1, 2], [2, 2]]), data([[1, GAP], [2, 2]]))
