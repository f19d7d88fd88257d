"""Ratings as arrays: reliability data by dimension, values with times, and people's value of each unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Q
from django.utils.translation import gettext_lazy

from agreement import ReliabilityData
from agreement.data import FloatArray
from agreement.groups import mean_values
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Item, Membership, Project, Rating, Round
from annotate.core.rounds import rounds_of

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
    # The rows of the last round contain the ones of earlier ones, so the database is read once.
    rows = _rows(max(rounds, key=lambda round: round.number))
    found: list[Mapping[str, RatedItems]] = []
    for round in rounds:
        tables = _tables(round, rows[rows["round"] <= round.number])
        before = found[-1] if found else {}
        found.append(
            {
                key: before[key] if key in before and rated.holds_the_same_as(before[key]) else rated
                for key, rated in tables.items()
            }
        )
    return found


def _tables(round: Round, rows: np.ndarray) -> Mapping[str, RatedItems]:
    scales = FrozenGuideline.from_json(round.guideline.content).scales
    # Answers to questions of other kinds have no reliability data.
    rows = rows[np.isin(rows["dimension"], [each.id for each in scales])]
    found = np.unique(rows["rater"])
    members = Membership.objects.filter(pk__in=found.tolist()).order_by("joined_at", "pk")
    raters = {member.pk: member.rater_name for member in members}
    return {each.key: _table(each, rows[rows["dimension"] == each.id], raters) for each in scales}


def _rows(round: Round) -> np.ndarray:
    ratings = Rating.objects.filter(
        assignment__round__project=round.project_id,
        assignment__round__number__lte=round.number,
        assignment__annotator__counted=True,
        value__isnull=False,
    ).order_by("assignment__round__number")  # a later value of a unit overwrites an earlier one in `_table`
    rows = ratings.values_list(
        *("assignment__round__number", "dimension", "assignment__item", "assignment__item__document"),
        *("assignment__annotator", "value"),
    )
    return np.fromiter(rows.iterator(20_000), dtype=_ROW)


def _table(dimension: FrozenDimension, rows: np.ndarray, raters: dict[int, str]) -> RatedItems:
    # Columns in order of documents; `first` finds a row with the item and document of each column.
    units, first, column = np.unique(rows[["document", "item"]], return_index=True, return_inverse=True)
    row_of = {rater: index for index, rater in enumerate(raters)}
    values = np.full((len(raters), len(units)), np.nan)
    # numpy assigns in order, so of several values of a unit the last one stays.
    values[[row_of[rater] for rater in rows["rater"].tolist()], column] = rows["value"]
    data = ReliabilityData(
        values,
        measurement_level=dimension.measurement_level,
        value_domain=list(dimension.values),
        documents=rows["document"][first],
        raters=list(raters.values()),
    )
    return RatedItems(rows["item"][first], np.array(list(raters), dtype=np.int64), data)


_NUMBERS = ("dimension", "item", "annotator", "document", "position")
_TIMED = np.dtype([*((name, "i8") for name in _NUMBERS), ("value", "f8"), ("at", "f8")])
NAMES_OF_THIRDS = {
    "first_third": gettext_lazy("first third"),
    "middle": gettext_lazy("middle"),
    "last_third": gettext_lazy("last third"),
}
UNTIMED = gettext_lazy("These ratings were imported, and imported ratings have no times.")


def read_timed_ratings(round: Round) -> np.ndarray:
    """Return a round's values given in Concord, as records with these names. One query.

    position: in the rater's own order of work, over all documents. at: seconds since 1970.
    """
    assignment_fields = ("item", "annotator", "item__document", "position")
    ratings = Rating.objects.filter(assignment__round=round, value__isnull=False)
    timed = ratings.exclude(assignment__plan=Assignment.Plan.IMPORTED).values_list(
        "dimension", *(f"assignment__{name}" for name in assignment_fields), "value", "created_at"
    )
    rows = ((*numbers, at.timestamp()) for *numbers, at in timed.iterator(20_000))
    return np.fromiter(rows, dtype=_TIMED)


def timed_of(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> np.ndarray:
    known = np.isin(timed["annotator"], rated.annotators) & np.isin(timed["item"], rated.items)
    rows: np.ndarray = timed[known & (timed["dimension"] == dimension.id)]
    return rows


def times_of(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> FloatArray:
    """Return (raters, units): the time of each value of a dimension, NaN if unknown."""

    def positions(among: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        # `among` need not be sorted: a position in its sorted order leads back to its own position.
        order = np.argsort(among)
        return order[np.searchsorted(among, wanted, sorter=order)]

    rows = timed_of(dimension, rated, timed)
    times = np.full(rated.data.values.shape, np.nan)
    times[positions(rated.annotators, rows["annotator"]), positions(rated.items, rows["item"])] = rows["at"]
    return times


Unit = tuple[str, str]
"""The key of a document and the name of a system."""
Values = Iterator[tuple[str, int, float]]
"""Dimension key, item and value."""
DECIMALS = 12  # the same values added in another order differ behind these


def texts_of(project: Project, *, bridges: bool = False) -> dict[int, tuple[Unit, tuple[str, str]]]:
    """Return the unit and the digests of each output by its key, gold items aside except bridging ones."""
    counted = Q(gold__isnull=True) | Q(gold__bridging__isnull=False) if bridges else Q(gold__isnull=True)
    items = Item.objects.filter(counted, document__project=project, kind=Item.Kind.OUTPUT).order_by("pk")
    rows = items.values_list("pk", "document__key", "system__name", "document__digest", "digest")
    return {item: ((document, system), (source, output)) for item, document, system, source, output in rows}


def values_of_people(
    project: Project, number: int, *, bridges: bool = False
) -> tuple[Sequence[FrozenDimension], Values]:
    """Return the dimensions of a round, or of Round I, with people's values: means, of names the mode.

    Nothing before Round I. bridges: with the values of bridging items.
    """
    rounds = rounds_of(project)
    round = rounds.get(number) or rounds.get(1)
    if round is None:
        return (), iter(())
    dimensions = guideline_of(round).scales

    def values() -> Values:
        rated = rated_items(round)
        for each in dimensions:
            own = rated[each.key]
            given = own.data.values
            # As of a judge's samples, except for ties: people have no first answer that could decide.
            means = _find_majority(given) if each.is_named else mean_values(given)
            for item, value in zip(own.items.tolist(), means.tolist(), strict=True):
                if not np.isnan(value):
                    yield each.key, item, value
        if bridges:
            yield from _bridging_values(project, dimensions)

    return dimensions, values()


def _bridging_values(project: Project, dimensions: Sequence[FrozenDimension]) -> Values:
    """Yield the means of bridging items, which raters meet among the hidden checks. One query."""
    given = Rating.objects.filter(
        assignment__round__project=project,
        assignment__plan=Assignment.Plan.GOLD,
        assignment__item__gold__bridging__isnull=False,
        assignment__annotator__counted=True,
    )
    found: dict[tuple[int, int], list[float]] = {}
    for dimension, item, value in given.order_by("pk").values_list("dimension", "assignment__item", "value"):
        if value is not None:
            found.setdefault((dimension, item), []).append(value)
    by_id = {each.id: each for each in dimensions}
    for (dimension, item), values in found.items():
        if each := by_id.get(dimension):
            column = np.array(values)[:, None]
            value = float((_find_majority(column) if each.is_named else mean_values(column))[0])
            if not np.isnan(value):
                yield each.key, item, value


def _find_majority(values: FloatArray) -> FloatArray:
    """Return (items,): the most frequent of the raters' categories (raters, items), NaN for a tie."""
    # NaN equals nothing, so a missing value counts 0 times.
    times = np.sum(values[:, None, :] == values[None, :, :], axis=1)
    most = times.max(axis=0, initial=0)
    found = np.take_along_axis(values, times.argmax(axis=0)[None], axis=0)[0] if len(values) else most
    # Another value that is equally frequent makes a tie.
    tied = np.any((times == most) & (values != found), axis=0)
    return np.where((most > 0) & ~tied, found, np.nan)
