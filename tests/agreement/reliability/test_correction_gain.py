"""The gain of correcting means by a judge, compared with closed forms and a simulation of its own."""

import numpy as np
import pytest

from agreement.reliability import Gain, correction_gain


def simulated(documents, systems, *, noise, generator, system_noise=0.0):
    truth = generator.normal(size=(documents, 1)) + generator.normal(size=(documents, systems))
    people = truth + 0.5 * generator.normal(size=truth.shape)
    judge = truth + noise * generator.normal(size=truth.shape) + system_noise * np.arange(systems)
    return people, judge


def gains(people, judge, share: float | None = None) -> tuple[Gain, Gain]:
    """Return the gains of means and of differences, which are defined here."""
    found = correction_gain(people, judge, share=share)
    assert found.means
    assert found.differences
    return found.means, found.differences


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_perfect_judge_gains_as_much_as_rating_every_output(share):
    people, _ = simulated(60, 4, noise=0, generator=np.random.default_rng(1))
    means, differences = gains(people, 2 * people + np.arange(4), share)
    assert means.value == pytest.approx(1 / share)
    assert differences.value == pytest.approx(1 / share)
    assert means.saving == pytest.approx(1 - share)


@pytest.mark.oracle("Angelopoulos, Duchi and Zrnic 2023, closed form", of="correction_gain", within=0.005)
def test_one_system_follows_the_correlation_of_published_formula():
    generator = np.random.default_rng(2)
    people, judge = simulated(4_000, 1, noise=1, generator=generator)
    correlation = np.corrcoef(people[:, 0], judge[:, 0])[0, 1]
    found = correction_gain(people, judge, share=0.2)
    # Angelopoulos, Duchi and Zrnic 2023: the variance is times 1 - rho^2 (1 - n / N).
    assert found.means
    assert found.means.value == pytest.approx(1 / (1 - 0.8 * correlation**2), rel=0.005)
    assert found.means.low
    assert found.means.high
    assert found.means.low < found.means.value < found.means.high
    assert found.differences is None


def test_gain_depends_on_the_rated_part_and_shares_are_of_outputs():
    people, judge = simulated(50, 3, noise=0.7, generator=np.random.default_rng(3))
    people[20:] = np.nan
    as_rated = correction_gain(people, judge)
    assert as_rated.documents == 20
    assert as_rated.share == pytest.approx(0.4)
    assert gains(people, judge) == gains(people, judge, 0.4)
    assert gains(people, judge)[0].value < gains(people, judge, 0.2)[0].value


def test_judge_that_only_knows_systems_saves_nothing():
    generator = np.random.default_rng(4)
    people, _ = simulated(60, 4, noise=0, generator=generator)
    judge = np.arange(4) + 0.3 * generator.normal(size=people.shape)
    assert gains(people + np.arange(4), judge, 0.2)[0].value < 1.05
    constant = correction_gain(people, np.broadcast_to(np.arange(4.0), people.shape), share=0.2)
    assert constant.means is None
    assert "same score" in constant.reason


def test_judge_that_knows_documents_helps_means_but_not_differences():
    generator = np.random.default_rng(5)
    documents = generator.normal(size=(80, 1))
    people = documents + generator.normal(size=(80, 4))
    judge = documents + 0.1 * generator.normal(size=people.shape)
    means, differences = gains(people, judge, 0.25)
    assert means.value > 1.3
    assert differences.value == pytest.approx(1, abs=0.03)


def test_judge_that_contradicts_people_is_not_used_in_reverse():
    people, _ = simulated(40, 4, noise=0, generator=np.random.default_rng(6))
    assert gains(people, -people, 0.2)[0].value == pytest.approx(1, abs=0.02)


def test_supposed_share_is_at_least_five_documents():
    people, judge = simulated(10, 3, noise=0.5, generator=np.random.default_rng(8))
    found = correction_gain(people, judge, share=0.2)
    assert found.share == pytest.approx(0.5)
    assert gains(people, judge, 0.2) == gains(people, judge, 0.5)
    assert "more than 5 documents" in correction_gain(people[:5], judge[:5], share=0.2).reason


@pytest.mark.parametrize(
    ("people", "judge", "share", "reason"),
    [
        (np.full((9, 2), np.nan), np.ones((9, 2)), 0.2, "People rated 0 documents"),
        (np.arange(8.0).reshape(4, 2), np.arange(8.0).reshape(4, 2), 0.2, "People rated 4 documents"),
        (np.arange(18.0).reshape(9, 2), np.full((9, 2), np.nan), 0.2, "no value"),
        (np.ones((9, 2)), np.arange(18.0).reshape(9, 2), 0.2, "does not vary"),
        (np.arange(18.0).reshape(9, 2), np.arange(18.0).reshape(9, 2) % 5, None, "every text"),
    ],
)
def test_undefined_gains_have_a_reason(people, judge, share, reason):
    found = correction_gain(people, judge, share=share)
    assert found.means is None
    assert reason in found.reason


def test_shapes_and_shares_that_do_not_fit_are_errors():
    with pytest.raises(ValueError, match="shape"):
        correction_gain(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="share"):
        correction_gain(np.ones((4, 2)), np.ones((4, 2)), share=1.0)


def test_gain_equals_the_ratio_of_errors_in_repeated_samples():
    generator = np.random.default_rng(7)
    everywhere = simulated(3_000, 3, noise=0.8, generator=generator)
    centered = [values - values.mean(axis=0) for values in everywhere]
    slope = sum((centered[0] * centered[1]).sum(axis=0)) / sum((centered[1] ** 2).sum(axis=0))
    errors = np.zeros(2)
    for _ in range(2_000):
        people, judge = simulated(100, 3, noise=0.8, generator=generator)
        alone = people[:20].mean(axis=0)
        errors += (
            (alone**2).sum(),
            ((alone + slope * (judge.mean(axis=0) - judge[:20].mean(axis=0))) ** 2).sum(),
        )
    assert gains(everywhere[0], everywhere[1], 0.2)[0].value == pytest.approx(errors[0] / errors[1], rel=0.06)
