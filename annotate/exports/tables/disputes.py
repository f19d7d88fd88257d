from collections.abc import Iterator

from annotate.core.models import Dispute, DisputeEvent, Post, Project
from annotate.exports.registry import COLUMNS, ExportPart, ExportTable, Row
from annotate.exports.tables.rows import ColumnRows, add_actor_names


def _disputes(project: Project) -> ColumnRows:
    return ColumnRows(Dispute.objects.filter(round__project=project).order_by("number"), DISPUTES.sources)


def _posts(project: Project) -> ColumnRows:
    posts = Post.objects.filter(dispute__round__project=project).order_by("dispute__number", "at", "pk")
    return ColumnRows(posts, POSTS.sources)


def _dispute_events(project: Project) -> Iterator[Row]:
    events = DisputeEvent.objects.filter(dispute__round__project=project)
    rows = ColumnRows(events.order_by("dispute__number", "at", "pk"), DISPUTE_EVENTS.sources)
    return add_actor_names(rows, project, of="event", not_by_raters=_BY_ADMINS)


_BY_ADMINS = {
    DisputeEvent.Kind.OPENED,
    DisputeEvent.Kind.ADJUDICATED,
    DisputeEvent.Kind.LEFT_OPEN,
    DisputeEvent.Kind.RESUMED,
}


DISPUTES = ExportTable("disputes", "the disputed units and how they ended", COLUMNS["disputes"], _disputes)
POSTS = ExportTable("posts", "the threads of the disputes", COLUMNS["posts"], _posts, part=ExportPart.THREADS)
DISPUTE_EVENTS = ExportTable(
    "dispute_events",
    "what happened to the disputes, when and why",
    COLUMNS["dispute_events"],
    _dispute_events,
)
