"""What an import is made from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from annotate.material.reading.opening import KeptRecords
from annotate.material.reading.readers import RecordFile

MappingT = TypeVar("MappingT", covariant=True)


@dataclass(frozen=True)
class Source(Generic[MappingT]):
    """A file, how to read it, and, of items and ratings, what to take from it.

    part: of a data set's folder, the "config/split" to read; empty: its first configuration.
    kept: the first records, which are read instead of the file.
    """

    path: Path
    name: str
    mapping: MappingT
    items: bool = False
    ratings: bool = False
    part: str = ""
    kept: KeptRecords | None = None

    def open(self) -> RecordFile | KeptRecords:
        """Return the records; iterate once, inside `with`."""
        return self.kept or RecordFile(self.path, self.name, self.part)
