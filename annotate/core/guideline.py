"""Dimensions as forms and templates specify them, and the guideline as a round freezes it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotate.core.scale import is_on_scale, points_of

FORMAT = 1
# The wording and options of a dimension for raters, except its points.
DIMENSION_FIELDS = (
    "name",
    "definition",
    "guidelines",
    "scale_minimum",
    "scale_maximum",
    "scale_step",
    "measurement_level",
    "not_applicable",
    "kind",
    "options",
    "shown_if",
)


@dataclass(frozen=True)
class FrozenPoint:
    value: int
    label: str
    description: str


@dataclass(frozen=True)
class FrozenDimension:
    """A dimension as raters saw it.

    kind, options: see annotate.questions; a scale has no options. shown_if: {dimension, values}, the answers
    to another question without which this one is not shown.
    """

    id: int
    key: str
    name: str
    definition: str
    guidelines: str
    scale_minimum: int
    scale_maximum: int
    measurement_level: str
    points: tuple[FrozenPoint, ...]
    not_applicable: bool = False
    scale_step: float = 1
    kind: str = "scale"
    # A dict has no hash, but it counts when two dimensions are compared.
    options: Any = field(default=None, hash=False)
    shown_if: dict[str, Any] | None = field(default=None, hash=False)

    @property
    def is_scale(self) -> bool:
        return self.kind == "scale"

    @property
    def is_named(self) -> bool:
        """Return True if the values are codes of named categories rather than amounts."""
        return self.measurement_level == "nominal"

    @property
    def has_mean(self) -> bool:
        """Return True if a mean of values is meaningful: for amounts, and for 0 and 1 (the share of 1)."""
        # Two ranges are equal if they have the same numbers, here 0 and 1.
        return not self.is_named or self.values == range(2)

    @property
    def values(self) -> Sequence[float]:
        return points_of(self.scale_minimum, self.scale_maximum, self.scale_step)

    @property
    def whole_values(self) -> range:
        """Return the whole numbers of the scale.

        Categories have no other codes, and judges may give only these.
        """
        return range(self.scale_minimum, self.scale_maximum + 1)

    def has(self, value: float) -> bool:
        return is_on_scale(value, self.scale_minimum, self.scale_maximum, self.scale_step)

    def point(self, value: float | None) -> FrozenPoint | None:
        return next((point for point in self.points if point.value == value), None)

    def name_of(self, value: float) -> str:
        """Return the name of a value: the label of a category, the number of an amount."""
        point = self.point(value) if self.is_named else None
        return point.label if point and point.label else str(value)


@dataclass(frozen=True)
class FrozenGuideline:
    guidelines: str
    raters_per_item: int
    dispute_threshold: int
    tolerance: int
    dimensions: tuple[FrozenDimension, ...]

    def dimension(self, key: str) -> FrozenDimension | None:
        return next((dimension for dimension in self.dimensions if dimension.key == key), None)

    @property
    def scales(self) -> tuple[FrozenDimension, ...]:
        return tuple(each for each in self.dimensions if each.is_scale)

    def to_json(self) -> dict[str, Any]:
        content = {"format": FORMAT, **asdict(self)}
        for dimension in content["dimensions"]:
            # As guidelines were stored before there was this answer, and before there were steps.
            if not dimension["not_applicable"]:
                del dimension["not_applicable"]
            if dimension["scale_step"] == 1:
                del dimension["scale_step"]
            # And before there were kinds.
            if dimension["kind"] == "scale":
                del dimension["kind"]
            for name in ("options", "shown_if"):
                if dimension[name] is None:
                    del dimension[name]
        return content

    def digest(self) -> str:
        """Return a SHA-256 that is equal only for equal content."""
        # A JSON column of PostgreSQL does not preserve the order of names, so the hash sorts them.
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "FrozenGuideline":
        if content["format"] != FORMAT:
            raise ValueError(f"This guideline has format {content['format']}; this Concord reads {FORMAT}.")
        return cls(
            **{name: content[name] for name in cls.__dataclass_fields__ if name != "dimensions"},
            dimensions=tuple(_dimension(dimension) for dimension in content["dimensions"]),
        )


def _dimension(content: dict[str, Any]) -> FrozenDimension:
    points = tuple(FrozenPoint(**point) for point in content["points"])
    return FrozenDimension(**{**content, "points": points})


@dataclass(frozen=True)
class PointSpec:
    value: int
    label: str
    description: str = ""


@dataclass(frozen=True)
class DimensionSpec:
    """A dimension with its scale, without points that have no description."""

    name: str
    definition: str
    guidelines: str = ""
    scale_minimum: int = 1
    scale_maximum: int = 5
    scale_step: float = 1
    measurement_level: str = "interval"
    points: tuple[PointSpec, ...] = ()
    not_applicable: bool = False
    dispute_threshold: float | None = None
    tolerance: float | None = None
    kind: str = "scale"
    options: dict[str, Any] | None = field(default=None, hash=False)
    shown_if: dict[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True)
class TemplateSettings:
    raters_per_item: int = 3
    dispute_threshold: int = 2
    tolerance: int = 1
    reservation_minutes: int = 120


@dataclass(frozen=True)
class Picture:
    name: str
    content: bytes


@dataclass(frozen=True)
class ProjectTemplate:
    """A template for a new project: dimensions, their common guidelines, settings.

    source: the paper that it follows. sample: some lines of a file to import.
    """

    key: str
    name: str
    summary: str
    guidelines: str
    dimensions: tuple[DimensionSpec, ...]
    settings: TemplateSettings = TemplateSettings()
    pictures: tuple[Picture, ...] = ()
    source: str = ""
    sample: str = ""
