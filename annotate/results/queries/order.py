"""Whether values of Round I depend on the order in which raters met the items."""

from collections.abc import Iterator, Mapping

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement.coefficient import Coefficient
from agreement.order_effects import OrderEffect, carry_over, position_effect
from agreement.ranks import holm_by_key
from annotate.core.guideline import FrozenDimension
from annotate.core.models.rounds import WorkOrder
from annotate.results.page import Section
from annotate.results.queries.material import RatedRound
from annotate.results.queries.timed import UNTIMED, timed_of
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text

_SAYS = gettext_lazy(
    "Each rater gets the items in random order, so without an effect of order, values are unrelated to "
    "position. Position: the rank correlation of value and position in a document. Carry-over: the points "
    "by which a value follows its rater’s value on the item before, per point of it. Above 0, values "
    "follow the one before; below 0, they move away from it."
)
_CORRECTED = gettext_lazy(
    "The two p values of a dimension are corrected together (Holm), not over dimensions."
)
_NAMED = gettext_lazy("Categories have no order, so there is no order effect.")
_COLUMNS = (
    DIMENSION,
    Column("of", lambda: gettext("of"), ColumnKind.TEXT),
    Column("effect", lambda: gettext("effect")),
    Column("p", lambda: gettext("p, corrected"), ColumnKind.P_VALUE),
    Column("reading", lambda: gettext("which says"), ColumnKind.TEXT),
)
_LEVEL = 0.05
_READINGS = {
    "position": (
        gettext_lazy("values fall towards the end of a document"),
        gettext_lazy("values rise towards the end of a document"),
    ),
    "carry-over": (
        gettext_lazy("values move away from the one before"),
        gettext_lazy("values follow the one before"),
    ),
}


def order_section(rated: RatedRound, timed: np.ndarray) -> Section:
    """Return, for each dimension, the effects of position and of the item before. No query.

    timed: what `read_timed_ratings` returns. Which places count as successive follows the round's order of
    work: those of a document, or all of a rater's.
    """
    rows = [
        row for dimension in rated.dimensions for row in _rows(dimension, _effects(rated, dimension, timed))
    ]
    title = gettext("Effects of the order of work")
    return Section(
        gettext("Order"),
        str(_SAYS),
        [Table("order", title, _COLUMNS, rows, heads=2, says=str(_CORRECTED))],
        "order",
    )


def _effects(
    rated: RatedRound, dimension: FrozenDimension, timed: np.ndarray
) -> Mapping[str, OrderEffect] | str:
    """Return the effects by name, or why there are none."""
    rows = timed_of(dimension, rated.rated[dimension.key], timed)
    if dimension.is_named:
        return str(_NAMED)
    if not len(rows):
        return str(UNTIMED)
    places = np.stack([rows["annotator"], rows["document"]], axis=1)
    of_documents = np.unique(places, axis=0, return_inverse=True)[1].ravel()
    by_document = rated.round.work_order == WorkOrder.BY_DOCUMENT
    in_succession = of_documents if by_document else rows["annotator"]
    return {
        "position": position_effect(rows["value"], of_documents, rows["position"]),
        "carry-over": carry_over(rows["value"], in_succession, rows["position"]),
    }


def _rows(dimension: FrozenDimension, effects: Mapping[str, OrderEffect] | str) -> Iterator[list[Cell]]:
    name = text(dimension.name, key=dimension.key)
    if isinstance(effects, str):
        yield from ([name, text(effect), *[Cell(reason=effects)] * 3] for effect in _READINGS)
        return
    corrected = holm_by_key({each: found.p_value for each, found in effects.items()})
    for each, found in effects.items():
        yield [name, text(each), *_cells(each, found.coefficient, corrected.get(each))]


def _cells(name: str, found: Coefficient, p_value: float | None) -> list[Cell]:
    if p_value is None or found.value is None:
        why = found.reason or found.interval_reason or ""
        return [figure(found), Cell(reason=why), Cell(reason=why)]
    reading = _READINGS[name][found.value > 0] if p_value < _LEVEL else gettext("none is to be seen")
    return [figure(found), Cell(p_value), text(str(reading))]
