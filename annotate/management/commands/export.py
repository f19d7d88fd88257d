"""manage.py export PROJECT."""

import json
import os
import shutil
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.citation import Card, SplitName, read_text_licences
from annotate.exports.files import SUFFIXES, write_file, write_folder
from annotate.exports.formats.text import FORMATS, export_table
from annotate.exports.hub import push_folder
from annotate.exports.manifest import Manifest
from annotate.exports.registry import TABLES, ExportPart
from annotate.management.base import ConcordCommand, RowCounter, project_called


class Command(ConcordCommand):
    """Writes a snapshot of a project to one file or a folder, or one of its tables to a separate file."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--format", choices=[each.value for each in Format], default="jsonl")
        parser.add_argument(
            "--without",
            action="append",
            choices=[each.value for each in ExportPart],
            default=[],
            help="Left out.",
        )
        parser.add_argument("--licence", default="", help="Under which the data set is published.")
        parser.add_argument(
            "--author", action="append", default=[], help="An author of the data set, for its citation."
        )
        parser.add_argument("--address", default="", help="The URL of the data set or its paper.")
        parser.add_argument(
            "--text-licence", action="append", default=[], metavar="SOURCE:LICENCE", help="Of its texts."
        )
        parser.add_argument(
            "--split", choices=[each.value for each in SplitName], default="test", help="Of all its rows."
        )
        parser.add_argument("--table", choices=list(TABLES), help="This table alone, as JSONL or CSV.")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--to", type=Path, help="The file to write; named after the project without it.")
        where.add_argument("--folder", type=Path, help="A new folder for the files, instead of one file.")
        parser.add_argument("--push", metavar="REPO", help="Push the data set to this repository of the Hub.")
        parser.add_argument("--public", action="store_true", help="Make the repository seen by everyone.")
        parser.add_argument("--json", action="store_true", help="Print what was written as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Write next to the target and rename when complete."""
        project = project_called(options["project"])
        choice = ExportChoice(
            Format(options["format"]),
            frozenset(ExportPart(each) for each in options["without"]),
            options["licence"],
            _card(options),
        )
        if options["push"]:
            self._push(project, choice, options)
            return
        try:
            target, manifest = self._write(project, choice, options)
        except OSError as error:
            raise CommandError(f"The export cannot be written: {error}.") from error
        if options["json"]:
            summary = {"written": str(target), **(asdict(manifest) if manifest else {})}
            self.stdout.write(json.dumps(summary, ensure_ascii=False, default=str))
            return
        digest = f" Content hash {manifest.content_hash}." if manifest else ""
        self.stdout.write(f"Wrote {target} ({_size(target):,} bytes).{digest}")

    def _push(self, project: Project, choice: ExportChoice, options: dict[str, Any]) -> None:
        if choice.format != Format.HUGGING_FACE or options["table"] or options["to"]:
            raise CommandError("--push takes --format huggingface, and --folder to keep what is pushed.")

        def on_progress(sent: int, size: int) -> None:
            self.stderr.write(f"{sent:,} of {size:,} bytes are there.")

        private, repository = not options["public"], options["push"]
        with TemporaryDirectory(prefix="concord-push-") as name:
            where = {**options, "folder": options["folder"] or Path(name) / "data-set"}
            try:
                folder, manifest = self._write(project, choice, where)
                url = push_folder(
                    folder, repository, project=project.slug, private=private, on_progress=on_progress
                )
            except OSError as error:
                raise CommandError(f"The export cannot be written: {error}.") from error
        assert manifest
        if options["json"]:
            summary = {"pushed": url, **asdict(manifest)}
            self.stdout.write(json.dumps(summary, ensure_ascii=False, default=str))
        else:
            self.stdout.write(f"Pushed to {url}. Content hash {manifest.content_hash}.")

    def _write(
        self, project: Project, choice: ExportChoice, options: dict[str, Any]
    ) -> tuple[Path, Manifest | None]:
        if options["table"]:
            return _write_table(project, choice, options["table"], options["to"]), None
        on_progress = RowCounter(self.stderr, options["verbosity"] > 0)
        if options["folder"]:
            # An existing folder is an error: old files would mix with the new export.
            options["folder"].mkdir(parents=True)
            try:
                manifest = write_folder(project, choice, options["folder"], on_progress)
            # Ctrl+C is no Exception, and an incomplete folder must not look like an export.
            except BaseException:
                shutil.rmtree(options["folder"])
                raise
            on_progress.end()
            return options["folder"], manifest
        target: Path = options["to"] or Path(f"{project.slug}-{choice.format}{SUFFIXES[choice.format]}")
        # A rename is atomic only within one file system, so the folder is next to the target.
        with TemporaryDirectory(dir=target.parent, prefix=".concord-export-") as name:
            manifest = write_file(project, choice, Path(name) / "file", on_progress)
            on_progress.end()
            os.replace(Path(name) / "file", target)
        return target, manifest


def _card(options: dict[str, Any]) -> Card:
    try:
        licences = read_text_licences("\n".join(options["text_licence"]))
    except ValueError as error:
        raise CommandError(f"--text-licence takes SOURCE:LICENCE, not “{error}”.") from error
    return Card(tuple(options["author"]), options["address"], licences, SplitName(options["split"]))


def _write_table(project: Project, choice: ExportChoice, name: str, to: Path | None) -> Path:
    table = next((each for each in choice.tables_of(project) if each.name == name), None)
    if choice.format not in FORMATS or table is None:
        raise CommandError("One table alone is written as jsonl or csv, and cannot be what is left out.")
    target = to or Path(f"{project.slug}-{name}.{choice.format}")
    # A file with the final name is always complete, also after an error or Ctrl+C.
    unfinished = target.with_name(target.name + ".part")
    try:
        with unfinished.open("wb") as file:
            file.writelines(export_table(project, table, choice.format))
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
