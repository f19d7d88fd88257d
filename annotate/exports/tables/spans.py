"""The table of marked spans and passages: one row for each, with its start, end, label and content."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from annotate.core.models import Project, Rating
from annotate.core.models.rounds import rounds_of_study
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.exports.tables.rows import IN_ORDER, TEXTS_AT_ONCE
from annotate.questions.spans import SPANS
from annotate.rating.evidence import passages_from_json
from annotate.rating.queries.assignments import texts_of


def _spans(project: Project) -> Iterator[Row]:
    is_marked = Q(evidence__isnull=False) | Q(dimension__kind=SPANS.key, value__isnull=False)
    marked = Rating.objects.filter(
        is_marked, rounds_of_study("assignment__round__"), assignment__round__project=project
    ).order_by(*IN_ORDER, "pk")
    related = ("assignment__item__document", "assignment__item__system", "assignment__annotator", "dimension")
    ratings = marked.select_related("assignment__round", *related)
    for rating in ratings.iterator(TEXTS_AT_ONCE):
        assignment, item = rating.assignment, rating.assignment.item
        texts = texts_of(item)
        for span in _marked_in(rating):
            yield {
                "document": item.document.key,
                "system": item.system.name,
                "dimension": rating.dimension.key,
                "rater": assignment.annotator.pseudonym if assignment.annotator else None,
                "round": assignment.round.number,
                **span,
                "text": texts[span["part"]][span["start"] : span["end"]],
            }


def _marked_in(rating: Rating) -> Iterator[dict[str, Any]]:
    """Yield the errors of an answer in spans, then the passages marked as reasons for an answer."""
    options = rating.dimension.options or {}
    names = {
        name: {each["key"]: each["name"] for each in options.get(name, ())}
        for name in ("categories", "severities")
    }
    errors = (rating.data or {}).get("spans", ()) if rating.value is not None else ()
    for span in errors if rating.dimension.kind == SPANS.key else ():
        position = {name: span[name] for name in ("part", "start", "end")}
        label = names["categories"].get(span["category"], span["category"])
        severity = names["severities"].get(span["severity"], span["severity"])
        yield {**position, "label": label, "severity": severity}
    for passage in passages_from_json(rating.evidence):
        position = {"part": passage.part, "start": passage.start, "end": passage.end}
        yield {**position, "label": rating.dimension.name, "severity": None}


SPAN_TABLE = ExportTable(
    "spans",
    "the errors and the reasons that raters marked in texts",
    COLUMNS["spans"],
    _spans,
    is_computed=True,
)
