"""One row for each item with the columns that most people need: sources, outputs, values, judges' scores."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.metadata import ordered_metadata
from annotate.core.models import ComparisonSide, Item, Project
from annotate.core.rounds import round_one
from annotate.exports.registry import COLUMNS, ExportTable, Row, ValueKind
from annotate.exports.tables.outcomes import final_values_by_item
from annotate.exports.tables.rows import AT_ONCE, TEXTS_AT_ONCE
from annotate.questions import Given, kind_of

ByItem = Iterator[tuple[int, Row]]
JUDGE_SCORES: dict[str, Callable[[Project], ByItem]] = {}
"""By app: yields a judge, a dimension and a score after the key of each item, in the order of these keys."""


def _benchmark(project: Project) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    units = _RowsOfItems(final_values_by_item(project))
    asked = {each.key: each for each in guideline_at(project, round_one(project)).dimensions}
    sides = systems_of_sides(project)
    unrated: dict[str, int | None] = {}
    for key in project.dimensions.values_list("key", flat=True):
        unrated |= {f"{key}_value": None, f"{key}_answer": None, f"{key}_raters": 0}
    scores = _RowsOfItems(chain.from_iterable(scores_of(project) for scores_of in JUDGE_SCORES.values()))
    for item in items.order_by("pk").iterator(TEXTS_AT_ONCE):
        found = units.take(item.pk)
        yield {
            "document": item.document.key,
            "system": item.system.name,
            "kind": item.kind,
            "title": item.document.title,
            "source": [{name: part[name] for name in _LISTS["source"]} for part in item.document.parts],
            "text": item.text,
            "metadata": ordered_metadata({**item.document.metadata, **item.metadata}),
            "values": [
                {
                    "dimension": unit["dimension"],
                    "rater": rater,
                    "value": value,
                    "answer": _write(
                        asked[unit["dimension"]],
                        Given(value, (unit["answers"] or {}).get(rater)),
                        sides.get(item.pk, ()),
                    ),
                }
                for unit in found
                for rater, value in unit["values"].items()
            ],
            **unrated,
            **{f"{unit['dimension']}_value": unit["final_value"] for unit in found},
            **{
                f"{unit['dimension']}_answer": _write_final(
                    asked[unit["dimension"]], unit, sides.get(item.pk, ())
                )
                for unit in found
            },
            **{f"{unit['dimension']}_raters": len(unit["values"]) for unit in found},
            "judge_scores": scores.take(item.pk),
        }


def systems_of_sides(project: Project) -> dict[int, list[str]]:
    """Return the systems that each comparison compares, in the order of its sides. One query."""
    found: dict[int, list[str]] = {}
    sides = ComparisonSide.objects.filter(item__document__project=project).order_by("item", "position")
    for item, system in sides.values_list("item", "output__system__name").iterator(AT_ONCE):
        found.setdefault(item, []).append(system)
    return found


def _write(dimension: FrozenDimension, given: Given, sides: Sequence[str]) -> str:
    return kind_of(dimension).write(dimension, given, sides)


def _write_final(dimension: FrozenDimension, unit: Row, sides: Sequence[str]) -> str | None:
    """Return the final answer in words; None without one, and if answers of several parts differ."""
    value, data = unit["final_value"], unit["final_data"]
    if value is None or (data is None and kind_of(dimension).has_pieces):
        return None
    return _write(dimension, Given(value, data), sides)


class _RowsOfItems:
    """Rows in the order of items, taken item by item; only the next row is in memory."""

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
    "values": {"dimension": _TEXT, "rater": _TEXT, "value": ValueKind.POINTS, "answer": _TEXT},
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
