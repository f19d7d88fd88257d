"""Agreement by distances of answers: by hand, and undefined values."""

import numpy as np
import pytest

from agreement import Stream
from agreement.comparison.categories import mean_closeness


def test_every_item_counts_once() -> None:
    found = mean_closeness(np.array([1.0, 0.5, np.nan, 0.0]), [1, 1, 2, 3], answers=9, raters=3)
    assert found.value == pytest.approx(0.5)
    assert (found.counts.units, found.counts.pairable_units) == (4, 3)
    assert found.interval is None


def test_the_interval_resamples_documents() -> None:
    values = np.array([0.0, 1.0] * 10)
    apart = [index // 2 for index in range(20)]  # each document has one near and one far item
    alike = [index % 2 * 10 + index // 4 for index in range(20)]
    same = mean_closeness(values, apart, answers=40, raters=1, generator=Stream(1)).interval
    differing = mean_closeness(values, alike, answers=40, raters=1, generator=Stream(1)).interval
    assert same is None or same.high - same.low < 1e-9
    assert differing is not None
    assert differing.low < 0.5 < differing.high


def test_without_pairs_it_is_undefined() -> None:
    found = mean_closeness(np.array([np.nan, np.nan]), [1, 2], answers=2, raters=1, generator=Stream(1))
    assert found.value is None
    assert found.reason == "No item has two answers to compare."
    assert mean_closeness(np.array([]), [], answers=0, raters=0).value is None
