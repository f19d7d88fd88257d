"""Categories of units from several raters: beside crowd-kit, at the top of a likelihood, simulated."""

import tracemalloc

import numpy as np
import pytest

from agreement import ReliabilityData, dawid_skene, latent_categories, mace, majority, why_not_latent
from agreement.data import FloatArray

pytestmark = pytest.mark.fast
GAP = float("nan")

RATINGS = "112 211 122 222 111 221 112 212 1.1 22."
CROWD_KIT = [0.904583, 0.568658, 0.250294, 0.033327, 0.92736, 0.044367, 0.904583, 0.49469, 0.781447, 0.037823]
"""The probability of 1 that crowd-kit 1.4.2 gives each of these units after five steps (DawidSkene)."""


def data(values: FloatArray | list[list[float]], categories: int) -> ReliabilityData:
    return ReliabilityData(values, measurement_level="nominal", value_domain=list(range(1, categories + 1)))


def written(units: str, categories: int) -> ReliabilityData:
    """Units apart by a blank, a value for each rater, a dot for a gap."""
    table = [[GAP if value == "." else float(value) for value in unit] for unit in units.split()]
    return data(np.array(table).T, categories)


@pytest.mark.oracle("package crowd-kit 1.4.2, five steps", of="dawid_skene", within=1e-06)
def test_five_steps_match_crowd_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latent_categories, "_STEPS", 5)
    found = dawid_skene(written(RATINGS, 2))
    assert found.probabilities[:, 0] == pytest.approx(CROWD_KIT, abs=1e-6)
    assert found.reason == "The search for the most likely values did not end in 5 steps."
    assert mace(written(RATINGS, 2)).reason == found.reason


def test_a_search_that_ends_needs_no_reason() -> None:
    given = data(simulated(3, (0.9, 0.6, 0.4, 0.7), units=80)[1], 3)
    assert (dawid_skene(given).reason, mace(given).reason) == ("", "")


@pytest.mark.oracle("package crowd-kit 1.4.2", of=("dawid_skene", "mace"), within=0.0001)
def test_confusion_and_competence_of_clear_units_match_crowd_kit() -> None:
    found = written(
        "111.2 22122 33313 12111 222.1 31333 11221 23222 .3323 11131 21222 33.31 11113 22212 32333 2.122", 3
    )
    model = dawid_skene(found)
    # crowd-kit 1.4.2, DawidSkene: the shares, and all that the second rater and the third give.
    assert model.shares == pytest.approx([0.3125, 0.375, 0.3125])
    assert model.confusion[1] == pytest.approx(
        np.array([[0.8, 0.2, 0], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]), abs=1e-4
    )
    assert model.confusion[2] == pytest.approx(
        np.array([[0.8, 0.2, 0], [1 / 3, 2 / 3, 0], [0, 0, 1]]), abs=1e-4
    )
    assert model.accuracy[0] == pytest.approx(1)
    # crowd-kit 1.4.2, MACE by EM: the first rater knows, the third in 71 %.
    assert mace(found).competence[[0, 2]] == pytest.approx([0.99962, 0.71102], abs=1e-4)


def simulated(
    seed: int, accuracies: tuple[float, ...], units: int = 400, categories: int = 3
) -> tuple[FloatArray, FloatArray]:
    """Truth (units,), and values (raters, units) of raters who else give the last category."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(1, categories + 1, units)
    right = generator.random((len(accuracies), units)) < np.array(accuracies)[:, None]
    return truth.astype(float), np.where(right, truth, categories).astype(float)


@pytest.mark.oracle("numeric gradient of the likelihood", of="mace", within=0.001)
def test_mace_is_at_the_top_of_its_likelihood() -> None:
    _, values = simulated(3, (0.9, 0.6, 0.4, 0.7), units=80)
    found = mace(data(values, 3))

    def likelihood(competence: FloatArray, guesses: FloatArray) -> float:
        total = np.ones((values.shape[1], 3)) / 3
        for rater, given in enumerate(values.astype(int) - 1):
            guessed = (1 - competence[rater]) * guesses[rater, given]
            total *= guessed[:, None] + competence[rater] * (np.arange(3) == given[:, None])
        return float(np.log(total.sum(axis=1)).sum())

    best = likelihood(found.competence, found.guesses)
    assert best == pytest.approx(found.log_likelihood, abs=1e-3)
    for rater in range(4):
        for step in (-0.02, 0.02):
            moved = found.competence.copy()
            moved[rater] = np.clip(moved[rater] + step, 0, 1)
            assert likelihood(moved, found.guesses) < best + 1e-3


def test_models_find_more_categories_than_the_majority_where_raters_are_not_alike() -> None:
    truth, values = simulated(5, (0.95, 0.4, 0.3, 0.35, 0.9))
    given = data(values, 3)
    plain = majority(given)
    right = np.mean(plain.categories + 1 == truth)
    for model in (dawid_skene(given), mace(given)):
        chosen = model.probabilities.argmax(axis=1) + 1
        assert np.mean(chosen == truth) > right + 0.05
        # A probability says how often it is right.
        assert model.probabilities.max(axis=1).mean() == pytest.approx(np.mean(chosen == truth), abs=0.05)
    found = dawid_skene(given)
    # The last category is right by itself: (1 + 2 x .3) / 3 of rater 3's values are.
    assert found.accuracy == pytest.approx(
        [(1 + 2 * each) / 3 for each in (0.95, 0.4, 0.3, 0.35, 0.9)], abs=0.05
    )
    assert found.confusion[2, 0] == pytest.approx([0.3, 0, 0.7], abs=0.08)
    assert mace(given).competence == pytest.approx([0.95, 0.4, 0.3, 0.35, 0.9], abs=0.07)


@pytest.mark.oracle("fraction worked by hand", of="majority", within=1e-06)
def test_majority_marks_ties_and_missing_ratings() -> None:
    found = majority(written("11. 12. ... 221", 2))
    assert found.categories.tolist() == [0, 0, -1, 1]
    assert found.tied.tolist() == [False, True, False, False]
    assert found.shares[3] == pytest.approx([1 / 3, 2 / 3])
    assert np.isnan(found.shares[2]).all()


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ("11. 12.", "2 raters gave values; errors of raters can be told apart with 3 or more."),
        ("11. 1.1 .12", "No unit has values of 3 raters; have three rate some of the same units."),
    ],
)
def test_too_few_raters_have_no_model(units: str, reason: str) -> None:
    found = written(units, 2)
    assert why_not_latent(found) == reason
    for model in (dawid_skene, mace):
        with pytest.raises(ValueError, match=reason):
            model(found)


def test_a_rater_without_values_and_a_unit_without_them_stay_without() -> None:
    found = dawid_skene(written("111. 121. 222. .... 212.", 2))
    assert np.isnan(found.accuracy[3])
    assert np.isnan(found.probabilities[3]).all()
    assert np.isnan(mace(written("111. 121. 222. .... 212.", 2)).competence[3])


def test_memory_grows_with_values_and_not_with_raters_times_points() -> None:
    raters, units, points = 30, 2000, 101
    generator = np.random.default_rng(8)
    values = generator.integers(1, points + 1, (raters, units)).astype(float)
    values[generator.random(values.shape) < 0.9] = GAP
    given = data(values, points)
    tracemalloc.start()
    found = majority(given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.shares.shape == (units, points)
    # Raters x units x points are 48 MB; shares and counts are 1.6 MB each.
    assert peak < 10e6
