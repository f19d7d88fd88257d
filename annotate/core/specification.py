"""What a dimension is to be, before it is a row: as a form or a template gives it to a command."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PointSpec:
    """What one point of a scale is to mean."""

    value: int
    label: str
    description: str = ""


@dataclass(frozen=True)
class DimensionSpec:
    """A dimension with its scale; points that nothing is written about are left out."""

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
    """The numbers of a project that a template sets."""

    raters_per_item: int = 3
    dispute_threshold: int = 2
    tolerance: int = 1
    reservation_minutes: int = 120


@dataclass(frozen=True)
class Picture:
    """A picture of the guidelines, with the name of its file."""

    name: str
    content: bytes


@dataclass(frozen=True)
class ProjectTemplate:
    """A project ready to be started from: dimensions, the guidelines that they share, settings.

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
