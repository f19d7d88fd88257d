"""The source of an import."""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from annotate.material.reading.opening import Opening
from annotate.material.reading.readers import RecordFile

MappingT = TypeVar("MappingT", covariant=True)


@dataclass(frozen=True)
class Source(Generic[MappingT]):
    """A file, its mapping and, for items and ratings, the rows to import.

    part: the "config/split" of a data set's folder to read; empty: its first configuration. kept: the first
    records, which replace the file.
    """

    path: Path
    name: str
    mapping: MappingT
    items: bool = False
    ratings: bool = False
    part: str = ""
    kept: Opening | None = None

    def open(self) -> RecordFile | Opening:
        """Return the records; iterate once, inside `with`."""
        return self.kept or RecordFile(self.path, self.name, self.part)
