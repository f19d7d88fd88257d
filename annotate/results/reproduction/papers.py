"""Reproducible papers: their releases, and published values compared with those of a project."""

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from annotate.core.errors import DomainError
from annotate.core.guideline import ProjectTemplate
from annotate.core.models import AuditEntry, Project
from annotate.material.reading.progress import OnProgress
from annotate.results.table import Cell, Column, ColumnKind, Table, text

Key = tuple[str, ...]  # a value's quantity, dimension and other labels, in the order of its file's columns
Computed = Mapping[Key, float | None]

ROUNDING = 1e-9  # of binary fractions: 3.145 is as near to 3.14 as to 3.15
SIX_DECIMALS = 5.1e-7


class FigureMatch(StrEnum):
    WITHIN = "within"
    EXPLAINED = "explained"
    DIFFERS = "differs"
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class Figure:
    """A value as printed in a paper.

    labels: its labels in addition to quantity and dimension, by name. release_gives: if the release is known
    to give another value, this value to six decimals, and the reason.
    """

    table: str
    quantity: str
    dimension: str
    labels: Mapping[str, str]
    published: str
    release_gives: float | None = None
    reason: str = ""

    @property
    def key(self) -> Key:
        return (self.quantity, self.dimension, *self.labels.values())

    @property
    def row(self) -> str:
        return " ".join(label for label in self.labels.values() if label)

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed decimal: the maximum effect of rounding."""
        _, _, decimals = self.published.partition(".")
        return 0.5 * math.pow(10, -len(decimals))


@dataclass(frozen=True)
class FigureComparison:
    figure: Figure
    computed: float | None
    standing: FigureMatch
    reason: str

    def to_dict(self) -> dict[str, Any]:
        figure = self.figure
        return {
            "table": figure.table,
            "quantity": figure.quantity,
            "dimension": figure.dimension,
            **figure.labels,
            "published": float(figure.published),
            "computed": self.computed,
            "tolerance": figure.tolerance,
            "standing": self.standing.value,
            "reason": self.reason or None,
        }


@dataclass(frozen=True)
class ComparedTable:
    """A paper's table: a row for each set of labels, with a cell for each dimension or nothing."""

    name: str
    holds: str
    dimensions: Sequence[str]
    rows: Mapping[str, Sequence[FigureComparison | None]]

    @property
    def title(self) -> str:
        return f"Table {self.name}: {self.holds}"


def read_figures(path: Path) -> list[Figure]:
    """Return the values of a file; its columns between dimension and published are labels."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        columns = list(rows.fieldnames or ())
        labels = columns[columns.index("dimension") + 1 : columns.index("published")]
        return [
            Figure(
                table=row["table"],
                quantity=row["quantity"],
                dimension=row["dimension"],
                labels={name: row[name] for name in labels},
                published=row["published"],
                release_gives=float(row["release_gives"]) if row["release_gives"] else None,
                reason=row["reason"],
            )
            for row in rows
        ]


def compare(figure: Figure, computed: float | None, reasons: Mapping[str, str]) -> FigureComparison:
    """Compare a computed value with the published one; reasons: the message for each known difference."""
    if computed is None:
        return FigureComparison(figure, None, FigureMatch.UNDEFINED, "It is undefined on the imported data.")
    apart = abs(computed - float(figure.published))
    if apart <= figure.tolerance + ROUNDING:
        return FigureComparison(figure, computed, FigureMatch.WITHIN, "")
    # A known difference must also be reproduced: another wrong value is no explained one.
    if figure.release_gives is not None and abs(computed - figure.release_gives) <= SIX_DECIMALS:
        return FigureComparison(figure, computed, FigureMatch.EXPLAINED, reasons[figure.reason])
    reason = f"It differs from the published value by {apart:.6f}."
    return FigureComparison(figure, computed, FigureMatch.DIFFERS, reason)


def tables_of(compared: Sequence[FigureComparison], holds: Mapping[str, str]) -> list[ComparedTable]:
    """Return the values as their published tables, in published order; holds: the content of each."""
    by_table: dict[str, list[FigureComparison]] = {}
    for each in compared:
        by_table.setdefault(each.figure.table, []).append(each)
    tables = []
    for name, found in by_table.items():
        dimensions = list(dict.fromkeys(each.figure.dimension for each in found))
        rows: dict[str, dict[str, FigureComparison]] = {}
        for each in found:
            rows.setdefault(each.figure.row, {})[each.figure.dimension] = each
        # A paper's table may lack a value of some dimension.
        cells = {row: [given.get(dimension) for dimension in dimensions] for row, given in rows.items()}
        tables.append(ComparedTable(name, holds[name], dimensions, cells))
    return tables


SAYS = {
    FigureMatch.WITHIN: "",
    FigureMatch.EXPLAINED: "known difference",
    FigureMatch.DIFFERS: "differs",
    FigureMatch.UNDEFINED: "undefined",
}


def build_result_table(table: ComparedTable) -> Table:
    """Return three columns for each dimension: the published value, the computed one, and the note."""
    columns = [Column("figure", "figure", ColumnKind.TEXT)]
    for index, dimension in enumerate(table.dimensions):
        published = [cell.figure.published for row in table.rows.values() if (cell := row[index])]
        # One decimal more than the paper shows how near the value is.
        decimals = max(len(each.partition(".")[2]) for each in published)
        columns += [
            Column(f"{dimension}_published", f"{dimension}, published", decimals=decimals),
            Column(f"{dimension}_computed", "computed", decimals=decimals + 1),
            Column(f"{dimension}_note", "note", ColumnKind.TEXT),
        ]
    rows = []
    for name, compared in table.rows.items():
        cells = [text(name)]
        for each in compared:
            if each is None:
                cells += [text("")] * 3
            else:
                computed = Cell(each.computed, reason=each.reason if each.computed is None else "")
                cells += [Cell(float(each.figure.published)), computed, text(SAYS[each.standing])]
        rows.append(cells)
    return Table(f"table-{table.name}", table.title, columns, rows)


class MissingReleaseFileError(DomainError):
    code = "missing_file"


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release, its content, and the function that imports it into a project.

    bring: imports the file and returns the error of its first invalid line, or an empty string.
    """

    name: str
    holds: str
    bring: Callable[[Project, Path, OnProgress], str]


@dataclass(frozen=True)
class Absent:
    """A result of a paper that cannot be computed from its release, and the reason."""

    what: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper with a public release.

    key: also the slug of its project. source: of the publication. template: of the project. files: in import
    order. tables: the content of each, by number. `figures`: the file of its published values. reasons: of
    known differences. compute: the same values from the project.
    """

    key: str
    name: str
    title: str
    source: str
    template: ProjectTemplate
    files: Sequence[ReleaseFile]
    tables: Mapping[str, str]
    figures: Path
    reasons: Mapping[str, str]
    absent: Sequence[Absent]
    compute: Callable[[Project], Computed]


PAPERS: dict[str, Paper] = {}


def release_files(paper: Paper, folder: Path) -> list[Path]:
    """Return a release's files, in the folder or one below it, compressed or not, in release order.

    Raises MissingReleaseFileError with the first that does not exist exactly once.
    """
    return [_find_file(each, folder) for each in paper.files]


def _find_file(file: ReleaseFile, folder: Path) -> Path:
    names = (file.name, f"{file.name}.gz")
    # The folder itself first: a copy below it is no ambiguity then.
    for search in (folder.glob, folder.rglob):
        found = sorted({path for name in names for path in search(name) if path.is_file()})
        if len(found) == 1:
            return found[0]
        if found:
            says = gettext("“{folder}” holds {name} more than once: name the folder of the release itself.")
            raise MissingReleaseFileError(says.format(folder=folder, name=found[0].name))
    says = gettext("“{folder}” does not hold {file} ({holds}), compressed or not.")
    raise MissingReleaseFileError(says.format(folder=folder, file=file.name, holds=file.holds))


BEGUN = "reproduction.begun"
"""The act in the audit log that marks a project as made for a paper."""


@dataclass(frozen=True)
class Reproduction:
    paper: Paper
    project: Project
    compared: Sequence[FigureComparison]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        counts = Counter(each.standing for each in self.compared)
        return {standing.value: counts[standing] for standing in FigureMatch}

    @property
    def is_reproduced(self) -> bool:
        """Whether every value is within its tolerance, or differs for a known reason."""
        return not self.counts[FigureMatch.DIFFERS] and not self.counts[FigureMatch.UNDEFINED]

    @cached_property
    def reasons(self) -> Mapping[str, int]:
        return dict(Counter(each.reason for each in self.compared if each.standing == FigureMatch.EXPLAINED))

    @cached_property
    def tables(self) -> list[ComparedTable]:
        return tables_of(self.compared, self.paper.tables)

    def to_dict(self) -> dict[str, Any]:
        return {
            "paper": self.paper.title,
            "source": self.paper.source,
            "project": self.project.slug,
            "reproduced": self.is_reproduced,
            "counts": self.counts,
            "figures": [each.to_dict() for each in self.compared],
            "not_reproducible": [vars(each) for each in self.paper.absent],
        }


def paper_of(project: Project) -> Paper | None:
    """Return the paper that a project reproduces, if any. Up to one query."""
    # A project of another origin may have the same slug, so the audit log decides.
    paper = PAPERS.get(project.slug)
    if paper and AuditEntry.objects.filter(project=project, act=BEGUN, subject=paper.key).exists():
        return paper
    return None


def reproduction(project: Project, paper: Paper) -> Reproduction:
    computed, figures = paper.compute(project), read_figures(paper.figures)
    compared = [compare(each, computed.get(each.key), paper.reasons) for each in figures]
    return Reproduction(paper, project, compared)
