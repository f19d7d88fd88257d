"""Store the raters whose answer an open dispute needs; every event of the dispute updates them.

A dispute needs the raters with the lowest and the highest value until they have answered everything new:
another rater's new value or argument. Raters in between need not answer, because their moves cannot settle
the dispute. Only numbers of a scale have ends; with other answers, the dispute needs every rater. If it needs
no rater and the answers still differ, discussion cannot resolve the dispute.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from annotate.core.models import (
    Dimension,
    Dispute,
    DisputeEvent,
    DisputeRater,
    Membership,
    Post,
    Rating,
    RatingChange,
)
from annotate.core.models.rounds import rounds_of_study
from annotate.disputes.queries.activity import LONG_AGO
from annotate.questions import Given
from annotate.questions.kind import Data

BATCH = 500  # disputes, and rows written, at a time

Unit = tuple[int, int]  # item, dimension


@dataclass
class _Rater:
    """A rater's current answer, last argument and time of the answer; None before an answer and after
    undoing it.
    """

    first: Given
    holds: Given
    argument: tuple[str, Any]
    answered_at: datetime | None = None
    news_at: datetime | None = None


def ask_raters(disputes: Iterable[Dispute]) -> dict[int, dict[int, datetime]]:
    """Recompute and store the raters that each of these open disputes needs, and since when.

    Return them by its key.

    Eight queries for each 500 disputes. The caller has locked their rows, or has just created them.
    """
    found: dict[int, dict[int, datetime]] = {}
    left = iter(disputes)
    while some := list(islice(left, BATCH)):
        found |= _ask_some(some)
    return found


def _ask_some(disputes: Sequence[Dispute]) -> dict[int, dict[int, datetime]]:
    raters = _raters(disputes)
    counted = set(
        Membership.objects.filter(
            pk__in={rater for unit in raters.values() for rater in unit}, counted=True
        ).values_list("pk", flat=True)
    )
    dimensions = Dimension.objects.filter(pk__in={each.dimension_id for each in disputes}, kind="scale")
    ordered_dimensions = set(dimensions.exclude(measurement_level="nominal").values_list("pk", flat=True))
    posts, asked_again, ordered = _posts(disputes), _reopened_at(disputes), ordered_dimensions
    found: dict[int, dict[int, datetime]] = {}
    for dispute in disputes:
        own = raters[dispute.item_id, dispute.dimension_id]
        for author, at in posts[dispute.pk]:
            if author in own:
                own[author].news_at = max(at, own[author].news_at or at)
        has_ends = dispute.dimension_id in ordered
        found[dispute.pk] = _pending_since(own, counted, asked_again.get(dispute.pk), has_ends=has_ends)
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
    ends = {min(of_counted), max(of_counted)} if has_ends else set(of_counted)
    found = {}
    for each, rater in raters.items():
        others = [other.news_at for key, other in raters.items() if key != each and other.news_at]
        news = [at for at in others if rater.answered_at is None or at > rater.answered_at]
        if asked_again and (rater.answered_at is None or rater.answered_at <= asked_again):
            found[each] = max([asked_again, *news])  # by an admin, who asks everybody
        elif own[each] in ends and (rater.answered_at is None or news):
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
        if (item, dimension) in wanted and rater is not None and value is not None:
            given = Given(value, data)
            found[item, dimension][rater] = _Rater(given, given, (comment, evidence))
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
    rater: _Rater,
    at: datetime,
    cause: str,
    after: float | None,
    data: Data,
    comment: str,
    evidence: Any,
) -> None:
    """Apply one answer of Round II, or its undoing: back to the previous answer, or to none (`after`)."""
    previous, rater.argument = rater.argument, (comment, evidence)
    argues = (comment and comment != previous[0]) or (evidence and evidence != previous[1])
    holds = rater.first if after is None else Given(after, data)
    if holds != rater.holds or (argues and cause != RatingChange.Cause.TAKEN_BACK):
        rater.news_at = at
    rater.answered_at = None if after is None else at
    rater.holds = holds


def _posts(disputes: Sequence[Dispute]) -> dict[int, list[tuple[int, datetime]]]:
    found: dict[int, list[tuple[int, datetime]]] = defaultdict(list)
    rows = Post.objects.filter(dispute__in=disputes).values_list("dispute", "author", "at")
    for dispute, author, at in rows:
        found[dispute].append((author, at))
    return found


def _reopened_at(disputes: Sequence[Dispute]) -> dict[int, datetime]:
    """Return the time of an admin's last request to all raters of a dispute to answer (again)."""
    kinds = (DisputeEvent.Kind.ASKED_AGAIN, DisputeEvent.Kind.RESUMED)
    rows = DisputeEvent.objects.filter(dispute__in=disputes, kind__in=kinds).order_by("at")
    return dict(rows.values_list("dispute", "at"))
