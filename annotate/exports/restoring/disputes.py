"""Disputes, their threads, and what happened to them."""

from typing import Any

from annotate.core.models import Dispute, DisputeEvent, DisputeRater, Post
from annotate.disputes.commands.asking import ask_raters
from annotate.disputes.queries.activity import last_activity
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Known, Restored
from annotate.exports.tables.disputes import DISPUTE_EVENTS, DISPUTES, POSTS


def restore_disputes(restored: Restored, archive: ExportArchive) -> None:
    """Make the disputes of Round I with the rules that held for them, their posts and their events."""
    disputes = Known((row["dispute"], _dispute(restored, row)) for row in archive.rows("disputes"))
    Dispute.objects.bulk_create(disputes.values())
    Post.objects.bulk_create(_post(restored, disputes, row) for row in archive.rows("posts"))
    DisputeEvent.objects.bulk_create(
        _event(restored, disputes, row) for row in archive.rows("dispute_events")
    )
    Dispute.objects.filter(round__project=restored.project).update(active_at=last_activity(restored.project))
    ask_raters(disputes.values())
    ended = DisputeRater.objects.filter(dispute__round__project=restored.project)
    ended.exclude(dispute__status=Dispute.Status.OPEN).update(since=None)


def _dispute(restored: Restored, row: dict[str, Any]) -> Dispute:
    return Dispute(
        round=restored.rounds[1],
        item_id=restored.item(row),
        dimension=restored.dimensions[row["dimension"]],
        active_at=row["last_changed_at"],
        **DISPUTES.fields(row),
    )


def _post(restored: Restored, disputes: Known[int, Dispute], row: dict[str, Any]) -> Post:
    author = restored.raters[row["rater"]]
    return Post(dispute=disputes[row["dispute"]], author=author, **POSTS.fields(row))


def _event(restored: Restored, disputes: Known[int, Dispute], row: dict[str, Any]) -> DisputeEvent:
    saved = DISPUTE_EVENTS.fields(row) | {"actor": actor(restored, row["by"])}
    return DisputeEvent(dispute=disputes[row["dispute"]], **saved)
