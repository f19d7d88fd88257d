"""The four tables with the history of a project, each as rows of the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from django.db.models import F, Q, QuerySet

from annotate.core.models import AuditEntry, DisputeEvent, Project, RatingChange

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
            return cls(moment, int(rank), int(pk)) if moment.tzinfo else None
        except ValueError:
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


class AuditSource(Protocol):
    def __call__(self, project: Project, wanted: AuditFilter) -> QuerySet[Any, Any]:
        """Return the filtered rows."""


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


SOURCES: tuple[AuditSource, ...] = (_entries, _ratings, _decisions)


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
    made = (_entry_row, _rating_row, _decision_row)[rank](row)
    return replace(made, cursor=Cursor(row["at"], rank, row["pk"]), actor=row["actor"])


def _entry_row(row: dict[str, Any]) -> AuditedAct:
    facts = (row["before"], row["after"], row["note"])
    email = row["actor_email"]
    return AuditedAct(_NOWHERE, None, row["actor_name"] or email, email, row["act"], row["subject"], *facts)


def _rating_row(row: dict[str, Any]) -> AuditedAct:
    after = {"value": row["value_after"]}
    after |= {name: True for name in FLAGS if row[name]}
    before = None if row["revision"] == 1 and row["value_before"] is None else {"value": row["value_before"]}
    subject = f"{_unit(row)}, Round {'I' * row['round']}, by {row['label']}"
    return AuditedAct(
        _NOWHERE, None, "", "", f"{RATING}.{row['cause']}", subject, before, after, row["comment"]
    )


def _decision_row(row: dict[str, Any]) -> AuditedAct:
    after = None if row["value"] is None else {"value": row["value"]}
    subject = f"{_unit(row)}, dispute {row['number']}"
    return AuditedAct(_NOWHERE, None, "", "", f"{DISPUTE}.{row['kind']}", subject, None, after, row["note"])


def _unit(row: dict[str, Any]) -> str:
    return f"{row['dimension']} of {row['system']} on {row['document']}"


_NOWHERE = Cursor(datetime.min, 0, 0)
