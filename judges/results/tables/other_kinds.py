"""The table of judges and people on questions of other kinds, and why other statistics leave these out."""

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.material import has_other_kinds
from judges.results.queries.answers import AnswersBesidePeople
from judges.results.tables.columns import JUDGE

_SAYS = gettext_lazy(
    "Agreement is 1 minus the mean distance of a judge’s answer from each person’s, by the distance of the "
    "question’s kind. An item counts once. Chance is not corrected for: compare the value with people among "
    "one another on the same items. Intervals resample documents. There is no control, such as a judge that "
    "always answers the same: the controls of the replacement test need a scale."
)
_NO_DISTANCE = gettext_lazy("Answers in words have no distance.")
_ONE_ORDER = gettext_lazy("Judges answer only preferences in both orders.")
_NO_QUOTES = gettext_lazy("Only spans are quoted.")
_ORDERS = gettext_lazy(
    "Share of comparisons with the same winner, or a tie, in both orders. Where the orders differ, the "
    "judge’s answer is a tie."
)


def table_of_answers(found: Sequence[AnswersBesidePeople]) -> list[Table]:
    if not found:
        return []
    columns = [
        JUDGE,
        DIMENSION,
        Column("items", gettext("items with an answer"), ColumnKind.COUNT),
        Column("with_people", gettext("agreement with people")),
        Column("among_people", gettext("people among one another")),
        Column("both_orders", gettext("same in both orders"), ColumnKind.SHARE),
        Column("unmatched", gettext("quotes not found"), ColumnKind.COUNT),
    ]
    title = gettext("Other questions")
    rows = [_row(each) for each in found]
    return [Table("other-questions", title, columns, rows, heads=2, says=str(_SAYS))]


def _row(found: AnswersBesidePeople) -> list[Cell]:
    orders = found.same_in_both_orders
    is_quoted = found.dimension.kind == "spans"
    return [
        text(found.judge.name),
        text(found.dimension.name, key=found.dimension.key),
        Cell(found.items),
        _agreement(found.with_people),
        _agreement(found.among_people),
        Cell(reason=str(_ONE_ORDER)) if orders is None else Cell(orders, how=str(_ORDERS)),
        Cell(found.unmatched) if is_quoted else Cell(reason=str(_NO_QUOTES)),
    ]


def _agreement(coefficient: Coefficient | None) -> Cell:
    return Cell(reason=str(_NO_DISTANCE)) if coefficient is None else figure(coefficient)


def explain_excluded_kinds(sections: Sequence[Section], project: Project, reason: str) -> list[Section]:
    """Return sections; the first gives the reason for excluding questions of other kinds, if there are any.

    One query.
    """
    if not sections or not has_other_kinds(project):
        return list(sections)
    first, *others = sections
    return [replace(first, says=f"{first.says} {reason}".strip()), *others]
