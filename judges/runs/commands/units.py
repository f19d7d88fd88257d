"""Content units of documents, entered by a person."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.models import Document, Project, User
from judges.core.models import DocumentUnits, Judge, Judgment
from judges.methods.content_units import MOST_UNITS, units_of

UnitsOfDocument = tuple[str, list[dict[str, Any]]]


@transaction.atomic
def set_units(*, project: Project, units: Mapping[str, Sequence[Any]], by: User | None) -> int:
    """Replace the content units of documents, by key; return the number of changed documents.

    Each unit is a string, or an object of `text` and `weight`. Planned judgments keep their units. Locks the
    project. Raises InvalidValueError, and nothing is written then.
    """
    lock_project(project)
    documents = {each.key: each for each in Document.objects.filter(project=project, key__in=units)}
    changed = 0
    for key, listed in units.items():
        if key not in documents:
            raise InvalidValueError(gettext("The project has no document “{document}”.").format(document=key))
        content = [_unit(key, each) for each in listed]
        if not 0 < len(content) <= MOST_UNITS:
            says = gettext("“{document}” has {count} units; 1 to {most} are possible.")
            raise InvalidValueError(says.format(document=key, count=len(content), most=MOST_UNITS))
        there = DocumentUnits.objects.filter(document=documents[key]).first()
        # Equal units are not written, so that only changes count and are recorded.
        if there is None or there.units != content:
            values = {"units": content, "changed_by": by}
            DocumentUnits.objects.update_or_create(document=documents[key], defaults=values)
            changed += 1
    if changed:
        record(project, "units.changed", project, after={"documents": changed}, by=by)
    return changed


def _unit(key: str, said: Any) -> dict[str, Any]:
    text, weight = (said.get("text"), said.get("weight", 1)) if isinstance(said, dict) else (said, 1)
    if not isinstance(text, str) or not text.strip():
        raise InvalidValueError(gettext("A unit of “{document}” has no text.").format(document=key))
    # In Python a truth value is a whole number, too.
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        raise InvalidValueError(gettext("A unit of “{document}” has no weight above 0.").format(document=key))
    return {"text": text.strip(), "weight": weight}


def units_of_project(project: Project) -> Iterator[UnitsOfDocument]:
    """Yield the key and the units of each document with units. One query."""
    found = DocumentUnits.objects.filter(document__project=project).select_related("document")
    for each in found.order_by("document__key"):
        yield each.document.key, each.units


def units_proposed_by(judge: Judge) -> Iterator[UnitsOfDocument]:
    """Yield the key of each document and the units of the judge's latest reply about it. One query."""
    judgments = Judgment.objects.filter(judge=judge, steps_done__gte=1).order_by("item__document__key", "pk")
    # A later reply about a document replaces the earlier ones in this dictionary.
    latest = dict(judgments.values_list("item__document__key", "steps"))
    for key, steps in latest.items():
        if steps[0]["reply"]:  # retention removes replies
            yield key, [asdict(unit) for unit in units_of(steps[0]["reply"])]
