"""Specifications of dimensions, as a form or a template passes them to a command."""

from dataclasses import dataclass, field
from typing import Any


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
