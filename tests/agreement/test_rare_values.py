"""Alpha's interval where nearly all values are the same: it is there, holds alpha, and holds its level."""

import numpy as np
import pytest

from agreement import Interval, ReliabilityData, Resampling, Stream, krippendorff_alpha
from agreement.bootstrap import modal_share
from benchmarks.coverage_skewed import CEILINGS, Ceiling, skewed_alpha

pytestmark = pytest.mark.fast


def mostly_fives(units: int, others: list[list[float]], documents: int | None = None) -> ReliabilityData:
    """Ratings of three raters: everything a 5 but the first units."""
    values = np.full((3, units), 5.0)
    values[:, : len(others)] = np.array(others).T
    of = None if documents is None else np.arange(units) % documents
    return ReliabilityData(values, measurement_level="ordinal", value_domain=[1, 2, 3, 4, 5], documents=of)


def interval_of(data: ReliabilityData, by: str = "units") -> Interval:
    plan = Resampling(by="documents" if by == "documents" else "units")
    found = krippendorff_alpha(data, generator=Stream(5).of("test"), resampling=plan).interval
    assert found is not None
    return found


@pytest.mark.parametrize("ceiling", CEILINGS, ids=lambda each: each.name)
def test_it_holds_alpha_where_plain_resampling_does_not(ceiling: Ceiling) -> None:
    given, _, _ = skewed_alpha(ceiling, 50, 120)
    assert given > 0.88


def test_plain_resampling_is_too_low() -> None:
    _, plain, _ = skewed_alpha(CEILINGS[0], 50, 120)
    assert plain < 0.75


def test_one_value_that_differs_has_an_interval_with_room_above() -> None:
    data = mostly_fives(40, [[1, 5, 5]])
    alpha = krippendorff_alpha(data).value
    found = interval_of(data)
    assert alpha == 0
    assert found.low <= 0
    assert found.high > 0.5
    assert found.method == "smoothed Bayesian bootstrap of units, as nearly all values are the same"


def test_full_agreement_is_inside_and_not_certain() -> None:
    found = interval_of(mostly_fives(40, [[1, 1, 1]]))
    assert found.high == 1
    assert found.low < 0.9


def test_four_fifths_of_one_value_are_not_yet_nearly_all() -> None:
    data = mostly_fives(40, [[1, 2, 3]] * 8)
    assert modal_share(data) == 0.8
    assert interval_of(data).method == "percentile bootstrap of units"
    assert interval_of(mostly_fives(41, [[1, 2, 3]] * 8)).method.startswith("smoothed")


def test_documents_are_resampled_whole() -> None:
    """All that differs lies in one document of ten: drawing it or not says more than drawing its units."""
    others = [[1.0, 1, 5], [2.0, 5, 5]] * 2
    scattered = mostly_fives(60, others, documents=30)
    together = ReliabilityData(
        scattered.values,
        measurement_level="ordinal",
        value_domain=[1, 2, 3, 4, 5],
        documents=np.arange(60) // 6,
    )
    one, other = interval_of(together, "documents"), interval_of(together, "units")
    assert one.method == "smoothed Bayesian bootstrap of documents, as nearly all values are the same"
    assert one.high - one.low > other.high - other.low


def test_raters_with_gaps_get_units_of_the_usual_size() -> None:
    full = mostly_fives(40, [[1, 5, 5], [2, 2, 5]])
    gaps = np.full((9, 40), np.nan)
    rows = (np.arange(40) * 3 % 9)[None] + np.arange(3)[:, None]
    gaps[rows, np.arange(40)] = full.values
    spread = ReliabilityData(gaps, measurement_level="ordinal", value_domain=[1, 2, 3, 4, 5])
    assert interval_of(spread) == interval_of(full)
