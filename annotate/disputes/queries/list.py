"""All disputes of a project, for readers and admins: filtered, with the raters that they need."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from django.db.models import Count, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left
from django.utils.translation import gettext

from annotate.core.models import Dispute, DisputeRater, Membership, Post, Project, RatingChange, Round
from annotate.core.models.ratings import HAS_REASON
from annotate.core.rounds import disputes_in
from annotate.disputes.queries.activity import annotate_last_activity, silent_for, to_decide

START_OF_TEXT = Left("item__text", 160)  # enough for the words that a list shows


@dataclass(frozen=True)
class DisputeFilter:
    """A filter for disputes:

    empty matches all. `silent`: open ones without activity for this number of days.
    """

    status: str = ""
    dimension: str = ""
    silent: int | None = None
    rater: str = ""


@dataclass(frozen=True)
class WaitingRater:
    """A rater that a dispute needs, with the alias for raters and the label for admins."""

    name: str
    label: str


class DisputesByNumber(Sequence[Dispute]):
    """The project's disputes that match the filter, by number.

    It reads only the current page in full and counts the others.

    Disputes before a page are skipped by their keys only: with outputs and counts of posts, page 500 took
    half a second.
    """

    def __init__(self, project: Project, chosen: DisputeFilter, *, round_two: Round | None) -> None:
        self._keys = _filter(project, chosen, round_two).order_by("number").values_list("pk", flat=True)
        self._whole = disputes_of_project(project, DisputeFilter(), round_two=round_two)

    def __len__(self) -> int:
        return self._keys.count()

    @overload
    def __getitem__(self, index: int) -> Dispute: ...
    @overload
    def __getitem__(self, index: slice) -> list[Dispute]: ...
    def __getitem__(self, index: int | slice) -> Dispute | list[Dispute]:
        """Return a dispute, or some of them in two queries."""
        if isinstance(index, int):
            return self[index : index + 1][0]
        # Outputs are long; the list shows only their first words.
        whole = self._whole.defer("item__text", "item__document__parts").annotate(start=START_OF_TEXT)
        return list(whole.filter(pk__in=list(self._keys[index])))


def disputes_of_project(
    project: Project, chosen: DisputeFilter, *, round_two: Round | None
) -> QuerySet[Dispute]:
    """Return the project's disputes that match the filter, by number, with `last_word` and `posts_count`."""
    found = _filter(project, chosen, round_two).select_related("dimension", "item__document", "item__system")
    # Not a join: the database would count all disputes' posts before it takes one page.
    posts = Post.objects.filter(dispute=OuterRef("pk")).order_by().values("dispute")
    count = Subquery(posts.annotate(count=Count("pk")).values("count"))
    return found.annotate(posts_count=Coalesce(count, 0)).order_by("number")


@dataclass(frozen=True)
class ListedDispute:
    dispute: Dispute
    waits_for: list[WaitingRater]


def count_reasons(project: Project) -> list[tuple[str, int]]:
    """Return the frequency of each short reason for keeping a value in Round II, and of "the raters differ".

    The most frequent comes first. A withdrawn answer counts with its original reason, like one that was
    changed later. One query.
    """
    answers = RatingChange.objects.filter(
        HAS_REASON, rating__assignment__round__project=project, rating__assignment__round__number=2
    ).order_by()
    reasons: Counter[str] = Counter()
    differs = 0
    for reason, cause, count in answers.values_list("short_reason", "cause").annotate(Count("pk")):
        reasons[reason] += count
        differs += count if cause == RatingChange.Cause.DIFFERS else 0
    del reasons[""]
    found = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return [*found, (gettext("We differ"), differs)] if differs else found


@dataclass(frozen=True)
class ToDecide:
    """The count of disputes for an adjudicator, and the number of the first, if there is one."""

    count: int
    first: int | None


def waiting_for_adjudicator(project: Project) -> ToDecide:
    """Return the disputes that discussion did not resolve, while they can be decided. One query."""
    waiting = to_decide(disputes_in(project)).order_by()
    return ToDecide(**waiting.aggregate(count=Count("pk"), first=Min("number")))


def dispute_rows(disputes: Sequence[Dispute]) -> list[ListedDispute]:
    """Return disputes with the raters that they need. One query."""
    asked = DisputeRater.objects.filter(dispute__in=disputes, since__isnull=False)
    found: dict[int, list[WaitingRater]] = {}
    named = asked.order_by("rater__alias").values_list("dispute", "rater__alias", "rater__label")
    for dispute, alias, label in named:
        rater = WaitingRater(Membership(alias=alias).rater_name, label)
        found.setdefault(dispute, []).append(rater)
    return [ListedDispute(dispute, found.get(dispute.pk, [])) for dispute in disputes]


def count_pending_by_rater(project: Project, chosen: DisputeFilter, round_two: Round) -> Mapping[int, int]:
    """Return the number of matching disputes that need each rater (by key). One query."""
    meant = _filter(project, chosen, round_two).values("pk")
    asked = DisputeRater.objects.filter(dispute__in=meant, since__isnull=False)
    return dict(asked.order_by().values_list("rater").annotate(Count("pk")))


def _filter(project: Project, chosen: DisputeFilter, round_two: Round | None) -> QuerySet[Dispute]:
    found = annotate_last_activity(disputes_in(project), round_two)
    if chosen.status:
        found = found.filter(status=chosen.status)
    if chosen.dimension:
        found = found.filter(dimension__key=chosen.dimension)
    if chosen.silent is not None:
        found = silent_for(found, chosen.silent, round_two)
    if chosen.rater:
        # A rater has one row per dispute, so a join yields no duplicates.
        raters = Membership.objects.filter(project=project, alias=chosen.rater).values_list("pk", flat=True)
        found = found.filter(raters__rater__in=list(raters), raters__since__isnull=False)
    return found
