"""Shared by the tables of an export: rows of a queryset by column, and the names of actors."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet

from annotate.core.models import Membership, Project, Role

AT_ONCE = 2000
TEXTS_AT_ONCE = 50  # a document or an item may be a whole book
UNIT = ("document", "system", "dimension")
IN_ORDER = ("assignment__round__number", "assignment__item", "dimension__position")


@dataclass(frozen=True)
class ColumnRows:
    """The rows of a queryset as dictionaries; `columns` has the path of each one."""

    queryset: "QuerySet[Any, Any]"
    columns: Mapping[str, str]
    at_once: int = AT_ONCE

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = tuple(self.columns)
        paths = (F(path) for path in self.columns.values())
        for values in self.queryset.values_list(*paths).iterator(self.at_once):
            yield dict(zip(names, values, strict=True))


def add_actor_names(
    rows: Iterable[dict[str, Any]], project: Project, *, of: str, not_by_raters: Set[str]
) -> Iterator[dict[str, Any]]:
    """Yield rows with a name instead of the user in `by`.

    A rater who is also an admin is "admin" in admin acts. Otherwise the export would identify this rater.
    """
    raters = Membership.objects.filter(project=project, role=Role.ANNOTATOR, user__isnull=False)
    names = {membership.user_id: membership.pseudonym for membership in raters}
    for row in rows:
        if row["by"] is not None:
            row["by"] = "admin" if row[of] in not_by_raters else names.get(row["by"], "admin")
        yield row
