"""Rated items with their system and document, for results; and what intervals resample."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
from django.db.models import Count
from django.utils.translation import gettext

from agreement import ReliabilityData, Resampling
from agreement.data import IntArray
from agreement.streams import Stream
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Item, Project, Round
from annotate.core.rounds import rounds_of
from annotate.results.queries.reliability_data import RatedItems, rated_items_of_rounds
from annotate.results.table import Column

Drawn = Literal["units", "documents"]
"""What intervals resample."""
Made = TypeVar("Made")
ROMAN = {1: "I", 2: "II"}


@dataclass(frozen=True)
class RatedRound:
    """The raters' values at the end of a round, by dimension key, and the resampling of intervals."""

    round: Round
    dimensions: Sequence[FrozenDimension]
    rated: Mapping[str, RatedItems]
    drawn: Drawn

    @property
    def label(self) -> str:
        """The name of agreement in this round: only Round I is independent."""
        label = (
            gettext("Round {number}, reliability")
            if self.round.is_independent
            else gettext("Round {number}, agreement after discussion")
        )
        return label.format(number=ROMAN[self.round.number])

    @property
    def name(self) -> str:
        return gettext("Round {number}").format(number=ROMAN[self.round.number])

    @property
    def prefix(self) -> str:
        return f"round-{self.round.number}"

    @property
    def resampling(self) -> Resampling:
        return Resampling(by=self.drawn)

    def stream(self, dimension: FrozenDimension, *part: str) -> Stream:
        """Return the random stream for statistics about people on a dimension, or on a part of it.

        The name excludes the round: values that Round II left unchanged have one interval.
        """
        return Stream(self.round.project.seed).of("people", dimension.key, *part)

    @property
    def raters(self) -> Sequence[str]:
        return self.data(self.dimensions[0]).raters if self.dimensions else ()

    def data(self, dimension: FrozenDimension) -> ReliabilityData:
        return self.rated[dimension.key].data

    def once(self, dimension: FrozenDimension, figures: Hashable, make: Callable[[], Made]) -> Made:
        """Return statistics on a dimension, computed once for rounds with the same values."""
        return self.data(dimension).once(("figures", figures, self.resampling), make)

    def columns(self) -> list[Column]:
        return [Column(each.key, each.name) for each in self.dimensions]


@dataclass(frozen=True)
class ItemOrigins:
    """The system and the document of every item of a project, by the item's key.

    gold: the items excluded from all statistics.
    """

    systems: Mapping[int, str]
    documents: Mapping[int, str]
    gold: frozenset[int] = frozenset()

    @property
    def counted(self) -> list[int]:
        """The items in the statistics: all but gold items."""
        return [item for item in self.systems if item not in self.gold]

    def systems_of(self, rated: RatedItems) -> npt.NDArray[np.str_]:
        """Return (units,): the system of each column."""
        return np.array([self.systems[item] for item in rated.items.tolist()], dtype=np.str_)

    def documents_of(self, rated: RatedItems) -> npt.NDArray[np.str_]:
        """Return (units,): the document of each column."""
        return np.array([self.documents[item] for item in rated.items.tolist()], dtype=np.str_)

    def shared_texts(self, names: Sequence[str]) -> IntArray:
        """Return (systems, systems): numbers of documents with outputs of both, without gold items."""
        listed = self.counted
        documents = np.unique([self.documents[item] for item in listed], return_inverse=True)[1]
        # 1 for each document with an output of a system; the product counts common documents.
        there = np.zeros((int(documents.max(initial=-1)) + 1, len(names)), dtype=int)
        there[documents, np.searchsorted(names, [self.systems[item] for item in listed])] = 1
        return np.asarray(there.T @ there, dtype=np.intp)


def rated_rounds(project: Project, drawn: Drawn) -> list[RatedRound]:
    """Return the project's rounds with their values, Round I first. Up to four queries."""
    rounds = [round for _, round in sorted(rounds_of(project).items())]
    return [
        RatedRound(round, FrozenGuideline.from_json(round.guideline.content).scales, rated, drawn)
        for round, rated in zip(rounds, rated_items_of_rounds(rounds), strict=True)
    ]


def items_of(project: Project) -> ItemOrigins:
    """Return the system and document of a project's outputs. One query."""
    items = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    listed = list(items.values_list("pk", "system__name", "document__key", "gold"))
    return ItemOrigins(
        systems={item: system for item, system, _, _ in listed},
        documents={item: document for item, _, document, _ in listed},
        gold=frozenset(item for item, *_, gold in listed if gold is not None),
    )


def default_drawn(project: Project) -> Drawn:
    """Return the default resampling of intervals: documents if one has several items. One query.

    Ratings of one document share its difficulty, so intervals that resample units alone are too narrow.
    """
    outputs = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    counts = outputs.order_by().values("document").annotate(items=Count("pk"))
    return "documents" if counts.filter(items__gt=1).exists() else "units"
