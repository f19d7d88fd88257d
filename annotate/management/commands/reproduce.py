"""manage.py reproduce PAPER --data DIR."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotate.management.base import ConcordCommand, ProgressLine, person_called
from annotate.results.reproduction.commands import import_release
from annotate.results.reproduction.papers import (
    PAPERS,
    ComparedTable,
    FigureComparison,
    FigureMatch,
    Reproduction,
    reproduction,
)

MARKS = {
    FigureMatch.WITHIN: " ",
    FigureMatch.EXPLAINED: "~",
    FigureMatch.DIFFERS: "!",
    FigureMatch.UNDEFINED: "?",
}


class Command(ConcordCommand):
    """Imports a paper's public release into a separate project and prints computed and published values.

    The exit code is 0 if every value is within half a unit of the last published decimal or differs for a
    known reason that is printed, and 1 otherwise; with --strict every difference counts.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paper", choices=list(PAPERS), help="which paper")
        parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the release's folder")
        parser.add_argument("--admin", metavar="EMAIL", help="who sees the project in the browser")
        parser.add_argument("--strict", action="store_true", help="no difference is accepted")
        parser.add_argument("--json", action="store_true", help="every figure, as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        paper = PAPERS[options["paper"]]
        on_progress = ProgressLine(self.stderr, options["verbosity"] > 0)
        try:
            admin = person_called(options["admin"])
            project = import_release(
                paper=paper, folder=options["data"], admin=admin, on_progress=on_progress
            )
        finally:
            on_progress.end()
        found = reproduction(project, paper)
        if options["json"]:
            self.stdout.write(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
        else:
            self.stdout.write("\n".join(lines(found)))
        if not found.is_reproduced or (options["strict"] and found.counts[FigureMatch.EXPLAINED]):
            raise SystemExit(1)


def lines(found: Reproduction) -> Iterator[str]:
    """Yield the paper's tables as aligned lines: published value, computed value, mark."""
    yield f"{found.paper.title}. {found.paper.source}. Project {found.project.slug}."
    yield "Each cell: published, computed. Tolerance: half a unit of the last published decimal."
    for table in found.tables:
        yield ""
        yield table.title
        yield from _rows(table)
    yield ""
    counts = found.counts
    yield (
        f"{len(found.compared):,} figures: {counts[FigureMatch.WITHIN]:,} within tolerance, "
        f"{counts[FigureMatch.EXPLAINED]:,} differ for a known reason (~), "
        f"{counts[FigureMatch.DIFFERS]:,} differ otherwise (!), "
        f"{counts[FigureMatch.UNDEFINED]:,} are undefined (?)."
    )
    for reason, count in found.reasons.items():
        yield f"{count:,} differ: {reason}"
    for absent in found.paper.absent:
        yield f"Not reproducible from the release: {absent.what}. {absent.reason}"


def _rows(table: ComparedTable) -> Iterator[str]:
    width = max(len(row) for row in ["", *table.rows])
    yield f"{'':<{width}}" + "".join(f"  {name:<17.17}" for name in table.dimensions)
    for row, cells in table.rows.items():
        yield f"{row:<{width}}" + "".join(f"  {_cell(cell):<17}" for cell in cells)


def _cell(cell: FigureComparison | None) -> str:
    if cell is None:
        return ""
    computed = "-" if cell.computed is None else f"{cell.computed:.4f}"
    return f"{cell.figure.published:>6} {computed:>8} {MARKS[cell.standing]}"
