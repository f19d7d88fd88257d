"""Scores of people and a judge over the same items, by system, and messages for missing results."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import (
    Coefficient,
    Resampling,
    mean,
    mean_score,
    mean_values,
    means_by_group,
    spread_within_units,
    standard_deviation,
)
from agreement.data import FloatArray, IntArray, ReliabilityData, set_once
from agreement.measures import pair_data
from agreement.streams import Randomness, substream

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
        # One number for each pair of a document and a system, so that a repeated pair is a repeated number.
        keys = of_document * max(len(names), 1) + of_system
        distinct, counts = np.unique(keys, return_counts=True)
        if (counts > 1).any():
            document, system = divmod(int(distinct[counts > 1][0]), len(names))
            twice = f"The system {names[system]} has two items for the document {document_labels[document]}."
            raise ValueError(twice)
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
        # All callers share this array.
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
        # Arrays are not hashable; their bytes are.
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
        # The same object keeps its means and pairs, which are computed once.
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
        # Labels instead of indices, since fewer items may have fewer systems and documents.
        kept: dict[str, npt.ArrayLike] = {
            "systems": np.array(self.system_names)[self.systems],
            "documents": np.array(self.document_labels)[self.documents],
            "human": self.human,
            "judge": self.judge,
            "as_read": self.as_read,
        }
        return replace(self, **(kept | changes))  # type: ignore[arg-type]


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
    # np.unique sorts labels; `positions` turns its indices into the order of first occurrence.
    order = np.argsort(first)
    positions = np.empty(len(order), dtype=np.intp)
    positions[order] = np.arange(len(order))
    return tuple(distinct[order].tolist()), positions[of_item]


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
    both = ~np.isnan(first) & ~np.isnan(second)
    names = f"a {sides[0].value} and a {sides[1].value}"
    for side, values in zip(sides, (first, second), strict=True):
        if np.isnan(values).all():
            return replace(coefficient, reason=side.missing)
    if both.sum() < 2:
        few = f"Only one {noun} has both {names}; a correlation needs two or more."
        return replace(coefficient, reason=few if both.any() else f"No {noun} has both {names}.")
    for side, values in zip(sides, (first[both], second[both]), strict=True):
        # Means that differ by rounding are equal, and equal values have no correlation.
        if np.ptp(np.round(values, _ROUNDED)) == 0:
            same = f"Every {side.value} is {values[0]:g}; a correlation needs values that differ."
            return replace(coefficient, reason=same)
    return coefficient


@dataclass(frozen=True)
class HumanScores:
    """The part of `SystemScores` that is about people alone."""

    mean: Coefficient
    deviation: Coefficient
    spread: Coefficient


@dataclass(frozen=True)
class SystemScores:
    """Means and standard deviations of one system's scores.

    human_mean, human_deviation: of its items' mean human scores. judge_mean, judge_deviation: of the judge's
    values. human_spread: the mean over items of the standard deviation among people (Shen and others 2023,
    table 20). All deviations have the divisor n, and each number uses every item that it can.
    """

    system: str
    items: int
    human_mean: Coefficient
    human_deviation: Coefficient
    human_spread: Coefficient
    judge_mean: Coefficient
    judge_deviation: Coefficient


def human_scores_by_system(
    scores: Scores,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
    scale: tuple[float, float] | None = None,
) -> tuple[HumanScores, ...]:
    """The human scores of each system, in the order of `scores.system_names`, independent of the judge.

    scale: its ends, with which means have the interval of `mean_score`. Undefined without a value; a
    deviation is undefined without two.
    """
    # Items of one system belong to different documents, so units and documents are the same here.
    plan = replace(resampling or Resampling(), by="units")
    results = []
    for system, own in zip(scores.system_names, scores.items_of_systems, strict=True):
        drawn_with = substream(generator, system)
        human = scores.human_means[own]
        found = (
            mean_score(human, scale) if scale else mean(human, generator=drawn_with, resampling=plan),
            standard_deviation(human, generator=drawn_with, resampling=plan),
            spread_within_units(scores.human[:, own], generator=drawn_with, resampling=plan),
        )
        results.append(HumanScores(*(_name_side(each, PEOPLE) for each in found)))
    return tuple(results)


def scores_by_system(
    scores: Scores,
    *,
    generator: Randomness | None = None,
    people: Sequence[HumanScores] | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemScores, ...]:
    """Means and standard deviations, one entry a system, in the order of `scores.system_names`.

    people: `human_scores_by_system`, if already computed. Intervals resample the system's items. Undefined
    without a value of people (of the judge); a deviation is undefined without two.
    """
    plan = replace(resampling or Resampling(), by="units")
    of_people = people or human_scores_by_system(scores, generator=generator, resampling=resampling)
    results = []
    for system, own, human in zip(scores.system_names, scores.items_of_systems, of_people, strict=True):
        alone, judge = substream(generator, system, "judge"), scores.judge[own]
        results.append(
            SystemScores(
                system=system,
                items=len(own),
                human_mean=human.mean,
                human_deviation=human.deviation,
                human_spread=human.spread,
                judge_mean=_name_side(mean(judge, generator=alone, resampling=plan), JUDGE),
                judge_deviation=_name_side(
                    standard_deviation(judge, generator=alone, resampling=plan), JUDGE
                ),
            )
        )
    return tuple(results)


def human_ranking(*dimensions: Scores) -> tuple[str, ...]:
    """The systems by mean human score, best first; ties keep the order of `system_names`.

    With several dimensions the systems are ranked by the mean over them, as in the published challenge pairs.
    Systems without a human score on each of them are excluded. Raises ValueError without a dimension, or if
    dimensions have different systems.
    """
    if not dimensions:
        raise ValueError("A ranking needs the scores of at least one dimension.")
    names = dimensions[0].system_names
    if any(set(scores.system_names) != set(names) for scores in dimensions):
        raise ValueError("The dimensions are not about the same systems.")
    means = [
        dict(zip(each.system_names, means_by_group(each.human_means, each.systems, len(names)), strict=True))
        for each in dimensions
    ]
    quality = np.mean([[own[name] for name in names] for own in means], axis=0)
    # Means that differ by rounding are ties, which a stable sort leaves in order; NaN comes last.
    order = np.argsort(-np.round(quality, 10), kind="stable")
    return tuple(names[index] for index in order if not np.isnan(quality[index]))


def _name_side(coefficient: Coefficient, side: ComparedSide) -> Coefficient:
    """The coefficient; if there is no value at all, its reason names people or judges."""
    if coefficient.defined or coefficient.counts.ratings:
        return coefficient
    if side is PEOPLE and coefficient.name == "spread_within_units":
        return coefficient
    return replace(coefficient, reason=side.missing)
