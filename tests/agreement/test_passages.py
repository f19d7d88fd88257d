"""Agreement on marked passages: fractions by hand, nominal alpha, and what pygamma-agreement gives."""

import krippendorff
import numpy as np
import pytest

from agreement import MarkedText, Stream, gamma, unitizing_alpha, word_f1
from agreement.passages import Span, best_alignment_cost
from benchmarks.coverage_questions import Marking, held_passages

# Two annotators' units on 1,080 places, and what pygamma-agreement 0.5.9 gives with its positional
# dissimilarity and ShuffleContinuumSampler: the disorder of the best alignment, and gamma to about .02.
PYGAMMA = [
    (
        [(0, 30), (103, 133), (137, 165), (479, 520), (767, 815), (838, 885)],
        [(5, 20), (68, 106), (137, 172), (761, 797), (845, 883)],
        0.3722936809,
        0.748,
    ),
    (
        [(147, 191), (199, 247), (364, 405), (421, 467), (845, 876)],
        [(137, 170), (185, 219), (700, 726), (819, 853)],
        0.8872694373,
        0.425,
    ),
]


def marked(*passages: list[Span], length: int = 10, document: str = "d", words: int = 1) -> MarkedText:
    """A text whose words have `words` letters each, and what each rater marked."""
    spans = [(start, start + words) for start in range(0, length, words)]
    return MarkedText(document, length, spans, {str(index): each for index, each in enumerate(passages)})


@pytest.mark.oracle(
    "fraction of the formula, Krippendorff and others 2016", of="unitizing_alpha", within=1e-06
)
def test_unitizing_alpha_is_its_formula() -> None:
    # 6 characters marked, 14 not; 2 by one rater alone; 4^2 + 2^2 + 14 shared with itself.
    alpha = unitizing_alpha([marked([(0, 4)], [(2, 4)])])
    assert alpha.value == pytest.approx(1 - 2 * (20 - 34 / 20) / (6 * 14))
    assert (alpha.counts.units, alpha.counts.pairable_units, alpha.counts.raters) == (1, 1, 2)


@pytest.mark.oracle("package krippendorff 0.9.0", of="unitizing_alpha", within=1e-06)
def test_with_passages_of_one_character_it_is_nominal_alpha() -> None:
    values = np.random.default_rng(7).random((3, 60)) < [[0.3], [0.4], [0.5]]
    texts = [
        marked(*([(int(at), int(at) + 1) for at in np.flatnonzero(row)] for row in part))
        for part in np.split(values, 6, axis=1)
    ]
    expected = krippendorff.alpha(values.astype(int), level_of_measurement="nominal")
    assert unitizing_alpha(texts).value == pytest.approx(expected)


@pytest.mark.oracle(
    "package pygamma-agreement, alignment; its value by chance within .03", of="gamma", within=1e-06
)
@pytest.mark.parametrize(("first", "second", "disorder", "value"), PYGAMMA)
def test_gamma_aligns_as_pygamma_does(
    first: list[Span], second: list[Span], disorder: float, value: float
) -> None:
    cost = best_alignment_cost(first, second)
    assert cost / ((len(first) + len(second)) / 2) == pytest.approx(disorder, abs=1e-6)
    found = gamma([marked(first, second, length=1080)], generator=Stream(1))
    assert found.value == pytest.approx(value, abs=0.03)


@pytest.mark.oracle("fraction worked by hand", of="word_f1", within=1e-06)
def test_f1_counts_words_that_a_passage_touches() -> None:
    # Words of two letters: the first rater touches words 0, 1 and 2, the second 2 and 3.
    assert word_f1([marked([(0, 5)], [(5, 8)], words=2)]).value == pytest.approx(2 * 1 / (3 + 2))


def test_two_halves_are_the_whole_for_alpha_and_not_for_gamma() -> None:
    texts = [marked([(0, 4)], [(0, 2), (2, 4)])]
    assert unitizing_alpha(texts).value == 1
    assert (gamma(texts).value or 0) < 1


def test_incomparable_input_has_no_value_but_a_reason() -> None:
    alone = [marked([(0, 4)]), marked([(1, 2)])]
    for figure in (unitizing_alpha, gamma, word_f1):
        assert "marked by two raters" in (figure(alone).reason or "")
    assert "whole text" in (unitizing_alpha([marked([(0, 10)], [(0, 10)])]).reason or "")


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """`python benchmarks/coverage.py passages` measures more."""
    shares = held_passages(
        Marking(documents=30), simulations=80, names=["unitizing alpha", "F1 of words"], replicates=200
    )
    assert all(share >= 0.85 for share in shares.values())
