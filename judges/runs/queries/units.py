"""Content units of documents: those in force, and those that models proposed."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from annotate.core.models import Project
from judges.core.models import DocumentUnits, Judge, Judgment
from judges.methods.content_units import units_of

UnitsOfDocument = tuple[str, list[dict[str, Any]]]


def units_of_project(project: Project) -> Iterator[UnitsOfDocument]:
    """Yield the key and the units of each document with units. One query."""
    found = DocumentUnits.objects.filter(document__project=project).select_related("document")
    for each in found.order_by("document__key"):
        yield each.document.key, each.units


def units_proposed_by(judge: Judge) -> Iterator[UnitsOfDocument]:
    """Yield the key of each document and the units of the judge's latest reply about it. One query."""
    judgments = Judgment.objects.filter(judge=judge, steps_done__gte=1).order_by("item__document__key", "pk")
    latest = dict(judgments.values_list("item__document__key", "steps"))
    for key, steps in latest.items():
        if steps[0]["reply"]:  # retention removes replies
            yield key, [asdict(unit) for unit in units_of(steps[0]["reply"])]
