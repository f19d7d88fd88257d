"""The report of an import of any kind, for people and programs."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from annotate.core.translation import gettext, ngettext
from annotate.material.reading.rows import LONGEST_VALUE, LineReason, RefusedLine, printable

MOST_CAUSES = 50
MOST_LISTED = 1000  # lines of all causes together
SHOWN_LINES = 10
MOST_NAMES = 5


class Tally:
    __slots__ = ()

    @property
    def total(self) -> int:
        return sum(self._numbers().values())

    def __str__(self) -> str:
        return ", ".join(
            f"{number:,} {name.removesuffix('s') if number == 1 else name}"
            for name, number in self._numbers().items()
            if number
        )

    def _numbers(self) -> dict[str, int]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


@dataclass(slots=True)
class ImportCounts(Tally):
    documents: int = 0
    systems: int = 0
    items: int = 0
    raters: int = 0
    ratings: int = 0


@dataclass(slots=True)
class Cause:
    """A reason with its lines: their count, the first of them, and the first values. Line 0 is the file."""

    field: str
    reason: str
    count: int = 0
    lines: list[int] = dataclasses.field(default_factory=list)
    names: list[str] = dataclasses.field(default_factory=list)
    more_names: bool = False

    @property
    def first_lines(self) -> list[int]:
        return self.lines[:SHOWN_LINES]

    @property
    def more_lines(self) -> int:
        return self.count - len(self.first_lines)

    def __str__(self) -> str:
        lines = self._name_lines()
        sentences = [f"{lines}, {self.field}: {self.reason}" if self.field else f"{lines}: {self.reason}"]
        if self.names:
            names = ", ".join([*self.names, *(["…"] if self.more_names else [])])
            sentences.append(gettext("Here: {names}.").format(names=names))
        return " ".join(sentences)

    def _name_lines(self) -> str:
        lines = ", ".join(f"{line:,}" for line in self.first_lines)
        if self.lines[:1] == [0]:
            return gettext("The file")
        if self.more_lines:
            return gettext("Lines {lines} and {more:,} more").format(lines=lines, more=self.more_lines)
        return ngettext("Line {lines}", "Lines {lines}", self.count).format(lines=lines)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Cause":
        """Read a stored cause; reports of items and ratings until 1.1 have single lines instead."""
        if "line" in content:
            return cls(content["field"], content["reason"], 1, [content["line"]])
        return cls(**content)


class Causes:
    """Causes in the order in which they first occur, within a limit; beyond it lines are only counted.

    Lines whose reasons differ only in their values have one cause: its reason has “…” for the values, and its
    names are the first of them.
    """

    def __init__(self) -> None:
        self.count = self._listed = 0
        self._by_reason: dict[tuple[str, str], Cause] = {}

    @property
    def listed(self) -> tuple[Cause, ...]:
        # An example is excluded if the message itself has the only value.
        return tuple(
            cause if cause.reason == general else dataclasses.replace(cause, names=[])
            for (_, general), cause in self._by_reason.items()
        )

    def add(self, refused: RefusedLine) -> None:
        """Count a line, in a form that any report can store."""
        self.count += 1
        reason = refused.reason
        general, example = (
            (reason.general, reason.example) if isinstance(reason, LineReason) else (reason, "")
        )
        key = printable(refused.field), printable(general)
        # A further cause is only counted, so that a report stays small.
        if key not in self._by_reason and len(self._by_reason) >= MOST_CAUSES:
            return
        cause = self._by_reason.setdefault(key, Cause(key[0], printable(reason)))
        # From the second different reason on, the cause has “…” for the values.
        if cause.reason != printable(reason):
            cause.reason = key[1]
        cause.count += 1
        if self._listed < MOST_LISTED:
            self._listed += 1
            cause.lines.append(refused.line)
        name = printable(refused.name or example, LONGEST_VALUE)
        if name and name not in cause.names:
            cause.more_names = len(cause.names) == MOST_NAMES
            cause.names += [] if cause.more_names else [name]


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """The effect of a file on a project, or the reason why nothing of it is imported.

    lines: the last line that was read. refused: the reasons with their lines, within a limit. left_out: the
    number of skipped lines. stopped: True if more than single lines is rejected. empty_rows: the number of
    rows with separators only.
    """

    counts: ClassVar[type[Tally]] = Tally

    made: Tally
    already_there: Tally
    lines: int
    complete: bool
    refused_count: int
    refused: tuple[Cause, ...]
    left_out: int = 0
    stopped: bool = False
    empty_rows: int = 0

    @property
    def is_refused(self) -> bool:
        return self.refused_count > 0

    @property
    def may_leave_out(self) -> bool:
        return bool(self.made.total) and not self.stopped

    @property
    def refused_lines(self) -> list[RefusedLine]:
        lines = [RefusedLine(line, each.field, each.reason) for each in self.refused for line in each.lines]
        return sorted(lines, key=lambda each: each.line)

    @property
    def unlisted(self) -> int:
        return self.refused_count - sum(cause.count for cause in self.refused)

    @property
    def remarks(self) -> list[str]:
        said = {gettext("Lines with something refused were left out: {count:,}."): self.left_out}
        said[gettext("Rows with only empty cells were left out: {count:,}.")] = self.empty_rows
        return [sentence.format(count=count) for sentence, count in said.items() if count]

    @property
    def unread(self) -> tuple[Cause, ...]:
        return ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        counts = {name: cls.counts(**content[name]) for name in ("made", "already_there")}
        listed = {
            name: tuple(map(Cause.from_json, content[name]))
            for name in ("refused", "unreadable")
            if name in content
        }
        return cls(**{**content, **counts, **listed})


@dataclass(frozen=True, kw_only=True)
class ImportReport(FileReport):
    """The report of a file of items and ratings.

    of_other_round: the number of ratings that the file assigns to the round that is not imported.
    dropped_columns: the metadata columns that differ between rows of one item.
    """

    counts: ClassVar[type[Tally]] = ImportCounts

    made: ImportCounts
    already_there: ImportCounts
    opens_round_one: bool
    of_other_round: int = 0
    dropped_columns: Sequence[str] = ()

    @property
    def remarks(self) -> list[str]:
        opened = (
            [gettext("The import opens Round I and freezes its guideline.")] if self.opens_round_one else []
        )
        other = gettext("Ratings of the other round were left out: {count:,}; import them as that.").format(
            count=self.of_other_round
        )
        dropped = gettext("Columns that differ between rows of one item were not kept: {columns}.").format(
            columns=", ".join(map(printable, self.dropped_columns))
        )
        return [
            *opened,
            *([other] if self.of_other_round else []),
            *([dropped] if self.dropped_columns else []),
            *super().remarks,
        ]


def report_lines(report: FileReport, *, dry_run: bool) -> list[str]:
    if report.is_refused:
        more = [gettext("and {count:,} more lines.").format(count=report.unlisted)] if report.unlisted else []
        head = gettext("Nothing was imported. Refused lines: {count:,}.").format(count=report.refused_count)
        return [head, *map(str, report.refused), *more]
    if not report.made.total:
        there = str(report.already_there) or gettext("its rows")
        return [
            gettext("Nothing is new: all {listed} were already there.").format(listed=there),
            *report.remarks,
        ]
    did = gettext("Would import {listed}.") if dry_run else gettext("Imported {listed}.")
    lines = [did.format(listed=report.made)]
    if report.already_there.total:
        lines.append(gettext("Already there: {listed}.").format(listed=report.already_there))
    return [*lines, *report.remarks, *map(str, report.unread)]
