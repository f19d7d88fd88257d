"""A whole project as a folder of files: one snapshot, in any format."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from annotate.core.database import snapshot
from annotate.core.models import Project
from annotate.exports.checklist import checklist, checklist_markdown
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.formats.croissant import croissant
from annotate.exports.formats.data_card import cite, data_card
from annotate.exports.formats.datasheet import datasheet
from annotate.exports.formats.parquet import write_parquet, write_shards
from annotate.exports.formats.preferences import preference_tables
from annotate.exports.formats.text import FORMATS as TEXT_FORMATS
from annotate.exports.formats.text import encode_chunks, jsonl
from annotate.exports.manifest import Manifest, Passed, write_manifest
from annotate.exports.paper.writing import write_paper
from annotate.exports.registry import ExportTable, Row

OnProgress = Callable[[int], None]
EVERY = 1000  # rows


def write_folder(
    project: Project, choice: ExportChoice, folder: Path, on_progress: OnProgress | None = None
) -> Manifest:
    """Write all chosen parts to an empty folder, with the manifest, as one consistent snapshot.

    on_progress: gets the number of written rows now and then; an exception in it stops the writing.
    """
    passed = Passed()

    def rows_of(table: ExportTable) -> Iterable[Row]:
        rows = passed.count(table, table.rows(project))
        return _report_rows(rows, on_progress, passed) if on_progress else rows

    with snapshot():
        project.refresh_from_db()
        if choice.format == Format.PAPER:
            passed.latest = write_paper(project, folder)
        else:
            _WRITERS[choice.format](project, choice, folder, rows_of)
        if choice.format == Format.HUGGING_FACE:
            write_data_set(project, choice, folder, passed)
    return write_manifest(project, choice, passed, folder)


def _report_rows(rows: Iterable[Row], on_progress: OnProgress, passed: Passed) -> Iterator[Row]:
    before = passed.total
    for number, row in enumerate(rows):
        if number % EVERY == 0:
            on_progress(before + number)
        yield row


Rows = Callable[[ExportTable], Iterable[Row]]


def _write_text(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    for table in choice.tables_of(project):
        with (folder / f"{table.name}.{choice.format}").open("wb") as file:
            file.writelines(encode_chunks(TEXT_FORMATS[choice.format](table, rows_of(table))))


def _write_parquet(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    for table in choice.tables_of(project):
        write_parquet(table, rows_of(table), folder / f"{table.name}.parquet")


def _write_workbook(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    from annotate.exports.formats.workbook import WorkbookWriter  # openpyxl takes 10 MB

    writer = WorkbookWriter()
    for table in choice.tables_of(project):
        writer.add(table, rows_of(table))
    opening = [
        f"{project.name}, exported by Concord",
        "docs/reference/export.md of Concord says what each column means.",
    ]
    writer.save(folder / f"{project.slug}.xlsx", opening)


def _write_preferences(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    for table in preference_tables(project, choice.left_out):
        with (folder / f"{table.name}.jsonl").open("wb") as file:
            file.writelines(encode_chunks(jsonl(table, rows_of(table))))


def _write_data_set(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    for table in choice.tables_of(project):
        shards = folder / "data" / table.name
        shards.mkdir(parents=True)
        write_shards(table, rows_of(table), shards, choice.card.split)


_WRITERS = {
    Format.JSONL: _write_text,
    Format.CSV: _write_text,
    Format.PARQUET: _write_parquet,
    Format.XLSX: _write_workbook,
    Format.HUGGING_FACE: _write_data_set,
    Format.PREFERENCES: _write_preferences,
}


def write_data_set(project: Project, choice: ExportChoice, folder: Path, passed: Passed) -> None:
    """Write the additional files of a Parquet data set; tables without rows have no configuration."""
    tables = [table for table in choice.tables_of(project) if passed.rows[table.name]]
    authors = choice.card.authors
    described = {
        "name": project.slug,
        "description": project.description or project.name,
        "url": choice.card.address or f"urn:concord:{project.slug}",
        "version": "1.0.0",
        **({"license": choice.licence} if choice.licence else {}),
        **({"citeAs": cited} if (cited := cite(project, choice, passed)) else {}),
        **({"creator": [{"@type": "sc:Person", "name": name} for name in authors]} if authors else {}),
        **({"datePublished": f"{passed.latest:%Y-%m-%d}"} if passed.latest else {}),
    }
    _write(folder / "README.md", data_card(project, choice, tables, passed))
    _write(folder / "DATASHEET.md", datasheet(project, choice))
    _write(folder / "CHECKLIST.md", checklist_markdown(project, checklist(project)))
    metadata = croissant(described, tables, folder)
    _write(folder / "croissant.json", json.dumps(metadata, ensure_ascii=False, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
