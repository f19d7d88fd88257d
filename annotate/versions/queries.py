"""The versions of a benchmark and of its editions, their content, and the state of the next one."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.access import SomeUser, memberships_of
from annotate.core.models import Edition, Export, Project, Role, Round, Version, VersionPart, VersionRequest
from annotate.core.rounds import rounds_of
from annotate.exports.citation import Card, bibtex
from annotate.exports.registry import TABLES, ExportTable, ValueKind
from annotate.leaderboard.queries import finished_additions
from annotate.results.queries.reliability_data import DECIMALS, texts_of, values_of_people

UNDER_WAY = (VersionRequest.Status.WAITING, VersionRequest.Status.MAKING)


@dataclass(frozen=True)
class ShownVersion:
    """A version as its page shows it.

    raters: of the benchmark and its additions. additions: the exports of those that the reader may read, None
    for a deleted one. bibtex: empty without authors.
    """

    version: Version
    systems: int
    raters: int
    additions: Sequence[tuple[Project, Export | None]]
    citation: str
    bibtex: str


@dataclass(frozen=True)
class NextVersion:
    """The next version. `refusal`: the reason if it cannot be created now. benchmark: of an addition."""

    number: str
    additions: Sequence[int]
    refusal: str = ""
    benchmark: Project | None = None


def first_edition(project: Project) -> Project:
    """Return the project with the original items; the project itself for a first edition."""
    edition = Edition.objects.select_related("follows").filter(project=project).first()
    return edition.follows if edition else project


def editions_of(project: Project, user: SomeUser) -> list[Project]:
    """Return the editions of a benchmark that this person can access, the first one first."""
    first = first_edition(project)
    family = _readable(user).filter(Q(pk=first.pk) | Q(edition__follows=first)).distinct()
    return list(family.select_related("edition").order_by(F("edition__number").asc(nulls_first=True), "pk"))


def _readable(user: SomeUser) -> QuerySet[Project]:
    reading = memberships_of(user).filter(role__in=[Role.ADMIN, Role.RESEARCHER])
    return Project.objects.filter(memberships__in=reading)


def versions_of(project: Project, user: SomeUser) -> list[ShownVersion]:
    """Return the versions of an edition as visible to this person, the newest first. Three queries."""
    card = Card.from_dict(project_card(project))
    readable = _readable(user).filter(addition__benchmark=project)
    parts: dict[int, list[tuple[Project, Export | None]]] = {}
    rows = VersionPart.objects.filter(version__project=project, project__in=readable).defer("values")
    for part in rows.select_related("project__addition", "export").order_by("project__addition__number"):
        parts.setdefault(part.version_id, []).append((part.project, part.export))
    return [
        _show_version(each, card, parts.get(each.pk, []))
        for each in project.versions.select_related("project", "export", "created_by")
    ]


def _show_version(
    version: Version, card: Card, additions: Sequence[tuple[Project, Export | None]]
) -> ShownVersion:
    project, parts = version.project, version.leaderboard["parts"]
    title = f"{project.name}, version {version.number}, SHA-256 {version.content_hash[:12]}"
    said = [", ".join(card.authors), f"{version.created_at:%Y}", title, card.address]
    return ShownVersion(
        version,
        systems=sum(len(part["systems"]) for part in parts),
        raters=sum(part["raters"] for part in parts),
        additions=additions,
        citation=". ".join(filter(None, said)),
        bibtex=bibtex(f"{project.slug}-{version.number}", title, card, version.created_at),
    )


def project_card(project: Project) -> dict[str, object]:
    """Return the authors' description of the data set from its last export with a card."""
    return next((each for each in project.exports.values_list("card", flat=True) if each), {})


def next_version(project: Project) -> NextVersion:
    """Return the number and additions of the next version, or the reason if there is none. Four queries."""
    newest = project.versions.first()
    edition = Edition.objects.filter(project=project).first()
    additions = [each.number for each in finished_additions(project)]
    # The major number is the edition's; each version of it has the next minor number.
    major = newest.major if newest else edition.number if edition else 1
    number = f"{major}.{newest.minor + 1 if newest else 0}"
    rounds = rounds_of(project)
    refusal, added = "", hasattr(project, "addition")
    if added:
        refusal = gettext("An addition belongs to the versions of its benchmark.")
    elif 1 not in rounds:
        refusal = gettext("A version needs ratings. Open Round I and close it.")
    elif any(each.status == Round.Status.OPEN or each.is_unfinished for each in rounds.values()):
        refusal = gettext("A round is open. Close it before you make a version.")
    return NextVersion(number, additions, refusal, project.addition.benchmark if added else None)


def request_under_way(project: Project) -> VersionRequest | None:
    """Return the newest request while it is pending or failed."""
    newest = _newest_request(project)
    is_shown = newest is not None and newest.status != VersionRequest.Status.READY
    return newest if is_shown else None


def version_without_change(project: Project) -> Version | None:
    """Return the version that the newest request got because nothing had changed; for an hour. One query."""
    newest = _newest_request(project)
    if newest is None or newest.version is None or newest.touched_at < timezone.now() - timedelta(hours=1):
        return None
    # A version that is older than the request shows that nothing had changed.
    return newest.version if newest.version.created_at < newest.created_at else None


def _newest_request(project: Project) -> VersionRequest | None:
    return project.version_requests.select_related("version").order_by("-pk").first()


CONTENT = ("guidelines", "documents", "items", "comparisons", "parts", "ratings", "disputes", "judgments")
# Of judgments only what standings can rest on: tokens, seconds and costs may differ.
OF_JUDGMENTS = frozenset(
    {"judge", "document", "system", "other_system", "dimension", "sample", "status", "value", "data"}
)


def content_hash(projects: list[Project]) -> str:
    """Return a SHA-256 over the content of a benchmark and its additions, in this order.

    It covers guidelines, sources, outputs, ratings, disputes and values of judges. It excludes times, the
    project's names and the order of rows.
    """
    found = hashlib.sha256()
    for project in projects:
        # Judges are an app that may be missing, and then their table is.
        for name in filter(TABLES.__contains__, CONTENT):
            # The name separates the tables, so that rows of one cannot count as rows of another.
            found.update(f"{name}\n".encode())
            # Rows are in the order of identifiers, which differ in a restored project.
            for digest in sorted(_digests(TABLES[name], project)):
                found.update(digest)
    return found.hexdigest()


def _digests(table: ExportTable, project: Project) -> Iterator[bytes]:
    names = [
        each.name
        for each in table.columns
        if each.kind != ValueKind.TIME
        # A column that an import cannot restore would give the restored project another hash.
        and not each.lost
        and (table.name != "judgments" or each.name in OF_JUDGMENTS)
    ]
    for row in table.rows(project):
        values = [row[name] for name in names]
        line = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
        yield hashlib.sha256(line.encode()).digest()


def read_values(project: Project) -> dict[str, Any]:
    """Return people's values at the end of the last round, as `VersionPart.values` has them."""
    texts, found = texts_of(project), dict[str, Any]()
    for dimension, item, value in values_of_people(project, 2)[1]:
        if item in texts:
            unit, digests = texts[item]
            found.setdefault(dimension, []).append([*unit, *digests, round(value, DECIMALS)])
    return found
