"""All acts in a project in one list: administrative acts, ratings, decisions on disputes."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext

from annotate.core.models import AuditEntry, DisputeEvent, FormerName, Project, RatingChange, User

RATING, DISPUTE = "rating", "dispute"
FLAGS = ("unsure", "cannot_rate", "not_applicable")


@dataclass(frozen=True)
class AuditFilter:
    """A filter: an actor's key ("0": no user signed in), a kind of object, a word, and days."""

    who: str = ""
    what: str = ""
    word: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Cursor:
    """A position in the list, the newest first: entries of one moment are in the order of their sources."""

    at: datetime
    rank: int
    pk: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}_{self.rank}_{self.pk}"

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        """Parse the output of `str`, None for anything else."""
        at, _, rest = text.partition("_")
        rank, _, pk = rest.partition("_")
        try:
            moment = datetime.fromisoformat(at)
            return cls(moment.astimezone(UTC), int(rank), int(pk)) if moment.tzinfo else None
        except (ValueError, OverflowError):
            return None


@dataclass(frozen=True)
class AuditedAct:
    """One act: time, actor, action and object, and the values before and after."""

    cursor: Cursor
    actor: int | None
    who: str
    email: str
    act: str
    subject: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    note: str

    @property
    def at(self) -> datetime:
        return self.cursor.at

    @property
    def words(self) -> str:
        return self.act.replace(".", " ").replace("_", " ")

    @property
    def changes(self) -> list[tuple[str, Any, Any]]:
        """Each field with its values before and after, None if absent."""
        before, after = self.before or {}, self.after or {}
        return [(name.replace("_", " "), before.get(name), after.get(name)) for name in {**before, **after}]


def _entries(project: Project, wanted: AuditFilter) -> QuerySet[Any, Any]:
    rows = AuditEntry.objects.filter(project=project)
    if wanted.what:
        rows = rows.filter(act__startswith=f"{wanted.what}.")
    if wanted.word:
        rows = rows.filter(Q(subject__icontains=wanted.word) | Q(note__icontains=wanted.word))
    facts = ("act", "subject", "before", "after", "note")
    found: QuerySet[Any, Any] = _filter_rows(rows, wanted).values(
        "pk", "at", "actor", "actor_name", "actor_email", *facts
    )
    return found


def _ratings(project: Project, wanted: AuditFilter) -> QuerySet[Any, Any]:
    path = "rating__assignment__"
    rows = RatingChange.objects.filter(rating__assignment__round__project=project)
    names = {
        "round": f"{path}round__number",
        "document": f"{path}item__document__key",
        "system": f"{path}item__system__name",
        "dimension": "rating__dimension__name",
    }
    rows = _filter_units(_filter_rows(rows, wanted), wanted, RATING, names)
    given = ("cause", "value_before", "value_after", "comment", "revision", *FLAGS)
    named = _columns({**names, "label": f"{path}annotator__label"})
    found: QuerySet[Any, Any] = rows.values("pk", "at", "actor", *given, **named)
    return found


def _decisions(project: Project, wanted: AuditFilter) -> QuerySet[Any, Any]:
    rows = DisputeEvent.objects.filter(dispute__round__project=project)
    names = {
        "document": "dispute__item__document__key",
        "system": "dispute__item__system__name",
        "dimension": "dispute__dimension__name",
        "number": "dispute__number",
    }
    rows = _filter_units(_filter_rows(rows, wanted), wanted, DISPUTE, names)
    return rows.values("pk", "at", "actor", "kind", "value", "note", **_columns(names))


SOURCES: tuple[Callable[[Project, AuditFilter], QuerySet[Any, Any]], ...] = (_entries, _ratings, _decisions)


def _columns(names: Mapping[str, str]) -> dict[str, F]:
    return {name: F(path) for name, path in names.items()}


def _filter_rows(rows: QuerySet[Any, Any], wanted: AuditFilter) -> QuerySet[Any, Any]:
    if wanted.who:
        rows = rows.filter(actor=wanted.who) if wanted.who != "0" else rows.filter(actor__isnull=True)
    if wanted.since:
        rows = rows.filter(at__gte=wanted.since)
    return rows.filter(at__lt=wanted.until) if wanted.until else rows


def _filter_units(
    rows: QuerySet[Any, Any], wanted: AuditFilter, kind: str, names: Mapping[str, str]
) -> QuerySet[Any, Any]:
    if wanted.what not in ("", kind):
        return rows.none()
    if wanted.word:
        fields = [names[name] for name in ("document", "system", "dimension")]
        found = [Q(**{f"{field}__icontains": wanted.word}) for field in fields]
        rows = rows.filter(found[0] | found[1] | found[2])
    return rows


def row_of(rank: int, row: dict[str, Any]) -> AuditedAct:
    """Return a row of the source at this index of SOURCES as one of the log; only administrative acts
    contain the actor's name.
    """
    who = email = ""
    before: Mapping[str, Any] | None = None
    # Administrative acts have all columns; acts about units are put into the same form.
    if rank == 0:
        email = row["actor_email"]
        who, act, subject, note = row["actor_name"] or email, row["act"], row["subject"], row["note"]
        before, after = row["before"], row["after"]
    else:
        subject = f"{row['dimension']} of {row['system']} on {row['document']}"
        if rank == 1:
            act, note = f"{RATING}.{row['cause']}", row["comment"]
            subject = f"{subject}, Round {'I' * row['round']}, by {row['label']}"
            after = {"value": row["value_after"]} | {name: True for name in FLAGS if row[name]}
            if row["revision"] != 1 or row["value_before"] is not None:
                before = {"value": row["value_before"]}
        else:
            act, note = f"{DISPUTE}.{row['kind']}", row["note"]
            subject = f"{subject}, dispute {row['number']}"
            after = None if row["value"] is None else {"value": row["value"]}
    cursor = Cursor(row["at"], rank, row["pk"])
    return AuditedAct(cursor, row["actor"], who, email, act, subject, before, after, note)


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
        # One more than a page shows whether another page follows.
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
    # Within one moment, the list has the sources in order, and in a source the latest row first.
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
            # Names are in order of time: the first one whose use ends after this moment.
            then = next(name for name in people[row.actor] if name.until is None or name.until > row.at)
            yield replace(row, who=then.name, email=then.email)
