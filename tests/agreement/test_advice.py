"""What a measurement level means for coefficients."""

import pytest

from agreement import COEFFICIENTS, MeasurementLevel, advice


@pytest.mark.parametrize(
    ("level", "weights", "missing"),
    [
        (
            "nominal",
            "identity",
            {"Agreement within one point", "ICC(A,1)", "ICC(A,k)", "ICC(C,k)", "Kendall's W"},
        ),
        ("ordinal", "linear", set()),
        ("interval", "quadratic", set()),
        ("ratio", "quadratic", set()),
    ],
)
def test_a_level_tells_weights_and_which_coefficients_there_are(level, weights, missing):
    found = advice(level)
    assert (found.level, found.weights) == (MeasurementLevel(level), weights)
    assert set(found.undefined) == missing
    assert found.defined[0] == "Krippendorff's alpha"
    assert len(found.defined) + len(found.undefined) == len(COEFFICIENTS)
