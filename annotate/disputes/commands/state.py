"""The status of disputes: the locked row, the current answers, and the raters whose answer is needed.

A dispute needs the raters with the lowest and the highest value until they have answered everything new:
another rater's new value or argument. Raters in between need not answer, because their moves cannot settle
the dispute. Only numbers of a scale have ends; with other answers, the dispute needs every rater. If it needs
no rater and the answers still differ, discussion cannot resolve the dispute.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import DisputeClosedError, NotReadyError, NotYoursError, RoundClosedError
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import guideline_of
from annotate.core.models import (
    Dimension,
    Dispute,
    DisputeEvent,
    DisputeRater,
    Membership,
    Post,
    Rating,
    RatingChange,
    Round,
    User,
)
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import raters_of
from annotate.disputes.queries.activity import LONG_AGO
from annotate.questions import Given, kind_of
from annotate.questions.kind import Data
from annotate.webhooks.commands import announce_all
from annotate.webhooks.events import DISPUTE_SETTLED

BATCH = 500  # disputes, and rows written, at a time

Unit = tuple[int, int]  # item, dimension


@dataclass
class _Rater:
    """A rater's current answer, last argument, and the time of the answer, None without one."""

    first: Given
    holds: Given
    argument: tuple[str, Any]
    answered_at: datetime | None = None
    news_at: datetime | None = None


def ask_raters(disputes: Iterable[Dispute]) -> dict[int, dict[int, datetime]]:
    """Store the raters that each of these open disputes needs, and since when; return them by its key.

    Eight queries for each 500 disputes. The caller has locked their rows, or has just created them.
    """
    found: dict[int, dict[int, datetime]] = {}
    left = iter(disputes)
    while some := list(islice(left, BATCH)):
        found |= _ask_some(some)
    return found


def _ask_some(disputes: Sequence[Dispute]) -> dict[int, dict[int, datetime]]:
    raters = _raters(disputes)
    counted = _counted_raters(raters.values())
    dimensions = Dimension.objects.filter(pk__in={each.dimension_id for each in disputes}, kind="scale")
    ordered = set(dimensions.exclude(measurement_level="nominal").values_list("pk", flat=True))
    # What each rater may have to answer: requests of admins, and posts of the others.
    asked_again = _asked_at(disputes, DisputeEvent.Kind.ASKED_AGAIN, DisputeEvent.Kind.RESUMED)
    posts: dict[int, list[tuple[int, datetime]]] = defaultdict(list)
    written = Post.objects.filter(dispute__in=disputes).values_list("dispute", "author", "at")
    for dispute_key, author, at in written:
        posts[dispute_key].append((author, at))
    found: dict[int, dict[int, datetime]] = {}
    for dispute in disputes:
        own = raters[dispute.item_id, dispute.dimension_id]
        for author, at in posts[dispute.pk]:
            if author in own:
                # A post is news for the others, like a new value.
                own[author].news_at = max(at, own[author].news_at or at)
        has_ends = dispute.dimension_id in ordered
        found[dispute.pk] = _pending_since(own, counted, asked_again.get(dispute.pk), has_ends=has_ends)
    # All rows are written again: the caller's lock on the disputes keeps other writers out.
    DisputeRater.objects.filter(dispute__in=disputes).delete()
    rows = (
        DisputeRater(dispute=dispute, rater_id=rater, since=found[dispute.pk].get(rater))
        for dispute in disputes
        for rater in raters[dispute.item_id, dispute.dimension_id]
    )
    DisputeRater.objects.bulk_create(rows, BATCH)
    return found


def _pending_since(
    raters: dict[int, _Rater], counted: set[int], asked_again: datetime | None, *, has_ends: bool
) -> dict[int, datetime]:
    own = {
        each: rater.holds.value if has_ends else rater.holds.unordered.canonical
        for each, rater in raters.items()
    }
    of_counted = [own[each] for each in own if each in counted] or list(own.values())
    # Without an order every answer is an end, so the dispute needs all its raters.
    ends = {min(of_counted), max(of_counted)} if has_ends else set(of_counted)
    found = {}
    for each, rater in raters.items():
        others = [other.news_at for key, other in raters.items() if key != each and other.news_at]
        news = [at for at in others if rater.answered_at is None or at > rater.answered_at]
        if asked_again and (rater.answered_at is None or rater.answered_at <= asked_again):
            found[each] = max([asked_again, *news])  # by an admin, who asks everybody
        # A rater at an end answers once, and again after each addition of another rater.
        elif own[each] in ends and (rater.answered_at is None or news):
            # Without an addition of another rater there is no time, and LONG_AGO takes its part.
            found[each] = max(news, default=LONG_AGO)
    return found


def _raters(disputes: Sequence[Dispute]) -> dict[Unit, dict[int, _Rater]]:
    """Return the raters with a value of each unit in Round I, with their current answers after Round II."""
    wanted = {(each.item_id, each.dimension_id) for each in disputes}
    items, dimensions = {item for item, _ in wanted}, {dimension for _, dimension in wanted}
    first = Rating.objects.filter(
        rounds_of_study("assignment__round__"),
        assignment__round__number=1,
        assignment__item__in=items,
        assignment__annotator__isnull=False,
        dimension__in=dimensions,
        value__isnull=False,
    )
    unit_fields = ("assignment__item", "dimension", "assignment__annotator")
    found: dict[Unit, dict[int, _Rater]] = defaultdict(dict)
    for item, dimension, rater, value, data, comment, evidence in first.values_list(
        *unit_fields, "value", "data", "comment", "evidence"
    ):
        # The two conditions `in` also find other combinations of these items and dimensions.
        if (item, dimension) in wanted and rater is not None and value is not None:
            given = Given(value, data)
            found[item, dimension][rater] = _Rater(given, given, (comment, evidence))
    # By revision, because each change is applied to the state that the previous one left.
    changes = RatingChange.objects.filter(
        rating__assignment__round__number=2,
        rating__assignment__item__in=items,
        rating__dimension__in=dimensions,
    ).order_by("rating", "revision")
    columns = (*(f"rating__{each}" for each in unit_fields), "at", "cause")
    columns += ("value_after", "data", "comment", "evidence")
    for item, dimension, rater, *change in changes.values_list(*columns):
        if rater in found[item, dimension]:
            _follow(found[item, dimension][rater], *change)
    return found


def _follow(
    rater: _Rater, at: datetime, cause: str, after: float | None, data: Data, comment: str, evidence: Any
) -> None:
    """Apply one answer of Round II, or its undoing: back to the previous answer, or to none (`after`)."""
    previous, rater.argument = rater.argument, (comment, evidence)
    argues = (comment and comment != previous[0]) or (evidence and evidence != previous[1])
    holds = rater.first if after is None else Given(after, data)
    # An argument that returns by the undoing of an answer is not new to the others.
    if holds != rater.holds or (argues and cause != RatingChange.Cause.TAKEN_BACK):
        rater.news_at = at
    rater.answered_at = None if after is None else at
    rater.holds = holds


def _asked_at(disputes: Collection[Dispute], *kinds: DisputeEvent.Kind) -> dict[int, datetime]:
    """Return the time of the last event of these kinds, by which an admin asks all raters of a dispute."""
    events = DisputeEvent.objects.filter(dispute__in=disputes, kind__in=kinds).order_by("at", "pk")
    # In a dictionary the last event of a dispute replaces the earlier ones.
    return dict(events.values_list("dispute", "at"))


def current_answers(dispute: Dispute) -> dict[int, Given]:
    """Return the answer that each rater of the unit holds now, by membership id."""
    return all_current_answers([dispute])[dispute.pk]


def all_current_answers(disputes: Collection[Dispute]) -> dict[int, dict[int, Given]]:
    """Return the answers that the raters of each unit hold now, by dispute and membership. One query."""
    of_unit = {(each.item_id, each.dimension_id): each.pk for each in disputes}
    ratings = (
        Rating.objects.filter(
            assignment__item__in={item for item, _ in of_unit},
            dimension__in={dimension for _, dimension in of_unit},
        )
        .filter(assignment__annotator__isnull=False, value__isnull=False)
        .filter(rounds_of_study("assignment__round__"))
        .order_by("assignment__round__number")
        .values_list("assignment__item", "dimension", "assignment__annotator", "value", "data")
    )
    found: dict[int, dict[int, Given]] = {each.pk: {} for each in disputes}
    # The rows of Round II come last, so they replace the rows of Round I.
    for item, dimension, annotator, value, data in ratings:
        dispute = of_unit.get((item, dimension))
        if dispute is not None and annotator is not None and value is not None:
            found[dispute][annotator] = Given(value, data)
    return found


def lock_dispute(dispute: Dispute) -> tuple[Dispute, Round, FrozenDimension]:
    """Return the dispute, its row locked, with the open Round II and the dimension.

    Raises NotReadyError, RoundClosedError.
    """
    # Each answer, post and decision locks this row first. Closing Round II locks all of them, so the
    # round's status is read after the lock.
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
    """Do the same for one of the raters. Raises NotYoursError and DisputeClosedError, too."""
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


def settle_or_reopen(dispute: Dispute, answers: Mapping[int, Given], by: User | None) -> Dispute:
    """Settle the dispute, open it, or end its discussion, depending on the raters' answers.

    Sets `active_at`, the time of the last activity.
    """
    settle_or_reopen_all([dispute], {dispute.pk: answers}, by)
    return dispute


def settle_or_reopen_all(
    disputes: Sequence[Dispute], answers: Mapping[int, Mapping[int, Given]], by: User | None
) -> None:
    """Do the same as `settle_or_reopen` for disputes with these answers, by dispute and rater.

    A fixed number of queries for each resulting status.
    """
    now = timezone.now()
    Dispute.objects.filter(pk__in=[each.pk for each in disputes]).update(active_at=now)
    became: dict[Dispute.Status, list[Dispute]] = defaultdict(list)
    for dispute, status in zip(disputes, _statuses(disputes, answers), strict=True):
        dispute.active_at = now
        became[status].append(dispute)
    # The others are open while an active rater has to answer, and irresolvable after that.
    apart = became.pop(Dispute.Status.OPEN, [])
    asked = ask_raters(apart)
    everyone = {rater for raters in asked.values() for rater in raters}
    active = set(Membership.objects.filter(pk__in=everyone, active=True).values_list("pk", flat=True))
    stay_ended: list[Dispute] = []  # are not decided again below
    for dispute in apart:
        discussed = not active.isdisjoint(asked[dispute.pk])
        became[Dispute.Status.OPEN if discussed else Dispute.Status.IRRESOLVABLE].append(dispute)
        if not discussed and dispute.status == Dispute.Status.IRRESOLVABLE:
            stay_ended.append(dispute)
    # Their status does not change, so `decide_all` does not clear what `ask_raters` stored.
    DisputeRater.objects.filter(dispute__in=stay_ended).update(since=None)
    for status, own in became.items():
        decide_all([dispute for dispute in own if dispute.status != status], status, by)


def status_with(
    dispute: Dispute, answers: Mapping[int, Given], *, heeds_requests: bool = True
) -> Dispute.Status:
    """Return SETTLED if these answers (by rater) agree, even if the dispute still needs one; else OPEN.

    heeds_requests: OPEN while an admin's request for new answers is pending.
    """
    (status,) = _statuses([dispute], {dispute.pk: answers}, heeds_requests=heeds_requests)
    return status


def _statuses(
    disputes: Sequence[Dispute],
    answers: Mapping[int, Mapping[int, Given]],
    *,
    heeds_requests: bool = True,
) -> list[Dispute.Status]:
    """Return the same for disputes of one project with these answers, by dispute and rater."""
    counted = _counted_raters(answers.values())
    asked_again = _asked_at(disputes, DisputeEvent.Kind.ASKED_AGAIN) if heeds_requests else {}
    guideline = guideline_of(disputes[0].round) if disputes else None
    dimensions = {each.id: each for each in guideline.dimensions} if guideline else {}
    found = []
    for dispute in disputes:
        dimension, given = dimensions[dispute.dimension_id], answers[dispute.pk]
        # Answers of the raters that statistics include; of all raters if statistics include none of them.
        own = [given[rater] for rater in given if rater in counted] or list(given.values())
        met = kind_of(dimension).spread(dimension, own) <= dispute.tolerance
        waits = dispute.pk in asked_again and _waits_since(dispute, asked_again[dispute.pk])
        found.append(Dispute.Status.SETTLED if met and not waits else Dispute.Status.OPEN)
    return found


def _counted_raters(units: Iterable[Iterable[int]]) -> set[int]:
    raters = {rater for unit in units for rater in unit}
    return set(Membership.objects.filter(pk__in=raters, counted=True).values_list("pk", flat=True))


def _waits_since(dispute: Dispute, asked_at: datetime) -> bool:
    answered = Rating.objects.filter(
        assignment__round__number=2,
        assignment__item=dispute.item_id,
        dimension=dispute.dimension_id,
        value__isnull=False,
        updated_at__gt=asked_at,
    )
    # Raters who left, and raters excluded from statistics, must not keep the dispute open.
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
    given: Given | None = None,
    note: str = "",
) -> Dispute:
    """Set the status of a dispute, inside the caller's transaction, and record the event."""
    decide_all([dispute], status, by, kind=kind, given=given, note=note)
    return dispute


def decide_all(
    disputes: Sequence[Dispute],
    status: Dispute.Status,
    by: User | None,
    *,
    kind: DisputeEvent.Kind | None = None,
    given: Given | None = None,
    note: str = "",
) -> None:
    """Set the status of disputes of one project, inside the caller's transaction, and record the events."""
    if not disputes:
        return
    now = timezone.now()
    value, data = given or (None, None)
    events = []
    for dispute in disputes:
        was_irresolvable = dispute.status == Dispute.Status.IRRESOLVABLE
        taken_up = was_irresolvable and status == Dispute.Status.OPEN
        dispute.status, dispute.adjudicated_value, dispute.adjudicated_data = status, value, data
        dispute.updated_at = dispute.active_at = now
        happened = kind or (DisputeEvent.Kind.TAKEN_UP if taken_up else _KIND_OF[status])
        said = {"value": value, "data": data, "note": note}
        events.append(DisputeEvent(dispute=dispute, at=now, actor=by, kind=happened, **said))
    own = [each.pk for each in disputes]
    Dispute.objects.filter(pk__in=own).update(
        status=status, adjudicated_value=value, adjudicated_data=data, updated_at=now, active_at=now
    )
    DisputeEvent.objects.bulk_create(events)
    if status == Dispute.Status.OPEN:
        ask_raters(disputes)
    else:
        DisputeRater.objects.filter(dispute__in=own).update(since=None)
    # Webhooks learn of results only; a reopened dispute is announced when it is settled again.
    if status in (Dispute.Status.SETTLED, Dispute.Status.ADJUDICATED):
        told = [{"dispute": each.number, "status": status} for each in disputes]
        announce_all(disputes[0].round.project_id, DISPUTE_SETTLED, told)
