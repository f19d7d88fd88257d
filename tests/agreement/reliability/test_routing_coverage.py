"""A short form of benchmarks/coverage.py routing: what is shown without a warning holds after routing."""

from dataclasses import replace

import pytest
from scipy import stats

from agreement.reliability import LEAST_RATINGS
from benchmarks.coverage_routing import KINDS, Batch, simulate

SIMULATIONS = 60


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2]], ids=lambda kind: kind.name)
def test_intervals_from_the_least_audit_cover_without_a_warning(kind: Batch) -> None:
    reached = simulate(replace(kind, least=LEAST_RATINGS), SIMULATIONS).reached
    for name, each in reached.items():
        least = stats.binom.ppf(0.0005, each.unwarned, 0.93)
        assert each.held_unwarned >= least, name
    assert reached["difference, both audited"].unwarned > SIMULATIONS
    assert reached["all ranks at once, beyond"].intervals == SIMULATIONS


def test_smaller_audits_of_a_system_always_have_a_warning() -> None:
    reached = simulate(KINDS[0], 30).reached
    shown = {name: each.unwarned for name, each in reached.items()}
    assert shown["regression"] == shown["stratified"] == shown["difference, both audited"] == 0
    assert shown["guaranteed"] == reached["guaranteed"].intervals
