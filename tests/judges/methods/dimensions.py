"""Dimensions that tests judge by."""

from collections.abc import Sequence

from annotate.core.guideline import FrozenDimension, FrozenPoint


def dimension(
    name: str = "Coherence",
    minimum: int = 1,
    maximum: int = 5,
    level: str = "interval",
    labels: Sequence[str] = (),
) -> FrozenDimension:
    """Make a dimension; labels are those of its points from the lowest up."""
    points = tuple(
        FrozenPoint(value, label, f"What {label} means.") for value, label in enumerate(labels, minimum)
    )
    return FrozenDimension(
        1, name.lower(), name, f"How good it is in {name}.", "", minimum, maximum, level, points
    )


FIVE = dimension()
LABELLED = dimension(labels=("A pile", "Loose", "Partly ordered", "Well ordered", "One text"))
TEN = dimension(maximum=10)
HUNDRED = dimension(maximum=100)
BINARY = dimension("Correct", 0, 1, labels=("No", "Yes"))
TOPICS = dimension("Topic", 0, 2, "nominal", ("Sport", "Politics", "Politics abroad"))
