"""What a file would make of a project: read as an import reads it, but nothing is written or locked."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path

from annotate.core.errors import DomainError, NotReadyError
from annotate.core.models import Project, Round
from annotate.core.rounds import round_one
from annotate.material.queries.catalogue import Catalogue, NamesInFile
from annotate.material.queries.items import ItemCheck
from annotate.material.queries.places import Places
from annotate.material.queries.ratings import RatingCheck
from annotate.material.reading.mappings import rows_of
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.readers import RecordFile
from annotate.material.reading.refused import RefusedFile
from annotate.material.reading.report import ImportCounts, ImportReport, Refusals
from annotate.material.reading.rows import ImportedRating, Record, RefusedLine, Row, UnreadableFileError
from annotate.material.reading.source import Source

TELL_EVERY = 200


def check_file(
    *,
    project: Project,
    source: Source,
    limit: int | None = None,
    on_progress: OnProgress = silent,
    refused_to: Path | None = None,
) -> ImportReport:
    """Say what the file, or its first `limit` records, would make; nothing is written and nothing locked.

    With a limit only what the first records name is looked up, however large the project is.
    """
    return FileCheck(project, source, refused_to=refused_to).check(limit, on_progress)


class FileCheck:
    """One reading of the file with everything that it refuses, finds and makes.

    skip: the lines that are left out. refused_to: where refused lines are kept, after those that are skipped.
    members: see Places.
    """

    def __init__(
        self,
        project: Project,
        source: Source,
        *,
        skip: frozenset[int] = frozenset(),
        refused_to: Path | None = None,
        members: Mapping[str, int] | None = None,
    ) -> None:
        self.project, self.source, self.skip, self.members = project, source, skip, members
        self.kept = RefusedFile(refused_to, append=bool(skip)) if refused_to else None
        self.refused_lines: set[int] = set()
        self.stopped = False
        self.refusals = Refusals()
        self.lines = 0
        self.empty_rows = 0
        self.of_other_round = 0
        self.complete = True
        self.items: ItemCheck | None = None
        self.ratings: RatingCheck | None = None

    def check(self, limit: int | None, on_progress: OnProgress) -> ImportReport:
        """Read the file, or its first `limit` records, and report."""
        round = round_one(self.project)
        catalogue = Catalogue(self.project, None if limit is None else self._names_in_first_records(limit))
        self.items = ItemCheck(catalogue)
        if self.source.ratings:
            self.refuse_on_error(lambda: self.begin_ratings(catalogue, round))
        if not self.stopped:
            with self.kept or nullcontext():
                self.refuse_on_error(lambda: self.take_all("checking", on_progress, limit))
        self.refuse_on_error(lambda: refuse_items_after_round_one(round, self.items))
        opens = round is None and self.ratings is not None and self.ratings.made.ratings > 0
        return self.report(opens_round_one=opens)

    def begin_ratings(self, catalogue: Catalogue, round: Round | None) -> None:
        """Prepare to take the file's ratings; a DomainError says why the project takes none."""
        places = Places(self.project, catalogue, round, self.members)
        self.ratings = RatingCheck(self.project, catalogue, round, places)

    @property
    def new_raters(self) -> list[str]:
        """The raters of the file that have no place in the project yet."""
        raters = self.ratings.places.raters if self.ratings else {}
        return [name for name, rater in raters.items() if rater.pk is None]

    def take_all(
        self,
        stage: str,
        on_progress: OnProgress,
        limit: int | None = None,
        *,
        items: bool = True,
        ratings: bool = True,
    ) -> None:
        """Read the file's records, or the first of them, and take what they hold."""
        with RecordFile(self.source.path, self.source.name, self.source.part) as file:
            records = iter(file)
            for number, record in enumerate(islice(records, limit)):
                if number % TELL_EVERY == 0:
                    on_progress(stage, file.fraction_read, number)
                self.lines = record.line
                if record.line not in self.skip:
                    self._take(record, items=items, ratings=ratings)
            self.complete = limit is None or next(records, None) is None
            self.empty_rows = file.empty_rows

    def refuse_on_error(self, step: Callable[[], None]) -> None:
        """Note what stops the whole file as a refusal without a line, or with the line it stops at."""
        try:
            step()
        except UnreadableFileError as error:
            self.stopped = True
            self.refusals.add(RefusedLine(error.line, "", error.reason))
        except DomainError as error:
            self.stopped = True
            self.refusals.add(RefusedLine(0, "", error.message))

    def report(self, *, opens_round_one: bool) -> ImportReport:
        """Sum up what was read so far."""
        checks = [check for check in (self.items, self.ratings) if check]
        return ImportReport(
            made=_sum(check.made for check in checks),
            already_there=_sum(check.already_there for check in checks),
            opens_round_one=opens_round_one,
            lines=self.lines,
            complete=self.complete,
            refused_count=self.refusals.count,
            refused=tuple(self.refusals.listed),
            left_out=len(self.skip),
            stopped=self.stopped,
            empty_rows=self.empty_rows,
            of_other_round=self.of_other_round,
        )

    def _names_in_first_records(self, limit: int) -> NamesInFile | None:
        """What the first records name, read beforehand; None where that is too much to ask for by name."""
        named = NamesInFile()
        with (
            suppress(UnreadableFileError),
            RecordFile(self.source.path, self.source.name, self.source.part) as file,
        ):
            for record in islice(file, limit):
                for row in self._rows(record):
                    if not isinstance(row, RefusedLine):
                        named.add(row)
        return None if named.is_many else named

    def _rows(
        self, record: Record | RefusedLine, *, items: bool = True, ratings: bool = True
    ) -> Iterator[Row | RefusedLine]:
        source = self.source
        return rows_of(
            source.mapping, record, items=items and source.items, ratings=ratings and source.ratings
        )

    def _take(self, record: Record | RefusedLine, *, items: bool, ratings: bool) -> None:
        rows = self._rows(record, items=items, ratings=ratings)
        refused = [each for each in map(self._refusal, rows) if each]
        for each in refused:
            self.refusals.add(each)
        if refused:
            self.refused_lines.add(record.line)
            if self.kept:
                self.kept.add(record, refused)

    def _refusal(self, row: Row | RefusedLine) -> RefusedLine | None:
        if isinstance(row, RefusedLine):
            return row
        if isinstance(row, ImportedRating):
            return self._rating_refusal(row)
        return self.items.take(row) if self.items else None

    def _rating_refusal(self, row: ImportedRating) -> RefusedLine | None:
        if not self.ratings:
            return None
        if row.round not in (0, self.ratings.number):
            self.of_other_round += 1
            return None
        return self.ratings.take(row)


def refuse_items_after_round_one(round: Round | None, items: ItemCheck | None) -> None:
    """Raise NotReadyError if there are new items, which nobody would ever rate."""
    if round and not round.is_open and items and items.made.items:
        raise NotReadyError(
            "Round I is closed, so new items would never be rated; import them into a new project."
        )


def _sum(counts: Iterator[ImportCounts]) -> ImportCounts:
    total = ImportCounts()
    for each in counts:
        for name in ImportCounts.__dataclass_fields__:
            setattr(total, name, getattr(total, name) + getattr(each, name))
    return total


CHECKS: dict[str, type[FileCheck]] = {}
"""How files are checked whose ratings are not those of Round I, by what they are imported as."""
