"""Bridging items: the offset of new raters, its interval, and what is left without it."""

import numpy as np
import pytest
import scipy

from agreement import bridge

pytestmark = pytest.mark.fast


@pytest.mark.oracle("fraction worked by hand", of="bridge", within=1e-9)
def test_offsets_and_differences_worked_by_hand() -> None:
    old = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    values = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, np.nan, np.nan]])
    found = bridge(values, old, ["a", "b", "c", "d", "e"])
    assert found.offset is not None
    # Rater 1 gives 1 less; rater 2 gives 1/3 more over three items: (-1 + 1/3) / 2.
    assert [each.value for each in found.by_rater if each] == pytest.approx([-1, 1 / 3])
    assert found.offset.value == pytest.approx(-1 / 3)
    # Without its own document, rater 2's offsets are 1/2, 1/2 and 0, which leave -1/2, -1/2 and 1.
    assert found.before == pytest.approx(np.sqrt((5 * 1 + 1) / 8))
    assert found.after == pytest.approx(np.sqrt((0.25 + 0.25 + 1) / 8))
    # Slopes are 1 (sum of squares 10) and 3/2 (sum of squares 2).
    assert found.slope == pytest.approx((10 + 3) / 12)


@pytest.mark.oracle("package SciPy 1.17.1, ttest_1samp", of="bridge", within=1e-9)
def test_interval_of_one_item_a_document_is_students() -> None:
    generator = np.random.default_rng(1)
    old = generator.normal(3, 1, 12)
    values = old + generator.normal(-0.4, 0.6, (3, 12))
    found = bridge(values, old, np.arange(12))
    expected = scipy.stats.ttest_1samp((values - old).mean(axis=0), 0).confidence_interval()
    assert found.offset is not None
    assert found.offset.interval is not None
    assert (found.offset.interval.low, found.offset.interval.high) == pytest.approx(tuple(expected))


@pytest.mark.oracle("planted severity, simulation of coverage", of="bridge", within=0.025)
@pytest.mark.parametrize(("documents", "missing"), [(5, 0.0), (15, 0.0), (15, 0.3)])
def test_intervals_cover_planted_severity(documents: int, missing: float) -> None:
    generator, rounds = np.random.default_rng(documents), 600
    planted = np.array([-0.8, -0.2, 0.1])
    covered = 0
    for _ in range(rounds):
        column = np.repeat(np.arange(documents), 2)
        truth = generator.normal(3, 1, len(column))
        # Errors of the first means, and what the new raters find different about a whole document.
        old = truth + generator.normal(0, 0.4, len(column))
        shared = generator.normal(0, 0.4, documents)[column]
        values = truth + shared + planted[:, None] + generator.normal(0, 0.5, (3, len(column)))
        values[generator.random(values.shape) < missing] = np.nan
        found = bridge(values, old, column)
        assert found.offset is not None
        assert found.offset.interval is not None
        covered += found.offset.interval.low <= planted.mean() <= found.offset.interval.high
    assert covered / rounds == pytest.approx(0.95, abs=0.025)


def test_few_documents_have_a_reason() -> None:
    found = bridge([[1.0, 2.0, 3.0, 3.0]], [2.0, 2.0, 2.0, 2.0], ["a", "b", "c", "d"])
    assert found.offset is None
    assert found.reason.startswith("Raters have values on bridging items of 4 documents")
    assert bridge(np.full((2, 0), np.nan), [], []).by_rater == [None, None]
    with pytest.raises(ValueError, match="raters, items"):
        bridge([1.0], [1.0], ["a"])
