"""Scores of people and a judge over the same items, and messages for missing results."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, mean_values
from agreement.data import FloatArray, IntArray, ReliabilityData
from agreement.measures import pair_data

_DECIMALS = 12  # the same values added in another order differ behind these


@dataclass(frozen=True, eq=False, init=False)
class Scores:
    """Scores of people and of a judge for items, on one dimension; a gap is NaN.

    systems, documents: (items,), the system and the document of each item; any labels, names or ids, stored
    as indices into `system_names` and `document_labels`. An item is one system's output for one document.
    human: (raters, items); (0, items) without raters. judge: (items,), the mean of its samples. as_read:
    (items,), the same on the judge's own scale, for correlations; `judge` by default. Raises ValueError with
    one message if these do not fit together.
    """

    systems: IntArray
    documents: IntArray
    human: FloatArray
    judge: FloatArray
    as_read: FloatArray
    system_names: tuple[str, ...] = field(init=False)
    """In the order in which they first occur."""
    document_labels: tuple[Any, ...] = field(init=False)
    """Likewise."""
    _pairs: dict[tuple[bytes, bytes], tuple[ReliabilityData, ...]] = field(init=False, repr=False)

    def __init__(
        self,
        *,
        systems: npt.ArrayLike,
        documents: npt.ArrayLike,
        human: npt.ArrayLike,
        judge: npt.ArrayLike,
        as_read: npt.ArrayLike | None = None,
    ) -> None:
        values = numbers(judge, "The judge's values", dimensions=1)
        own = values if as_read is None else numbers(as_read, "The judge's values as read", dimensions=1)
        if not np.array_equal(np.isnan(values), np.isnan(own)):
            raise ValueError("The judge has a value on one of its scales and none on the other.")
        table = numbers(human, "Human scores", dimensions=2)
        if table.shape[1] != len(values):
            raise ValueError(
                f"There are {len(values)} values of the judge, but human scores of {table.shape[1]} items."
            )
        system_labels, of_system = index_labels(systems, "systems", len(values))
        document_labels, of_document = index_labels(documents, "documents", len(values))
        names = tuple(str(label) for label in system_labels)
        _each_once(of_system, of_document, names, document_labels)
        fields = {
            "systems": of_system,
            "documents": of_document,
            "human": table,
            "judge": values,
            "as_read": own,
            "system_names": names,
            "document_labels": document_labels,
            "_pairs": {},
        }
        set_once(self, fields)

    @cached_property
    def human_means(self) -> FloatArray:
        """(items,): the mean of the available human scores, NaN without any."""
        means = np.round(mean_values(self.human), _DECIMALS)
        means.setflags(write=False)
        return means

    @cached_property
    def items_of_systems(self) -> tuple[IntArray, ...]:
        """For each system the indices of its items."""
        return tuple(np.flatnonzero(self.systems == index) for index in range(len(self.system_names)))

    def pairs_of_systems(self, first: FloatArray, second: FloatArray) -> tuple[ReliabilityData, ...]:
        """Return two arrays of values (items,) as pairs, split by the items of each system.

        Made once for the same values: all measures of them share counts and resamples.
        """
        key = (first.tobytes(), second.tobytes())
        if key not in self._pairs:
            self._pairs[key] = tuple(
                pair_data(first[own], second[own], self.documents[own]) for own in self.items_of_systems
            )
        return self._pairs[key]

    def of_judge(self, judge: npt.ArrayLike) -> "Scores":
        """The same items and people with another judge's values (items,)."""
        return self._with(judge=judge, as_read=judge)

    def beside(self, human: npt.ArrayLike, judge: npt.ArrayLike) -> "Scores":
        """The same items with other people's values (raters, items) and another judge's (items,)."""
        return self._with(human=human, judge=judge, as_read=judge)

    def without_judge(self, chosen: npt.ArrayLike) -> "Scores":
        """The same scores without the judge's values of these items (items,), a mask."""
        gone = np.asarray(chosen, dtype=bool)
        if not gone.any():
            return self
        own = np.where(gone, np.nan, self.as_read)
        return self._with(judge=np.where(gone, np.nan, self.judge), as_read=own)

    def of_category(self, category: float) -> "Scores":
        """1 if a rater or the judge gave this value, 0 if another, so that means are shares."""
        own, human = (np.where(np.isnan(each), np.nan, each == category) for each in (self.judge, self.human))
        return self._with(human=human, judge=own, as_read=own)

    def without_people(self, chosen: npt.ArrayLike) -> "Scores":
        """The same without what people gave these items (items,), a mask."""
        return self._with(human=np.where(np.asarray(chosen, dtype=bool), np.nan, self.human))

    def of_items(self, chosen: npt.ArrayLike) -> "Scores":
        """These items only: indices or a mask."""
        kept = np.asarray(chosen)
        if kept.dtype == bool and kept.all():
            return self
        if not kept.size:
            kept = np.empty(0, dtype=np.intp)  # an empty list has no type to index by
        return self._with(
            systems=np.array(self.system_names)[self.systems[kept]],
            documents=np.array(self.document_labels)[self.documents[kept]],
            human=self.human[:, kept],
            judge=self.judge[kept],
            as_read=self.as_read[kept],
        )

    def by_document(self, values: FloatArray) -> FloatArray:
        """(documents, systems): values (items,) in a table, NaN if a system has no output for a document."""
        table = np.full((len(self.document_labels), len(self.system_names)), np.nan)
        table[self.documents, self.systems] = values
        return table

    def _with(self, **changes: npt.ArrayLike) -> "Scores":
        kept: dict[str, npt.ArrayLike] = {
            "systems": np.array(self.system_names)[self.systems],
            "documents": np.array(self.document_labels)[self.documents],
            "human": self.human,
            "judge": self.judge,
            "as_read": self.as_read,
        }
        return replace(self, **(kept | changes))  # type: ignore[arg-type]


def set_once(instance: object, fields: Mapping[str, object]) -> None:
    """Fill a frozen dataclass; its arrays become read-only."""
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(instance, name, value)


def numbers(values: npt.ArrayLike, what: str, *, dimensions: int) -> FloatArray:
    """The values as a new array of finite numbers and NaN.

    ValueError for other values, or another number of `dimensions`: 1 is (items,), 2 is (raters, items).
    """
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, with NaN for a gap.") from error
    if array.ndim != dimensions:
        shape = "a list, one a unit" if dimensions == 1 else "a table, raters by items"
        raise ValueError(f"{what} must be {shape}, but have {array.ndim} dimension(s).")
    if np.isinf(array).any():
        raise ValueError(f"{what} must be finite; use NaN for a gap.")
    return array


def index_labels(labels: npt.ArrayLike, what: str, items: int) -> tuple[tuple[Any, ...], IntArray]:
    """The distinct labels in order of first occurrence, and (items,) indices into them.

    Raises ValueError if the number of labels is not the number of items.
    """
    array = np.asarray(labels)
    if array.shape != (items,):
        raise ValueError(f"There are {items} values, but {what} have the shape {array.shape}.")
    distinct, first, of_item = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    positions = np.empty(len(order), dtype=np.intp)
    positions[order] = np.arange(len(order))
    return tuple(distinct[order].tolist()), positions[of_item]


def _each_once(
    systems: IntArray, documents: IntArray, names: tuple[str, ...], labels: tuple[Any, ...]
) -> None:
    keys = documents * max(len(names), 1) + systems
    distinct, counts = np.unique(keys, return_counts=True)
    if (counts > 1).any():
        document, system = divmod(int(distinct[counts > 1][0]), len(names))
        raise ValueError(f"The system {names[system]} has two items for the document {labels[document]}.")


_ROUNDED = 10  # differences beyond these decimals are rounding


@dataclass(frozen=True)
class ComparedSide:
    """One side of a comparison: the name of a single value, and the message if it has no value at all."""

    value: str
    missing: str


PEOPLE = ComparedSide("mean human score", "No person has rated these items yet.")
JUDGE = ComparedSide("value of the judge", "The judge has no value for these items yet.")
METRIC = ComparedSide("value of the metric", "The metric has no value for these items yet.")
RATER = ComparedSide("value of the rater", "The rater has no value for these items yet.")
OTHER_JUDGE = ComparedSide("value of the other judge", "The other judge has no value for these items yet.")


def explain_undefined(
    coefficient: Coefficient,
    first: FloatArray,
    second: FloatArray,
    sides: tuple[ComparedSide, ComparedSide],
    noun: str,
) -> Coefficient:
    """The coefficient of two arrays (n,), undefined in these words; `noun` is what one of the n is."""
    if coefficient.defined:
        return coefficient
    reason = _why_undefined(first, second, sides, noun)
    return coefficient if reason is None else replace(coefficient, reason=reason)


def _why_undefined(
    first: FloatArray, second: FloatArray, sides: tuple[ComparedSide, ComparedSide], noun: str
) -> str | None:
    for side, values in zip(sides, (first, second), strict=True):
        if np.isnan(values).all():
            return side.missing
    both = ~np.isnan(first) & ~np.isnan(second)
    names = f"a {sides[0].value} and a {sides[1].value}"
    if not both.any():
        return f"No {noun} has both {names}."
    if both.sum() == 1:
        return f"Only one {noun} has both {names}; a correlation needs two or more."
    for side, values in zip(sides, (first[both], second[both]), strict=True):
        if np.ptp(np.round(values, _ROUNDED)) == 0:
            return f"Every {side.value} is {values[0]:g}; a correlation needs values that differ."
    return None
