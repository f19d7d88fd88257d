"""The guideline as a round freezes it: typed, comparable, readable from and writable to JSON."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotate.core.scale import is_on_scale, points_of

FORMAT = 1
# What a dimension tells raters and takes from them, besides its points.
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
    """What one point of a scale meant."""

    value: int
    label: str
    description: str


@dataclass(frozen=True)
class FrozenDimension:
    """A dimension as raters saw it.

    kind, options: see annotate.questions; a scale has no options. shown_if: {dimension, values}, the answers
    to another question without which this one is not asked.
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
    options: Any = field(default=None, hash=False)
    shown_if: dict[str, Any] | None = field(default=None, hash=False)

    @property
    def is_scale(self) -> bool:
        """Whether answers are numbers of a scale, or codes of categories, and nothing else."""
        return self.kind == "scale"

    @property
    def is_named(self) -> bool:
        """Whether the values are codes of named categories rather than amounts."""
        return self.measurement_level == "nominal"

    @property
    def has_mean(self) -> bool:
        """Whether a mean of values says something: of amounts, and of 0 and 1, where it is the share of 1."""
        return not self.is_named or self.values == range(2)

    @property
    def values(self) -> Sequence[float]:
        """All values that the scale has, lowest first."""
        return points_of(self.scale_minimum, self.scale_maximum, self.scale_step)

    @property
    def whole_values(self) -> range:
        """The whole numbers of the scale: categories have no other codes, and judges are asked for these."""
        return range(self.scale_minimum, self.scale_maximum + 1)

    def has(self, value: float) -> bool:
        """Whether the scale has a value."""
        return is_on_scale(value, self.scale_minimum, self.scale_maximum, self.scale_step)

    def point(self, value: float | None) -> FrozenPoint | None:
        """Return the description of a value, None without one."""
        return next((point for point in self.points if point.value == value), None)

    def name_of(self, value: float) -> str:
        """Return what a value is called: a category by its label, an amount by its number."""
        point = self.point(value) if self.is_named else None
        return point.label if point and point.label else str(value)


@dataclass(frozen=True)
class FrozenGuideline:
    """All that a round froze."""

    guidelines: str
    raters_per_item: int
    dispute_threshold: int
    tolerance: int
    dimensions: tuple[FrozenDimension, ...]

    def dimension(self, key: str) -> FrozenDimension | None:
        """Return the dimension with this key, if there is one."""
        return next((dimension for dimension in self.dimensions if dimension.key == key), None)

    @property
    def scales(self) -> tuple[FrozenDimension, ...]:
        """The dimensions that statistics of numbers are about."""
        return tuple(each for each in self.dimensions if each.is_scale)

    def to_json(self) -> dict[str, Any]:
        """Return what is stored."""
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
        """Return a SHA-256 that is the same exactly for the same content."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "FrozenGuideline":
        """Read what `to_json` wrote."""
        if content["format"] != FORMAT:
            raise ValueError(f"This guideline has format {content['format']}; this Concord reads {FORMAT}.")
        return cls(
            **{name: content[name] for name in cls.__dataclass_fields__ if name != "dimensions"},
            dimensions=tuple(_dimension(dimension) for dimension in content["dimensions"]),
        )


def _dimension(content: dict[str, Any]) -> FrozenDimension:
    points = tuple(FrozenPoint(**point) for point in content["points"])
    return FrozenDimension(**{**content, "points": points})
