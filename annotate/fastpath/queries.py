"""Queries that run thousands of times: compiled once in each thread, then only executed.

Django compiles a query at each execution. For prepared statements in the database, see
`annotate.fastpath.statements`. With CONCORD_FAST_PATH=off each is a queryset that is built and evaluated at
each call.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from threading import local
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import JSONField, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.expressions import Col
from django.db.transaction import TransactionManagementError

from annotate.fastpath import is_off
from annotate.fastpath.statements import Statement, execute, send_together, write

NUMBERS = (2_000_000_011, 2_000_000_033, 2_000_000_063)  # stand-ins that integer columns can hold
WORD = "a stand-in"
NO_KEY = 0  # the key of no row, for a value that is None
MOMENTS = tuple(datetime(2000, 2, day, 4, 5, 6, 789, UTC) for day in (3, 4, 5))
MOMENT = MOMENTS[0]

Value = int | str | datetime
M = TypeVar("M")
_here = local()


class Prepared(Generic[M]):
    """A query of whole rows or of values, written as a function from its values to a queryset.

    The arguments after it are stand-ins, one for each value: of its type, and unlike anything else in the
    query. The values replace them in the compiled statement. by_cursor: see `compile_once`.
    """

    def __init__(
        self, make: Callable[..., QuerySet[Any, M]], *stand_ins: Value, by_cursor: bool = False
    ) -> None:
        self._make = make
        self._by_cursor = by_cursor
        self._stand_ins = stand_ins
        self._here = local()

    def ask(self, *values: Value) -> "PendingRows[M]":
        """Ask for the rows for these values; inside `send_together` they are there after it. One query."""
        ahead = getattr(_here, "ahead", None)
        # Rows sent ahead serve once: the same question after a write must read again.
        asked: PendingRows[M] | None = ahead.pop((self, values), None) if ahead else None
        return asked or self._ask(values)

    def _ask(self, values: tuple[Value, ...]) -> "PendingRows[M]":
        if is_off():
            rows = list(self._make(*values))
            return PendingRows(lambda: rows)
        # Compiled at the first use and not on import, when there is no connection yet.
        if not hasattr(self._here, "compiled"):
            self._here.compiled = _Compiled(self._make(*self._stand_ins), self._stand_ins)
        compiled: _Compiled = self._here.compiled
        statement = compiled.execute(values, by_cursor=self._by_cursor)
        return PendingRows(lambda: compiled.objects(statement))

    def all(self, *values: Value) -> list[M]:
        return self.ask(*values).all()

    def first(self, *values: Value) -> M | None:
        return self.ask(*values).first()


def compile_once(make: Callable[..., QuerySet[Any, M]], *stand_ins: Value) -> Prepared[M]:
    """Return a query that is compiled once, and sent by Django's cursor also on PostgreSQL.

    The cursor checks the connection in each request, and the server prepares nothing. So the query survives a
    restart of the server, and a migration that changes a column while an older Concord still runs.
    """
    return Prepared(make, *stand_ins, by_cursor=True)


@contextmanager
def prefetch_queries(*questions: tuple[Prepared[Any], tuple[Value, ...]]) -> Iterator[None]:
    """Send likely queries of the block in one round trip; the first use of each has its rows already."""
    with send_together():
        _here.ahead = {question: question[0].ask(*question[1]) for question in questions}
    try:
        yield
    finally:
        del _here.ahead


def _convert_parameter(value: Value) -> Any:
    """Return a value as a parameter; SQLite takes times as strings."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


class PendingRows(Generic[M]):
    """Requested rows; inside `send_together` they are available only after it."""

    def __init__(self, rows: Callable[[], list[M]]) -> None:
        self.all = rows

    def first(self) -> M | None:
        return next(iter(self.all()), None)


class _Compiled:
    """A statement with its parameters, and how its columns become objects."""

    def __init__(self, queryset: QuerySet[Any], stand_ins: Sequence[Value]) -> None:
        self._compiler = queryset.query.get_compiler(connection=connection)
        self._sql, parameters = self._compiler.as_sql()
        # The value identifies a stand-in, so it must be unlike anything else in the query. Django may repeat
        # one, or insert its own value between two: each position is checked separately.
        positions = {_convert_parameter(each): index for index, each in enumerate(stand_ins)}
        self._parameters = [(positions.get(each), each) for each in parameters]
        select, info = self._compiler.select, self._compiler.klass_info
        self._locks = queryset.query.select_for_update
        self._converters = self._compiler.get_converters([column for column, *_ in select])
        if queryset.query.selected:  # the query is of values, as `QuerySet.values` makes it
            names = list(queryset.query.selected)
            self._make_row: Callable[[Any], Any] = lambda row: dict(zip(names, row, strict=True))
        else:
            # An annotation is an expression without a column of a table.
            names = [column.target.attname if isinstance(column, Col) else "" for column, *_ in select]
            self._make_row = _Objects(info, names, self._compiler.annotation_col_map).make

    def execute(self, values: Sequence[Value], *, by_cursor: bool) -> Statement:
        if self._locks and not connection.in_atomic_block:  # Django checks this when it compiles a query
            raise TransactionManagementError("A row is locked only inside a transaction.")
        sent = [
            each if index is None else _convert_parameter(values[index]) for index, each in self._parameters
        ]
        return execute(self._sql, sent, by_cursor=by_cursor)

    def objects(self, statement: Statement) -> list[Any]:
        found: Iterable[Any] = statement.rows
        if self._converters:
            found = self._compiler.apply_converters(found, self._converters)
        return [self._make_row(row) for row in found]


class _Objects:
    """Creates objects of rows, with the objects that they refer to, as Django's ModelIterable does.

    It does not call the model, because no code uses its signals: that took longer than the statement. A
    deferred column is missing in the object's dictionary, as in Django, and is read on access. annotations:
    positions in the row, by name.
    """

    def __init__(self, info: Any, names: Sequence[str], annotations: Mapping[str, int]) -> None:
        first, last = info["select_fields"][0], info["select_fields"][-1]
        self._model: type[Model] = info["model"]
        self._columns = slice(first, last + 1)
        self._names = names[self._columns]
        self._key = first + self._names.index(self._model._meta.pk.attname)
        self._annotations = annotations
        self._related = [
            (_Objects(each, names, {}), each["local_setter"], each["remote_setter"])
            for each in info.get("related_klass_infos", ())
        ]

    def make(self, row: Any) -> Any:
        """Return the object of a row, None if there is none to refer to."""
        # An outer join without a match gives a row of nulls.
        if row[self._key] is None:
            return None
        made = self._model.__new__(self._model)
        made._state = ModelState()
        made._state.adding, made._state.db = False, DEFAULT_DB_ALIAS
        made.__dict__.update(zip(self._names, row[self._columns], strict=True))
        made.__dict__.update({name: row[position] for name, position in self._annotations.items()})
        for objects, refer, refer_back in self._related:
            related = objects.make(row)
            # The two setters fill Django's cache of related objects on either side, as select_related does.
            refer(made, related)
            if related is not None:
                refer_back(related, made)
        return made


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
