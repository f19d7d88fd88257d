"""manage.py import_export FILE."""

import json
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError

from annotate.exports.files import write_folder
from annotate.exports.restoring import restore_export
from annotate.exports.restoring.archive import ExportArchive
from annotate.management.base import ConcordCommand, RowCounter, person_called


class Command(ConcordCommand):
    """Imports a JSONL export as its original project, and exports that again for comparison.

    The exit code is 0 if the two are identical, and 1 if they differ or nothing was imported.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a JSONL export: zip file or folder")
        parser.add_argument("--admin", metavar="EMAIL", help="who sees the project in the browser")
        parser.add_argument("--json", action="store_true", help="what was imported, as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file, export the project with the same options, and print the files that differ."""
        path: Path = options["file"]
        if not path.exists():
            raise CommandError(f"There is no file “{path}”.")
        archive = ExportArchive(path)
        project = restore_export(archive=archive, admin=person_called(options["admin"]))
        on_progress = RowCounter(self.stderr, options["verbosity"] > 0)
        with TemporaryDirectory(prefix="concord-export-") as folder:
            again = write_folder(project, archive.choice, Path(folder), on_progress)
        on_progress.end()
        differing = sorted(
            name for name, digest in archive.manifest["files"].items() if again.files.get(name) != digest
        )
        summary = {
            "project": project.slug,
            "tables": again.tables,
            "identical": not differing,
            "differing": differing,
            "content_hash": again.content_hash,
            "ignored": archive.ignored,
        }
        self.stdout.write(json.dumps(summary) if options["json"] else "\n".join(_lines(summary)))
        if differing:
            raise SystemExit(1)


def _lines(summary: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{count:,} {name}" for name, count in summary["tables"].items() if count)
    if summary["identical"]:
        verdict = f"Exported again it is identical: content hash {summary['content_hash']}."
    else:
        verdict = (
            f"Exported again these differ, see docs/reference/export.md: {', '.join(summary['differing'])}."
        )
    imported = f"Imported the project {summary['project']}: rows of {counts}."
    return [each for each in (imported, summary["ignored"], verdict) if each]
