"""Ratings of a project as reliability data, one table per dimension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement import ReliabilityData
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Membership, Rating, Round

_COLUMNS = ("round", "dimension", "item", "document", "rater")
_ROW = np.dtype([*((name, "i8") for name in _COLUMNS), ("value", "f8")])


@dataclass(frozen=True)
class RatedItems:
    """A dimension's reliability data, the item (its key) of each column, and the annotator of each row."""

    items: npt.NDArray[np.int64]
    annotators: npt.NDArray[np.int64]
    data: ReliabilityData

    def holds_the_same_as(self, other: "RatedItems") -> bool:
        """Return True if the same raters gave the same values to the same items, on the same scale."""
        mine, theirs = self.data, other.data
        return (
            mine.measurement_level == theirs.measurement_level
            and np.array_equal(self.items, other.items)
            and np.array_equal(self.annotators, other.annotators)
            and np.array_equal(mine.value_domain, theirs.value_domain)
            and np.array_equal(mine.values, theirs.values, equal_nan=True)
        )


def reliability_data(round: Round) -> Mapping[str, ReliabilityData]:
    """Return the result of `rated_items`, without the items."""
    return {key: rated.data for key, rated in rated_items(round).items()}


def rated_items(round: Round) -> Mapping[str, RatedItems]:
    """Return, by key of each scale, the values that raters hold at the end of a round. Two queries.

    For Round I these are its own values. For Round II each rater's last value counts, from the discussion or
    else from Round I. Columns are the items that anyone rated, in order of documents; rows
    are the raters under their pseudonyms, without raters whom an admin excluded. The `round` needs its
    guideline.
    """
    return _tables(round, _rows(round))


def rated_items_of_rounds(rounds: Sequence[Round]) -> list[Mapping[str, RatedItems]]:
    """Return the result of `rated_items` for each round of a project. One query, and one for each round.

    Unchanged data of a dimension are the same object in both rounds, with all their computed results.
    """
    if not rounds:
        return []
    rows = _rows(max(rounds, key=lambda round: round.number))
    found: list[Mapping[str, RatedItems]] = []
    for round in rounds:
        tables = _tables(round, rows[rows["round"] <= round.number])
        before = found[-1] if found else {}
        found.append({key: _same_or_new(before.get(key), rated) for key, rated in tables.items()})
    return found


def _same_or_new(before: RatedItems | None, rated: RatedItems) -> RatedItems:
    return before if before is not None and rated.holds_the_same_as(before) else rated


def _tables(round: Round, rows: np.ndarray) -> Mapping[str, RatedItems]:
    scales = FrozenGuideline.from_json(round.guideline.content).scales
    rows = rows[np.isin(rows["dimension"], [each.id for each in scales])]
    found = np.unique(rows["rater"])
    members = Membership.objects.filter(pk__in=found.tolist()).order_by("joined_at", "pk")
    raters = {member.pk: member.rater_name for member in members}
    return {
        dimension.key: _table(dimension, rows[rows["dimension"] == dimension.id], raters)
        for dimension in scales
    }


def _rows(round: Round) -> np.ndarray:
    ratings = (
        Rating.objects.filter(
            assignment__round__project=round.project_id,
            assignment__round__number__lte=round.number,
            assignment__annotator__counted=True,
            value__isnull=False,
        )
        .order_by("assignment__round__number")
        .values_list(
            "assignment__round__number",
            "dimension",
            "assignment__item",
            "assignment__item__document",
            "assignment__annotator",
            "value",
        )
    )
    return np.fromiter(ratings.iterator(20_000), dtype=_ROW)


def _table(dimension: FrozenDimension, rows: np.ndarray, raters: dict[int, str]) -> RatedItems:
    units, first, column = np.unique(rows[["document", "item"]], return_index=True, return_inverse=True)
    row_of = {rater: index for index, rater in enumerate(raters)}
    values = np.full((len(raters), len(units)), np.nan)
    values[[row_of[rater] for rater in rows["rater"].tolist()], column] = rows["value"]
    data = ReliabilityData(
        values,
        measurement_level=dimension.measurement_level,
        value_domain=list(dimension.values),
        documents=rows["document"][first],
        raters=list(raters.values()),
    )
    return RatedItems(rows["item"][first], np.array(list(raters), dtype=np.int64), data)
