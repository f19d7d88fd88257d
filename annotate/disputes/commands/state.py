"""What every command about a dispute shares: the locked row, the values that stand, what becomes of it."""

from collections.abc import Collection, Mapping

from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import DisputeClosedError, NotReadyError, NotYoursError, RoundClosedError
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Dispute, DisputeEvent, DisputeRater, Membership, Rating, Round, User
from annotate.core.models.rounds import without_checks
from annotate.core.raters import raters_of
from annotate.core.scale import distance
from annotate.disputes.commands.asking import ask_raters
from annotate.webhooks.commands import announce
from annotate.webhooks.events import DISPUTE_SETTLED


def current_values(dispute: Dispute) -> dict[int, float]:
    """Return the value that each rater of the unit holds now, by membership id."""
    ratings = (
        Rating.objects.filter(assignment__item=dispute.item_id, dimension=dispute.dimension_id)
        .filter(assignment__annotator__isnull=False, value__isnull=False)
        .filter(without_checks("assignment__round__"))
        .order_by("assignment__round__number")
        .values_list("assignment__annotator", "value")
    )
    return {annotator: value for annotator, value in ratings if annotator is not None and value is not None}


def _values_that_count(values: Mapping[int, float]) -> Collection[float]:
    """Return the values of raters whom the statistics count; of all of them where they count none."""
    counted = Membership.objects.filter(pk__in=values, counted=True).values_list("pk", flat=True)
    return [values[rater] for rater in counted] or list(values.values())


def lock_dispute(dispute: Dispute) -> tuple[Dispute, Round, FrozenDimension]:
    """Return the dispute, its row locked, with the open Round II and the dimension.

    Raises NotReadyError, RoundClosedError.
    """
    dispute = Dispute.objects.select_for_update(of=("self",)).select_related("round").get(pk=dispute.pk)
    round = (
        Round.objects.select_related("guideline").filter(project=dispute.round.project_id, number=2).first()
    )
    if round is None:
        raise NotReadyError(gettext("Open Round II before disputes are discussed."))
    if not round.is_open:
        raise RoundClosedError(gettext("Round II was closed, so its disputes take no more answers."))
    guideline = FrozenGuideline.from_json(round.guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    return dispute, round, dimension


def locked_for_discussion(dispute: Dispute, rater: Membership) -> tuple[Dispute, Round, FrozenDimension]:
    """Return what `lock_dispute` does, for one of the raters. Raises NotYoursError, DisputeClosedError
    too."""
    dispute, round, dimension = lock_dispute(dispute)
    if not raters_of(dispute).filter(pk=rater.pk).exists():
        raise NotYoursError(gettext("Only who gave this unit a value in Round I discusses it in Round II."))
    if not dispute.takes_answers:
        raise DisputeClosedError(
            gettext("This dispute was {status} and takes no more answers.").format(
                status=dispute.get_status_display()
            )
        )
    return dispute, round, dimension


def settle_or_reopen(dispute: Dispute, values: Mapping[int, float], by: User | None) -> Dispute:
    """Settle the dispute, open it, or end its discussion, as the raters' values and answers now ask for.

    Something was said: `active_at` says when.
    """
    dispute.active_at = timezone.now()
    dispute.save(update_fields=["active_at"])
    status = status_with(dispute, values)
    if status == Dispute.Status.OPEN and not _is_discussed(dispute):
        status = Dispute.Status.IRRESOLVABLE
    return dispute if status == dispute.status else decide(dispute, status, by)


def _is_discussed(dispute: Dispute) -> bool:
    """Return whether someone who can answer is asked to; who that is, is written down anew."""
    asked = ask_raters([dispute])[dispute.pk]
    return Membership.objects.filter(pk__in=asked, active=True).exists()


def status_with(dispute: Dispute, values: Mapping[int, float]) -> Dispute.Status:
    """Return whether these values (by rater) settle the dispute."""
    return Dispute.Status.OPEN if _waits_since_asked_again(dispute) else status_of(dispute, values)


def status_of(dispute: Dispute, values: Mapping[int, float]) -> Dispute.Status:
    """Return whether these values (by rater) have met, whoever is still asked for an answer."""
    counted = _values_that_count(values)
    met = distance(min(counted), max(counted)) <= dispute.tolerance
    return Dispute.Status.SETTLED if met else Dispute.Status.OPEN


def _waits_since_asked_again(dispute: Dispute) -> bool:
    asked = dispute.events.filter(kind=DisputeEvent.Kind.ASKED_AGAIN).last()
    if asked is None:
        return False
    answered = Rating.objects.filter(
        assignment__round__number=2,
        assignment__item=dispute.item_id,
        dimension=dispute.dimension_id,
        value__isnull=False,
        updated_at__gt=asked.at,
    )
    who_can = raters_of(dispute).filter(active=True, counted=True)
    return who_can.exclude(pk__in=answered.values("assignment__annotator")).exists()


_KIND_OF = {
    Dispute.Status.SETTLED: DisputeEvent.Kind.SETTLED,
    Dispute.Status.OPEN: DisputeEvent.Kind.REOPENED,
    Dispute.Status.ADJUDICATED: DisputeEvent.Kind.ADJUDICATED,
    Dispute.Status.LEFT_OPEN: DisputeEvent.Kind.LEFT_OPEN,
    Dispute.Status.IRRESOLVABLE: DisputeEvent.Kind.IRRESOLVABLE,
}


def decide(
    dispute: Dispute,
    status: Dispute.Status,
    by: User | None,
    *,
    kind: DisputeEvent.Kind | None = None,
    value: float | None = None,
    note: str = "",
) -> Dispute:
    """Give the dispute this status, inside the caller's transaction, and keep the event."""
    was_irresolvable = dispute.status == Dispute.Status.IRRESOLVABLE
    dispute.status, dispute.adjudicated_value, dispute.updated_at = status, value, timezone.now()
    dispute.active_at = dispute.updated_at
    dispute.save(update_fields=["status", "adjudicated_value", "updated_at", "active_at"])
    taken_up = DisputeEvent.Kind.TAKEN_UP if was_irresolvable and status == Dispute.Status.OPEN else None
    DisputeEvent.objects.create(
        dispute=dispute,
        at=dispute.updated_at,
        actor=by,
        kind=kind or taken_up or _KIND_OF[status],
        value=value,
        note=note,
    )
    if status == Dispute.Status.OPEN:
        ask_raters([dispute])
    else:
        DisputeRater.objects.filter(dispute=dispute).update(since=None)
    if status in (Dispute.Status.SETTLED, Dispute.Status.ADJUDICATED):
        announce(dispute.round.project_id, DISPUTE_SETTLED, {"dispute": dispute.number, "status": status})
    return dispute
