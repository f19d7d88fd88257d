"""Available assignments of a round, and the order of an annotator's items."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from functools import lru_cache

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Concat
from django.utils import timezone

from annotate.core.models import Assignment, Item, Membership, Round, WorkOrder
from annotate.fastpath.queries import MOMENT, NUMBERS, WORD, Prepared


def available_assignments(
    round: Round | int | None = None, now: datetime | None = None
) -> QuerySet[Assignment]:
    """Return the assignments (of a round) that are free, or reserved but unused for too long."""
    lapsed = Q(started_at__isnull=True, reserved_until__lt=now or timezone.now())
    found = Assignment.objects.filter(Q(annotator__isnull=True) | lapsed)
    return found if round is None else found.filter(round=round)


def available_items(round: Round, annotator: Membership) -> QuerySet[Item]:
    return _available_items(round.pk, round.project_id, annotator.pk, timezone.now())


def _available_items(round: int, project: int, annotator: int, now: datetime) -> QuerySet[Item]:
    assignments = available_assignments(round, now).filter(item=OuterRef("pk"))
    mine = Assignment.objects.filter(round=round, annotator=annotator, item=OuterRef("pk"))
    return Item.objects.filter(Exists(assignments), ~Exists(mine), document__project=project)


def first_items(round: Round, annotator: Membership, how_many: int) -> list[Item]:
    """Return the first of these items, with the key of their document only.

    The order is random by annotator, from the round's seed; by document, its items in succession. It depends
    on the names of annotator, documents and systems, which a copy of the project shares.
    """
    drawn = f"{round.seed}/{annotator.pseudonym}/"
    by_document = round.work_order == WorkOrder.BY_DOCUMENT
    find = _prepare_order(how_many, by_document)
    return find.all(round.pk, round.project_id, annotator.pk, timezone.now(), drawn)


# Both arguments shape the statement itself, so each pair needs its own.
@lru_cache
def _prepare_order(how_many: int, by_document: bool) -> Prepared[Item]:
    def items(round: int, project: int, annotator: int, now: datetime, drawn: str) -> QuerySet[Item]:
        names: tuple[str | Value, ...] = (Value(drawn), "document__key")
        draws = [MD5(Concat(*names, Value("/"), "system__name"))]
        if by_document:
            draws.insert(0, MD5(Concat(*names)))
        found = _available_items(round, project, annotator, now)
        return found.order_by(*draws, "pk").only("pk", "document")[:how_many]

    return Prepared(items, *NUMBERS, MOMENT, WORD)


def last_positions(project: int, annotators: Collection[int] | None = None) -> Counter[int]:
    """Return the last position in the order of each (of these) annotators, 0 without any. One query."""
    rows = met_together(project).filter(annotator__isnull=False)
    if annotators is not None:
        rows = rows.filter(annotator__in=annotators)
    return Counter(dict(rows.order_by().values_list("annotator").annotate(last=Max("position"))))


def own_order(round: Round, annotator: Membership) -> QuerySet[Assignment]:
    """Return all the annotator's assignments in Round I, including the hidden checks, by position."""
    return met_together(round.project_id).filter(annotator=annotator).order_by("position")


def met_together(project: int) -> QuerySet[Assignment]:
    """Return the assignments of a project's Round I, and of the checks hidden in it."""
    return Assignment.objects.filter(round__project=project, round__number__in=Round.MET_TOGETHER)
