"""Everything that was done in a project, in one list: administrative acts, ratings, decisions on disputes."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, QuerySet

from annotate.core.models import AuditEntry, Project, User
from annotate.watching.queries.audit_sources import (
    DISPUTE,
    RATING,
    SOURCES,
    AuditFilter,
    AuditRow,
    Cursor,
    row_of,
)

PAGE = 100
BATCH = 2000
COLUMNS = ("at", "who", "email", "act", "subject", "before", "after", "note")


@dataclass(frozen=True)
class AuditPage:
    """A page of the list and the place where the next one begins."""

    rows: list[AuditRow]
    next: Cursor | None


@dataclass(frozen=True)
class AuditChoices:
    """By what the list can be narrowed."""

    people: list[tuple[str, str]]
    things: list[str]


def audit_page(project: Project, wanted: AuditFilter, after: Cursor | None = None) -> AuditPage:
    """Return the newest acts, or those after a place in the list. Four queries."""
    found: list[AuditRow] = []
    for rank, source in enumerate(SOURCES):
        rows = source(project, wanted).order_by("-at", "-pk")
        if after:
            rows = rows.filter(_after(after, rank))
        found += [row_of(rank, row) for row in rows[: PAGE + 1]]
    found.sort(key=lambda row: (-row.at.timestamp(), row.cursor.rank, -row.cursor.pk))
    shown = _with_people(found[:PAGE], _people(row.actor for row in found[:PAGE]))
    return AuditPage(list(shown), found[PAGE - 1].cursor if len(found) > PAGE else None)


def audit_rows(project: Project, wanted: AuditFilter) -> Iterator[dict[str, Any]]:
    """Yield all acts, the oldest first, by COLUMNS; memory does not grow with them."""
    people = _people(None)
    sources = (_stream(rank, source(project, wanted)) for rank, source in enumerate(SOURCES))
    merged = heapq.merge(*sources, key=lambda row: (row.at, row.cursor.rank, row.cursor.pk))
    for row in _with_people(merged, people):
        yield {column: getattr(row, column) for column in COLUMNS}


def _stream(rank: int, rows: QuerySet[Any, Any]) -> Iterator[AuditRow]:
    for row in rows.order_by("at", "pk").iterator(BATCH):
        yield row_of(rank, row)


def audit_choices(project: Project) -> AuditChoices:
    """Return who has acted in a project or could, and on what. Two queries."""
    acts = AuditEntry.objects.filter(project=project)
    acted = Q(pk__in=acts.values("actor")) | Q(memberships__project=project)
    people = User.objects.filter(acted).distinct().order_by("name", "email")
    things = {act.partition(".")[0] for act in acts.values_list("act", flat=True).distinct()}
    return AuditChoices(
        [(str(user.pk), str(user)) for user in people] + [("0", "nobody signed in")],
        sorted({*things, RATING, DISPUTE}),
    )


def _after(cursor: Cursor, rank: int) -> Q:
    if rank == cursor.rank:
        return Q(at__lt=cursor.at) | Q(at=cursor.at, pk__lt=cursor.pk)
    return Q(at__lte=cursor.at) if rank > cursor.rank else Q(at__lt=cursor.at)


def _people(actors: Iterable[int | None] | None) -> dict[int, tuple[str, str]]:
    users = (
        User.objects.all()
        if actors is None
        else User.objects.filter(pk__in=[each for each in actors if each])
    )
    return {pk: (name or email, email) for pk, name, email in users.values_list("pk", "name", "email")}


def _with_people(rows: Iterable[AuditRow], people: Mapping[int, tuple[str, str]]) -> Iterator[AuditRow]:
    for row in rows:
        name, email = people.get(row.actor or 0, ("", ""))
        yield replace(row, who=name, email=email)
