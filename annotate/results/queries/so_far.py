"""Agreement of Round I while it is open, and its drift."""

from collections.abc import Iterator, Mapping

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement.drift import OrderEffect, alpha_by_third, carry_over, position_effect, rater_drift
from agreement.ranks import holm_by_key
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.models.rounds import WorkOrder
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import RatedRound, default_drawn, items_of, rated_rounds
from annotate.results.queries.reliability_data import (
    NAMES_OF_THIRDS,
    UNTIMED,
    RatedItems,
    read_timed_ratings,
    timed_of,
    times_of,
)
from annotate.results.queries.stopping import (
    finished_documents,
    items_of_documents,
    say_outlook,
    stopping_section,
    systems_so_far_section,
)
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text

_SAYS = gettext_lazy(
    "Round I in thirds of its time. A unit counts in the third of its last value. A rater’s difference is "
    "the mean of own value minus the mean of the others’ on the same units, by thirds of that rater’s own "
    "time: above 0 gives higher values. What counts is the change, since raters may differ all along. "
    "These are reasons to check, not verdicts. Categories have no distance, so no mean difference either."
)


def interim_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return alpha, drift and effects of order of Round I, nothing before it. Up to ten queries."""
    rated = next(iter(rated_rounds(project, default_drawn(project))), None)
    if rated is None:
        return []
    finished, items = finished_documents(rated.round), items_of_documents(rated.round)
    timed, stopping = read_timed_ratings(rated.round), stopping_section(rated, finished, items)
    systems = systems_so_far_section(rated, items_of(project), finished, items)
    is_open = rated.round.is_open
    # A closed round has no further items, so there is no outlook.
    alphas = _alphas(rated, say_outlook(stopping) if is_open else "")
    rows = [
        [text(dimension.name, key=dimension.key), *row]
        for dimension in rated.dimensions
        for row in _drift_of(dimension, rated.rated[dimension.key], timed)
    ]
    columns = [
        DIMENSION,
        Column("of", gettext("of"), ColumnKind.TEXT),
        *(Column(key, str(name)) for key, name in NAMES_OF_THIRDS.items()),
        Column("change", gettext("change")),
    ]
    drift = Table(
        "drift", gettext("Alpha, and raters’ differences from the others, by thirds"), columns, rows, heads=2
    )
    return [
        Section(gettext("Agreement so far") if is_open else gettext("Agreement of Round I"), "", [alphas]),
        stopping,
        *([systems] if systems.tables else []),
        Section(gettext("Drift"), str(_SAYS), [drift]),
        order_section(rated, timed),
    ]


def _alphas(rated: RatedRound, outlook: str) -> Table:
    rows = [[text(each.name, key=each.key), figure(alpha_of(rated, each))] for each in rated.dimensions]
    says = gettext("Krippendorff’s alpha of Round I, on units with values from two raters or more.")
    columns = [DIMENSION, Column("alpha", gettext("alpha"))]
    return Table("alpha", gettext("Krippendorff’s alpha"), columns, rows, says=f"{says} {outlook}".strip())


def _drift_of(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> Iterator[list[Cell]]:
    times = times_of(dimension, rated, timed)
    if np.isnan(times).all():
        yield [text(gettext("alpha")), *[Cell(reason=str(UNTIMED))] * (len(NAMES_OF_THIRDS) + 1)]
        return
    alphas = alpha_by_third(rated.data, times)
    yield [
        text(gettext("alpha")),
        *map(figure, alphas),
        Cell(reason=gettext("Alpha of a third is not compared with another.")),
    ]
    for rater in rater_drift(rated.data, times):
        # The change is from the first third to the last one, so either may be the reason.
        reason = rater.by_third[0].reason or rater.by_third[-1].reason or ""
        yield [text(rater.rater), *map(figure, rater.by_third), Cell(rater.change, reason=reason)]


_ABOUT_ORDER = gettext_lazy(
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
    """Return, for each dimension, the effects of position and of the previous item. No query.

    timed: the result of `read_timed_ratings`. Successive items follow the round's order of work: within a
    document, or among all items of a rater.
    """
    rows = [
        row for dimension in rated.dimensions for row in _rows(dimension, _effects(rated, dimension, timed))
    ]
    title = gettext("Effects of the order of work")
    table = Table("order", title, _COLUMNS, rows, heads=2, says=str(_CORRECTED))
    return Section(gettext("Order"), str(_ABOUT_ORDER), [table], "order")


def _effects(
    rated: RatedRound, dimension: FrozenDimension, timed: np.ndarray
) -> Mapping[str, OrderEffect] | str:
    """Return the effects by name, or the reason if there are none."""
    rows = timed_of(dimension, rated.rated[dimension.key], timed)
    if dimension.is_named:
        return str(_NAMED)
    if not len(rows):
        return str(UNTIMED)
    # One number for each rater and document, within which positions are compared.
    positions = np.stack([rows["annotator"], rows["document"]], axis=1)
    of_documents = np.unique(positions, axis=0, return_inverse=True)[1].ravel()
    by_document = rated.round.work_order == WorkOrder.BY_DOCUMENT
    # In a mixed order a rater's item before belongs to another document as a rule.
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
    for each, effect in effects.items():
        found, p_value = effect.coefficient, corrected.get(each)
        if p_value is None or found.value is None:
            gaps = [Cell(reason=found.reason or found.interval_reason or "")] * 2
            yield [name, text(each), figure(found), *gaps]
        else:
            # Each reading is a pair: for an effect below 0, and for one above it.
            reading = _READINGS[each][found.value > 0] if p_value < _LEVEL else gettext("none is to be seen")
            yield [name, text(each), figure(found), Cell(p_value), text(str(reading))]
