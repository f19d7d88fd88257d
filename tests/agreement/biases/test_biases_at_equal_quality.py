"""A slope on quality is no bias: equality with two-stage least squares, and false findings by slope."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from agreement import Resampling, Stream
from agreement.biases import (
    Bias,
    correlated_errors,
    correlation_beyond_people,
    measures,
    round_numbers,
    self_preference,
    slope_beyond_quality,
)
from agreement.comparison import Scores
from benchmarks.coverage_judges import PLANTED, SLOPES, JudgeOfRange

Values = npt.NDArray[np.float64]
STREAM = Stream(37)
DOCUMENTS, SYSTEMS = 25, 3
ITEMS = DOCUMENTS * SYSTEMS
TRUE_BY_RANGE = {"distance"}
"""A narrow range is a distance from people's values."""
RUNS = 20
MOST = 0.065 + 3 * (0.065 * 0.935 / (RUNS * len(SLOPES))) ** 0.5
"""Three standard errors above what the percentile bootstrap of 60 documents reaches at 5 %."""


@pytest.fixture
def dice() -> np.random.Generator:
    return np.random.default_rng(37)


def scores_with_gaps(dice: np.random.Generator, judge: Values, quality: Values) -> Scores:
    """Four raters, of whom one to four have rated an item."""
    people = quality + 0.6 * dice.normal(size=(4, ITEMS))
    people[dice.random(people.shape) < 0.35] = np.nan
    people[0, np.isnan(people).all(axis=0)] = 0
    document, system = (each.ravel() for each in np.indices((DOCUMENTS, SYSTEMS)))
    return Scores(systems=system, documents=document, human=people, judge=judge)


def rounds(human: Values) -> Iterator[tuple[Values, Values, Values]]:
    """Items with two raters, the n-th rater of each, the mean of its others; by hand, item by item."""
    for index in range(len(human)):
        found = []
        for item in range(human.shape[1]):
            given = human[~np.isnan(human[:, item]), item]
            if len(given) > max(index, 1):
                found.append((item, given[index], np.delete(given, index).mean()))
        if found:
            items, one, others = zip(*found, strict=True)
            yield np.array(items), np.array(one), np.array(others)


def fit_severities(human: Values) -> Values:
    """Severities of linked raters by least squares of rating = item + rater, one row for each rating."""
    pairs = np.argwhere(~np.isnan(human) & ((~np.isnan(human)).sum(axis=0) > 1))
    design = np.zeros((len(pairs), sum(human.shape)))
    design[np.arange(len(pairs)), pairs[:, 0]] = 1
    design[np.arange(len(pairs)), len(human) + pairs[:, 1]] = 1
    return np.asarray(np.linalg.lstsq(design, human[*pairs.T])[0][: len(human), None])


def without_severities(scores: Scores) -> Scores:
    return scores.beside(scores.human - fit_severities(scores.human), scores.judge)


def two_stages(scores: Scores, cause: Values, groups: npt.NDArray[np.intp]) -> Values:
    """The slopes on quality and cause over all choices of an instrument, each with effects of its own."""
    exogenous, endogenous, instrument, judge = [], [], [], []
    for number, (items, one, others) in enumerate(rounds(scores.human)):
        for way, (x, z) in enumerate(((one, others), (others, one))):
            dummies = np.zeros((len(items), 8 * SYSTEMS))
            dummies[np.arange(len(items)), (2 * number + way) * SYSTEMS + groups[items]] = 1
            exogenous.append(np.column_stack([cause[items], dummies]))
            endogenous.append(x)
            instrument.append(z)
            judge.append(scores.judge[items])
    known, y = np.vstack(exogenous), np.concatenate(judge)
    first = np.column_stack([np.concatenate(instrument), known])
    fitted = first @ np.linalg.lstsq(first, np.concatenate(endogenous), rcond=None)[0]
    return np.asarray(np.linalg.lstsq(np.column_stack([fitted, known]), y, rcond=None)[0][:2])


@pytest.mark.oracle("2SLS by NumPy", of=("slope_beyond_quality", "self_preference"), within=1e-9)
def test_slopes_match_two_stage_least_squares(dice: np.random.Generator) -> None:
    quality, length = dice.normal(size=(2, ITEMS))
    scores = scores_with_gaps(dice, 0.5 * quality + 0.2 * length + dice.normal(size=ITEMS), quality)
    raters = (~np.isnan(scores.human)).sum(axis=0)
    z = (length - length[raters > 1].mean()) / length[raters > 1].std()
    found = slope_beyond_quality(scores, length, "length", "Length", generator=STREAM)
    preferred = self_preference(scores, (scores.systems == 1).astype(float), generator=STREAM)
    scores = without_severities(scores)
    assert found.measured.value == pytest.approx(two_stages(scores, z, scores.systems)[1], abs=1e-9)
    own = (scores.systems == 1).astype(float)
    together = np.zeros(ITEMS, dtype=np.intp)
    assert preferred.measured.value == pytest.approx(two_stages(scores, own, together)[1], abs=1e-9)


@pytest.mark.oracle("jackknife of two-stage least squares by NumPy", of="slope_beyond_quality", within=1e-6)
def test_intervals_estimate_both_slopes_again() -> None:
    dice = np.random.default_rng(38)
    quality, length = dice.normal(size=(2, ITEMS))
    scores = scores_with_gaps(dice, 0.5 * quality + dice.normal(size=ITEMS), quality)
    few = scores.of_items(scores.documents < 12)
    length = length[scores.documents < 12]
    found = slope_beyond_quality(few, length, "length", "Length", generator=STREAM).measured
    chosen = (~np.isnan(few.human)).sum(axis=0) > 1
    z = (length - length[chosen].mean()) / length[chosen].std()
    without, few = [], without_severities(few)
    for document in range(12):
        kept = few.documents != document
        part = few.of_items(kept)
        without.append(two_stages(part, z[kept], part.systems)[1])
    reach = 2.2009851601 * np.sqrt(11 / 12 * np.sum((without - np.mean(without)) ** 2))  # t, 11 degrees, .975
    assert found.interval
    assert found.value is not None
    assert [found.interval.low, found.interval.high] == pytest.approx(
        [found.value - reach, found.value + reach], abs=1e-6
    )


@pytest.mark.oracle("covariances", of=("correlated_errors", "correlation_beyond_people"), within=1e-9)
def test_dimension_correlations_match_their_covariances(dice: np.random.Generator) -> None:
    quality, halo = dice.normal(size=(2, ITEMS)), dice.normal(size=ITEMS)
    people = quality[:, None] + 0.5 * dice.normal(size=(2, 3, ITEMS)) + 0.4 * dice.normal(size=(3, ITEMS))
    judges = 0.6 * quality + 0.5 * halo + dice.normal(size=(2, ITEMS))
    document, system = (each.ravel() for each in np.indices((DOCUMENTS, SYSTEMS)))
    dimensions = [
        Scores(systems=system, documents=document, human=human, judge=judge)
        for human, judge in zip(people, judges, strict=True)
    ]

    def cov(one: Values, other: Values) -> float:
        return float(np.cov(one, other, bias=True)[0, 1])

    one, others = people, (people.sum(axis=1, keepdims=True) - people) / 2
    middle = (one + others) / 2
    slopes = [
        sum(cov(judges[d], middle[d, r]) for r in range(3))
        / sum(cov(one[d, r], others[d, r]) for r in range(3))
        for d in range(2)
    ]
    crossed = np.mean([cov(one[0, r], others[1, r]) + cov(others[0, r], one[1, r]) for r in range(3)]) / 2
    mixed = [np.mean([cov(judges[d], middle[1 - d, r]) for r in range(3)]) * slopes[1 - d] for d in range(2)]
    common = cov(*judges) - sum(mixed) + slopes[0] * slopes[1] * crossed
    left = [np.mean([np.var(judges[d] - slopes[d] * middle[d, r]) for r in range(3)]) for d in range(2)]
    errors = correlated_errors(dimensions, generator=STREAM).measured
    assert errors.value == pytest.approx(common / np.sqrt(left[0] * left[1]), abs=1e-9)
    beyond = correlation_beyond_people(dimensions, generator=STREAM).measured
    wanted = (cov(*judges) - slopes[0] * slopes[1] * crossed) / np.sqrt(np.var(judges[0]) * np.var(judges[1]))
    assert beyond.value == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("planted", [0.0, 1.0])
def test_findings_do_not_depend_on_the_slope(planted: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "Resampling", partial(Resampling, replicates=300))
    runs = RUNS if not planted else RUNS // 5
    found = dict.fromkeys(PLANTED, 0)
    for slope in SLOPES:
        for seed in range(runs):
            for name, each in JudgeOfRange(slope).biases(planted, seed).items():
                found[name] += each.is_found and not (slope != 1 and name in TRUE_BY_RANGE)
    shares = {name: number / (runs * len(SLOPES)) for name, number in found.items()}
    if planted:
        assert all(shares[name] > 0.75 for name in PLANTED if name not in TRUE_BY_RANGE), shares
    else:
        assert max(shares.values()) <= MOST, shares


def test_one_rater_of_an_item_is_quality_with_errors(dice: np.random.Generator) -> None:
    quality, length = dice.normal(size=(2, ITEMS))
    scores = scores_with_gaps(dice, quality, quality)
    alone = scores.beside(np.where(np.arange(4)[:, None] == 0, scores.human, np.nan), scores.judge)
    found = slope_beyond_quality(alone, length, "length", "Length", generator=STREAM).measured
    assert "two people" in (found.reason or "")


def severe_raters(design: str, seed: int) -> tuple[list[Scores], Values]:
    """Judges without bias on two dimensions; three teams of two raters, or 3 of 10 raters for each item."""
    dice = np.random.default_rng([37, seed])
    items, raters = 240, 6 if design == "teams" else 10
    document, system = (each.ravel() for each in np.indices((60, 4)))
    if design == "teams":
        team = dice.integers(3, size=60)[document]
        given = np.arange(raters)[:, None] // 2 == team
    else:
        given = dice.random((raters, items)).argsort(axis=0).argsort(axis=0) < 3
    length = dice.normal(size=items)
    severities = dice.normal(size=(raters, 1)) * (1 if design == "teams" else 0.7)
    found = []
    for _ in range(2):
        quality = 0.5 * length + 0.7 * dice.normal(size=items)
        people = quality + severities + 0.5 * dice.normal(size=(raters, items))
        judge = 0.6 * quality + 0.5 * dice.normal(size=items)
        human = np.where(given, people, np.nan)
        found.append(Scores(systems=system, documents=document, human=human, judge=judge))
    return found, length


@pytest.mark.parametrize("design", ["teams", "3 of 10"])
def test_severity_of_raters_is_no_bias(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "Resampling", partial(Resampling, replicates=300))
    found: dict[str, list[Bias]] = {"length": [], "errors": [], "beyond": []}
    for seed in range(60):
        dimensions, length = severe_raters(design, seed)
        stream = Stream(seed)
        found["length"].append(slope_beyond_quality(dimensions[0], length, "length", "", generator=stream))
        found["errors"].append(correlated_errors(dimensions, generator=stream))
        found["beyond"].append(correlation_beyond_people(dimensions, generator=stream))
    for name, biases in found.items():
        values = [each.measured.value for each in biases if each.measured.value is not None]
        assert len(values) == 60, name
        assert abs(np.mean(values)) < 0.03, name
        assert np.mean([each.is_found for each in biases]) <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5, name


def test_raters_that_do_not_agree_show_no_quality(dice: np.random.Generator) -> None:
    quality, length = dice.normal(size=(2, ITEMS))
    scores = scores_with_gaps(dice, quality, quality)
    opposed = np.vstack([quality, -quality, np.full((2, ITEMS), np.nan)])
    found = slope_beyond_quality(scores.beside(opposed, quality), length, "length", "", generator=STREAM)
    assert found.measured.reason == "Two raters’ values show no common quality."


def test_a_constant_judge_has_no_slope_and_no_correlation(dice: np.random.Generator) -> None:
    quality, length = dice.normal(size=(2, ITEMS))
    scores = scores_with_gaps(dice, np.full(ITEMS, 3.0), quality)
    slope = slope_beyond_quality(scores, length, "length", "", generator=STREAM).measured
    errors = correlated_errors([scores, scores], generator=STREAM).measured
    assert slope.reason == errors.reason == "The judge’s values do not vary."


def test_cause_that_quality_determines_is_inseparable(dice: np.random.Generator) -> None:
    quality = dice.normal(size=ITEMS)
    scores = scores_with_gaps(dice, quality + dice.normal(size=ITEMS), quality)
    same = scores.beside([quality, quality], scores.judge)
    found = slope_beyond_quality(same, quality, "length", "", generator=STREAM).measured
    assert "cannot be separated" in (found.reason or "")


def test_interval_keeps_its_own_reason_if_people_agree(dice: np.random.Generator) -> None:
    quality = dice.normal(size=ITEMS)
    scores = scores_with_gaps(dice, quality + dice.normal(size=ITEMS), quality)
    lone = np.where(scores.documents == 0, dice.normal(size=ITEMS), 0.0)
    some = scores.of_items(scores.systems == 0)
    rare = slope_beyond_quality(some, lone[scores.systems == 0], "length", "", generator=STREAM).measured
    assert (rare.interval, "no variation" in (rare.interval_reason or "")) == (None, True)
    one = np.where(scores.documents == 0, 10.0, 1.0) * quality
    alike = scores.beside([one, np.where(scores.documents == 0, one, -one)], scores.judge)
    length = slope_beyond_quality(alike, dice.normal(size=ITEMS), "length", "", generator=STREAM).measured
    assert "do not agree" in (length.interval_reason or "")


def test_outputs_at_the_scale_end_are_no_round_number_bias() -> None:
    best = np.full((30, 1), 100.0)
    spread = np.arange(61.0, 91.0)[:, None]
    found = round_numbers(np.vstack([best, spread]), np.arange(60), 1, 100, generator=STREAM)
    assert found.fives.measured.value == pytest.approx(0)
    assert found.tens.measured.value == pytest.approx(0)
