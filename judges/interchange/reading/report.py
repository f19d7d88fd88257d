"""What an import of judgments found and made; what was refused, and what is unreadable, by causes."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotate.material.reading.report import Tally, empty_rows_remark
from annotate.material.reading.rows import printable

MOST_CAUSES = 100
MOST_LINES = 10
MOST_NAMES = 5


@dataclass(slots=True)
class JudgmentCounts(Tally):
    """How many of each kind."""

    judges: int = 0
    judgments: int = 0


@dataclass(slots=True)
class Cause:
    """Why some lines are refused or unreadable: how many, the first of them, and what the first ones hold."""

    field: str
    reason: str
    count: int = 0
    lines: list[int] = dataclasses.field(default_factory=list)
    names: list[str] = dataclasses.field(default_factory=list)
    more_names: bool = False

    @property
    def more_lines(self) -> int:
        """How many lines are counted but not listed."""
        return self.count - len(self.lines)

    def add(self, line: int, name: str) -> None:
        """Count a line; line 0 is the file as a whole."""
        self.count += 1
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)
        if name and name not in self.names:
            self.more_names = len(self.names) == MOST_NAMES
            self.names += [] if self.more_names else [name]


class Causes:
    """Causes in the order in which they first occur, within a limit; beyond it lines are only counted."""

    def __init__(self) -> None:
        self.count = 0
        self._by_reason: dict[tuple[str, str], Cause] = {}

    @property
    def listed(self) -> tuple[Cause, ...]:
        """The first causes."""
        return tuple(self._by_reason.values())

    def add(self, line: int, field: str, reason: str, name: str = "") -> None:
        """Count a line, in a form that any report can hold."""
        self.count += 1
        key = printable(field), printable(reason)
        if key in self._by_reason or len(self._by_reason) < MOST_CAUSES:
            self._by_reason.setdefault(key, Cause(*key)).add(line, printable(name, 80))


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """What a file makes in a project, or why nothing of it is imported.

    lines: the last one that was read. left_out: how many refused lines were left out. stopped: whether more
    than single lines is refused. empty_rows: how many rows held only separators.
    """

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
    def may_leave_out(self) -> bool:
        """Whether the refused lines can be left out, so that something is left to import."""
        return bool(self.made.total) and not self.stopped

    @property
    def is_refused(self) -> bool:
        """Whether a line was refused, so that nothing is imported."""
        return self.refused_count > 0

    @property
    def unlisted(self) -> int:
        """How many refused lines belong to no listed cause."""
        return self.refused_count - sum(cause.count for cause in self.refused)

    @property
    def remarks(self) -> list[str]:
        """What else there is to know, in sentences."""
        left_out = f"Lines with something refused were left out: {self.left_out:,}."
        return [*([left_out] if self.left_out else []), *empty_rows_remark(self.empty_rows)]

    def to_json(self) -> dict[str, Any]:
        """Return what is stored and what the command line prints."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class JudgmentReport(FileReport):
    """The same of a file of judgments. unreadable: replies among those made that have no value, by reason."""

    made: JudgmentCounts
    already_there: JudgmentCounts
    unreadable_count: int
    unreadable: tuple[Cause, ...]

    @property
    def remarks(self) -> list[str]:
        """What else there is to know, in sentences."""
        if not self.unreadable_count:
            return super().remarks
        replies = "1 reply is" if self.unreadable_count == 1 else f"{self.unreadable_count:,} replies are"
        unreadable = f"{replies} unreadable: kept with the reason, counted, and left out of every figure."
        return [*super().remarks, unreadable]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "JudgmentReport":
        """Read what `to_json` wrote."""
        return cls(
            **{
                **content,
                "made": JudgmentCounts(**content["made"]),
                "already_there": JudgmentCounts(**content["already_there"]),
                "unreadable": causes_of(content["unreadable"]),
                "refused": causes_of(content["refused"]),
            }
        )


def causes_of(written: Iterable[Mapping[str, Any]]) -> tuple[Cause, ...]:
    """Read the causes of a stored report."""
    return tuple(Cause(**cause) for cause in written)


def cause_as_text(cause: Cause) -> str:
    """Return a cause as one line of text."""
    lines = ", ".join(f"{line:,}" for line in cause.lines)
    more = f" and {cause.more_lines:,} more" if cause.more_lines else ""
    place = f"Line{'s' if cause.count > 1 else ''} {lines}{more}" if cause.lines[:1] != [0] else "The file"
    names = f" Here: {', '.join(cause.names)}{', …' if cause.more_names else ''}." if cause.names else ""
    return f"{place}{', ' if cause.field else ''}{cause.field}: {cause.reason}{names}"


def report_lines(report: FileReport, *, dry_run: bool) -> list[str]:
    """Return the report as lines of text."""
    if report.is_refused:
        more = [f"and {report.unlisted:,} more lines."] if report.unlisted else []
        head = f"Nothing was imported. Refused lines: {report.refused_count:,}."
        return [head, *map(cause_as_text, report.refused), *more]
    if not report.made.total:
        return [f"Nothing is new: all {report.already_there} were already here."]
    lines = [f"{'Would import' if dry_run else 'Imported'} {report.made}."]
    if report.already_there.total:
        lines.append(f"Already here: {report.already_there}.")
    unreadable = report.unreadable if isinstance(report, JudgmentReport) else ()
    return [*lines, *report.remarks, *map(cause_as_text, unreadable)]
