"""What raters answered to a question that is not asked on a scale, and what its tables share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, Resampling, Stream, mean_score
from agreement.coefficient import Estimated
from agreement.data import FloatArray
from agreement.system_differences import SystemDifference
from annotate.core.guideline import FrozenDimension
from annotate.core.models import ComparisonSide, Item, Membership, Project, Rating, Round
from annotate.core.rounds import rounds_of
from annotate.questions import Given, QuestionKind, kind_of
from annotate.rating.queries.assignments import texts_of
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text


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

    def select_system(self, system: str) -> "QuestionAnswers":
        return self.select(lambda item: item.system == system)

    def select(self, is_meant: Callable[[ItemAnswers], bool]) -> "QuestionAnswers":
        kept = [index for index, item in enumerate(self.items) if is_meant(item)]
        return QuestionAnswers(
            self.round,
            self.dimension,
            self.raters,
            [self.items[index] for index in kept],
            [[row[index] for index in kept] for row in self.given],
        )

    def average_by_document(self, values: FloatArray) -> tuple[list[str], FloatArray]:
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
                # Rows are in the order of rounds, so a later answer replaces an earlier one.
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
    # Outputs and documents may be long, and only spans need them.
    if not with_texts:
        rows = rows.defer("text", "document__parts")
    found = []
    for each in rows:
        texts = texts_of(each, sides=()) if with_texts else ()
        found.append(ItemAnswers(each.pk, each.document.key, each.system.name, sides.get(each.pk, ()), texts))
    return found


def labels_by_key(dimension: FrozenDimension, name: str) -> Mapping[str, str]:
    return {each["key"]: each["name"] for each in dimension.options[name]}


Rounds = Sequence[QuestionAnswers]
"""A question's answers at the end of each round, Round I first."""
Coefficients = Sequence[tuple[str, Sequence[Coefficient]]]
"""By name, one coefficient for each round."""
SYSTEM = Column("system", lambda: gettext("System"), ColumnKind.TEXT)
MEASURE = Column("measure", lambda: gettext("Measure"), ColumnKind.TEXT)
_NOT_OPENED = gettext_lazy("Round II has not been opened.")
STRENGTHS_SAY = gettext_lazy(
    "Strengths are on the logarithmic scale, with mean 0: if two systems differ by 1, the stronger one comes "
    "first in 73 % of their comparisons. Ranks hold for all systems at once (95 %)."
)
STRENGTH_COLUMNS = (
    SYSTEM,
    Column("strength", lambda: gettext("strength"), decimals=2),
    Column("ranks", lambda: gettext("ranks"), ColumnKind.TEXT),
    Column("alike", lambda: gettext("not surely different from"), ColumnKind.TEXT),
)


def agreement_table(found: Coefficients) -> Table:
    columns = [
        MEASURE,
        Column("round_1", gettext("Round I, reliability")),
        Column("round_2", gettext("Round II, agreement after discussion")),
    ]
    rows = [
        [text(name), *map(figure, each), *([Cell(reason=str(_NOT_OPENED))] * (2 - len(each)))]
        for name, each in found
    ]
    return Table("agreement", gettext("Agreement in both rounds"), columns, rows)


def columns_of_rounds(rounds: Rounds, names: Sequence[tuple[str, str]]) -> list[Column]:
    return [
        Column(f"round_{each.round.number}_{key}", f"{each.round}: {name}")
        for each in rounds
        for key, name in names
    ]


def means_table(
    answers: QuestionAnswers,
    scores: Sequence[tuple[str, str, FloatArray]],
    low: float,
    high: float,
    *,
    key: str = "systems",
    title: str = "",
    says: str = "",
    largest_first: bool = True,
) -> Table:
    """Return means of systems over documents, of some numbers (raters, items), sorted by the first."""
    columns: list[Column] = [SYSTEM]
    cells: dict[str, list[Cell]] = {}
    for name, label, values in scores:
        columns.append(Column(name, label, decimals=2))
        systems, table = answers.average_by_document(values)
        for index, system in enumerate(systems):
            found = mean_score(table[:, index], (low, high))
            cells.setdefault(system, []).append(figure(found, count=found.counts.ratings))
    rows = [[text(system), *own] for system, own in cells.items()]
    sort_by_number(rows, largest_first=largest_first)
    return Table(key, title or gettext("Means of systems"), columns, rows, says=says, plot="intervals")


def sort_by_number(rows: list[list[Cell]], *, largest_first: bool = True) -> None:
    """Sort rows by the numbers in their second cells. Undefined ones are last in both orders."""
    sign = -1 if largest_first else 1
    rows.sort(key=lambda row: (row[1].value is None, sign * float(row[1].value or 0)))


def strength_cell(found: Estimated | None, documents: int, reason: str, how: object) -> Cell:
    if found is None:
        return Cell(reason=reason)
    return Cell(found.value, found.low, found.high, count=documents, how=str(how))


def ranks_cell(best: int | None, worst: int | None, reason: str) -> Cell:
    if best is None:
        return Cell(reason=reason)
    return text(f"{best}" if best == worst else f"{best}–{worst}")


def alike_cell(system: str, differences: Iterable[SystemDifference], reason: str) -> Cell:
    """Return the systems whose simultaneous interval of the difference has 0 in it."""
    if reason:
        return Cell(reason=reason)
    alike = []
    for each in differences:
        low, high = each.simultaneous_low, each.simultaneous_high
        # A difference without an interval is not shown to differ from 0.
        if system in (each.first, each.second) and (low is None or high is None or low <= 0 <= high):
            alike.append(each.second if each.first == system else each.first)
    return text(", ".join(sorted(alike)) or gettext("none"))


def end_of(rounds: Rounds) -> str:
    return gettext("Answers at the end of {round}.").format(round=rounds[-1].round)
