"""Writing many new rows at once, without a model instance and a placeholder for each value."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

Row = Sequence[Any]


def write_rows(model: type[Model], fields: Sequence[str], rows: Sequence[Row]) -> list[int]:
    """Write rows inside the caller's transaction and return their keys, in order.

    fields: the names of fields, in the order of the values of each row. Values are in the database's form:
    JSON as a string, references as keys. The database's constraints hold; defaults of the model do not apply.
    """
    assert transaction.get_connection().in_atomic_block
    if not rows:
        return []
    meta = model._meta
    columns = ["id", *(str(meta.get_field(name).column) for name in fields)]  # type: ignore[union-attr]
    keys = _new_keys(model, len(rows))
    write = _copy if connection.vendor == "postgresql" else _insert
    write(meta.db_table, columns, [(key, *row) for key, row in zip(keys, rows, strict=True)])
    return keys


def _new_keys(model: type[Model], how_many: int) -> list[int]:
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sequence = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            cursor.execute(sequence, [table, how_many])
            return [key for (key,) in cursor.fetchall()]
        # A writing transaction of SQLite is alone, and so are the keys that follow.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        found = cursor.fetchone()
    last = found[0] if found else 0
    return list(range(last + 1, last + 1 + how_many))


def _insert(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    parameters = ", ".join(["%s"] * len(columns))
    names = ", ".join(map(connection.ops.quote_name, columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({parameters})", rows)


def _copy(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    names = ", ".join(map(connection.ops.quote_name, columns))
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
