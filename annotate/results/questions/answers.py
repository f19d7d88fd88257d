"""What raters answered to a question that is not asked on a scale, as its statistics need it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agreement import Resampling, Stream
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import ComparisonSide, Item, Membership, Project, Rating, Round
from annotate.core.rounds import rounds_of
from annotate.questions import Given, QuestionKind, kind_of


@dataclass(frozen=True)
class ItemAnswers:
    """An item with answers. sides: the systems of a comparison; `texts`: the strings that raters mark."""

    id: int
    document: str
    system: str
    sides: Sequence[str] = ()
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class QuestionAnswers:
    """The answers to one question that raters hold at the end of a round.

    given: (raters, items), None for a gap.
    """

    round: Round
    dimension: FrozenDimension
    raters: Sequence[str]
    items: Sequence[ItemAnswers]
    given: Sequence[Sequence[Given | None]]

    @property
    def kind(self) -> QuestionKind:
        return kind_of(self.dimension)

    @property
    def stream(self) -> Stream:
        """The random stream of its intervals. Both rounds share it: equal answers get equal intervals."""
        return Stream(self.round.project.seed).of("people", self.dimension.key, "answers")

    @property
    def resampling(self) -> Resampling:
        return Resampling(by="documents")

    @property
    def documents(self) -> list[str]:
        """(items,): the document of each item."""
        return [each.document for each in self.items]

    @property
    def systems(self) -> list[str]:
        """(items,): the system of each item."""
        return [each.system for each in self.items]

    @cached_property
    def values(self) -> FloatArray:
        """(raters, items): the numbers of the answers, NaN for a gap."""
        rows = [[np.nan if each is None else each.value for each in row] for row in self.given]
        return np.array(rows, dtype=float).reshape(len(self.raters), len(self.items))

    def pieces(self, name: str) -> list[list[Any]]:
        """Return (raters, items): a piece of each answer's data, None for a gap."""
        return [[None if each is None else (each.data or {}).get(name) for each in row] for row in self.given]

    def of_system(self, system: str) -> "QuestionAnswers":
        return self.where(lambda item: item.system == system)

    def where(self, is_meant: Callable[[ItemAnswers], bool]) -> "QuestionAnswers":
        kept = [index for index, item in enumerate(self.items) if is_meant(item)]
        return QuestionAnswers(
            self.round,
            self.dimension,
            self.raters,
            [self.items[index] for index in kept],
            [[row[index] for index in kept] for row in self.given],
        )

    def by_document(self, values: FloatArray) -> tuple[list[str], FloatArray]:
        """Return systems, and (documents, systems): means over raters of (raters, items); NaN for a gap."""
        systems, documents = sorted(set(self.systems)), sorted(set(self.documents))
        row_of, column_of = (
            {name: rank for rank, name in enumerate(names)} for names in (documents, systems)
        )
        table = np.full((len(documents), len(systems)), np.nan)
        for index, item in enumerate(self.items):
            known = values[:, index][~np.isnan(values[:, index])]
            if len(known):
                table[row_of[item.document], column_of[item.system]] = known.mean()
        return systems, table


def answers_of_rounds(
    project: Project, dimension: FrozenDimension, *, with_texts: bool = False
) -> list[QuestionAnswers]:
    """Return the answers to a question at the end of each round, Round I first. Up to five queries."""
    rounds = [round for _, round in sorted(rounds_of(project).items())]
    ratings = Rating.objects.filter(
        assignment__round__in=rounds,
        assignment__annotator__counted=True,
        dimension=dimension.id,
        value__isnull=False,
    ).order_by("assignment__round__number")
    rows = list(
        ratings.values_list(
            "assignment__round__number", "assignment__item", "assignment__annotator", "value", "data"
        )
    )
    items = _items({item for _, item, *_ in rows}, with_texts=with_texts)
    members = Membership.objects.filter(pk__in={rater for _, _, rater, *_ in rows})
    raters = {each.pk: each.rater_name for each in members.order_by("joined_at", "pk")}
    found = []
    for round in rounds:
        held: dict[tuple[int, int], Given] = {}
        for number, item, rater, value, data in rows:
            if number <= round.number and value is not None and rater is not None:
                held[rater, item] = Given(value, data)
        given = [[held.get((rater, item.id)) for item in items] for rater in raters]
        found.append(QuestionAnswers(round, dimension, list(raters.values()), items, given))
    return found


def _items(keys: set[int], *, with_texts: bool) -> list[ItemAnswers]:
    """Return items in the order of documents. Two queries."""
    sides: dict[int, list[str]] = {}
    compared = ComparisonSide.objects.filter(item__in=keys).order_by("item", "position")
    for item, system in compared.values_list("item", "output__system__name"):
        sides.setdefault(item, []).append(system)
    rows = Item.objects.filter(pk__in=keys).select_related("document", "system").order_by("document", "pk")
    if not with_texts:
        rows = rows.defer("text", "document__parts")
    return [
        ItemAnswers(
            each.pk,
            each.document.key,
            each.system.name,
            sides.get(each.pk, ()),
            _texts(each) if with_texts else (),
        )
        for each in rows
    ]


def _texts(item: Item) -> list[str]:
    texts = [item.text, *(part["text"] for part in item.document.parts)]
    return [each.replace("\r\n", "\n") for each in texts]


def labels_by_key(dimension: FrozenDimension, name: str) -> Mapping[str, str]:
    return {each["key"]: each["name"] for each in dimension.options[name]}
