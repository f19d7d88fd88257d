"""The guideline as it stands, before anything freezes it."""

from annotate.guideline import FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.models import Dimension, Project


def current_guideline(project: Project) -> FrozenGuideline:
    """Return what would be frozen if a round were opened now. Two queries."""
    return FrozenGuideline(
        guidelines=project.guidelines,
        raters_per_item=project.raters_per_item,
        dispute_threshold=project.dispute_threshold,
        tolerance=project.tolerance,
        dimensions=tuple(map(_dimension, project.dimensions.prefetch_related("points"))),
    )


def _dimension(dimension: Dimension) -> FrozenDimension:
    return FrozenDimension(
        id=dimension.pk,
        key=dimension.key,
        name=dimension.name,
        definition=dimension.definition,
        guidelines=dimension.guidelines,
        scale_minimum=dimension.scale_minimum,
        scale_maximum=dimension.scale_maximum,
        measurement_level=dimension.measurement_level,
        not_applicable=dimension.not_applicable,
        points=tuple(
            FrozenPoint(point.value, point.label, point.description) for point in dimension.points.all()
        ),
    )
