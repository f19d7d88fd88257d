"""A whole project as one file, and a table as a download."""

from pathlib import Path
from tempfile import TemporaryDirectory

from django.http import StreamingHttpResponse

from annotate.core.models import Project
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.folder import OnProgress, write_folder
from annotate.exports.formats.packing import pack
from annotate.exports.formats.text import export_table
from annotate.exports.manifest import Manifest
from annotate.exports.registry import ExportTable

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
