"""The interval of one category's F1: Wilson's by hand, and how often it holds."""

import numpy as np
import pytest

from agreement.student import ratio_interval
from benchmarks.coverage_spread import RARE, held_f1

pytestmark = pytest.mark.fast


def test_where_documents_do_not_matter_it_is_wilson_with_t() -> None:
    """Eight of ten, one in each of ten documents: deff is 10 / 9, so 9 things; t of 9 degrees is 2.262157."""
    interval, _ = ratio_interval(np.array([1.0] * 8 + [0, 0]), np.ones(10))
    assert interval is not None
    t, n = 2.262157163, 9
    middle = (0.8 + t**2 / (2 * n)) / (1 + t**2 / n)
    reach = t / (1 + t**2 / n) * (0.16 / n + t**2 / (4 * n**2)) ** 0.5
    assert [interval.low, interval.high] == pytest.approx([middle - reach, min(middle + reach, 1)])


def test_full_agreement_leaves_doubt_and_one_document_gives_none() -> None:
    interval, _ = ratio_interval(np.ones(10), np.ones(10))
    assert interval is not None
    assert interval.high == 1
    assert interval.low == pytest.approx(10 / (10 + 2.262157163**2))
    assert ratio_interval(np.array([1.0, 0]), np.array([2.0, 0])) == (
        None,
        "An interval needs the category in two documents.",
    )


@pytest.mark.parametrize(("share", "accuracy"), RARE)
def test_interval_has_its_nominal_coverage(share: float, accuracy: float) -> None:
    assert held_f1(share, accuracy, 12, 400) >= 0.88
