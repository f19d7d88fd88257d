"""A whole project as a folder or one file, from one snapshot; and a table as a download."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from django.http import StreamingHttpResponse

from annotate.core.database import snapshot
from annotate.core.models import Project
from annotate.exports.checklist import checklist, checklist_markdown
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.formats.datasheet import cite, data_card, datasheet
from annotate.exports.formats.parquet import croissant, write_parquet, write_shards
from annotate.exports.formats.text import FORMATS as TEXT_FORMATS
from annotate.exports.formats.text import encode_chunks, export_table, preference_tables
from annotate.exports.manifest import Manifest, Passed, pack, write_manifest
from annotate.exports.paper.writing import write_paper
from annotate.exports.registry import ExportTable, Row

OnProgress = Callable[[int], None]
Rows = Callable[[ExportTable], Iterable[Row]]
EVERY = 1000  # rows between two reports of progress
SUFFIXES = {format: ".xlsx" if format == Format.XLSX else ".zip" for format in Format}
CONTENT_TYPES = {
    ".zip": "application/zip",
    ".jsonl": "application/jsonl",
    ".csv": "text/csv; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def write_file(
    project: Project, choice: ExportChoice, target: Path, on_progress: OnProgress | None = None
) -> Manifest:
    """Write a snapshot to one file: a workbook, or the zip of a folder that is created next to it."""
    with TemporaryDirectory(dir=target.parent, prefix=target.name) as name:
        folder = Path(name)
        manifest = write_folder(project, choice, folder, on_progress)
        if choice.format == Format.XLSX:
            (folder / f"{project.slug}.xlsx").rename(target)
        else:
            pack(folder, target, project.slug)
    return manifest


def download_table(
    project: Project, table: ExportTable, name: str, format: str, *, defuses_formulas: bool = False
) -> StreamingHttpResponse:
    stream = export_table(project, table, format, defuses_formulas=defuses_formulas)
    response = StreamingHttpResponse(stream, content_type=CONTENT_TYPES[f".{format}"])
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}.{format}"'
    return response


def write_folder(
    project: Project, choice: ExportChoice, folder: Path, on_progress: OnProgress | None = None
) -> Manifest:
    """Write all chosen parts to an empty folder, with the manifest, as one consistent snapshot.

    on_progress: gets the number of written rows now and then; an exception in it stops the writing.
    """
    passed = Passed()

    def rows_of(table: ExportTable) -> Iterator[Row]:
        before = passed.total
        for number, row in enumerate(passed.count(table, table.rows(project))):
            if on_progress and number % EVERY == 0:
                on_progress(before + number)
            yield row

    with snapshot():
        # The project may have changed between its loading and the snapshot.
        project.refresh_from_db()
        if choice.format == Format.PAPER:
            passed.latest = write_paper(project, folder)
        else:
            _write_tables(project, choice, folder, rows_of)
        if choice.format == Format.HUGGING_FACE:
            _describe_data_set(project, choice, folder, passed)
    return write_manifest(project, choice, passed, folder)


def _write_tables(project: Project, choice: ExportChoice, folder: Path, rows_of: Rows) -> None:
    if choice.format == Format.XLSX:
        from annotate.exports.formats.workbook import WorkbookWriter  # openpyxl takes 10 MB

        workbook = WorkbookWriter()
        for table in choice.tables_of(project):
            workbook.add(table, rows_of(table))
        explained = "docs/reference/export.md of Concord says what each column means."
        workbook.save(folder / f"{project.slug}.xlsx", [f"{project.name}, exported by Concord", explained])
        return
    are_pairs = choice.format == Format.PREFERENCES
    for table in preference_tables(project, choice.left_out) if are_pairs else choice.tables_of(project):
        rows = rows_of(table)
        if choice.format == Format.HUGGING_FACE:
            shards = folder / "data" / table.name
            shards.mkdir(parents=True)
            write_shards(table, rows, shards, choice.card.split)
        elif choice.format == Format.PARQUET:
            write_parquet(table, rows, folder / f"{table.name}.parquet")
        else:
            format = "jsonl" if are_pairs else choice.format
            with (folder / f"{table.name}.{format}").open("wb") as file:
                file.writelines(encode_chunks(TEXT_FORMATS[format](table, rows)))


def _describe_data_set(project: Project, choice: ExportChoice, folder: Path, passed: Passed) -> None:
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
    metadata = json.dumps(croissant(described, tables, folder), ensure_ascii=False, indent=1)
    written = {
        "README.md": data_card(project, choice, tables, passed),
        "DATASHEET.md": datasheet(project, choice),
        "CHECKLIST.md": checklist_markdown(project, checklist(project)),
        "croissant.json": f"{metadata}\n",
    }
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
