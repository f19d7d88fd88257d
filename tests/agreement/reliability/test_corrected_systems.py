"""Corrected means of systems, compared with other tests, a table worked by hand, and simulated panels."""

import numpy as np
import pytest
from scipy import stats

from agreement import crossed_differences, system_differences
from agreement.reliability import About, correct_systems
from agreement.reliability.corrected_systems import RaterVariances
from benchmarks.coverage_corrected import Study, simulate

GOLDEN = [4, 3, 5, 2, 4, 4, 3, 5, 1, 2], [4, 4, 5, 3, 4, 5, 3, 5, 2, 3]
UNRATED = [3, 4, 5, 2, 4, 4, 3, 5, 3, 2, 4, 4, 5, 3, 3, 4, 2, 5, 4, 3]


def drawn(seed, raters=3, documents=12, systems=2):
    generator = np.random.default_rng(seed)
    size = raters, documents, systems
    text = generator.normal(size=(documents, systems))
    ratings = text + 0.5 * generator.normal(size=size) + 0.4 * generator.normal(size=(raters, 1, systems))
    return ratings + generator.normal(size=(raters, 1, 1)), text + generator.normal(size=(documents, systems))


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.mark.oracle("fraction worked by hand", of="correct_systems", within=1e-06)
def test_one_system_equals_a_table_worked_by_hand():
    ratings = np.array([1, 2, 4, np.nan, np.nan]).reshape(1, 5, 1)
    judge = np.arange(1.0, 6.0).reshape(5, 1)
    (mean,) = correct_systems(ratings, judge, ["A"], about=About.TEXTS).means
    # Slope 3 / 2, so 7 / 3 + 3 / 2 (3 - 2). Without each document the slope is 2, 3 / 2 and 1, and the
    # residuals are 1 / 6, -1 / 3 and 1 / 6.
    assert mean.value == pytest.approx(23 / 6)
    assert mean.people == pytest.approx(7 / 3)
    root = np.sqrt(2 / 5)
    changes = np.array([1 / 4 - root / 12, root / 6, -3 / 4 - root / 12])
    assert mean.standard_error == pytest.approx(np.sqrt(2 / 3 * np.sum(changes**2)))
    assert mean.degrees_of_freedom == pytest.approx(2)
    reach = stats.t.ppf(0.975, 2) * number(mean.standard_error)
    assert [mean.low, mean.high] == pytest.approx([23 / 6 - reach, 23 / 6 + reach])


@pytest.mark.oracle("ppi_py 0.2.3, worked example", of="correct_systems", within=0.01)
def test_one_system_matches_ppi_at_its_own_weight_on_published_values():
    people, judge = (np.array(each, dtype=float) for each in GOLDEN)
    everything = np.concatenate([judge, UNRATED])
    ratings = np.full((1, 30, 1), np.nan)
    ratings[0, :10, 0] = people
    found = correct_systems(ratings, everything[:, None], ["A"], about=About.DOCUMENTS)
    weight = np.polyfit(judge, people, 1)[0] * 20 / 30
    assert found.means[0].value == pytest.approx(weight * np.mean(UNRATED) + np.mean(people - weight * judge))
    # ppi_py chooses lam = .78232558 with other divisors, and has 3.14353488 and (2.71770753, 3.56936214).
    assert weight == pytest.approx(0.78232558, abs=0.03)
    assert found.means[0].value == pytest.approx(3.14353488, abs=0.01)
    error = (3.56936214 - 2.71770753) / 2 / stats.norm.ppf(0.95)
    assert found.means[0].standard_error == pytest.approx(error, rel=0.2)


def test_two_fully_rated_systems_equal_the_crossed_model():
    ratings, judge = drawn(1)
    (found,) = correct_systems(ratings, judge, ["A", "B"]).differences
    (expected,) = crossed_differences(ratings, ["A", "B"]).differences
    for name in ("value", "low", "high", "p_value", "simultaneous_low"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name


@pytest.mark.oracle("package SciPy 1.17.1, ttest_rel", of="correct_systems", within=1e-06)
def test_fully_rated_systems_by_given_raters_equal_paired_t_tests():
    ratings, judge = drawn(2, systems=4)
    names = list("ABCD")
    found = correct_systems(ratings, judge, names, about=About.DOCUMENTS)
    expected = system_differences(ratings.mean(axis=0), names)
    for one, other in zip(found.differences, expected, strict=True):
        assert one.adjusted_p_value == pytest.approx(other.adjusted_p_value)
        assert [one.low, one.high] == pytest.approx([other.low, other.high])
    assert "People rated every text" in found.why_not_corrected
    assert [each.value for each in found.means] == pytest.approx([each.people for each in found.means])


def test_fully_rated_outputs_alone_are_known():
    ratings, judge = drawn(3)
    found = correct_systems(ratings, judge, ["A", "B"], about=About.TEXTS)
    assert found.means[0].low is None
    assert "nothing is estimated" in found.means[0].interval_reason
    assert found.differences[0].p_value is None
    assert found.means[0].letters == ""


def test_bias_of_the_judge_by_system_changes_nothing():
    ratings, judge = drawn(4, documents=30, systems=3)
    ratings[:, 12:] = np.nan
    one, other = (
        correct_systems(ratings, each, list("ABC")) for each in (judge, judge + np.array([3.0, 0, -1]))
    )
    assert [each.value for each in one.means] == pytest.approx([each.value for each in other.means])
    assert [each.low for each in one.means] == pytest.approx([each.low for each in other.means])


def test_correction_narrows_intervals_of_given_raters():
    generator = np.random.default_rng(5)
    text = generator.normal(size=(80, 3))
    ratings = text + 0.2 * generator.normal(size=(3, 80, 3))
    ratings[:, 20:] = np.nan
    helped, alone = (
        correct_systems(ratings, judge, list("ABC"), about=About.DOCUMENTS)
        for judge in (text + 0.2 * generator.normal(size=text.shape), np.ones_like(text))
    )
    for one, other in zip(helped.means, alone.means, strict=True):
        assert number(one.standard_error) < 0.7 * number(other.standard_error)
    assert "same score" in alone.why_not_corrected


def test_rater_part_is_added_and_the_judge_does_not_reduce_it():
    ratings, judge = drawn(6, documents=60, systems=3)
    ratings[:, 30:] = np.nan
    given, random = (
        correct_systems(ratings, judge, list("ABC"), about=about) for about in (About.DOCUMENTS, About.RATERS)
    )
    components = RaterVariances.of(ratings).components
    expected = (components.raters + components.raters_by_systems) / 3
    for one, other in zip(given.means, random.means, strict=True):
        assert other.rater_variance == pytest.approx(expected)
        variances = [number(each.standard_error) ** 2 for each in (one, other)]
        assert variances[1] == pytest.approx(variances[0] + expected)
        assert one.value == other.value
    assert given.means[0].degrees_of_freedom == pytest.approx(29)
    assert number(random.means[0].degrees_of_freedom) < 20


def test_panel_that_rates_everything_adds_a_share_of_its_variance():
    ratings, _ = drawn(7, documents=12)
    assert RaterVariances.of(ratings).shared == pytest.approx(np.full((2, 2), 1 / 3))


def test_two_panels_of_two_documents_each_equal_fractions_worked_by_hand():
    ratings, _ = drawn(7, raters=4, documents=4)
    ratings[:2, 2:] = ratings[2:, :2] = np.nan
    # Ratings weigh 1 / 8 and raters 1 / 4: 4 / 3 (4 / 16 - 8 / 64). Documents show the rest of 1 / 4.
    assert RaterVariances.of(ratings).shared == pytest.approx(np.full((2, 2), 1 / 6))


def test_systems_with_few_ratings_have_a_reason_and_no_rank():
    ratings, judge = drawn(8, documents=10, systems=3)
    ratings[:, 2:, 2] = np.nan
    found = correct_systems(ratings, judge, list("ABC"))
    assert found.means[2].value is None
    assert found.means[2].reason == "Only 2 of 10 texts are rated; a corrected mean needs 3."
    assert found.means[2].best is None
    assert len(found.differences) == 1
    nothing = correct_systems(np.full((2, 10, 3), np.nan), judge, list("ABC"))
    assert [each.value for each in nothing.means] == [None] * 3


@pytest.mark.parametrize(("raters", "systems", "says"), [(1, 2, "Only one rater"), (3, 1, "Only one system")])
def test_panels_without_variance_treat_raters_as_fixed(raters, systems, says):
    ratings, judge = drawn(9, raters=raters, systems=systems)
    names = list("ABC")[:systems]
    found = correct_systems(ratings, judge, names)
    assert says in found.why_raters_given
    given = correct_systems(ratings, judge, names, about=About.DOCUMENTS)
    assert found.means[0].low == given.means[0].low
    assert given.why_raters_given == ""


def test_shapes_that_do_not_fit_are_errors():
    ratings, judge = drawn(10)
    with pytest.raises(ValueError, match="shape"):
        correct_systems(ratings, judge[:-1], ["A", "B"])
    with pytest.raises(ValueError, match="systems"):
        correct_systems(ratings, judge, ["A"])


def test_intervals_groups_and_ranks_cover_in_new_panels():
    """`python benchmarks/coverage.py corrected` measures more."""
    simulations = 120
    found = simulate(Study("good", 5, 60, 20, spacing=0), simulations)
    assert 0.91 < found.means <= 0.99
    assert 0.93 < found.pairs <= 0.985
    assert found.false_groups <= stats.binom.ppf(0.999, simulations, 0.05) / simulations
