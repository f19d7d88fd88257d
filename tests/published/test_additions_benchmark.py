"""A short form of benchmarks/additions.py: added systems lie near the full panel, audits catch errors."""

import numpy as np
import pytest

from benchmarks.additions import BENCHMARKS, add_systems, favour_system, rate_anew
from tests.reference import reference_data

REPETITIONS = 4


@pytest.fixture(autouse=True)
def real_ratings() -> None:
    reference_data()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_added_systems_are_near_the_full_panel(name: str) -> None:
    found = [add_systems(name, seed) for seed in range(REPETITIONS)]
    assert np.mean([each.difference for each in found]) < 0.2
    assert np.mean([each.covered_beyond for each in found]) > 0.9
    assert np.mean([each.tau for each in found]) > 0.85
    assert all(each.ratings < each.everything for each in found)


def test_audits_contradict_only_judges_that_err_too_often() -> None:
    found = [each for seed in range(REPETITIONS) for each in favour_system("SummEval-OP", seed)]
    assert not any(np.isfinite(each.after) for each in found if not each.is_wrong)
    caught = [each.after <= 20 for each in found if each.is_wrong and each.shift == 1.5]
    assert np.mean(caught) > 0.6


def test_new_raters_are_lower_but_stay_on_the_scale() -> None:
    ratings = np.tile([1.0, 3.0, 5.0], (4_000, 1))[..., None]
    means = rate_anew(ratings, np.random.default_rng(1)).mean(axis=(0, 2))
    assert means == pytest.approx([1.0, 2.6, 4.6], abs=0.03)
