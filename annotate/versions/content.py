"""The content hash of a benchmark: equal after each restore, different after any change of the content."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from annotate.core.models import Project
from annotate.exports.registry import TABLES, ExportTable, ValueKind
from annotate.results.queries.reliability_data import DECIMALS, texts_of, values_of_people

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
        for name in filter(TABLES.__contains__, CONTENT):
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
