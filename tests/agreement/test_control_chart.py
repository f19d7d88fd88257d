"""A control chart alarms soon after a judge changes, and seldom else."""

import math
from itertools import combinations

import numpy as np
import pytest

from agreement.drift import LAST_CHECKS, control_chart
from benchmarks.coverage_stopping import Watched, count_covered, find_alarms

BETS = (0.5, 1.5, 5.0)


def evidence_written_out(values: list[list[float]]) -> float:
    """e of (documents, times) by the enumeration of all blocks."""
    table = [[each - sum(row) / len(row) for each in row] for row in values]
    spread = math.sqrt(sum(each**2 for row in table for each in row) / sum(map(len, table)))
    times = range(len(table[0]))
    blocks = [[0]] + [list(times)[-last:] for last in LAST_CHECKS if last < len(times) - 1]
    terms = []
    for block in blocks:
        for bet in BETS:
            up, down, either = 1.0, 1.0, 1.0
            for row in table:
                ratios = []
                for sign in (1, -1):
                    weight = [math.exp(sign * bet * each / spread) for each in row]
                    every = [math.prod(weight[at] for at in some) for some in combinations(times, len(block))]
                    ratios.append(math.prod(weight[at] for at in block) / (sum(every) / len(every)))
                up, down, either = up * ratios[0], down * ratios[1], either * sum(ratios) / 2
            terms += [up, down, either]
    return sum(terms) / len(terms)


@pytest.mark.oracle("an enumeration of all blocks; t by hand", of="control_chart", within=1e-9)
def test_p_is_one_over_the_evidence_written_out() -> None:
    first = [3.0, 2.0, 4.0, 5.0, 1.0, 3.0]
    checks = [[3.0, 3.0, 4.0, 5.0, 1.0, 2.0], [4.0, 2.0, 5.0, 5.0, 2.0, 4.0], [4.0, 3.0, 5.0, 5.0, 2.0, 5.0]]
    (chart,) = control_chart({"a": [first, *checks]}, {"a": range(6)}).values()
    for number, point in enumerate(chart, start=1):
        values = np.array([first, *checks[:number]]).T.tolist()
        assert point.p_value == pytest.approx(min(1.0, 1 / evidence_written_out(values)), abs=1e-9)
    # Differences 1, 1, 1, 0, 1, 2: mean 1, s = sqrt(.4), t(5) = 2.5706.
    assert chart[-1].value == pytest.approx(1.0)
    assert chart[-1].high == pytest.approx(1 + 2.570582 * math.sqrt(0.4 / 6), abs=1e-6)
    assert chart[-1].changed == pytest.approx(1 / 6)


def test_steady_judge_is_no_alarm_and_any_change_counts() -> None:
    steady = np.tile(np.arange(20) % 5 + 1.0, (6, 1))
    (chart,) = control_chart({"a": steady}, {"a": range(20)}).values()
    assert [(each.value, each.low, each.high, each.p_value, each.is_alarm) for each in chart] == [
        (0.0, 0.0, 0.0, 1.0, False)
    ] * 5
    moved = np.vstack([steady, steady[:1]])
    moved[-1, :10] += np.tile([1, -1], 5)  # the mean stays
    last = control_chart({"a": moved}, {"a": range(20)}, tolerance=0.5)["a"][-1]
    assert (last.value, last.changed, last.is_alarm) == (0.0, 0.5, True)


def test_gaps_count_as_missing_and_carry_no_signal() -> None:
    values = np.tile(np.arange(10) % 5 + 1.0, (4, 1))
    gaps = values.copy()
    gaps[2, :4] = gaps[3] = np.nan
    points = control_chart({"a": values, "b": gaps}, {"a": range(10), "b": np.arange(10) // 2})["b"]
    assert [(each.units, each.missing, each.p_value) for each in points] == [
        (10, 0, 1.0),
        (6, 4, 1.0),
        (0, 10, 1.0),
    ]
    assert points[-1].value is None
    assert points[-1].reason
    with pytest.raises(ValueError, match="same number of checks"):
        control_chart({"a": values, "b": gaps[:2]}, {"a": range(10), "b": range(10)})


def test_false_alarms_over_fifty_checks_are_rare() -> None:
    simulations = 25
    alarms = find_alarms(Watched("", 0.7, dimensions=1), 50, simulations)
    share = np.mean([each is not None for each in alarms])
    assert share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / simulations)


@pytest.mark.parametrize(
    ("noise", "shift", "started", "checks"), [(0.0, 0.3, 6, 1), (0.3, 0.5, 6, 2), (0.7, 1.0, 6, 3)]
)
def test_change_is_detected_within_checks(noise: float, shift: float, started: int, checks: int) -> None:
    judge = Watched("", noise, shift=shift, started=started)
    alarms = find_alarms(judge, started + checks, 20)
    assert np.mean([each is not None for each in alarms]) >= 0.8


def test_intervals_cover_a_shift() -> None:
    assert 0.92 <= count_covered(Watched("", 0.7, shift=0.5), 200) <= 0.98
