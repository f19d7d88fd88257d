"""The effect of a file on a project: read as an import reads it, without writes or locks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from annotate.core.errors import DomainError, NotReadyError
from annotate.core.models import Project, Round
from annotate.core.rounds import round_one
from annotate.material.queries.assignments import ItemAssignments
from annotate.material.queries.catalogue import Catalogue, NamesInFile
from annotate.material.queries.file_reading import FileReading
from annotate.material.queries.items import ItemCheck
from annotate.material.queries.metadata import MetadataOwners
from annotate.material.queries.ratings import RatingCheck
from annotate.material.reading.mappings import rows_of
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.report import ImportCounts, ImportReport
from annotate.material.reading.rows import ImportedRating, Record, RefusedLine, Row, UnreadableFileError
from annotate.material.reading.source import Source


class FileCheck(FileReading):
    """The check of a file of items and ratings.

    members: see `Places`. parts: the kinds of rows to import, items and ratings.
    """

    def __init__(
        self,
        project: Project,
        source: Source[Any],
        *,
        skip: frozenset[int] = frozenset(),
        refused_to: Path | None = None,
        members: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(source, skip=skip, refused_to=refused_to)
        self.project, self.members = project, members
        self.of_other_round = 0
        self.opens_round_one = False
        self.parts = {"items": source.items, "ratings": source.ratings}
        self.owners = MetadataOwners()
        self.items: ItemCheck | None = None
        self.ratings: RatingCheck | None = None

    def check(self, limit: int | None, on_progress: OnProgress) -> ImportReport:
        """Read the file, or its first `limit` records, and report.

        With a limit, a check looks up only the names in the first records.
        """
        round = round_one(self.project)
        # A preview must be fast also in a large project, so it loads only what its records name.
        catalogue = Catalogue(self.project, None if limit is None else self._names_in_first_records(limit))
        self.items = ItemCheck(catalogue)
        if self.source.ratings:
            self.refuse_on_error(lambda: self.begin_ratings(catalogue, round))
        if not self.stopped:
            with self.kept or nullcontext():
                self.refuse_on_error(lambda: self.take_all("checking", on_progress, limit))
        self.refuse_on_error(lambda: refuse_items_after_round_one(round, self.items))
        self.opens_round_one = round is None and bool(self.ratings and self.ratings.made.ratings)
        return self.report()

    def begin_ratings(self, catalogue: Catalogue, round: Round | None) -> None:
        """Prepare to take the file's ratings. A DomainError states the reason if the project takes none."""
        assignments = ItemAssignments(self.project, catalogue, round, self.members)
        self.ratings = RatingCheck(self.project, catalogue, round, assignments)

    @property
    def new_raters(self) -> list[str]:
        raters = self.ratings.assignments.raters if self.ratings else {}
        return [name for name, rater in raters.items() if rater.pk is None]

    def refuse_on_error(self, step: Callable[[], None]) -> None:
        """Record an error that stops the whole file as a rejection without a line."""
        try:
            step()
        except DomainError as error:
            self.stopped = True
            self.refusals.add(RefusedLine(0, "", error.message))

    def report(self) -> ImportReport:
        checks = [check for check in (self.items, self.ratings) if check]
        return ImportReport(
            made=_sum(check.made for check in checks),
            already_there=_sum(check.already_there for check in checks),
            opens_round_one=self.opens_round_one,
            of_other_round=self.of_other_round,
            dropped_columns=self.owners.dropped,
            **self.facts(),
        )

    def _names_in_first_records(self, limit: int) -> NamesInFile | None:
        """Return the names in the first records; None if they are too many for a query by name."""
        named = NamesInFile()
        # The check reads the file again after this and reports the error itself.
        with suppress(UnreadableFileError), self.source.open() as file:
            for record in islice(file, limit):
                for row in rows_of(self.source.mapping, record, **self.parts):
                    if not isinstance(row, RefusedLine):
                        named.add(row)
        return None if named.is_many else named

    def take(self, record: Record) -> Iterator[RefusedLine]:
        rows = rows_of(self.source.mapping, record, **self.parts)
        return (refused for row in rows if (refused := self._refusal(row)))

    def _refusal(self, row: Row | RefusedLine) -> RefusedLine | None:
        if isinstance(row, RefusedLine):
            return row
        if isinstance(row, ImportedRating):
            if not self.ratings:
                return None
            # 0: the file names no round.
            if row.round not in (0, self.ratings.number):
                # No rejection: one file can hold the ratings of both rounds.
                self.of_other_round += 1
                return None
            return self.ratings.take(row)
        if not self.items:
            return None
        self.owners.note(row)
        return self.items.take(row)


def refuse_items_after_round_one(round: Round | None, items: ItemCheck | None) -> None:
    """Raise NotReadyError if there are new items, which would never be rated."""
    if round and not round.is_open and items and items.made.items:
        raise NotReadyError(
            gettext("Round I is closed, so new items would never be rated. Add new systems under Additions.")
        )


def _sum(counts: Iterator[ImportCounts]) -> ImportCounts:
    total = ImportCounts()
    for each in counts:
        for name in ImportCounts.__dataclass_fields__:
            setattr(total, name, getattr(total, name) + getattr(each, name))
    return total


CHECKS: dict[str, type[FileCheck]] = {}
"""How files are checked whose ratings are not those of Round I, by what they are imported as."""
