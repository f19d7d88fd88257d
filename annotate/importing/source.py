"""What an import is made from."""

from dataclasses import dataclass
from pathlib import Path

from annotate.importing.mappings import Mapping


@dataclass(frozen=True, slots=True)
class Source:
    """A file, how to read it, and what to take from it."""

    path: Path
    name: str
    mapping: Mapping
    items: bool
    ratings: bool
