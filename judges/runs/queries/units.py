"""Content units of documents: those of the project, and those that a judge's model proposed."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from annotate.core.models import Project
from judges.core.models import DocumentUnits, Judge, Judgment
from judges.methods.content_units import units_of

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
        yield key, [asdict(unit) for unit in units_of(steps[0]["reply"])]
