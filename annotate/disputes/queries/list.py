"""All disputes of a project, for who reads or runs it: filtered, with whom they wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import Dispute, Membership, Project, RatingChange, Round
from annotate.core.raters import RATED
from annotate.disputes.queries.activity import RATER, needing, to_decide, with_last_word


@dataclass(frozen=True)
class DisputeFilter:
    """Which disputes are meant: empty is any. `silent`: open ones without a word for so many days."""

    status: str = ""
    dimension: str = ""
    silent: int | None = None
    rater: str = ""


@dataclass(frozen=True)
class WaitingRater:
    """A rater whom a dispute waits for, as others know them and as admins do."""

    name: str
    label: str


def disputes_of_project(
    project: Project, chosen: DisputeFilter, *, round_two: Round | None
) -> QuerySet[Dispute]:
    """Return the project's disputes that are meant, by number, with `last_word` and `posts_count`."""
    found = _chosen(project, chosen, round_two).select_related("dimension", "item__document", "item__system")
    return found.annotate(posts_count=Count("posts")).order_by("number")


@dataclass(frozen=True)
class DisputeRow:
    """A dispute in the list, with the raters whom it waits for."""

    dispute: Dispute
    waits_for: list[WaitingRater]


def kept_reasons(project: Project) -> list[tuple[str, int]]:
    """Return how often each short reason was given in Round II to keep a value, and that the raters differ.

    The most frequent first; an answer that was taken back counts no more than one that was changed later: as
    it was given. Two queries.
    """
    answers = RatingChange.objects.filter(
        rating__assignment__round__project=project, rating__assignment__round__number=2
    ).order_by()
    counts = answers.exclude(short_reason="").values_list("short_reason").annotate(count=Count("pk"))
    found = sorted(counts, key=lambda each: (-each[1], each[0]))
    differs = answers.filter(cause=RatingChange.Cause.DIFFERS).count()
    return [*found, (gettext("We differ"), differs)] if differs else found


def waiting_for_adjudicator(project: Project) -> int:
    """Return how many disputes discussion did not resolve, while they can be decided. One query."""
    return to_decide(Dispute.objects.filter(round__project=project)).count()


def dispute_rows(disputes: Sequence[Dispute]) -> list[DisputeRow]:
    """Return disputes with whom they wait for. One query."""
    rows = needing(Dispute.objects.filter(RATED, pk__in=[dispute.pk for dispute in disputes]))
    found: dict[int, list[WaitingRater]] = {}
    named = rows.order_by(f"{RATER}__alias").values_list("pk", f"{RATER}__alias", f"{RATER}__label")
    for dispute, alias, label in named:
        rater = WaitingRater(Membership(alias=alias).rater_name, label)
        found.setdefault(dispute, []).append(rater)
    return [DisputeRow(dispute, found.get(dispute.pk, [])) for dispute in disputes]


def waited_for_in(project: Project, chosen: DisputeFilter, round_two: Round) -> Mapping[int, int]:
    """Return how many of the disputes that are meant wait for each rater (by key). One query."""
    meant = _chosen(project, chosen, round_two).values("pk")
    counts: dict[int, int] = {}
    for rater in needing(Dispute.objects.filter(RATED, pk__in=meant)).values_list(RATER, flat=True):
        counts[rater] = counts.get(rater, 0) + 1
    return counts


def _chosen(project: Project, chosen: DisputeFilter, round_two: Round | None) -> QuerySet[Dispute]:
    found: QuerySet[Any] = with_last_word(Dispute.objects.filter(round__project=project), round_two)
    if chosen.status:
        found = found.filter(status=chosen.status)
    if chosen.dimension:
        found = found.filter(dimension__key=chosen.dimension)
    if chosen.silent is not None:
        long_ago = timezone.now() - timedelta(days=chosen.silent)
        found = found.filter(status=Dispute.Status.OPEN, last_word__lte=long_ago)
    if chosen.rater:
        rows = Dispute.objects.filter(
            RATED, round__project=project, item__assignments__annotator__alias=chosen.rater
        )
        found = found.filter(pk__in=needing(rows).values("pk"))
    return found
