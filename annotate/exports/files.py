"""A whole project as one file."""

from pathlib import Path
from tempfile import TemporaryDirectory

from annotate.core.models import Project
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.folder import OnProgress, write_folder
from annotate.exports.formats.packing import pack
from annotate.exports.manifest import Manifest

SUFFIXES = {format: ".xlsx" if format == Format.XLSX else ".zip" for format in Format}
CONTENT_TYPES = {
    ".zip": "application/zip",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def write_file(
    project: Project, choice: ExportChoice, target: Path, on_progress: OnProgress | None = None
) -> Manifest:
    """Write a snapshot to one file: a workbook, or the zip of a folder that is made beside it."""
    with TemporaryDirectory(dir=target.parent, prefix=target.name) as name:
        folder = Path(name)
        manifest = write_folder(project, choice, folder, on_progress)
        if choice.format == Format.XLSX:
            (folder / f"{project.slug}.xlsx").rename(target)
        else:
            pack(folder, target, project.slug)
    return manifest
