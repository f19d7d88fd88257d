"""An interval of alpha for any number of looks."""

import numpy as np
import pytest

from agreement import ReliabilityData, krippendorff_alpha
from agreement.always_valid import always_valid_alpha
from agreement.data import FloatArray, MeasurementLevel
from benchmarks.coverage_stopping import LEVEL, POINTS, Material, held_at_every_look


@pytest.mark.parametrize("level", ["interval", "nominal"])
def test_value_is_nearly_alpha_if_everything_is_rated(level: str) -> None:
    """Only pairs of values of one document are missing from what chance gives."""
    documents = Material().documents(200, np.random.default_rng(3))
    found = always_valid_alpha(documents, level=MeasurementLevel(level), value_domain=POINTS)
    data = ReliabilityData(
        np.concatenate(list(documents), axis=1), measurement_level=level, value_domain=list(POINTS)
    )
    assert found.value == pytest.approx(krippendorff_alpha(data).value, abs=0.02)
    assert found.low < (found.value or 0) < found.high
    assert found.documents == 200


def test_it_holds_at_every_look_where_the_usual_interval_does_not() -> None:
    """`python benchmarks/coverage.py stopping` measures more."""
    valid, usual, width = held_at_every_look(Material(), 200, simulations=12, every=50)
    assert valid >= 0.9
    assert usual < valid
    assert width < 0.6


def test_gaps_and_single_ratings_do_no_harm_and_shortage_has_a_reason() -> None:
    gap = np.nan
    documents: list[FloatArray] = [np.array([[1, 5, gap], [2, 5, 3], [gap, 4, gap]])] * 6 + [
        np.array([[gap], [gap], [3]])
    ]
    assert always_valid_alpha(documents, level=LEVEL, value_domain=POINTS).documents == 6
    few = always_valid_alpha(documents[:2], level=LEVEL, value_domain=POINTS)
    assert (few.value, few.reason) == (None, "2 documents are finished; 4 are needed.")
    same = always_valid_alpha([[[3], [3]]] * 5, level=LEVEL, value_domain=POINTS)
    assert (same.value, same.reason) == (None, "All values are the same.")
