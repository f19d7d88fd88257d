"""One row for each item with what most people want of a benchmark: texts, values, judges' scores."""

from collections.abc import Callable, Iterator
from itertools import chain

from annotate.core.metadata import ordered_metadata
from annotate.core.models import Item, Project
from annotate.exports.registry import COLUMNS, ExportTable, Row, ValueKind
from annotate.exports.tables.outcomes import final_values_by_item
from annotate.exports.tables.rows import TEXTS_AT_ONCE

ByItem = Iterator[tuple[int, Row]]
JUDGE_SCORES: dict[str, Callable[[Project], ByItem]] = {}
"""By app: yields a judge, a dimension and a score after the key of each item, in the order of these keys."""


def _benchmark(project: Project) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    units = _RowsOfItems(final_values_by_item(project))
    unrated: dict[str, int | None] = {}
    for key in project.dimensions.values_list("key", flat=True):
        unrated |= {f"{key}_value": None, f"{key}_raters": 0}
    scores = _RowsOfItems(chain.from_iterable(scores_of(project) for scores_of in JUDGE_SCORES.values()))
    for item in items.order_by("pk").iterator(TEXTS_AT_ONCE):
        found = units.take(item.pk)
        yield {
            "document": item.document.key,
            "system": item.system.name,
            "title": item.document.title,
            "source": [{name: part[name] for name in _LISTS["source"]} for part in item.document.parts],
            "text": item.text,
            "metadata": ordered_metadata({**item.document.metadata, **item.metadata}),
            "values": [
                {"dimension": unit["dimension"], "rater": rater, "value": value}
                for unit in found
                for rater, value in unit["values"].items()
            ],
            **unrated,
            **{f"{unit['dimension']}_value": unit["final_value"] for unit in found},
            **{f"{unit['dimension']}_raters": len(unit["values"]) for unit in found},
            "judge_scores": scores.take(item.pk),
        }


class _RowsOfItems:
    """Rows in the order of items, taken item by item: none is held but the next."""

    def __init__(self, rows: ByItem) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def take(self, item: int) -> list[Row]:
        found = []
        while self._next is not None and self._next[0] == item:
            found.append(self._next[1])
            self._next = next(self._rows, None)
        return found


_TEXT, _NUMBER = ValueKind.TEXT, ValueKind.NUMBER
_LISTS = {
    "source": {"label": _TEXT, "text": _TEXT},
    "values": {"dimension": _TEXT, "rater": _TEXT, "value": ValueKind.POINTS},
    "judge_scores": {"judge": _TEXT, "dimension": _TEXT, "score": _NUMBER},
}
BENCHMARK_TABLE = ExportTable(
    "benchmark",
    "one row for each item: texts, the final value per dimension, every rater's last values, judges' scores",
    COLUMNS["benchmark"],
    _benchmark,
    lists=_LISTS,
    is_computed=True,
)
