"""Disputes, their threads and what happened to them."""

from collections.abc import Iterator

from annotate.core.models import Dispute, DisputeEvent, Post, Project
from annotate.exports.registry import ExportPart, ExportTable, Row, kinds
from annotate.exports.tables.rows import ColumnRows, with_actors

_OF_DISPUTE = {
    "dispute": "dispute__number",
    "document": "dispute__item__document__key",
    "system": "dispute__item__system__name",
    "dimension": "dispute__dimension__key",
}


def _disputes(project: Project) -> ColumnRows:
    return ColumnRows(Dispute.objects.filter(round__project=project).order_by("number"), _DISPUTES)


_DISPUTES = {
    "dispute": "number",
    "document": "item__document__key",
    "system": "item__system__name",
    "dimension": "dimension__key",
    "spread": "spread",
    "threshold": "threshold",
    "tolerance": "tolerance",
    "status": "status",
    "adjudicated_value": "adjudicated_value",
    "last_changed_at": "updated_at",
}


def _posts(project: Project) -> ColumnRows:
    posts = Post.objects.filter(dispute__round__project=project).order_by("dispute__number", "at", "pk")
    return ColumnRows(posts, _POSTS)


_POSTS = {**_OF_DISPUTE, "rater": "author__pseudonym", "at": "at", "text": "text"}


def _dispute_events(project: Project) -> Iterator[Row]:
    events = DisputeEvent.objects.filter(dispute__round__project=project)
    rows = ColumnRows(events.order_by("dispute__number", "at", "pk"), _DISPUTE_EVENTS)
    return with_actors(rows, project, of="event", not_by_raters=_BY_ADMINS)


_DISPUTE_EVENTS = {
    **_OF_DISPUTE,
    "at": "at",
    "event": "kind",
    "value": "value",
    "note": "note",
    "by": "actor",
}
_BY_ADMINS = {
    DisputeEvent.Kind.OPENED,
    DisputeEvent.Kind.ADJUDICATED,
    DisputeEvent.Kind.LEFT_OPEN,
    DisputeEvent.Kind.RESUMED,
}


DISPUTE_TABLES = (
    ExportTable(
        "disputes",
        "the disputed units and how they ended",
        tuple(_DISPUTES),
        _disputes,
        kinds(
            integer="dispute",
            points="spread threshold tolerance adjudicated_value",
            time="last_changed_at",
        ),
    ),
    ExportTable(
        "posts",
        "the threads of the disputes",
        tuple(_POSTS),
        _posts,
        kinds(integer="dispute", time="at"),
        part=ExportPart.THREADS,
    ),
    ExportTable(
        "dispute_events",
        "what happened to the disputes, when and why",
        tuple(_DISPUTE_EVENTS),
        _dispute_events,
        kinds(integer="dispute", points="value", time="at"),
        {"note": ExportPart.COMMENTS},
    ),
)
