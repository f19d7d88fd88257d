"""manage.py content_units PROJECT [--import FILE] [--proposed-by JUDGE]."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from judges.core.models import DocumentUnits, Judge, Judgment
from judges.methods.content_units import units_of
from judges.results.queries.pairings import judge_called
from judges.runs.commands.units import set_units


class Command(ConcordCommand):
    """Prints the content units of documents as JSON lines, or imports a file of such lines.

    A line is an object of `document`, its key, and `units`, a list of texts or of objects of `text` and
    `weight`. With --proposed-by the lines are what a judge's model proposed: save, edit and import them.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the project, and what is done."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--json", action="store_true", help="print one JSON list instead of lines")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--import", dest="file", type=Path, metavar="FILE", help="JSON lines to import")
        what.add_argument("--proposed-by", metavar="JUDGE", help="print what its model proposed")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print, or import all lines or none."""
        project = project_called(options["project"])
        if options["file"]:
            changed = set_units(project=project, units=_read(options["file"]), by=None)
            said = json.dumps({"changed": changed})
            self.stdout.write(said if options["json"] else f"Units of {changed} documents changed.")
            return
        found = units_of_project(project)
        if options["proposed_by"]:
            judges = list(Judge.objects.filter(project=project))
            found = units_proposed_by(judge_called(judges, options["proposed_by"]))
        lines = [{"document": document, "units": units} for document, units in found]
        for each in [lines] if options["json"] else lines:
            self.stdout.write(json.dumps(each, ensure_ascii=False))


def _read(path: Path) -> dict[str, Any]:
    found = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"“{path}” cannot be read as text in UTF-8.") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                found[str(row["document"])] = list(row["units"])
            except (ValueError, TypeError, KeyError):
                raise CommandError(f"Line {number} is no object of “document” and “units”.") from None
    return found


Listed = tuple[str, list[dict[str, Any]]]


def units_of_project(project: Project) -> Iterator[Listed]:
    """Yield the units of each document that has some, by the document's key. One query."""
    found = DocumentUnits.objects.filter(document__project=project).select_related("document")
    for each in found.order_by("document__key"):
        yield each.document.key, each.units


def units_proposed_by(judge: Judge) -> Iterator[Listed]:
    """Yield the units that a judge was last answered with about each document. One query."""
    asked = Judgment.objects.filter(judge=judge, steps_done__gte=1).order_by("item__document__key", "pk")
    rows = dict(asked.values_list("item__document__key", "steps"))
    for key, steps in rows.items():
        if steps[0]["reply"]:  # not removed by retention
            yield key, [asdict(unit) for unit in units_of(steps[0]["reply"])]
