"""Spans: fractions by hand, single characters as in WMT's script, and MQM scores."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from agreement import (
    MarkedSpan,
    MarkedText,
    Resampling,
    SpannedText,
    SpanOverlap,
    SpanWeights,
    Stream,
    alpha_by_category,
    mqm_alpha,
    mqm_scores,
    span_f1,
    span_overlaps,
    unitizing_alpha,
    unitizing_alpha_by_category,
)
from tests.agreement.tables import GAP

pytestmark = pytest.mark.fast

MQM = SpanWeights({"minor": 1, "major": 5}, {"non-translation": 25}, {("punctuation", "minor"): 0.1})
Given = tuple[int, int, str, str]


def text(spans: Mapping[str, Sequence[Given]], length: int = 20, document: str = "d") -> SpannedText:
    made = {rater: [MarkedSpan(*each) for each in given] for rater, given in spans.items()}
    return SpannedText(document, length, made)


BY_HAND = [
    text({"Ann": [(0, 6, "style", "minor")], "Ben": [(4, 10, "style", "major")]}, document="1"),
    text({"Ann": [(2, 6, "style", "major")], "Ben": [(2, 6, "style", "major")]}, document="2"),
    text({"Ann": [], "Ben": []}, document="3"),
]


def random_texts(number: int, seed: int, raters: str = "ABC", *, length: int = 40) -> list[SpannedText]:
    generator = np.random.default_rng(seed)
    made = []
    for index in range(number):
        spans: dict[str, list[Given]] = {}
        for rater in raters:
            if generator.random() < 0.1:
                continue
            starts = generator.integers(0, length - 9, size=generator.poisson(1.5))
            spans[rater] = [
                (
                    int(start),
                    int(start + generator.integers(0, 9)),
                    str(generator.choice(["style", "fact"])),
                    str(generator.choice(["minor", "major"])),
                )
                for start in starts
            ]
        made.append(text(spans, length, document=str(index // 3)))
    return made


def count_one_by_one(texts: Sequence[SpannedText], first: str, second: str) -> tuple[float, int, int]:
    """Hits and marked characters as in task2_evaluate.py of WMT 2023, with both raters' sides equal."""
    hits, of_first, of_second = 0.0, 0, 0
    for each in texts:
        if not {first, second} <= set(each.spans):
            continue
        for index in range(each.length + 1):
            found = [
                {
                    span.severity
                    for span in each.spans[rater]
                    if span.start <= index < span.end or span.start == span.end == index
                }
                for rater in (first, second)
            ]
            of_first, of_second = of_first + bool(found[0]), of_second + bool(found[1])
            if all(found):
                hits += 1 if found[0] & found[1] else 0.5
    return hits, of_first, of_second


@pytest.mark.oracle("fraction worked by hand", of=("span_overlaps", "span_f1"), within=1e-06)
def test_overlap_of_the_worked_example() -> None:
    (found,) = span_overlaps(BY_HAND)
    # Two characters with another severity, four with the same, of ten each.
    assert found == SpanOverlap("Ann", "Ben", 3, credit=5.0, first_marked=10, second_marked=10)
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    assert span_f1(BY_HAND).value == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(3))
def test_overlap_counts_single_characters(seed: int) -> None:
    texts = random_texts(12, seed)
    found = span_overlaps(texts)
    assert [(each.first, each.second) for each in found] == list(combinations("ABC", 2))
    for each in found:
        expected = count_one_by_one(texts, each.first, each.second)
        assert (each.credit, each.first_marked, each.second_marked) == expected
    values = [
        2 * hits / (one + other)
        for hits, one, other in (count_one_by_one(texts, *pair) for pair in combinations("ABC", 2))
    ]
    assert span_f1(texts).value == pytest.approx(np.mean(values))


def test_precision_and_recall_differ_if_one_rater_marks_more() -> None:
    (found,) = span_overlaps([text({"A": [(0, 10, "s", "minor")], "B": [(0, 4, "s", "minor")]})])
    assert (found.precision, found.recall) == (0.4, 1.0)
    assert found.f1 == pytest.approx(8 / 14)


def test_nothing_marked_is_agreement_and_one_side_alone_is_not() -> None:
    (nothing,) = span_overlaps([text({"A": [], "B": []})])
    assert (nothing.precision, nothing.recall, nothing.f1) == (1, 1, 1)
    (alone,) = span_overlaps([text({"A": [(0, 5, "s", "minor")], "B": []})])
    assert (alone.precision, alone.recall, alone.f1) == (0, 1, 0)


def test_a_severity_in_common_is_full_credit() -> None:
    spans = {"A": [(0, 4, "s", "minor"), (2, 4, "s", "major")], "B": [(0, 4, "s", "major")]}
    (found,) = span_overlaps([text(spans)])
    assert (found.credit, found.first_marked) == (3.0, 4)


def test_points_mark_the_character_at_their_start() -> None:
    point: Given = (20, 20, "omission", "major")
    (found,) = span_overlaps([text({"A": [point], "B": [point, (0, 0, "omission", "minor")]})])
    assert (found.credit, found.first_marked, found.second_marked) == (1.0, 1, 2)


def test_f1_has_an_interval_by_documents() -> None:
    found = span_f1(random_texts(60, 1))
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    assert found.interval.method == "Wilson over 20 documents"
    assert "Only one rater" in (span_f1([text({"A": []})]).reason or "")
    assert span_f1(BY_HAND[:1]).interval_reason == "An interval needs marked characters in two documents."
    assert "There are no ratings" in (span_f1([]).reason or "")


@pytest.mark.oracle("sums worked by hand", of="mqm_scores", within=1e-07)
def test_scores_add_weights_up() -> None:
    texts = [
        text({"A": [(0, 1, "style", "minor"), (2, 3, "style", "major")], "B": []}, 400),
        text({"A": [(0, 1, "punctuation", "minor")] * 3, "C": [(0, 9, "non-translation", "minor")]}, 10),
    ]
    expected = np.array([[6, 0.3], [0, GAP], [GAP, 25]])
    np.testing.assert_allclose(mqm_scores(texts, MQM), expected)
    np.testing.assert_allclose(
        mqm_scores(texts, MQM, per_1000_characters=True), expected * np.array([2.5, 100])
    )
    assert np.isnan(mqm_scores([text({"A": []}, 0)], MQM, per_1000_characters=True)).all()
    with pytest.raises(ValueError, match="The severity critical has no weight"):
        mqm_scores([text({"A": [(0, 1, "style", "critical")]})], MQM)


@pytest.mark.oracle("package krippendorff 0.9.0", of=("mqm_alpha", "alpha_by_category"), within=1e-06)
def test_alpha_of_scores_and_counts_matches_the_package() -> None:
    texts = random_texts(30, 4)
    scores = mqm_scores(texts, MQM)
    expected = krippendorff.alpha(scores, level_of_measurement="interval")
    found = mqm_alpha(texts, MQM, generator=Stream(1))
    assert found.value == pytest.approx(expected)
    assert found.interval is not None
    assert found.interval.method.startswith("jackknife of documents")
    counts = np.array(
        [
            [
                sum(span.category == "fact" for span in each.spans[rater]) if rater in each.spans else GAP
                for each in texts
            ]
            for rater in "ABC"
        ]
    )
    by_category = alpha_by_category(texts, ["fact", "never"])
    assert by_category["fact"].value == pytest.approx(
        krippendorff.alpha(counts, level_of_measurement="interval")
    )
    assert "Every value is 0" in (by_category["never"].reason or "")


@pytest.mark.oracle("fraction worked by hand", of="unitizing_alpha_by_category", within=1e-06)
def test_unitizing_alpha_of_a_category_takes_its_spans_alone() -> None:
    texts = [
        text({"A": [(0, 4, "fact", "minor"), (3, 6, "fact", "major"), (8, 9, "style", "minor")], "B": []}),
        text({"A": [(2, 6, "fact", "minor")], "B": [(2, 7, "fact", "major"), (3, 3, "fact", "minor")]}),
    ]
    found = unitizing_alpha_by_category(texts, ["fact", "style", "never"])
    expected = unitizing_alpha(
        [
            MarkedText("d", 20, (), {"A": [(0, 6)], "B": []}),
            MarkedText("d", 20, (), {"A": [(2, 6)], "B": [(2, 7)]}),
        ]
    )
    assert found["fact"].value == expected.value
    # 15 of 80 characters marked, 7 by one rater alone; passages share 6^2 + 4^2 + 5^2 and 65 with themselves.
    assert found["fact"].value == pytest.approx(1 - 7 * (80 - 142 / 80) / (15 * 65))
    assert found["fact"].parameters == {"category": "fact"}
    assert found["never"].reason == "No rater marked a span of this category."


def test_span_outside_the_output_raises_an_error() -> None:
    with pytest.raises(ValueError, match="The span 3 to 30 leaves the text of 20 characters"):
        text({"A": [(3, 30, "s", "minor")]})


def test_four_hundred_outputs_have_intervals() -> None:
    texts = random_texts(400, 9, length=600)
    plan = Resampling(by="documents", replicates=1999)
    for found in (
        span_f1(texts),
        mqm_alpha(texts, MQM, generator=Stream(1), resampling=plan),
        *alpha_by_category(texts, ["style"], generator=Stream(1), resampling=plan).values(),
        *unitizing_alpha_by_category(texts, ["style"], generator=Stream(1), resampling=plan).values(),
    ):
        assert found.value is not None
        assert found.interval is not None
        assert found.interval.low < found.value < found.interval.high
