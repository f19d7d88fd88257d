"""A project's dimensions, until Round I freezes them. Every command locks the project's row."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import count

from django.db import transaction
from django.db.models import Max, ProtectedError
from django.utils.text import slugify
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_configurable, lock_project, refuse_frozen
from annotate.errors import FrozenError, NotReadyError
from annotate.guideline import DIMENSION_FIELDS
from annotate.models import Dimension, Project, Rating, ScalePoint
from annotate.queries.templates import spec_of
from annotate.specification import DimensionSpec

# Words that stand in the place of a dimension's key in addresses.
RESERVED_KEYS = frozenset({"new"})


@transaction.atomic
def add_dimension(*, project: Project, dimension: DimensionSpec) -> Dimension:
    """Put a dimension after the others. Locks the project. Raises FrozenError."""
    lock_configurable(project)
    last = project.dimensions.aggregate(last=Max("position"))["last"] or 0
    made = Dimension.objects.create(
        project=project,
        key=_free_key(project, dimension.name),
        position=last + 1,
        dispute_threshold=dimension.dispute_threshold,
        tolerance=dimension.tolerance,
        **_fields(dimension),
    )
    write_points(made, dimension)
    record(project, "dimension.added", made, after=asdict(dimension))
    return made


@transaction.atomic
def update_dimension(*, dimension: Dimension, to: DimensionSpec) -> Dimension:
    """Make a dimension what is given; its key follows its name. Locks the project. Raises FrozenError."""
    dimension = _locked(dimension)
    before = spec_of(dimension)
    to = replace(to, dispute_threshold=before.dispute_threshold, tolerance=before.tolerance)
    for field, value in _fields(to).items():
        setattr(dimension, field, value)
    dimension.key = _free_key(dimension.project, to.name, besides=dimension)
    dimension.save(update_fields=[*DIMENSION_FIELDS, "key"])
    dimension.points.all().delete()
    write_points(dimension, to)
    record(dimension.project, "dimension.changed", dimension, before=asdict(before), after=asdict(to))
    return dimension


@transaction.atomic
def move_dimension(*, dimension: Dimension, up: bool) -> None:
    """Exchange a dimension with its neighbour; at the end of the list nothing happens. Locks the project."""
    dimension = _locked(dimension)
    order = list(dimension.project.dimensions.all())
    here = order.index(dimension)
    there = here - 1 if up else here + 1
    if not 0 <= there < len(order):
        return
    order[here], order[there] = order[there], order[here]
    _put_in_order(order)
    before, after = {"place": here + 1}, {"place": there + 1}
    record(dimension.project, "dimension.moved", dimension, before=before, after=after)


@transaction.atomic
def duplicate_dimension(*, dimension: Dimension) -> Dimension:
    """Put a copy with scale and guidelines below a dimension. Locks the project. Raises FrozenError."""
    dimension = _locked(dimension)
    name = f"{dimension.name[:70]} (copy)"
    copy = add_dimension(project=dimension.project, dimension=replace(spec_of(dimension), name=name))
    order = [other for other in dimension.project.dimensions.all() if other != copy]
    order.insert(order.index(dimension) + 1, copy)
    _put_in_order(order)
    return copy


@transaction.atomic
def remove_dimension(*, dimension: Dimension) -> None:
    """Remove a dimension with its scale. Locks the project.

    Raises FrozenError, and NotReadyError if something else was built on it.
    """
    lock_project(dimension.project)
    if ratings := Rating.objects.filter(dimension=dimension.pk).count():
        raise FrozenError(
            gettext(
                "Ratings were given on {name} ({ratings:,} of them), so it stays. To go on "
                "without it, save the project as a template, begin a new one from that, and "
                "remove it."
            ).format(name=dimension.name, ratings=ratings)
        )
    refuse_frozen(dimension.project)
    before = asdict(spec_of(dimension))
    try:
        Dimension.objects.filter(pk=dimension.pk).delete()
    except ProtectedError:
        raise NotReadyError(
            gettext("Judgments or ratings of this dimension exist, so it has to stay.")
        ) from None
    record(dimension.project, "dimension.removed", dimension, before=before)


def _locked(dimension: Dimension) -> Dimension:
    project = lock_configurable(dimension.project)
    found = project.dimensions.filter(pk=dimension.pk).first()
    if found is None:
        raise NotReadyError(gettext("This dimension was removed meanwhile."))
    return found


def _put_in_order(order: Sequence[Dimension]) -> None:
    for position, dimension in enumerate(order, start=1):
        dimension.position = position
    Dimension.objects.bulk_update(order, ["position"])


def _fields(dimension: DimensionSpec) -> dict[str, str | int]:
    return {field: getattr(dimension, field) for field in DIMENSION_FIELDS}


def write_points(dimension: Dimension, spec: DimensionSpec) -> None:
    """Make the points of a dimension that something is written about, inside the caller's transaction."""
    scale = range(spec.scale_minimum, spec.scale_maximum + 1)
    ScalePoint.objects.bulk_create(
        ScalePoint(dimension=dimension, value=point.value, label=point.label, description=point.description)
        for point in spec.points
        if point.value in scale and (point.label or point.description)
    )


def _free_key(project: Project, name: str, *, besides: Dimension | None = None) -> str:
    others = project.dimensions.exclude(pk=besides.pk) if besides else project.dimensions.all()
    taken = RESERVED_KEYS | set(others.values_list("key", flat=True))
    base = slugify(name)[:50].strip("-") or "dimension"
    candidates = (base if n == 1 else f"{base}-{n}" for n in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)
