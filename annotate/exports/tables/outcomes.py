"""What each unit came to, as final values, as soft labels and as the benchmark, one row for each item."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from statistics import fmean
from typing import Any

from agreement import DawidSkene, Mace, dawid_skene, mace, majority, why_not_latent
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import guideline_at
from annotate.core.metadata import ordered_metadata
from annotate.core.models import ComparisonSide, Dispute, Item, Project, Rating, Round
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import round_one, rounds_of
from annotate.exports.registry import (
    AT_ONCE,
    TEXTS_AT_ONCE,
    UNIT,
    ColumnRows,
    Row,
    ValueKind,
    own_table,
)
from annotate.exports.tables.ratings import RATINGS
from annotate.questions import Given, kind_of
from annotate.results.queries.reliability_data import rated_items


def final_values_by_item(project: Project) -> Iterator[tuple[int, Row]]:
    """Yield the outcome of each unit, after the key of its item, in the order of these keys."""
    # Which units are disputed is only known once Round I is closed.
    is_open = Round.objects.filter(project=project, number=1, status=Round.Status.OPEN).exists()
    otherwise = "round_one_open" if is_open else _UNDISPUTED
    found = Dispute.objects.filter(round__project=project).values_list(
        "item", "dimension", "status", "adjudicated_value", "adjudicated_data"
    )
    disputes = {
        (item, dimension): (status, None if value is None else Given(value, data))
        for item, dimension, status, value, data in found.iterator(AT_ONCE)
    }
    ratings = Rating.objects.filter(
        rounds_of_study("assignment__round__"), assignment__round__project=project
    ).order_by("assignment__item", "dimension__position", "dimension", "assignment__round__number", "pk")
    needed = {
        **{name: RATINGS.sources[name] for name in (*UNIT, "rater", "value", "counted")},
        "item_id": "assignment__item",
        "dimension_id": "dimension",
        "data": "data",
    }
    asked = project.dimensions.in_bulk()
    rows = ColumnRows(ratings, needed)
    # The order of the query keeps the ratings of a unit together, which `groupby` needs.
    for unit, group in groupby(rows, key=itemgetter("item_id", "dimension_id")):
        given = list(group)
        status, decided = disputes.get(unit, (otherwise, None))
        has_mean = kind_of(asked[unit[1]]).has_mean
        counted = [row for row in given if row["counted"] and row["value"] is not None]
        # Round II comes after Round I, so a rater's last value stays.
        last = dict(sorted({row["rater"]: row["value"] for row in counted}.items()))
        data = dict(sorted({row["rater"]: row["data"] for row in counted if row["data"]}.items()))
        mean = fmean(last.values()) if last and has_mean else None
        shared = _shared_answer(last, data)
        row = {
            **{name: given[0][name] for name in UNIT},
            "status": status,
            "values": last,
            "answers": data or None,
            "mean": mean,
            "adjudicated_value": decided.value if decided else None,
            "adjudicated_data": decided.data if decided else None,
            "final_value": None,
            "final_data": None,
        }
        if status == Dispute.Status.ADJUDICATED and decided:
            row |= {"final_value": decided.value, "final_data": decided.data}
        elif status in (_UNDISPUTED, Dispute.Status.SETTLED):  # else they have not met, or may yet change
            # Without a mean, a unit comes to the one answer that all hold.
            row["final_value"] = mean if has_mean else shared and shared.value
            row["final_data"] = shared and shared.data
        yield unit[0], row


def _shared_answer(values: Row, data: Row) -> Given | None:
    """Return the answer shared by all raters, None if they differ. The order of sides does not count."""
    answers = []
    for rater, value in values.items():
        parts = {name: part for name, part in (data.get(rater) or {}).items() if name != "order"}
        answers.append(Given(value, parts or None))
    return answers[0] if len({each.canonical for each in answers}) == 1 else None


_UNDISPUTED = "undisputed"


OUTCOME_TABLE = own_table(
    "final_values",
    "what each unit came to: every rater's last answer, their mean, the adjudicated answer",
    lambda project: (row for _, row in final_values_by_item(project)),
    is_computed=True,
)


_DIGITS = 6  # beyond them libraries of linear algebra differ


def _soft_labels(project: Project) -> Iterator[Row]:
    first = rounds_of(project).get(1)
    if first is None:
        return
    items = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    names = {
        item: (document, system)
        for item, document, system in items.values_list("pk", "document__key", "system__name")
    }
    rated = rated_items(first)
    for dimension in FrozenGuideline.from_json(first.guideline.content).scales:
        data = rated[dimension.key].data
        shares, given = majority(data).shares, data.ratings_per_unit.tolist()
        models: dict[str, DawidSkene | Mace] = {}
        # The models are about categories; values on ordered scales have shares only.
        if dimension.is_named and not why_not_latent(data):
            models = {"dawid_skene": dawid_skene(data), "mace": mace(data)}
        # A model that could not be fitted leaves its column empty.
        known = {name: model.probabilities for name, model in models.items() if not model.reason}
        for index, item in enumerate(rated[dimension.key].items.tolist()):
            document, system = names[item]
            yield {
                "document": document,
                "system": system,
                "dimension": dimension.key,
                "values": int(given[index]),
                "shares": _share_by_value(dimension, shares[index]),
                "dawid_skene": None,
                "mace": None,
                **{name: _share_by_value(dimension, each[index]) for name, each in known.items()},
            }


def _share_by_value(dimension: FrozenDimension, shares: FloatArray) -> dict[str, float]:
    rounded = {
        str(value): round(share, _DIGITS)
        for value, share in zip(dimension.values, shares.tolist(), strict=True)
    }
    return {value: share for value, share in rounded.items() if share > 0}


SOFT_LABEL_TABLE = own_table(
    "soft_labels",
    "how the values of Round I are spread over each unit, and which named category it is by two models",
    _soft_labels,
    is_computed=True,
)


ByItem = Iterator[tuple[int, Row]]
JUDGE_SCORES: dict[str, Callable[[Project], ByItem]] = {}
"""By app: yields a judge, a dimension and a score after the key of each item, in the order of these keys."""


def _benchmark(project: Project) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    units = _RowsOfItems(final_values_by_item(project))
    asked = {each.key: each for each in guideline_at(project, round_one(project)).dimensions}
    sides: dict[int, list[str]] = {}  # the systems that each comparison compares
    compared = ComparisonSide.objects.filter(item__document__project=project).order_by("item", "position")
    for comparison, system in compared.values_list("item", "output__system__name").iterator(AT_ONCE):
        sides.setdefault(comparison, []).append(system)
    unrated: dict[str, int | None] = {}
    for key in project.dimensions.values_list("key", flat=True):
        unrated |= {f"{key}_value": None, f"{key}_answer": None, f"{key}_raters": 0}
    scores = _RowsOfItems(chain.from_iterable(scores_of(project) for scores_of in JUDGE_SCORES.values()))
    for item in items.order_by("pk").iterator(TEXTS_AT_ONCE):
        found = [(asked[unit["dimension"]], unit) for unit in units.take(item.pk)]
        systems = sides.get(item.pk, ())
        yield {
            "document": item.document.key,
            "system": item.system.name,
            "kind": item.kind,
            "title": item.document.title,
            "source": [{name: part[name] for name in _LISTS["source"]} for part in item.document.parts],
            "text": item.text,
            # Where both have a name, the item's value is the more specific one.
            "metadata": ordered_metadata({**item.document.metadata, **item.metadata}),
            "values": [
                {
                    "dimension": each.key,
                    "rater": rater,
                    "value": value,
                    "answer": _write(each, value, (unit["answers"] or {}).get(rater), systems),
                }
                for each, unit in found
                for rater, value in unit["values"].items()
            ],
            # A unit without ratings keeps these values; rated ones replace theirs below.
            **unrated,
            **{f"{each.key}_value": unit["final_value"] for each, unit in found},
            **{f"{each.key}_answer": _write_final(each, unit, systems) for each, unit in found},
            **{f"{each.key}_raters": len(unit["values"]) for each, unit in found},
            "judge_scores": scores.take(item.pk),
        }


def _write(dimension: FrozenDimension, value: float, data: Any, systems: Sequence[str]) -> str:
    return kind_of(dimension).write(dimension, Given(value, data), systems)


def _write_final(dimension: FrozenDimension, unit: Row, systems: Sequence[str]) -> str | None:
    """Return the final answer in words; None without one, and if answers of several parts differ."""
    value, data = unit["final_value"], unit["final_data"]
    # The value of such an answer is only a number about its parts, and has no meaning without them.
    if value is None or (data is None and kind_of(dimension).has_pieces):
        return None
    return _write(dimension, value, data, systems)


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
BENCHMARK_TABLE = own_table(
    "benchmark",
    "one row for each item: texts, the final value per dimension, every rater's last values, judges' scores",
    _benchmark,
    lists=_LISTS,
    is_computed=True,
)
