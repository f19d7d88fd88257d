"""Content units of documents, entered by a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.models import Document, Project, User
from judges.core.models import DocumentUnits
from judges.methods.content_units import MOST_UNITS


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
            raise InvalidValueError(
                gettext("“{document}” has {count} units; 1 to {most} are possible.").format(
                    document=key, count=len(content), most=MOST_UNITS
                )
            )
        there = DocumentUnits.objects.filter(document=documents[key]).first()
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
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0:
        raise InvalidValueError(gettext("A unit of “{document}” has no weight above 0.").format(document=key))
    return {"text": text.strip(), "weight": weight}
