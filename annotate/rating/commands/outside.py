"""The end of the work of a rater from outside: completed, or screened out by practice."""

from django.db import transaction
from django.utils import timezone

from annotate.core.models import Membership, OutsideRater
from annotate.rating.queries.assignments import met_together

Outcome = OutsideRater.Outcome


def complete_study(*, membership: Membership) -> bool:
    """Record that a rater from outside has rated every item; return True if the study is completed.

    False for everyone else, and for a rater without ratings, who did no work to be paid for. Safe to run
    twice. Locks the rater's row only if it records something, so other raters do not block on writers.
    """
    outcome = OutsideRater.objects.filter(place=membership).values_list("outcome", flat=True).first()
    if outcome in (None, Outcome.COMPLETED):
        return outcome is not None
    return _complete(membership)


@transaction.atomic
def _complete(membership: Membership) -> bool:
    rater = _lock(membership)
    if rater is None:
        return False
    if rater.outcome != Outcome.COMPLETED:
        if (
            not met_together(membership.project_id)
            .filter(annotator=membership, completed_at__isnull=False)
            .exists()
        ):
            return False
        _end(rater, Outcome.COMPLETED)
    return True


@transaction.atomic
def screen_out(*, membership: Membership) -> bool:
    """Record that a rater from outside failed practice; return False for others. Locks the rater's row."""
    rater = _lock(membership)
    if rater is None:
        return False
    if rater.outcome == Outcome.WORKING:
        _end(rater, Outcome.SCREENED_OUT)
    return True


def _lock(membership: Membership) -> OutsideRater | None:
    return OutsideRater.objects.select_for_update().filter(place=membership).first()


def _end(rater: OutsideRater, outcome: Outcome) -> None:
    rater.outcome, rater.ended_at = outcome, timezone.now()
    rater.save(update_fields=["outcome", "ended_at"])
