"""Which coefficients say something at a measurement level, asked of the coefficients themselves."""

from dataclasses import dataclass
from functools import cache

from annotate.agreement.data import MeasurementLevel, ReliabilityData
from annotate.agreement.metric import usual_weights
from annotate.agreement.registry import COEFFICIENTS

_VARIED = (
    (1, 2, 3, 2, 1, 3),
    (1, 2, 3, 1, 2, 3),
    (2, 2, 3, 1, 1, 3),
)  # three raters; nothing is missing or constant


@dataclass(frozen=True)
class Advice:
    """What follows from a measurement level: the weights of disagreements, and which coefficients exist."""

    level: MeasurementLevel
    weights: str
    defined: tuple[str, ...]
    undefined: tuple[str, ...]


@cache
def advice(level: MeasurementLevel | str) -> Advice:
    """Return which coefficients are defined at a level, by their labels, and which are not."""
    level = MeasurementLevel(level)
    data = ReliabilityData(_VARIED, measurement_level=level, value_domain=(1, 2, 3))
    found = [coefficient(data) for coefficient in COEFFICIENTS.values()]
    return Advice(
        level=level,
        weights=usual_weights(level),
        defined=tuple(each.label for each in found if each.value is not None),
        undefined=tuple(each.label for each in found if each.value is None),
    )
