"""The documents that the replacement test needs, compared with simulated tests of so many documents."""

import numpy as np
import pytest

from agreement.reliability import alternative_annotator_test, plan_replacement
from benchmarks.coverage_power import CANDIDATES, power_of_replacement

pytestmark = [pytest.mark.fast, pytest.mark.once]


@pytest.mark.oracle("simulation, share of tests passed", of="plan_replacement", within=0.12)
def test_plan_reaches_its_power() -> None:
    """`python benchmarks/coverage.py power` measures more."""
    documents, passed = power_of_replacement(CANDIDATES[0], 100, pilot=2_000)
    assert documents < 100
    assert passed == pytest.approx(0.8, abs=0.12)


def test_judge_that_loses_to_people_never_passes() -> None:
    generator = np.random.default_rng(3)
    people = np.round(3 + generator.normal(size=(1, 80)) + 0.3 * generator.normal(size=(3, 80)))
    opposite = 6 - people.mean(axis=0)
    test = alternative_annotator_test(people, opposite, epsilon=0.2, generator=generator)
    plan = plan_replacement(test, epsilon=0.2, generator=generator)
    assert plan.documents is None
    assert plan.power_today == 0
    assert "more documents do not help" in plan.reason
