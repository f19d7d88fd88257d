"""Writes that run thousands of times: their statements are built once, see `fastpath.statements`.

With CONCORD_FAST_PATH=off they go by the ORM, in bulk inside `at_once`.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import JSONField, Model

from annotate.fastpath import is_off
from annotate.fastpath.statements import execute, write

# Drivers accept them unchanged, except for JSON columns.
PLAIN = frozenset({int, float, bool, str, type(None)})


class PreparedInsert:
    """Inserts a row with all of a table's columns but its key, from the values of an object.

    A subquery can replace a column; its parameters then come last. A row inserted in the same round trip has
    no key yet, so another row cannot refer to it by value. The ORM takes the object instead, so that field of
    the row must be set to it too.
    """

    def __init__(self, model: type[Model], **subqueries: str) -> None:
        self._table = model._meta.db_table
        fields: list[Any] = [field for field in model._meta.local_concrete_fields if not field.primary_key]
        self._fields = [field for field in fields if field.name not in subqueries]
        self._subqueries = {
            field.column: subqueries[field.name] for field in fields if field.name in subqueries
        }

    def run(self, row: Model, *parameters: object) -> None:
        """Insert the row. By libpq and by cursor its key is unknown afterwards."""
        if is_off():
            write(row)
            return
        execute(self._sql, [*_values(self._fields, row), *parameters])

    @cached_property
    def _sql(self) -> str:
        quote = connection.ops.quote_name
        columns = [*(field.column for field in self._fields), *self._subqueries]
        values = [*("%s" for _ in self._fields), *self._subqueries.values()]
        return f"INSERT INTO {quote(self._table)} ({_list(map(quote, columns))}) VALUES ({_list(values)})"


class PreparedUpdate:
    def __init__(self, model: type[Model], *names: str) -> None:
        self._table = model._meta.db_table
        self._names = names
        self._fields: list[Any] = [model._meta.get_field(name) for name in names]

    def run(self, row: Model) -> None:
        if is_off():
            write(row, self._names)
            return
        execute(self._sql, [*_values(self._fields, row), row.pk])

    @cached_property
    def _sql(self) -> str:
        quote = connection.ops.quote_name
        columns = _list(f"{quote(field.column)} = %s" for field in self._fields)
        return f"UPDATE {quote(self._table)} SET {columns} WHERE id = %s"


def _list(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _values(fields: list[Any], row: Model) -> list[Any]:
    here = connections[DEFAULT_DB_ALIAS]
    given = [(field, getattr(row, field.attname)) for field in fields]
    return [
        value
        if type(value) in PLAIN and not isinstance(field, JSONField)
        else field.get_db_prep_save(value, here)
        for field, value in given
    ]
