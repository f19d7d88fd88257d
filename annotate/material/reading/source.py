"""What an import is made from."""

from dataclasses import dataclass
from pathlib import Path

from annotate.material.reading.mappings import Mapping


@dataclass(frozen=True, slots=True)
class Source:
    """A file, how to read it, and what to take from it.

    part: of a data set's folder, the "config/split" to read; empty: its first configuration.
    """

    path: Path
    name: str
    mapping: Mapping
    items: bool
    ratings: bool
    part: str = ""
