"""The database in a backup: a copy of SQLite's file, or PostgreSQL's rows in the format of COPY.

Both are snapshots and block no writes. Restored rows are read again and compared before they count.
"""

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from annotate.core.database import snapshot
from concord.backups.archive import BackupError, Reader, Writer, chunks_of
from concord.schema import MOVE, Comparison, compare, compare_database, last_of

FOLDER = "database/"
SQLITE_FILE = f"{FOLDER}concord.sqlite3"
NOT_EMPTY = (
    "The database is not empty: restore into a new one, before `migrate` and `start` (PostgreSQL: createdb; "
    "SQLite: another CONCORD_DATA)."
)
OTHER_TABLES = f"The backup does not match its recorded migrations ({{}}): {MOVE}"
# Tables with the columns that COPY can write, in order: a partition's rows come with its table, and the
# database computes generated columns.
TABLES = """
SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY c.relname ORDER BY c.relname
"""
KEYS = """
SELECT a.attname::text FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
WHERE i.indrelid = quote_ident(%s)::regclass AND i.indisprimary ORDER BY a.attnum
"""
# COPY does not advance the counters of these columns.
COUNTERS = """
SELECT table_name::text, column_name::text FROM information_schema.columns
WHERE table_schema = current_schema() AND is_identity = 'YES'
"""
COUNTS = "annotate_changecount"


def dump_database(writer: Writer) -> dict[str, Any]:
    """Write a snapshot of the database; return its entry in the manifest."""
    is_postgresql = connection.vendor == "postgresql"
    # SQLite's own backup copies one state of the file.
    with snapshot() if is_postgresql else nullcontext():
        applied = sorted(MigrationExecutor(connection).loader.applied_migrations)
        tables, compared = _dump_rows(writer) if is_postgresql else _dump_file(writer)
    return {
        "vendor": connection.vendor,
        "migrations": applied,
        "fingerprint": compared.fingerprint,
        "mismatch": compared.mismatch(),
        "tables": tables,
    }


def _dump_rows(writer: Writer) -> tuple[dict[str, Any], Comparison]:
    tables = {}
    for table, columns in _tables().items():
        writer.add(f"{FOLDER}{table}", _rows(table, columns))
        tables[table] = {"rows": _count(table), "columns": columns}
    return tables, compare_database()


def _dump_file(writer: Writer) -> tuple[dict[str, Any], Comparison]:
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix="backup-") as folder:
        copy = Path(folder, "concord.sqlite3")
        connection.ensure_connection()
        with sqlite3.connect(copy) as target:
            connection.connection.backup(target)  # all pages in one step: what others write comes after it
        # `with` commits, but does not close.
        target.close()
        with copy.open("rb") as file:
            writer.add(SQLITE_FILE, chunks_of(file))
        return _read_file(copy)


def _read_file(path: Path) -> tuple[dict[str, Any], Comparison]:
    """Return the tables of an SQLite file with their rows, and its schema; BackupError if it is damaged."""
    # No one else uses this copy, so SQLite needs no locks and no file next to it.
    source = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        if source.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise BackupError("The copy of the database is damaged: check the disk, then make another one.")
        names = source.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        counts = {name: f'SELECT COUNT(*) FROM "{name}"' for (name,) in names}
        tables = {name: {"rows": source.execute(count).fetchone()[0]} for name, count in counts.items()}
        return tables, compare(source.cursor())
    finally:
        source.close()


def refuse_used_database() -> None:
    connection.ensure_connection()
    if connection.introspection.table_names():
        raise BackupError(NOT_EMPTY)


def load_database(reader: Reader) -> None:
    """Restore a backup into the empty database, compare every row, and roll back if one differs."""
    database = reader.manifest["database"]
    refuse_used_database()
    if database["vendor"] != connection.vendor:
        raise BackupError(f"The backup is one of {database['vendor']}: set DATABASE_URL to such a database.")
    if connection.vendor == "postgresql":
        with transaction.atomic():
            # Create the tables at the backup's migrations; `migrate` then continues from there.
            applied = database["migrations"]
            _refuse_unknown(applied)
            executor = MigrationExecutor(connection)
            last = last_of(executor.loader.graph, {(app, name) for app, name in applied})
            executor.migrate(last)  # without the signals by which `migrate` creates additional rows
            # Raise BackupError if the backup's tables differ from the tables that its migrations just
            # created. Backups without a fingerprint are compared by their columns.
            here, there = _tables(), database["tables"]
            for table in sorted(here.keys() | there.keys()):
                made, kept = here.get(table, []), there.get(table, {}).get("columns", [])
                if odd := sorted(set(made) ^ set(kept)):
                    raise BackupError(OTHER_TABLES.format(f"{table} differs in {', '.join(odd)}"))
            fingerprint = database.get("fingerprint")
            if fingerprint and fingerprint != compare_database().fingerprint:
                raise BackupError(OTHER_TABLES.format("types or constraints differ"))
            _load_rows(reader)
    else:
        _refuse_unknown(database["migrations"])
        _load_file(reader)


def _refuse_unknown(applied: list[list[str]]) -> None:
    known = MigrationExecutor(connection).loader.disk_migrations
    if any(tuple(each) not in known for each in applied):
        raise BackupError("The backup was made by a newer version of Concord: install that version first.")


def _load_rows(reader: Reader) -> None:
    tables = reader.manifest["database"]["tables"]
    with connection.cursor() as cursor:
        # Creating the tables has filled this one; the backup brings its own rows.
        cursor.execute("DELETE FROM django_migrations")
        # Last of all, and instead of what triggers counted while the tables before were loaded.
        for table, kept in sorted(tables.items(), key=lambda each: each[0] == COUNTS):
            if table == COUNTS:
                cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            statement = sql.SQL("COPY {} ({}) FROM STDIN").format(*_names(table, kept["columns"]))
            with cursor.copy(statement) as copy:
                for chunk in reader.chunks(f"{FOLDER}{table}"):
                    copy.write(chunk)
        for table, kept in tables.items():
            # The rows are read again in the same order and format, so they must have the written digest.
            digest = hashlib.sha256()
            for chunk in _rows(table, kept["columns"]):
                digest.update(chunk)
            if digest.hexdigest() != reader.manifest["parts"][f"{FOLDER}{table}"]:
                raise BackupError(
                    f"Table {table} was not restored as it was: nothing is kept of this restore."
                )
        cursor.execute(COUNTERS)
        for name, column in cursor.fetchall():
            named = sql.Identifier(column), sql.Identifier(name)
            highest = sql.SQL("SELECT MAX({}) FROM {}").format(*named)
            counter = "SELECT setval(pg_get_serial_sequence(quote_ident(%s), %s), ({}), true)"
            cursor.execute(sql.SQL(counter).format(highest), [name, column])


def _load_file(reader: Reader) -> None:
    target = Path(settings.DATABASES["default"]["NAME"])
    fetched = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fetched, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for chunk in reader.chunks(SQLITE_FILE):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        database = reader.manifest["database"]
        tables, compared = _read_file(fetched)
        if mismatch := compared.mismatch("The backup"):
            raise BackupError(mismatch)
        is_whole = database.get("fingerprint") in (None, compared.fingerprint)
        if tables != database["tables"] or not is_whole:
            raise BackupError("The database was not restored as it was: nothing is kept of this restore.")
        # An open connection would continue to use the replaced file.
        connection.close()
        # They belong to the file before, and SQLite would apply them to the new one.
        for beside in ("-wal", "-shm"):
            target.with_name(target.name + beside).unlink(missing_ok=True)
        fetched.replace(target)
    finally:
        fetched.unlink(missing_ok=True)


def _tables() -> dict[str, list[str]]:
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return dict(cursor.fetchall())


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT COUNT(*) FROM {}").format(sql.Identifier(table)))
        return int(cursor.fetchone()[0])


def _rows(table: str, columns: list[str]) -> Iterator[bytes]:
    """Yield all rows of a table in the format of COPY, in the order of its key, for comparison."""
    with connection.cursor() as cursor:
        cursor.execute(KEYS, [table])
        keys = [key for (key,) in cursor.fetchall()] or columns
        name, wanted = _names(table, columns)
        order = sql.SQL(", ").join(map(sql.Identifier, keys))
        statement = sql.SQL("COPY (SELECT {} FROM {} ORDER BY {}) TO STDOUT").format(wanted, name, order)
        with cursor.copy(statement) as copy:
            for chunk in copy:
                yield bytes(chunk)


def _names(table: str, columns: list[str]) -> tuple[sql.Identifier, sql.Composed]:
    return sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
