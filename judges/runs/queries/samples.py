import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from agreement.streams import Stream
from annotate.core.models import Item, Project, Rating
from judges.core.models import Judge, Judgment
from judges.core.specification import Scope

MOST_DOCUMENTS = MOST_ITEMS = 10_000
"""What fits into one statement; a run over more is a run over all."""


def drawable_documents(
    project: Project, dimensions: Collection[str], items: Sequence[int] | None = None
) -> list[int]:
    """Return the ids of the documents available for a sample, in sampling order. Two queries.

    These are the documents that results use: outside development, with a counted rating on one of the
    dimensions (keys). Before the first rating, all documents. items: the documents of these items instead.
    The project's seed shuffles all documents first, so a larger sample includes a smaller one, and judges
    with samples of one size judge the same documents.
    """
    documents = project.documents.filter(items__isnull=False)
    if items is not None:
        documents = documents.filter(items__in=among(items))
    drawn = list(documents.distinct().order_by("key").values_list("pk", flat=True))
    Stream(project.seed).of("sample of documents").shuffler().shuffle(drawn)
    if items is not None:
        return drawn
    rated = Rating.objects.filter(
        Q(value__isnull=False) | Q(data__isnull=False),
        assignment__round__project=project,
        assignment__annotator__counted=True,
        assignment__item__document__development=None,
        dimension__key__in=dimensions,
    )
    used = set(rated.order_by().values_list("assignment__item__document", flat=True).distinct())
    return [each for each in drawn if each in used] if used else drawn


@dataclass(frozen=True)
class ChosenItems:
    """The items of a run, by ids: of some documents, and of them only some; all if None.

    units: by dimension, only these items.
    """

    documents: Sequence[int] | None = None
    items: Sequence[int] | None = None
    units: Mapping[int, Sequence[int]] | None = None

    def for_judge(self, judge: Judge) -> "ChosenItems":
        """Return the items for a judge; one with all dimensions in a call needs all of them."""
        if self.units is None or not judge.asks_several:
            return self
        items = {item for items in self.units.values() for item in items}
        return replace(self, items=sorted(items), units=None)

    def filter_items(self, items: QuerySet[Item]) -> QuerySet[Item]:
        if self.documents is not None:
            items = items.filter(document__in=self.documents)
        return items if self.items is None else items.filter(pk__in=self.items)

    def filter_judgments(self, judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
        """Return the judgments with only selected items, one or two."""
        if self.documents is not None:
            judgments = judgments.filter(item__document__in=self.documents)
        if self.units is not None:
            wanted = Q(pk=None)
            for dimension, items in self.units.items():
                wanted |= Q(dimension=dimension, item__in=among(items))
            judgments = judgments.filter(wanted)
        if self.items is None:
            return judgments
        return judgments.filter(Q(other=None) | Q(other__in=self.items), item__in=self.items)

    def condition(self, *of_items: str) -> str:
        """Return the SQL condition on columns with the ids of items; it contains the ids as numbers,
        without a limit on their count.
        """
        found = ""
        if self.documents is not None:
            found += f" AND document.id IN ({_numbers(self.documents)})"
        if self.items is not None:
            found += "".join(f" AND {column} IN ({_numbers(self.items)})" for column in of_items)
        return found

    def condition_on_units(self, dimension: str, item: str) -> str:
        """Return the SQL condition on the combinations of dimensions and items, on columns with their ids."""
        if self.units is None:
            return ""
        wanted = [
            f"({dimension} = {int(key)} AND {item} IN ({_numbers(items)}))"
            for key, items in self.units.items()
        ]
        return f" AND ({' OR '.join(wanted) or '1 = 0'})"


def among(keys: Sequence[int]) -> RawSQL:
    """Return keys as a subquery with one parameter: SQLite limits the length of a list to some thousands."""
    if connection.vendor == "sqlite":
        return RawSQL("SELECT value FROM json_each(%s)", [json.dumps(list(keys))])
    return RawSQL("SELECT unnest(%s::bigint[])", [list(keys)])


def chosen_items(project: Project, scope: Scope) -> ChosenItems:
    """Return the selected or sampled items of a scope. Up to two queries."""
    if scope.chosen is not None:
        return ChosenItems(list(scope.chosen), scope.items, scope.units)
    drawn = None
    if scope.documents is not None:
        drawn = drawable_documents(project, scope.dimensions, scope.items)[: scope.documents]
    return ChosenItems(drawn, scope.items, scope.units)


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "NULL"
