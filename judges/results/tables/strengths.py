"""The table of systems by strength, from the verdicts of one judge that compares two outputs."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement.coefficient import Estimated
from agreement.comparison import Strengths, human_ranking
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.results.tables.columns import SYSTEM, number_or_reason
from judges.results.tables.compared import Versus

HOW_STRONG = gettext_lazy(
    "Bradley and Terry’s model with ties and an order effect (function system_strengths); source: Davidson "
    "and Beaver 1977; 95 % interval: t, variances summed within documents (Liang and Zeger 1986)."
)
_SAYS = gettext_lazy(
    "A system’s strength is on the logarithmic scale, with mean 0. If two systems differ by 1, the "
    "stronger one wins 73 % of the comparisons without a tie. Adjusted for position bias. Ranks hold for "
    "all systems of a dimension at once (95 %)."
)


def strengths_table(key: str, name: str, versus: Sequence[Versus]) -> Table:
    """Return systems by strength on each dimension, the strongest first."""
    columns = [
        DIMENSION,
        SYSTEM,
        Column("strength", gettext("strength"), decimals=2),
        Column("ranks", gettext("ranks"), ColumnKind.TEXT),
        Column("people", gettext("rank by people"), ColumnKind.COUNT),
        Column("verdicts", gettext("verdicts"), ColumnKind.COUNT),
        Column("won", gettext("won"), ColumnKind.COUNT),
        Column("tied", gettext("tied"), ColumnKind.COUNT),
    ]
    rows = [row for each in versus for row in _systems(each)]
    title = gettext("Systems by strength ({name})").format(name=name)
    return Table(f"{key}-strengths", title, columns, rows, heads=2, says=str(_SAYS))


def strength_cell(found: Estimated | None, strengths: Strengths) -> Cell:
    if found is None:
        return Cell(reason=strengths.reason)
    return Cell(found.value, found.low, found.high, count=strengths.documents, how=str(HOW_STRONG))


def _systems(each: Versus) -> Iterator[list[Cell]]:
    ranking = () if each.dimension.is_named else human_ranking(each.scores)
    ranked = {name: position for position, name in enumerate(ranking, start=1)}
    for one in each.strengths.systems:
        ranks = f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}"
        yield [
            text(each.dimension.name, key=each.dimension.key),
            text(one.system),
            strength_cell(one.strength, each.strengths),
            text(ranks if one.strength else ""),
            number_or_reason(ranked.get(one.system), gettext("People have given this system no scores.")),
            Cell(one.verdicts),
            Cell(one.won),
            Cell(one.tied),
        ]
