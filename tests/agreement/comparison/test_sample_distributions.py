"""A judge's samples compared with people's values: distances of distributions, and calibrated confidence."""

import gzip
import json
import re
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import energy_distance as scipy_energy

from agreement import Stream
from agreement.comparison import (
    confidence_calibration,
    confidence_of_samples,
    energy_distance,
    equals_mode,
    is_within_one,
    jensen_shannon,
    sample_distributions,
    total_variation,
)
from tests.reference import reference_data

POINTS = np.arange(1.0, 6)
STREAM = Stream(7)


def drawn(seed: int, items: int, number: int, spread: float) -> np.ndarray:
    """Return values (items, number) around a quality that follows from the item alone."""
    quality = np.random.default_rng(0).normal(3, 1, items)
    noise = np.random.default_rng(seed).normal(size=(items, number))
    return np.clip(np.round(quality[:, None] + spread * noise), 1, 5)


def compared(samples: np.ndarray, people: int = 3, items: int = 400):
    human = drawn(1, items, people, 0.8).T
    return sample_distributions(samples, human, POINTS, documents=np.arange(items) // 4, generator=STREAM)


@pytest.mark.oracle("SciPy 1.17.1, jensenshannon", of=("jensen_shannon", "total_variation"), within=1e-06)
def test_distribution_distances_match_scipy() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.dirichlet(np.ones(5), 30), generator.dirichlet(np.ones(5), 30)
    first[0] = [1, 0, 0, 0, 0]
    wanted = [jensenshannon(one, other, base=2) for one, other in zip(first, second, strict=True)]
    assert jensen_shannon(first, second) == pytest.approx(wanted)
    assert total_variation(np.array([0.5, 0.5, 0]), np.array([0, 0.5, 0.5])) == pytest.approx(0.5)


@pytest.mark.oracle("package SciPy 1.17.1, energy_distance", of="energy_distance", within=1e-06)
def test_energy_distance_is_the_mean_over_pairs_of_different_values() -> None:
    first, second = np.array([[2.0, 1, 0]]), np.array([[0.0, 1, 1]])
    # 1, 1, 2 and 2, 3: across (1 + 2 + 1 + 2 + 0 + 1) / 6, within 2/3 and 1.
    found = energy_distance(first, second, np.array([1.0, 2, 3]))
    assert found == pytest.approx(2 * 7 / 6 - 2 / 3 - 1)
    # Of large samples it is the square of SciPy's, which takes the samples for the distributions.
    large = energy_distance(first * 10_000, second * 10_000, np.array([1.0, 2, 3]))
    assert large == pytest.approx(scipy_energy([1, 1, 2], [2, 3]) ** 2, abs=1e-3)


def test_samples_from_peoples_distribution_have_no_energy_distance() -> None:
    found = compared(drawn(2, 400, 10, 0.8))
    assert found.energy.interval is not None
    assert found.energy.interval.low < 0 < found.energy.interval.high
    difference = found.total_variation.difference
    assert difference.interval is not None
    assert difference.interval.low < 0 < difference.interval.high
    assert found.total_variation.people.value < found.total_variation.control.value


@pytest.mark.parametrize("people", [3, 6])
def test_energy_distance_detects_a_judge_of_one_value(people: int) -> None:
    found = compared(drawn(2, 400, 10, 0.05), people)
    assert found.energy.interval is not None
    assert found.energy.interval.low > 0
    assert found.half == people // 2
    # Next to one person the most common value looks closer than another person.
    assert (found.total_variation.difference.value < 0) or people > 3


def test_judge_without_knowledge_of_the_item_is_as_far_as_the_control() -> None:
    other = np.random.default_rng(5).permutation(drawn(2, 400, 10, 0.8))
    found = compared(other)
    assert found.total_variation.judge.value == pytest.approx(found.total_variation.control.value, abs=0.03)


def test_leaving_one_of_three_people_out_has_the_expected_value() -> None:
    # People gave 1, 1, 2 and the judge always 1: against two others, of three equally likely rests.
    found = sample_distributions(
        np.ones((6, 3)), np.tile([[1.0], [1], [2]], 6), POINTS, documents=np.arange(6), generator=STREAM
    )
    rests = [(1.0, 0.0), (0.5, 0.5), (0.5, 0.5)]
    wanted = np.mean([abs(1 - one) / 2 + other / 2 for one, other in rests])
    assert found.total_variation.judge.value == pytest.approx(wanted, abs=0.05)
    assert found.total_variation.whole.value == pytest.approx(1 / 3)


def test_items_without_two_samples_or_two_people_are_excluded() -> None:
    samples, human = np.array([[1.0, np.nan], [2, 3], [4, 4]]), np.array([[1.0, 2, 4], [1, np.nan, 5]])
    found = sample_distributions(samples, human, POINTS, documents=[1, 2, 3], generator=STREAM)
    assert found.items == 1
    none = sample_distributions(samples[:2], human[:, :2], POINTS, documents=[1, 2], generator=STREAM)
    assert none.energy.value is None
    assert "two samples" in (none.energy.reason or "")


@pytest.mark.oracle("fraction worked by hand", of=("confidence_of_samples", "equals_mode", "is_within_one"))
def test_modes_and_shares_by_hand() -> None:
    samples = np.array([[1, 1, 5, np.nan], [2, 2, 4, 4], [1, 2, 4, 4], [3, np.nan, np.nan, np.nan]])
    modes, confidence = confidence_of_samples(samples, POINTS)
    assert modes[:3].tolist() == [1, 2, 4]
    assert confidence[:3] == pytest.approx([2 / 3, 1 / 2, 1 / 2])
    assert np.isnan(confidence[3])
    human = np.array([[1.0, 2, 3, 3], [5, 2, 4, 3], [np.nan, 4, 5, np.nan]])
    assert equals_mode(np.array([1.0, 2, 4, np.nan]), human, POINTS)[:3] == pytest.approx([1 / 2, 1, 1 / 3])
    assert is_within_one(np.array([4.0, 4, 3, 3]), human).tolist() == [1, 0, 1, 1]


@pytest.mark.oracle("fraction worked by hand", of="confidence_calibration", within=1e-06)
def test_error_and_bins_by_hand() -> None:
    confidence = np.array([0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, np.nan])
    right = np.array([1.0, 0, 0, 0, 1, 1, 1, 0, 1])
    found = confidence_calibration(confidence, right, documents=np.arange(9), generator=STREAM)
    assert found.items == 8
    assert found.error.value == pytest.approx(0.25)
    assert found.overconfidence.value == pytest.approx(0.25)
    assert [(each.items, each.confidence, each.accuracy.value) for each in found.bins] == [
        (4, 0.5, 0.25),
        (4, 1.0, 0.75),
    ]
    # All four of confidence 1 are right; of four coins, the mean distance from two is 3/4.
    assert found.by_chance == pytest.approx(0.5 * 0.75 / 4, abs=0.01)


def judged(seed: int, overconfidence: float):
    """Calibrate a judge of 400 items that is right less often than it is confident."""
    generator = np.random.default_rng(seed)
    confidence = generator.integers(2, 6, 400) / 5
    right = (generator.random(400) < confidence - overconfidence).astype(float)
    return confidence_calibration(confidence, right, documents=np.arange(400) // 4, generator=STREAM)


def test_error_of_calibrated_judges_is_that_by_chance() -> None:
    found = [judged(seed, 0) for seed in range(20)]
    assert sum(each.error.interval.low == 0 for each in found) >= 18
    chance = np.mean([each.by_chance for each in found])
    assert np.mean([each.error.value for each in found]) == pytest.approx(chance, abs=0.006)
    assert chance > 0.02


def test_error_of_overconfident_judges_is_above_chance() -> None:
    found = judged(1, 0.3)
    assert found.error.interval.low > found.by_chance
    assert found.error.interval.low < 0.3 < found.error.interval.high
    assert found.overconfidence.value == pytest.approx(0.3, abs=0.05)


def test_nothing_to_calibrate_has_a_reason() -> None:
    nothing = np.full(3, np.nan)
    found = confidence_calibration(nothing, nothing, documents=np.arange(3), generator=STREAM)
    assert found.error.value is None
    assert found.by_chance is None
    assert found.bins == ()


def groundedness() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 20 samples of gpt-3.5, people's three answers of 0 or 1, and documents of Topical-Chat."""
    folder = reference_data() / "topical_chat"
    means = {}
    with gzip.open(folder / "dialogue_responses.jsonl.gz", "rt") as file:
        for each in map(json.loads, file):
            means[each["document"], each["system"]] = each["scores"]["groundedness"]
    samples, people, documents = [], [], []
    with gzip.open(folder / "dialogue_replies_gpt-3.5.jsonl.gz", "rt") as file:
        for each in map(json.loads, file):
            if (each["mode"], each["dimension"]) == ("geval", "groundedness"):
                read = [re.search(r"\d", reply) for reply in each["samples"]]
                samples.append([min(float(found[0]), 1) if found else np.nan for found in read])
                yes = round(3 * means[each["document"], each["system"]])
                people.append([1.0] * yes + [0.0] * (3 - yes))
                documents.append(each["document"])
    return np.array(samples), np.array(people).T, np.array(documents)


@pytest.mark.oracle("package SciPy 1.17.1, real samples", of="sample_distributions", within=1e-06)
def test_twenty_samples_of_topical_chat_equal_oracles_item_by_item() -> None:
    samples, people, documents = groundedness()
    assert samples.shape[1] == 20
    found = sample_distributions(samples, people, [0, 1], documents=documents, generator=STREAM)
    shannon, variation, energy = [], [], []
    for own, human in zip(samples, people.T, strict=True):
        said = own[~np.isnan(own)]
        if len(said) < 2:
            continue
        one, other = (np.array([1 - each.mean(), each.mean()]) for each in (said, human))
        shannon.append(jensenshannon(one, other, base=2))
        variation.append(abs(one - other).max())
        pairs = [np.mean([x != y for x, y in product(said, human)])]
        for values in (said, human):
            size = len(values)
            pairs.append(sum(x != y for x, y in product(values, values)) / (size * (size - 1)))
        energy.append(2 * pairs[0] - pairs[1] - pairs[2])
    assert found.items == len(shannon) > 350
    assert found.jensen_shannon.whole.value == pytest.approx(np.mean(shannon))
    assert found.total_variation.whole.value == pytest.approx(np.mean(variation))
    assert found.energy.value == pytest.approx(np.mean(energy))
    modes, confidence = confidence_of_samples(samples, [0, 1])
    right = equals_mode(modes, people, [0, 1])
    calibrated = confidence_calibration(confidence, right, documents=documents, generator=STREAM)
    known = ~np.isnan(confidence)
    bins = np.minimum(np.ceil(confidence[known] * 10 - 1e-9).astype(int), 10)
    gaps = [
        (bins == each_bin).sum()
        * abs(right[known][bins == each_bin].mean() - confidence[known][bins == each_bin].mean())
        for each_bin in set(bins.tolist())
    ]
    assert calibrated.error.value == pytest.approx(sum(gaps) / known.sum())
    assert calibrated.overconfidence.interval is not None
    assert calibrated.overconfidence.interval.low > 0  # samples agree with each other more than with people
