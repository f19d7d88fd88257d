from functools import lru_cache

from annotate.core.guideline import DIMENSION_FIELDS, FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.models import Dimension, Guideline, Project, Round


def guideline_of(round: Round) -> FrozenGuideline:
    """Return the guideline in force. One query the first time; a version never changes."""
    return frozen_guideline(round.guideline_id, round.guideline.digest)


@lru_cache(maxsize=256)
def frozen_guideline(pk: int, digest: str) -> FrozenGuideline:
    """Return a version of a guideline, remembered by this process. One query the first time."""
    content = Guideline.objects.filter(digest=digest).values_list("content", flat=True).get(pk=pk)
    return FrozenGuideline.from_json(content)


def current_guideline(project: Project) -> FrozenGuideline:
    """Return the guideline that a round would freeze if it opened now. Two queries."""
    return FrozenGuideline(
        guidelines=project.guidelines,
        raters_per_item=project.raters_per_item,
        dispute_threshold=project.dispute_threshold,
        tolerance=project.tolerance,
        dimensions=tuple(map(_dimension, project.dimensions.prefetch_related("points"))),
    )


def guideline_at(project: Project, round: Round | None) -> FrozenGuideline:
    return FrozenGuideline.from_json(round.guideline.content) if round else current_guideline(project)


def _dimension(dimension: Dimension) -> FrozenDimension:
    return FrozenDimension(
        id=dimension.pk,
        key=dimension.key,
        **{field: getattr(dimension, field) for field in DIMENSION_FIELDS},
        points=tuple(
            FrozenPoint(point.value, point.label, point.description) for point in dimension.points.all()
        ),
    )
