"""Reads the schema of a database from its catalog, as facts that can be compared."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

# Kind (such as "column"), table, name.
Key = tuple[str, str, str]

SQLITE_COLUMNS = """
SELECT t.name, c.name, lower(c.type), c."notnull" OR c.pk, c.dflt_value IS NULL AND NOT c.pk, c.pk
FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'
"""
SQLITE_KEYS = """
SELECT t.name, i.name, c.name FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
WHERE t.type = 'table' AND i."unique" AND NOT i.partial ORDER BY t.name, i.name, c.seqno
"""
SQLITE_REFERENCES = """
SELECT t.name, r."from", r."table" FROM sqlite_master t, pragma_foreign_key_list(t.name) r
WHERE t.type = 'table'
"""
SQLITE_NAMES = "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL"

HERE = "t.relnamespace = current_schema()::regnamespace"
POSTGRESQL_COLUMNS = f"""
SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  NOT a.atthasdef AND a.attidentity = '', false
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
WHERE {HERE} AND t.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
"""
POSTGRESQL_KEYS = f"""
SELECT t.relname, i.indexrelid::text, a.attname
FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid
CROSS JOIN unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY k (number, position)
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
WHERE {HERE} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
ORDER BY t.relname, i.indexrelid, k.position
"""
POSTGRESQL_REFERENCES = f"""
SELECT t.relname, a.attname, r.relname FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid
JOIN pg_class r ON r.oid = c.confrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
WHERE {HERE} AND c.contype = 'f'
"""
POSTGRESQL_NAMES = f"""
SELECT 'table', t.relname, t.relname, '' FROM pg_class t WHERE {HERE} AND t.relkind IN ('r', 'p')
UNION ALL SELECT 'index', t.relname, c.conname, ''
  FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid WHERE {HERE}
UNION ALL SELECT 'index', t.relname, x.relname, ''
  FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class x ON x.oid = i.indexrelid
  WHERE {HERE} AND i.indisvalid
UNION ALL SELECT 'trigger', t.relname, g.tgname, ''
  FROM pg_class t JOIN pg_trigger g ON g.tgrelid = t.oid
  WHERE {HERE} AND NOT g.tgisinternal AND g.tgenabled <> 'D'
"""
QUERIES = {
    "sqlite": (SQLITE_COLUMNS, SQLITE_KEYS, SQLITE_REFERENCES, SQLITE_NAMES),
    "postgresql": (POSTGRESQL_COLUMNS, POSTGRESQL_KEYS, POSTGRESQL_REFERENCES, POSTGRESQL_NAMES),
}


@dataclass
class Schema:
    """The facts of a database. `demanding`: columns that need a value in every new row."""

    facts: dict[Key, str] = field(default_factory=dict)
    demanding: set[Key] = field(default_factory=set)

    def fingerprint(self, wanted: Iterable[Key]) -> str:
        """Return a digest of the wanted facts, as this database has them."""
        lines = [[*key, self.facts.get(key)] for key in sorted(wanted)]
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()


def column_fact(kind: str, *, is_needed: bool) -> str:
    """Return the type of a column, and whether it may be empty."""
    return f"{kind} not null" if is_needed else kind


def read_schema(cursor: Any) -> Schema:
    """Return the schema of a database of the kind that this installation uses, in four queries."""
    columns, keys, references, names = QUERIES[connection.vendor]
    schema = Schema()
    for table, column, kind, is_needed, is_bare, is_key in _rows(cursor, columns):
        schema.facts["column", table, column] = column_fact(kind, is_needed=bool(is_needed))
        if is_needed and is_bare:
            schema.demanding.add(("column", table, column))
        if is_key:  # SQLite has no index for a number that is a primary key
            schema.facts["unique key", table, column] = ""
    columns_of: dict[tuple[str, str], list[str]] = {}
    for table, index, column in _rows(cursor, keys):
        columns_of.setdefault((table, index), []).append(column or "an expression")
    for (table, _index), listed in columns_of.items():
        schema.facts["unique key", table, ", ".join(listed)] = ""
    for table, column, target in _rows(cursor, references):
        schema.facts["foreign key", table, f"{column} to {target}"] = ""
    for kind, table, name, written in _rows(cursor, names):
        if kind == "table":
            schema.facts["table", table, ""] = ""
            for each in re.findall(r'CONSTRAINT "([^"]+)"', written):
                schema.facts["constraint or index", table, each] = ""
        elif kind == "index":
            schema.facts["constraint or index", table, name] = ""
        elif kind == "trigger":
            schema.facts["trigger", table, name.lower()] = ""
    return schema


def _rows(cursor: Any, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
