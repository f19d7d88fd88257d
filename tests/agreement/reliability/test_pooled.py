"""Several systems together: by hand, beside the estimates of one system, and how often the interval holds."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from agreement.reliability import (
    RatedSample,
    humans_only,
    pooled_estimate,
    regression_estimate,
    weighted_estimate,
)

GAP: Any = float("nan")


def constant(human: list[float], **fields: Any) -> RatedSample:
    return RatedSample(judge=[3] * len(human), human=human, **fields)


@pytest.mark.oracle("fraction worked by hand", of="pooled_estimate", within=1e-06)
def test_without_a_judges_help_it_is_the_stratified_mean_by_hand() -> None:
    """Ratings 1, 2, 3 of 6 units and 4, 5 of 4; a judge that never varies has the slope 0."""
    first, second = constant([1, 2, 3, GAP, GAP, GAP]), constant([4, 5, GAP, GAP])
    found = pooled_estimate([first, second])
    assert found.value == pytest.approx(0.6 * 2 + 0.4 * 4.5)
    # (N_k / N)^2 (1 - n / N) s^2 / n, times (5 - 2) / (5 - 2 - 1)
    parts = [0.36 * 0.5 * 1 / 3 * 1.5, 0.16 * 0.5 * 0.5 / 2 * 1.5]
    assert found.standard_error == pytest.approx(np.sqrt(sum(parts)))
    assert found.degrees_of_freedom == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2))
    assert (found.ratings, found.units) == (5, 10)


def test_a_system_with_one_rating_takes_the_spread_of_all() -> None:
    first, second = constant([1, 2, 3, GAP, GAP, GAP]), constant([4, GAP])
    found = pooled_estimate([first, second])
    # the squared residuals of 4 ratings in 2 cells, one slope: 2 / (4 - 2 - 1)
    parts = [0.75**2 * 0.5 * 1 / 3 * 2, 0.25**2 * 0.5 * 2]
    assert found.standard_error == pytest.approx(np.sqrt(sum(parts)))


def test_of_one_system_it_is_nearly_its_own_estimate() -> None:
    generator = np.random.default_rng(4)
    judge = generator.normal(3, 1, 200)
    human = np.where(np.arange(200) < 60, judge + generator.normal(0, 0.5, 200), GAP)
    sample = RatedSample(judge=judge, human=human)
    one, pooled = regression_estimate(sample), pooled_estimate([sample])
    assert pooled.value == pytest.approx(one.value)
    # One slope for many systems is taken as known once its degree of freedom is paid for.
    assert pooled.standard_error == pytest.approx(one.standard_error, rel=0.02)
    chances = np.where(judge > 3, 0.6, 0.3)
    human = np.where(generator.random(200) < chances, human, GAP)
    active = RatedSample(judge=judge, human=human, probabilities=chances, strata=["left"] * 200)
    assert pooled_estimate([active]).value == pytest.approx(weighted_estimate(active).value, abs=0.1)


def test_fully_rated_strata_are_exact_and_documents_count_beyond_them() -> None:
    first, second = constant([1, 2, 3, 4]), constant([2, 2, 4, 4])
    found = pooled_estimate([first, second])
    assert (found.value, found.standard_error) == (2.75, 0)
    beyond = pooled_estimate([first, second], documents=4)
    # half of each sample variance, 5 / 3 and 4 / 3, over 4 documents
    assert beyond.standard_error == pytest.approx(np.sqrt(1.5 / 4))
    assert beyond.degrees_of_freedom == 3


def test_undefined_pooled_estimate_has_a_reason() -> None:
    nobody = constant([GAP] * 3)
    assert pooled_estimate([nobody]).reason == "No person has rated a unit yet."
    found = pooled_estimate([constant([1, 2, GAP]), nobody])
    assert found.reason == "1 of 2 systems’ strata have no rating yet."
    few = pooled_estimate([constant([1, GAP]), constant([2, GAP])])
    assert "too few ratings together" in (few.interval_reason or "")
    same = pooled_estimate([constant([4, 4, 4, GAP]), constant([4, 4, GAP, GAP])])
    assert "no spread" in (same.interval_reason or "")


def test_it_holds_where_single_systems_have_too_few_and_warns_of_few_in_all() -> None:
    """Five of 100 units of each of 12 systems, which differ by more than texts do."""
    generator, held, alone, simulations = np.random.default_rng(3), 0, 0, 400
    for _ in range(simulations):
        samples, truth = [], []
        for system in range(12):
            people = np.clip(np.round(2 * generator.normal(2 + system / 6, 0.9, 100)) / 2, 1, 5)
            judge = people + generator.normal(0.5, 1, 100)
            human = np.full(100, GAP)
            chosen = generator.choice(100, 5, replace=False)
            human[chosen] = people[chosen]
            samples.append(RatedSample(judge=judge, human=human))
            truth.append(people.mean())
        found = pooled_estimate(samples)
        assert found.interval is not None
        assert not found.warnings
        held += found.interval.low <= np.mean(truth) <= found.interval.high
        alone += humans_only(samples[0]).warnings != ()
    assert held >= stats.binom.ppf(0.001, simulations, 0.95)
    assert alone == simulations
    assert pooled_estimate(samples[:3]).warnings[0] == (
        "Only 15 of 300 units that were drawn over all systems are rated; asymptotic intervals need 20."
    )
