"""Metadata of documents and items: names, values in a query, and values as strings."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import F, Func, TextField
from django.db.models.functions import Coalesce

from annotate.core.models import Document, Item, Project

NAMES = {
    "postgresql": "SELECT DISTINCT jsonb_object_keys({table}.metadata) FROM {source}",
    "sqlite": "SELECT DISTINCT json_each.key FROM {source}, json_each({table}.metadata)",
}
DOCUMENTS, ITEMS = Document._meta.db_table, Item._meta.db_table
SOURCES = {
    DOCUMENTS: f"(SELECT metadata FROM {DOCUMENTS} WHERE project_id = %s) AS {DOCUMENTS}",
    ITEMS: f"(SELECT {ITEMS}.metadata FROM {ITEMS} JOIN {DOCUMENTS} ON {DOCUMENTS}.id = {ITEMS}.document_id"
    f" WHERE {DOCUMENTS}.project_id = %s) AS {ITEMS}",
}


def metadata_names(project: Project, *, of_items: bool = True) -> list[str]:
    """Return the names of all metadata in a project. Uses up to two queries."""
    found: set[str] = set()
    with connection.cursor() as cursor:
        for table, source in SOURCES.items():
            if table == ITEMS and not of_items:
                continue
            # Raw SQL: the ORM has no function for the names in a JSON object.
            cursor.execute(NAMES[connection.vendor].format(table=table, source=source), [project.pk])
            found.update(name for (name,) in cursor.fetchall())
    return sorted(found)


class MetadataText(Func):
    """A value in a JSON object as a string. A KeyTransform reads the name "2024" as an index."""

    output_field = TextField()

    def __init__(self, path: str, name: str) -> None:
        super().__init__(F(path))
        self.name = name

    def as_postgresql(self, compiler: Any, _connection: Any, **_context: Any) -> tuple[str, Sequence[Any]]:
        sql, values = compiler.compile(self.get_source_expressions()[0])
        return f"jsonb_extract_path_text({sql}, %s)", (*values, self.name)

    def as_sqlite(self, compiler: Any, connection: Any, **_context: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002
        """Return the SQLite expression. SQLite stores true and false as numbers."""
        sql, values = compiler.compile(self.get_source_expressions()[0])
        # JSON's quotes keep a dot or a bracket in a name from being read as a path.
        path = f"$.{json.dumps(self.name)}"
        kind, value = f"json_type({sql}, %s)", f"CAST(json_extract({sql}, %s) AS TEXT)"
        # `json_type` gives the words that PostgreSQL gives.
        case = f"CASE WHEN {kind} IN ('true', 'false') THEN {kind} ELSE {value} END"
        # The statement contains the expression three times, so its parameters repeat three times.
        return case, (*values, path) * 3


def metadata_of_items(name: str) -> Coalesce:
    """Return an item's value for a query, else its document's value."""
    return Coalesce(MetadataText("metadata", name), MetadataText("document__metadata", name))


def metadata_text(value: Any) -> str:
    """Return a value as a string, in the form of `MetadataText`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ordered_metadata(value: Any) -> Any:
    """Return metadata with names in PostgreSQL's order, so that all databases export the same bytes."""
    if isinstance(value, dict):
        # `jsonb` orders the names of an object by their length in bytes, then by their bytes.
        names = sorted(value, key=lambda name: (len(name.encode()), name.encode()))
        return {name: ordered_metadata(value[name]) for name in names}
    return [ordered_metadata(each) for each in value] if isinstance(value, list) else value
