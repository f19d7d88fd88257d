"""Shares of yes: by hand, and with an interval over documents."""

import numpy as np
import pytest

from agreement import share_of_yes, shares_by_item
from agreement.student import ratio_interval
from tests.agreement.tables import GAP

pytestmark = pytest.mark.fast

ITEMS = ["x", "x", "x", "x", "y", "y", "z"]
ANSWERS = [[1, 1, 1, 0, 0, 1, GAP], [1, 0, GAP, GAP, 0, GAP, GAP]]


@pytest.mark.oracle("fraction worked by hand", of="shares_by_item")
def test_shares_of_raters_by_hand() -> None:
    names, shares = shares_by_item(ANSWERS, ITEMS)
    assert names == ("x", "y", "z")
    np.testing.assert_allclose(shares, [[0.75, 0.5, GAP], [0.5, 0, GAP]])


@pytest.mark.oracle("fraction worked by hand", of="share_of_yes", within=1e-06)
def test_share_of_yes_counts_an_item_once() -> None:
    # Item x has (.75 + .5) / 2, item y (.5 + 0) / 2, item z no answer.
    found = share_of_yes(ANSWERS, ITEMS, documents=[1, 1, 1, 1, 2, 2, 2])
    assert found.value == pytest.approx((0.625 + 0.25) / 2)
    assert (found.counts.units, found.counts.pairable_units, found.counts.ratings) == (7, 3, 9)
    expected, _ = ratio_interval(np.array([0.625, 0.25]), np.ones(2))
    assert found.interval == expected


def test_items_of_a_document_stay_together() -> None:
    generator = np.random.default_rng(1)
    items = np.repeat(np.arange(60), 4)
    yes = (generator.random(240) < generator.random(20)[items // 3]).astype(float)[None]
    found = share_of_yes(yes, items.tolist(), documents=items // 3)
    alone = share_of_yes(yes, items.tolist())
    assert found.value == alone.value == pytest.approx(yes.mean())
    assert found.interval is not None
    assert alone.interval is not None
    assert found.interval.method == "Wilson over 20 documents"
    assert found.interval.high - found.interval.low > alone.interval.high - alone.interval.low


def test_without_answers_there_is_a_reason() -> None:
    found = share_of_yes([[GAP, GAP]], ["x", "y"])
    assert (found.value, found.reason) == (None, "No part has an answer yet.")
    assert share_of_yes(np.empty((0, 0)), []).value is None
    one = share_of_yes([[1, 0]], ["x", "x"])
    assert one.value == 0.5
    assert one.interval_reason == "An interval needs answers on two documents."


@pytest.mark.parametrize(
    ("answers", "documents", "said"),
    [
        ([[1, 2]], None, "1 for yes or 0 for no"),
        ([[1, 1, 1]], None, "raters by 2 parts"),
        ([[1, 1]], ["a", "b"], "in one document"),
    ],
)
def test_answers_that_do_not_fit_are_errors(
    answers: list[list[float]], documents: list[str] | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        share_of_yes(answers, ["x", "x"], documents=documents)
