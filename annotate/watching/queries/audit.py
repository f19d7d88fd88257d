"""All acts in a project in one list: administrative acts, ratings, decisions on disputes."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from annotate.core.models import AuditEntry, FormerName, Project, User
from annotate.watching.queries.audit_sources import (
    DISPUTE,
    RATING,
    SOURCES,
    AuditedAct,
    AuditFilter,
    Cursor,
    row_of,
)

PAGE = 15
FIRST_BATCH, LARGEST_BATCH = 100, 10_000
COLUMNS = ("at", "who", "email", "act", "subject", "before", "after", "note")


@dataclass(frozen=True)
class AuditPage:
    rows: list[AuditedAct]
    next: Cursor | None


@dataclass(frozen=True)
class AuditChoices:
    people: list[tuple[str, str]]
    things: list[str]


@dataclass(frozen=True)
class Name:
    """A person's name, and the end of its use: None for the present name."""

    until: datetime | None
    name: str
    email: str


def audit_page(project: Project, wanted: AuditFilter, after: Cursor | None = None) -> AuditPage:
    """Return the newest acts, or the acts after a cursor. Six queries."""
    found: list[AuditedAct] = []
    for rank, source in enumerate(SOURCES):
        rows = source(project, wanted).order_by("-at", "-pk")
        if after:
            rows = rows.filter(_condition_after(after, rank))
        found += [row_of(rank, row) for row in rows[: PAGE + 1]]
    found.sort(key=lambda row: (-row.at.timestamp(), row.cursor.rank, -row.cursor.pk))
    shown = _add_actors(found[:PAGE], _people(row.actor for row in found[:PAGE]))
    return AuditPage(list(shown), found[PAGE - 1].cursor if len(found) > PAGE else None)


def audit_rows(project: Project, wanted: AuditFilter) -> Iterator[dict[str, Any]]:
    """Yield all acts, the oldest first, by COLUMNS; memory does not grow with them."""
    people = _people(None)
    sources = (_stream(rank, source(project, wanted)) for rank, source in enumerate(SOURCES))
    merged = heapq.merge(*sources, key=lambda row: (row.at, row.cursor.rank, row.cursor.pk))
    for row in _add_actors(merged, people):
        yield {column: getattr(row, column) for column in COLUMNS}


def _stream(rank: int, rows: QuerySet[Any, Any]) -> Iterator[AuditedAct]:
    """Yield a source's rows, the oldest first, in growing batches: each query starts after the last row.

    A cursor outside a transaction makes PostgreSQL sort and store all rows before it returns the first one.
    """
    size, in_order = FIRST_BATCH, rows.order_by("at", "pk")
    found = list(in_order[:size])
    while found:
        for row in found:
            yield row_of(rank, row)
        last, size = found[-1], min(2 * size, LARGEST_BATCH)
        # Two queries, since PostgreSQL reads no index from the middle of a moment by a condition with "or".
        found = list(in_order.filter(at=last["at"], pk__gt=last["pk"])[:size])
        found = found or list(in_order.filter(at__gt=last["at"])[:size])


def audit_choices(project: Project) -> AuditChoices:
    """Return the past and possible actors in a project, and the objects of acts. Two queries."""
    acts = AuditEntry.objects.filter(project=project)
    acted = Q(pk__in=acts.values("actor")) | Q(memberships__project=project)
    people = User.objects.filter(acted).distinct().order_by("name", "email")
    things = {act.partition(".")[0] for act in acts.values_list("act", flat=True).distinct()}
    return AuditChoices(
        [(str(user.pk), str(user)) for user in people] + [("0", gettext("without an account"))],
        sorted({*things, RATING, DISPUTE}),
    )


def _condition_after(cursor: Cursor, rank: int) -> Q:
    if rank == cursor.rank:
        return Q(at__lt=cursor.at) | Q(at=cursor.at, pk__lt=cursor.pk)
    return Q(at__lte=cursor.at) if rank > cursor.rank else Q(at__lt=cursor.at)


def _people(actors: Iterable[int | None] | None) -> dict[int, list[Name]]:
    """Return people's names, each with the end of its use, the present one last. Two queries."""
    users, former = User.objects.all(), FormerName.objects.order_by("at", "pk")
    if actors is not None:
        keys = {each for each in actors if each}
        users, former = users.filter(pk__in=keys), former.filter(user__in=keys)
    names: dict[int, list[Name]] = defaultdict(list)
    for pk, until, name, email in former.values_list("user", "at", "name", "email"):
        names[pk].append(Name(until, name or email, email))
    for pk, name, email in users.values_list("pk", "name", "email"):
        names[pk].append(Name(None, name or email, email))
    return names


def _add_actors(rows: Iterable[AuditedAct], people: Mapping[int, list[Name]]) -> Iterator[AuditedAct]:
    """Add the actor's name at that time; administrative acts store it themselves."""
    for row in rows:
        if row.actor is None or row.email:
            yield row
        else:
            then = next(name for name in people[row.actor] if name.until is None or name.until > row.at)
            yield replace(row, who=then.name, email=then.email)
