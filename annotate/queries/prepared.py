"""Queries that are asked thousands of times: compiled once in each thread, then only executed.

Django compiles a query whenever it is asked. On the way of a save that took most of the time.
"""

from collections.abc import Callable
from threading import local
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

NUMBERS = (2_000_000_011, 2_000_000_033, 2_000_000_063)  # stand-ins that integer columns can hold
WORD = "a stand-in"

M = TypeVar("M", bound=Model)


class Prepared(Generic[M]):
    """A query of whole rows, written as a function from its values to a queryset.

    What is given beside it are stand-ins, one for each value: of its type, and unlike anything else in the
    query. Where they come to stand in the compiled statement, the values are put.
    """

    def __init__(self, make: Callable[..., QuerySet[M]], *stand_ins: int | str) -> None:
        self._make = make
        self._stand_ins = stand_ins
        self._here = local()

    def all(self, *values: int | str) -> list[M]:
        """Return the rows for these values. One query."""
        if not hasattr(self._here, "compiled"):
            self._here.compiled = _Compiled(self._make(*self._stand_ins))
        put = dict(zip(self._stand_ins, values, strict=True))
        found: list[M] = self._here.compiled.rows(put)
        return found

    def first(self, *values: int | str) -> M | None:
        """Return the first of the rows, None without any. One query."""
        return next(iter(self.all(*values)), None)


class _Compiled:
    """A statement with its parameters, and how its columns become objects: as Django's ModelIterable does."""

    def __init__(self, queryset: QuerySet[Any]) -> None:
        self._compiler = queryset.query.get_compiler(connection=connection)
        self._sql, self._parameters = self._compiler.as_sql()
        select, info = self._compiler.select, self._compiler.klass_info
        self._converters = self._compiler.get_converters([column for column, *_ in select])
        self._model = info["model"]
        self._columns = slice(info["select_fields"][0], info["select_fields"][-1] + 1)
        self._names = [column.target.attname for column, *_ in select[self._columns]]
        self._related = get_related_populators(info, select, connection.alias)  # type: ignore[call-arg]

    def rows(self, put: dict[int | str, int | str]) -> list[Any]:
        """Execute the statement with these values in the place of the stand-ins."""
        parameters = [put.get(each, each) for each in self._parameters]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            found = cursor.fetchall()
        if self._converters:
            found = list(self._compiler.apply_converters(found, self._converters))
        return [self._object(row) for row in found]

    def _object(self, row: Any) -> Any:
        made = self._model.from_db(connection.alias, self._names, row[self._columns])
        for related in self._related:
            related.populate(row, made)
        return made
