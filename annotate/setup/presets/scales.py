"""Short notations for scales."""

from annotate.core.guideline import PointSpec


def five_points(*points: tuple[str, str]) -> tuple[PointSpec, ...]:
    """Return the points 1 to 5 from (label, description) pairs, worst first."""
    return tuple(
        PointSpec(value, label, description)
        for value, (label, description) in zip(range(1, 6), points, strict=True)
    )
