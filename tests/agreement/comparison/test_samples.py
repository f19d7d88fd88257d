"""How many samples a judge needs, and whether it agrees with itself."""

import math

import numpy as np
import pytest

from agreement import Coefficient, Stream, kendall_tau_b, pearson, spearman
from agreement.comparison import (
    Level,
    Scores,
    bin_values,
    correlation_with_humans,
    sample_curve,
    share_repeated,
)

STREAM = Stream(20_261)
DOCUMENTS, SYSTEMS = 250, 4


def judged(noise: float, samples: int) -> tuple[Scores, np.ndarray]:
    """One person's values, standard normal, and samples of a judge that adds noise to them."""
    generator = np.random.default_rng(7)
    truth = generator.normal(size=DOCUMENTS * SYSTEMS)
    said = truth[:, None] + noise * generator.normal(size=(len(truth), samples))
    scores = Scores(
        systems=np.tile(np.arange(SYSTEMS), DOCUMENTS),
        documents=np.repeat(np.arange(DOCUMENTS), SYSTEMS),
        human=truth[None],
        judge=said.mean(axis=1),
    )
    return scores, said


def expected(noise: float, number: int) -> float:
    """Pearson's r of a truth of variance 1 and the mean of values with independent noise."""
    return 1 / math.sqrt(1 + noise**2 / number)


def value_of(coefficient: Coefficient) -> float:
    assert coefficient.value is not None
    return coefficient.value


def enough(noise: float, samples: int) -> int | None:
    return sample_curve(*judged(noise, samples), pearson, generator=STREAM, replicates=100).enough


def test_quality_by_number_of_samples_is_what_independent_noise_gives():
    scores, samples = judged(noise=2, samples=20)
    curve = sample_curve(scores, samples, pearson, generator=STREAM, replicates=100)
    assert [point.samples for point in curve.points] == [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]
    of_theory = [value_of(point.quality) - expected(2, point.samples) for point in curve.points]
    assert max(map(abs, of_theory)) < 0.05
    # An oracle on the same values: other random choices, one after the other.
    generator = np.random.default_rng(11)
    for point in curve.points[:-1]:
        chosen = [generator.permuted(samples, axis=1)[:, : point.samples].mean(axis=1) for _ in range(5)]
        oracle = np.mean([np.corrcoef(scores.human[0], each)[0, 1] for each in chosen])
        assert point.quality.value == pytest.approx(oracle, abs=0.03)
        interval = point.quality.interval
        assert interval
        assert interval.low < oracle < interval.high


def test_enough_samples_leave_a_gain_below_a_hundredth():
    # Without noise to speak of, one is enough: 1 / sqrt(1.01) is .995.
    assert enough(noise=0.1, samples=8) == 1
    # With the noise of one scale, 20 samples give .976; less than .01 below that lies .967 at 15, so 16.
    assert expected(1, 20) - expected(1, 12) > 0.01 > expected(1, 20) - expected(1, 16)
    assert enough(noise=1, samples=20) == 16
    # With much noise even the last of few samples may gain.
    assert enough(noise=3, samples=4) is None


@pytest.mark.oracle("correlation of the means of all samples", of="sample_curve", within=1e-12)
@pytest.mark.parametrize("level", [Level.DATASET, Level.DOCUMENT])
@pytest.mark.parametrize("measure", [spearman, pearson, kendall_tau_b])
def test_all_samples_have_the_correlation_of_the_judge(measure, level):
    scores, samples = judged(noise=1, samples=3)
    last = sample_curve(scores, samples, measure, level, generator=STREAM, replicates=100).points[-1]
    assert last.samples == 3
    assert last.gain is None
    whole = correlation_with_humans(scores, measure, level)
    assert last.quality.value == pytest.approx(whole.value, abs=1e-12)


def test_an_item_with_fewer_samples_counts_with_those_it_has():
    scores, samples = judged(noise=1, samples=3)
    samples[::2, 1:] = np.nan
    curve = sample_curve(scores, samples, pearson, generator=STREAM)
    assert curve.points[-1].quality.counts.units == len(samples)
    wanted = np.corrcoef(scores.human_means, np.nanmean(samples, axis=1))[0, 1]
    assert curve.points[-1].quality.value == pytest.approx(wanted, abs=1e-12)


def test_a_judge_that_repeats_itself_needs_one_sample():
    scores, samples = judged(noise=1, samples=1)
    curve = sample_curve(scores, np.repeat(samples, 4, axis=1), pearson, generator=STREAM)
    assert curve.enough == 1
    gain = curve.points[0].gain
    assert gain
    assert gain.value == 0


def test_without_items_of_people_and_judge_there_is_no_point():
    scores, samples = judged(noise=1, samples=2)
    curve = sample_curve(scores, np.full_like(samples, np.nan), pearson, generator=STREAM)
    assert (curve.points, curve.enough) == ((), None)


def test_values_between_points_go_to_the_nearest_halves_up():
    assert bin_values([0.2, 1.49, 2.5, 3.5, 5.4], range(1, 6)).tolist() == [1, 1, 3, 4, 5]
    assert np.isnan(bin_values([np.nan], range(1, 6))).all()


@pytest.mark.oracle("fraction worked by hand", of="share_repeated", within=1e-06)
def test_tally_of_equal_sample_pairs_stays_within_items():
    samples = np.array([[3, 3, 3], [1, 2, 2], [4, np.nan, 4], [5, np.nan, np.nan]])
    found = share_repeated(samples, documents=[1, 2, 3, 4], generator=STREAM)
    assert found.value == pytest.approx((1 + 1 / 3 + 1) / 3)  # the last item has no pair
    assert found.counts.pairable_units == 3
    alone = share_repeated(samples[3:], documents=[4])
    assert alone.value is None
    assert "more than once" in str(alone.reason)
