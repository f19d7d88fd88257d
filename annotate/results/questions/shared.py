"""Shared by the tables of several kinds of questions."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, mean_score
from agreement.coefficient import Estimated
from agreement.data import FloatArray
from agreement.system_differences import SystemDifference
from annotate.results.questions.answers import QuestionAnswers
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text

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
        systems, table = answers.by_document(values)
        for index, system in enumerate(systems):
            found = mean_score(table[:, index], (low, high))
            cells.setdefault(system, []).append(figure(found, count=found.counts.ratings))
    rows = [[text(system), *own] for system, own in cells.items()]
    rows.sort(key=lambda row: -number_in(row[1]) if largest_first else number_in(row[1]))
    return Table(key, title or gettext("Means of systems"), columns, rows, says=says, plot="intervals")


def number_in(cell: Cell) -> float:
    """Return the number in a cell, 0 without one, to sort by."""
    return float(cell.value) if isinstance(cell.value, int | float) else 0.0


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
        if system in (each.first, each.second) and (low is None or high is None or low <= 0 <= high):
            alike.append(each.second if each.first == system else each.first)
    return text(", ".join(sorted(alike)) or gettext("none"))


def end_of(rounds: Rounds) -> str:
    return gettext("Answers at the end of {round}.").format(round=rounds[-1].round)
