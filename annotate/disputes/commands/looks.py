"""Noting when a rater had a dispute in view."""

from django.utils import timezone

from annotate.core.models import Dispute, DisputeLook, Membership


def note_look(*, dispute: Dispute, rater: Membership) -> None:
    """Note that the rater sees the dispute as it is now. One statement, and no lock of the dispute."""
    DisputeLook.objects.bulk_create(
        [DisputeLook(rater=rater, dispute=dispute, at=timezone.now())],
        update_conflicts=True,
        unique_fields=["rater", "dispute"],
        update_fields=["at"],
    )
