"""Accuracy and F1 of a judge on named categories, by hand."""

import numpy as np
import pytest

from agreement import Stream
from agreement.comparison import CategoryAgreement, Scores, category_agreement

pytestmark = pytest.mark.fast
GAP = float("nan")


def agreement(human: list[list[float]], judge: list[float], categories: int = 2) -> CategoryAgreement:
    scores = Scores(systems=["S"] * len(judge), documents=range(len(judge)), human=human, judge=judge)
    return category_agreement(scores, range(1, categories + 1), generator=Stream(3).of("test"))


def values(found: CategoryAgreement) -> list[float | None]:
    return [found.accuracy.value, found.macro_f1.value, *(each.value for each in found.f1)]


@pytest.mark.oracle("fraction worked by hand", of="category_agreement", within=1e-06)
def test_one_person_by_hand() -> None:
    # The judge gives 1 1 2 2, the person 1 2 2 2: F1 of 1 is 2 / (2 + 1), of 2 it is 4 / (2 + 3).
    found = agreement([[1, 2, 2, 2]], [1, 1, 2, 2])
    assert values(found) == pytest.approx([3 / 4, (2 / 3 + 4 / 5) / 2, 2 / 3, 4 / 5])
    assert (found.judged, found.people) == ((2, 2), (1, 3))


def test_item_is_divided_among_its_raters_without_gaps() -> None:
    # Shares of 1 by item: 1, 1/2, 0, and one item without a person, one without the judge.
    found = agreement([[1, 1, 2, GAP, 1], [1, 2, GAP, GAP, 2]], [1, 1, 2, 2, GAP])
    assert values(found) == pytest.approx(
        [(1 + 1 / 2 + 1) / 3, (2 * 1.5 / 3.5 + 2 * 1 / 2.5) / 2, 2 * 1.5 / 3.5, 2 * 1 / 2.5]
    )
    assert found.people == (1.5, 1.5)
    assert found.accuracy.counts.pairable_units == 3


def test_category_without_ratings_has_a_reason_and_is_not_in_the_mean() -> None:
    found = agreement([[1, 2, 2, 2]], [1, 1, 2, 2], categories=3)
    assert found.f1[2].reason == "Neither the judge nor a person gave this category."
    assert found.macro_f1.value == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_without_an_item_of_both_nothing_is_defined() -> None:
    found = agreement([[1, GAP]], [GAP, 2])
    reason = "No item has a value of the judge and one of a person."
    assert {found.accuracy.reason, found.macro_f1.reason, *(each.reason for each in found.f1)} == {reason}


def test_intervals_resample_documents_and_cover_the_large_sample_value() -> None:
    generator, held = np.random.default_rng(4), np.zeros(3)

    def sample(items: int) -> Scores:
        truth = generator.integers(1, 4, items)
        said = [
            np.where(generator.random(items) < 0.25, generator.integers(1, 4, items), truth) for _ in "abc"
        ]
        return Scores(
            systems=np.arange(items) % 2, documents=np.arange(items) // 2, human=said[:2], judge=said[2]
        )

    truth = category_agreement(sample(60_000), [1, 2, 3])
    for _ in range(150):
        found = category_agreement(sample(120), [1, 2, 3], generator=generator)
        for index, kind in enumerate(("accuracy", "macro_f1")):
            interval, true = getattr(found, kind).interval, getattr(truth, kind).value
            held[index] += interval.low <= true <= interval.high
            assert interval.method == "percentile bootstrap of documents"
        interval = found.f1[0].interval
        assert interval is not None
        held[2] += interval.low <= (truth.f1[0].value or 0) <= interval.high
    assert (held / 150 > 0.88).all()
