"""Usual scales, as the page of a dimension offers them."""

from dataclasses import dataclass

from annotate.models import MeasurementLevel


@dataclass(frozen=True)
class UsualScale:
    """A scale to start from: its values, how they are measured, and names where they come with it."""

    key: str
    name: str
    minimum: int
    maximum: int
    level: MeasurementLevel
    labels: tuple[str, ...] = ()


USUAL_SCALES = {
    scale.key: scale
    for scale in (
        UsualScale("1-5", "1 to 5", 1, 5, MeasurementLevel.INTERVAL),
        UsualScale("1-7", "1 to 7", 1, 7, MeasurementLevel.INTERVAL),
        UsualScale("1-10", "1 to 10", 1, 10, MeasurementLevel.INTERVAL),
        UsualScale("1-100", "1 to 100", 1, 100, MeasurementLevel.INTERVAL),
        UsualScale("binary", "no or yes", 0, 1, MeasurementLevel.NOMINAL, ("No", "Yes")),
        UsualScale("categories", "named categories", 1, 3, MeasurementLevel.NOMINAL),
    )
}
