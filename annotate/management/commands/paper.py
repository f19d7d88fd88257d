"""manage.py paper PROJECT FOLDER."""

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError

from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.exports.manifest import files_in
from annotate.exports.paper.writing import COMPILE
from annotate.management.base import ConcordCommand, project_called


class Command(ConcordCommand):
    """Writes a report in LaTeX: methods, agreement, systems, judges and limitations.

    It never overwrites a folder: a second run compares the files.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("folder", type=Path, help="A new folder for the report.")
        parser.add_argument("--json", action="store_true", help="Print what was written as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Write a temporary folder next to the target, then rename it."""
        project, target = project_called(options["project"]), options["folder"].absolute()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=target.parent, prefix=".concord-paper-") as name:
                made = Path(name) / "paper"
                made.mkdir()
                manifest = write_folder(project, ExportChoice(Format.PAPER), made)
                is_new = not target.exists() or (target.is_dir() and not any(target.iterdir()))
                if is_new:
                    # An empty folder may exist: a rename replaces it.
                    os.replace(made, target)
                elif not _holds(target, made):
                    raise CommandError(f"{target} has other files; name a new folder for the report.")
        except OSError as error:
            raise CommandError(f"The report cannot be written: {error}.") from error
        if options["json"]:
            facts = {"written": str(target), "is_new": is_new, "compile": COMPILE}
            facts |= {"state_at": manifest.state_at, "content_hash": manifest.content_hash}
            self.stdout.write(json.dumps(facts, ensure_ascii=False, default=str))
            return
        did = "Wrote" if is_new else "Nothing has changed since this report was written:"
        self.stdout.write(f"{did} {target}. Compile it there with: {COMPILE}")


def _holds(folder: Path, files: Path) -> bool:
    """Return True if a folder has all these files with the same bytes; it may have more, such as a PDF."""
    return all(
        (own := folder / path.relative_to(files)).is_file() and own.read_bytes() == path.read_bytes()
        for path in files_in(files)
    )
