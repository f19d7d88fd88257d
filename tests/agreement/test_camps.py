"""Units that split raters: camps, their chance under noise, and how often noise alone is marked."""

import json
from itertools import product

import numpy as np
import pytest
import scipy

from agreement import ReliabilityData, Stream, split_units
from agreement.camps import PanelNoise, cut_into_camps
from tests.reference import reference_data

SCALE = np.arange(1.0, 6)
CUTS = np.array([-1.5, -0.5, 0.5, 1.5])


def data_of(values: np.ndarray, level: str = "ordinal", points: int = 5) -> ReliabilityData:
    domain = list(range(1, points + 1))
    return ReliabilityData(values, measurement_level=level, value_domain=domain)


def panel(seed: int, raters: int, units: int, split: int = 0, noise: float = 0.5) -> ReliabilityData:
    """Return values of a latent normal quality with noise; the first units have two camps."""
    generator = np.random.default_rng(seed)
    quality = np.tile(generator.normal(size=units), (raters, 1))
    sides = np.where(np.arange(raters) < raters // 2, -1.7, 1.7)
    quality[:, :split] = sides[:, None]
    severity = generator.normal(0, 0.3, (raters, 1))
    latent = quality - severity + noise * generator.normal(size=quality.shape)
    return data_of(np.searchsorted(CUTS, latent) + 1.0)


@pytest.mark.parametrize(
    ("values", "size", "gap", "between"),
    [
        ([1, 5, 5], 1, 4, 32 / 3),
        ([1, 3, 5], 1, 3, 0),  # evenly spread: three quarters of the variation, at most
        ([1, 2, 4, 5], 2, 3, 9),
        ([1, 5, 5, 5], 2, 2, 0),  # one rater of four is no camp
        ([3, 4, 4], 1, 1, 0),  # no more than a point between the camps
        ([1, 1, 1, 5, 5], 3, 4, 16 * 6 / 5),
    ],
)
def test_camps_hold_four_fifths_of_the_variation(
    values: list[float], size: int, gap: float, between: float
) -> None:
    found = cut_into_camps(np.array([values], dtype=float))
    assert [each[0] for each in found] == pytest.approx([size, gap, between])


@pytest.mark.oracle("enumeration by hand", of="split_units")
def test_camp_probability_matches_hand_calculation() -> None:
    # Without severities and costs all patterns of one sum are equally likely: 15 have the sum of 1, 5 and 5.
    noise = PanelNoise(np.zeros(3), np.zeros(5))
    raters = np.arange(3)
    chance = noise.chance_of_camps(raters, np.array([0, 4, 4]), np.zeros(3), SCALE, 32 / 3, Stream(1))
    assert chance == pytest.approx(3 / 15)
    # A middle value of three that costs ln 2: the orders of 0, 1, 2 weigh 1/2 each, 1, 1, 1 weighs 1/8.
    patterns, chances = PanelNoise(np.zeros(3), np.array([0, np.log(2), 0])).patterns(raters, 3)
    found = {tuple(each): chance for each, chance in zip(patterns.tolist(), chances.tolist(), strict=True)}
    assert len(found) == 7
    assert found[1, 1, 1] == pytest.approx((1 / 8) / (6 / 2 + 1 / 8))


def test_sampled_patterns_have_the_probability_of_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = PanelNoise(np.array([0.5, -0.2, 0.1, -0.4]), np.array([0, -0.8, -1.0, -0.8, 0]))
    given = (np.arange(4), np.array([0, 0, 4, 4]), np.array([-0.1, 0.1, 0, 0]), SCALE, 4.0)
    exact = noise.chance_of_camps(*given, Stream(1))
    monkeypatch.setattr("agreement.camps.MOST_PATTERNS", 0)
    monkeypatch.setattr("agreement.camps._WORTH_MORE_DRAWS", 1.0)
    drawn = noise.chance_of_camps(*given, Stream(1))
    assert 0.01 < exact < 0.5
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_noise_maximises_the_conditional_likelihood() -> None:
    # The oracle lists every pattern of each unit's sum, and searches without a gradient.
    generator = np.random.default_rng(5)
    codes = np.clip(generator.integers(0, 3, (3, 25)) - np.array([[1], [0], [0]]), 0, 2)
    listed = np.array(list(product(range(3), repeat=3)))

    def loss(parameters: np.ndarray) -> float:
        severities, costs = parameters[:3], np.concatenate([[0.0], np.cumsum(parameters[3:])])
        logs = -(listed @ severities + costs[listed].sum(axis=1))
        of_sums = {total: scipy.special.logsumexp(logs[listed.sum(axis=1) == total]) for total in range(7)}
        own = -(severities @ codes + costs[codes].sum(axis=0))
        likelihood = sum(value - of_sums[total] for value, total in zip(own, codes.sum(axis=0), strict=True))
        return float(-likelihood + 0.25 / 2 * parameters @ parameters)

    wanted = scipy.optimize.minimize(loss, np.zeros(5), method="BFGS").x
    noise = PanelNoise.fit(data_of(codes + 1.0, points=3), Stream(1))
    assert noise.severities == pytest.approx(wanted[:3], abs=1e-3)
    assert np.diff(noise.costs) == pytest.approx(wanted[3:], abs=1e-3)


def test_planted_camps_are_detected_among_five_raters() -> None:
    found = split_units(panel(1, raters=5, units=200, split=10), generator=Stream(1))
    assert len(found.splitting) >= 7
    assert sum(each.unit >= 10 for each in found.splitting) <= 1
    for each in found.splitting:
        assert each.p_value <= each.adjusted_p <= 0.05
        assert each.gap > 1
        assert {*each.lower, *each.upper} == set(range(5))


def test_noise_alone_is_rarely_marked() -> None:
    marked = [
        bool(split_units(panel(seed, raters=raters, units=100), generator=Stream(1)).splitting)
        for seed in range(10)
        for raters in (3, 5)
    ]
    assert sum(marked) <= 3  # of 20 panels; 1 is expected at most


def test_severe_rater_is_no_camp() -> None:
    generator = np.random.default_rng(2)
    base = generator.integers(3, 6, 80)
    values = np.array([base, base - (generator.random(80) < 0.2), base - 2.0])
    found = split_units(data_of(values), generator=Stream(1))
    assert found.splitting == ()
    assert max(each.variance_after_severity for each in found.units) < 0.5 < found.units[0].variance


def test_last_values_are_compared_with_the_noise_of_values_given_alone() -> None:
    alone = panel(1, raters=5, units=200, split=10)
    values = alone.values.copy()
    values[:, :10] = 3
    assert split_units(alone, data_of(values), generator=Stream(1)).splitting == ()
    agreed = np.tile(np.round(alone.values.mean(axis=0)), (5, 1))
    agreed[:, :10] = alone.values[:, :10]
    found = split_units(alone, data_of(agreed), generator=Stream(1))
    assert {each.unit for each in found.splitting} <= set(range(10))
    assert found.splitting


def test_long_scales_are_put_into_classes() -> None:
    alone = panel(1, raters=5, units=200, split=10)
    wide = data_of((alone.values - 1) * 24 + 1, points=97)
    found = split_units(wide, generator=Stream(1))
    assert len({each.unit for each in found.splitting} & set(range(10))) >= 7
    assert found.splitting[0].gap > 24


def slider(seed: int, raters: int, units: int) -> ReliabilityData:
    """Return values of 1 to 97 of a latent normal quality with noise, without camps."""
    generator = np.random.default_rng(seed)
    latent = generator.normal(size=units) - generator.normal(0, 0.3, (raters, 1))
    latent = latent + generator.normal(0, 0.5, (raters, units))
    return data_of(np.round(np.clip((latent + 2.5) / 5, 0, 1) * 96) + 1, points=97)


@pytest.mark.parametrize("raters", [3, 5])
def test_noise_alone_is_rarely_marked_on_a_long_scale(raters: int) -> None:
    found = [split_units(slider(seed, raters, units=100), generator=Stream(1)) for seed in range(8)]
    p_values = np.array([unit.p_value for each in found for unit in each.units])
    assert p_values.min() > 0
    assert (p_values <= 0.05).mean() <= 0.05
    assert sum(bool(each.splitting) for each in found) <= 1


def test_order_of_units_does_not_change_p_on_a_long_scale() -> None:
    data = slider(seed=4, raters=3, units=300)
    turned = split_units(data.of_units(np.arange(300)[::-1]), generator=Stream(1)).units[::-1]
    found = split_units(data, generator=Stream(1)).units
    # Severities are fitted by sums, whose last digits depend on the order.
    assert [each.p_value for each in turned] == pytest.approx([each.p_value for each in found], abs=2e-3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (data_of(np.ones((3, 30)), level="nominal"), "no camps"),
        (data_of(np.ones((3, 19))), "needs 20 units"),
        (data_of(np.ones((2, 30))), "third rater"),
    ],
)
def test_data_that_cannot_be_tested_have_a_reason(data: ReliabilityData, reason: str) -> None:
    found = split_units(data, generator=Stream(1))
    assert found.units == ()
    assert reason in found.reason


def test_noise_explains_every_disputed_unit_of_summeval_op() -> None:
    path = reference_data() / "summeval_op" / "summeval-op-detailed.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    disputed = 0
    for key in ("fl", "co", "re", "fa", "ac", "sc", "sp"):
        values = np.concatenate([np.array(line[key], dtype=float) for line in lines]).T
        disputed += int((np.ptp(values, axis=0) >= 2).sum())
        found = split_units(data_of(values), generator=Stream(1))
        assert len(found.units) == 416
        assert any(each.lower for each in found.units)
        assert found.splitting == ()
    assert disputed == 1_030
