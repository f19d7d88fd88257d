"""What an import found and made, as people and programs read it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from annotate.material.reading.rows import RefusedLine, printable

MOST_LISTED = 1000


class Tally:
    """What all counts of an import have in common; their fields are named in the plural."""

    __slots__ = ()

    @property
    def total(self) -> int:
        """All together."""
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
    """How many of each kind."""

    documents: int = 0
    systems: int = 0
    items: int = 0
    raters: int = 0
    ratings: int = 0


@dataclass(slots=True)
class Refusals:
    """Refused lines: how many there are, and the first of them."""

    count: int = 0
    listed: list[RefusedLine] = field(default_factory=list)

    def add(self, refused: RefusedLine) -> None:
        """Note a refused line, in a form that any report can hold."""
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(RefusedLine(refused.line, printable(refused.field), printable(refused.reason)))


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a file makes in a project, or why nothing of it is imported.

    left_out: how many refused lines were left out. stopped: whether more than single lines is refused.
    empty_rows: how many rows held only separators. of_other_round: how many ratings the file says are of the
    round that is not imported.
    """

    made: ImportCounts
    already_there: ImportCounts
    opens_round_one: bool
    lines: int
    complete: bool
    refused_count: int
    refused: tuple[RefusedLine, ...]
    left_out: int = 0
    stopped: bool = False
    empty_rows: int = 0
    of_other_round: int = 0

    @property
    def is_refused(self) -> bool:
        """Whether a line was refused, so that nothing is imported."""
        return self.refused_count > 0

    @property
    def may_leave_out(self) -> bool:
        """Whether the refused lines can be left out, so that something is left to import."""
        return bool(self.made.total) and not self.stopped

    @property
    def unlisted(self) -> int:
        """How many refused lines are counted but not listed."""
        return self.refused_count - len(self.refused)

    @property
    def remarks(self) -> list[str]:
        """What else happened, in sentences."""
        remarks = ["Round I was opened, and its guideline is frozen."] if self.opens_round_one else []
        if self.left_out:
            remarks.append(f"Lines with something refused were left out: {self.left_out:,}.")
        remarks.extend(other_round_remark(self.of_other_round))
        return [*remarks, *empty_rows_remark(self.empty_rows)]

    def to_json(self) -> dict[str, Any]:
        """What is stored and what the command line prints."""
        listed = [{"line": each.line, "field": each.field, "reason": each.reason} for each in self.refused]
        return {**asdict(replace(self, refused=())), "refused": listed}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "ImportReport":
        """Read what `to_json` wrote."""
        return cls(
            made=ImportCounts(**content["made"]),
            already_there=ImportCounts(**content["already_there"]),
            opens_round_one=content["opens_round_one"],
            lines=content["lines"],
            complete=content["complete"],
            refused_count=content["refused_count"],
            refused=tuple(RefusedLine(**line) for line in content["refused"]),
            left_out=content.get("left_out", 0),
            stopped=content.get("stopped", False),
            empty_rows=content.get("empty_rows", 0),
            of_other_round=content.get("of_other_round", 0),
        )


def empty_rows_remark(count: int) -> list[str]:
    """Say in a sentence that rows of separators were left out, nothing where there are none."""
    return [f"Rows with only empty cells were left out: {count:,}."] if count else []


def other_round_remark(count: int) -> list[str]:
    """Say in a sentence that ratings of the other round were left out, nothing where there are none."""
    if not count:
        return []
    return [
        f"Ratings that the file says are of the other round were left out: {count:,}; import them as that."
    ]


def refusal(line: RefusedLine) -> str:
    """A refused line as one line of text."""
    place = f"Line {line.line:,}" if line.line else "The file"
    return f"{place}, {line.field}: {line.reason}" if line.field else f"{place}: {line.reason}"
