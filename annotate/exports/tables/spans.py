"""The table of marked passages: one row for each, with its start, end, label and text."""

from collections.abc import Iterator

from annotate.core.models import Project, Rating
from annotate.core.models.rounds import without_checks
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.exports.tables.rows import IN_ORDER, TEXTS_AT_ONCE
from annotate.rating.evidence import passages_from_json
from annotate.rating.queries.texts import texts_of


def _spans(project: Project) -> Iterator[Row]:
    marked = Rating.objects.filter(
        without_checks("assignment__round__"), assignment__round__project=project, evidence__isnull=False
    ).order_by(*IN_ORDER, "pk")
    related = ("assignment__item__document", "assignment__item__system", "assignment__annotator", "dimension")
    ratings = marked.select_related("assignment__round", *related)
    for rating in ratings.iterator(TEXTS_AT_ONCE):
        place, item = rating.assignment, rating.assignment.item
        texts = texts_of(item)
        for passage in passages_from_json(rating.evidence):
            yield {
                "document": item.document.key,
                "system": item.system.name,
                "dimension": rating.dimension.key,
                "rater": place.annotator.pseudonym if place.annotator else None,
                "round": place.round.number,
                "part": passage.part,
                "start": passage.start,
                "end": passage.end,
                "label": rating.dimension.name,
                "text": texts[passage.part][passage.start : passage.end],
            }


SPAN_TABLE = ExportTable(
    "spans",
    "the passages that raters marked as reasons for their values",
    COLUMNS["spans"],
    _spans,
    is_computed=True,
)
