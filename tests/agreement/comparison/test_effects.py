"""Effects of crossed factors on judges: contrasts by hand, paired intervals, and chance findings."""

from itertools import product

import numpy as np
import pytest
import scipy

from agreement import Stream
from agreement.comparison import Scores, alpha_with_people, compare_two_judges, factor_effects
from benchmarks.coverage_judges import TwoJudges, rejected_effects

pytestmark = pytest.mark.fast
STREAM = Stream(3).of("test")
SHAPE = (2, 3)


@pytest.fixture(scope="module")
def variants() -> dict[tuple[int, ...], Scores]:
    kind = TwoJudges(documents=12, systems=3, noise=(0.4, 0.6, 0.9, 0.5, 0.8, 1.2))
    return dict(zip(product(range(2), range(3)), kind.scores(np.random.default_rng(5)), strict=True))


def alphas(variants, kept=slice(None)):
    found = {}
    for each, scores in variants.items():
        chosen = scores.of_items(np.arange(len(scores.judge))[kept])
        found[each] = alpha_with_people(chosen, measurement_level="interval").with_mean.value
    return found


def main_effect(alpha, level):
    return np.mean([alpha[one, level] - alpha[one, 0] for one in range(2)])


def interaction(alpha, level):
    return alpha[1, level] - alpha[0, level] - alpha[1, 0] + alpha[0, 0]


@pytest.mark.oracle("NumPy, contrasts and jackknife worked by hand", of="factor_effects", within=1e-9)
def test_effects_are_contrasts_of_alphas_with_a_paired_interval(variants) -> None:
    found = factor_effects(variants, SHAPE, generator=STREAM)
    assert [each.levels for each in found] == [{0: 1}, {1: 1}, {1: 2}, {0: 1, 1: 1}, {0: 1, 1: 2}]
    whole = alphas(variants)
    documents = variants[0, 0].documents
    without = [alphas(variants, documents != each) for each in range(12)]
    for effect, contrast in ((found[2], main_effect), (found[4], interaction)):
        alpha = effect.differences["alpha"]
        left_out = np.array([contrast(each, 2) for each in without])
        error = np.sqrt(11 / 12 * np.sum((left_out - left_out.mean()) ** 2))
        reach = scipy.stats.t.ppf(0.975, 11) * error
        assert alpha.value == pytest.approx(contrast(whole, 2), abs=1e-9)
        assert (alpha.low, alpha.high) == pytest.approx((alpha.value - reach, alpha.value + reach), abs=1e-9)


def test_shift_is_the_mean_difference_of_the_judges(variants) -> None:
    effect = factor_effects(variants, SHAPE, generator=STREAM)[0]
    means = {each: np.mean(scores.judge) for each, scores in variants.items()}
    by_hand = np.mean([means[1, each] - means[0, each] for each in range(3)])
    assert effect.differences["shift"].value == pytest.approx(by_hand)
    adjusted, own = effect.adjusted["shift"], effect.differences["shift"].p_value
    assert own is not None
    assert adjusted >= own


def test_one_factor_with_two_levels_is_a_comparison_of_two_judges() -> None:
    base, other = TwoJudges(documents=25, systems=3).scores(np.random.default_rng(8))
    (effect,) = factor_effects({(0,): base, (1,): other}, (2,), generator=STREAM)
    _, compared = compare_two_judges(other, base, generator=STREAM)
    found, expected = effect.differences["alpha"], compared["alpha"]
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_effect_without_a_variant_is_undefined_with_its_reason(variants) -> None:
    few = {each: scores for each, scores in variants.items() if each != (1, 2)}
    found = factor_effects(few, SHAPE, generator=STREAM)
    undefined = found[2].differences["alpha"]
    assert undefined.value is None
    assert undefined.reason == "1 of the 4 variants of this effect have no values."
    assert found[1].differences["alpha"].value is not None, "an effect needs only its own variants"


def test_other_people_other_items_and_unknown_levels_are_rejected(variants) -> None:
    own = variants[1, 2]
    same = {"judge": own.judge, "systems": own.systems, "documents": own.documents, "human": own.human}
    for other in (
        {"human": np.where(own.human == 3, 4, own.human)},
        {"human": own.human[:2]},
        {"systems": own.systems[::-1]},
        {"documents": own.documents + 1},
    ):
        changed = {**variants, (1, 2): Scores(**same | other)}
        with pytest.raises(ValueError, match="the same items and people"):
            factor_effects(changed, SHAPE, generator=STREAM)
    for levels in ((2, 0), (0,), (0, -1)):
        with pytest.raises(ValueError, match="outside the shape"):
            factor_effects({**variants, levels: own}, SHAPE, generator=STREAM)


def test_named_categories_have_effects_on_accuracy() -> None:
    right, half = (
        Scores(systems=["a", "b"] * 2, documents=[1, 1, 2, 2], human=[[1.0, 2, 2, 1]], judge=each)
        for each in ([1.0, 2, 2, 1], [1.0, 1, 2, 2])
    )
    (effect,) = factor_effects({(0,): half, (1,): right}, (2,), measurement_level="nominal", generator=STREAM)
    assert effect.differences.keys() == {"accuracy"}
    assert effect.differences["accuracy"].value == 0.5


def test_null_effects_are_significant_no_more_often_than_the_level() -> None:
    shares = rejected_effects(TwoJudges(documents=25, systems=6, noise=(0.8,) * 4), 100, replicates=300)
    assert all(share < 0.12 for share in shares.values())
    worse = TwoJudges(documents=25, systems=6, noise=(0.6, 0.6, 1.4, 1.4))
    assert rejected_effects(worse, 20, replicates=300)["first alpha"] > 0.8
