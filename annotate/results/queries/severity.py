"""The severity page: how severe raters are, and what systems would score with raters of one severity."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Severity, rater_severity, severity_drift, why_not_severity
from agreement.coefficient import Estimated
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.queries.timed import NAMES_OF_THIRDS, UNTIMED, read_timed_ratings, times_of
from annotate.results.queries.version import ratings_of
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

_TIMES = 4
"""How much longer a value takes here than on other pages."""
_NAMED = gettext_lazy("Categories have no order, so no rater is more severe than another.")
_HOW = gettext_lazy(
    "Rating scale model with raters as a facet, units integrated out (function rater_severity); sources: "
    "Linacre 1989, Andrich 1978; 95 % interval: t, variances summed within documents."
)
_HOW_FIT = gettext_lazy(
    "Mean square of residuals, each value compared with the prediction from the other raters of its unit "
    "(function rater_severity); source: Wright and Masters 1982."
)
_SAYS = gettext_lazy(
    "From Round I. One logit more severe multiplies the odds of the lower of two adjacent points by 2.7. "
    "Severity is corrected for which outputs a rater got; the mean of raters is 0."
)
_RATERS_SAY = gettext_lazy(
    "Fair mean: the rater’s expected mean over all outputs. Infit and outfit are 1 if a rater’s values are "
    "as regular as the model expects. Above 1.5, they agree less with other raters. Below 0.5, they vary "
    "less than predicted, for example if a rater always chooses the middle of the scale."
)
_DRIFT_SAYS = gettext_lazy(
    "Each rater’s severity in each third of the rater’s own time, as if these were three raters. Change: "
    "the last minus the first; above 0 is more severe. The model keeps units and systems fixed, so change "
    "is due to the raters if they rated in different orders. p values are corrected over the raters of a "
    "dimension (Holm), not over dimensions."
)
_HOW_DRIFT = gettext_lazy(
    "Rating scale model with raters by thirds of time as a facet (function severity_drift); sources: Linacre "
    "1989; Myford and Wolfe 2009; t, variances summed within documents; Holm 1979."
)
_SYSTEMS_SAY = gettext_lazy(
    "Fair mean: the expected mean from raters of average severity. It differs from the mean if severe "
    "raters happened to get a system’s outputs; if all raters rated everything, it hardly differs."
)


def size_of_severity(project: Project) -> int:
    """Return how many values the page is as slow as. One query."""
    return _TIMES * ratings_of(project)


def severity_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return all tables, nothing before Round I. Seven queries at most."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    first, items = rounds[0], items_of(project)
    found, reasons = _measure(first, items)
    tables = [_raters(first, found, reasons), _systems(first, found), _drift(first, items, reasons)]
    return [Section(gettext("Severity of raters"), str(_SAYS), [each for each in tables if each.rows])]


def _measure(rated: RatedRound, items: ItemOrigins) -> tuple[Mapping[str, Severity], Mapping[str, str]]:
    found, reasons = {}, {}
    for each in rated.dimensions:
        own = rated.rated[each.key]
        documents = items.documents_of(own)
        reason = str(_NAMED) if each.is_named else why_not_severity(own.data.values, each.values, documents)
        if reason:
            reasons[each.key] = reason
        else:
            model = rater_severity(
                own.data.values,
                each.values,
                items.systems_of(own).tolist(),
                documents,
                own.data.raters,
            )
            if model.reason:
                reasons[each.key] = model.reason
            else:
                found[each.key] = model
    return found, reasons


def _raters(rated: RatedRound, found: Mapping[str, Severity], reasons: Mapping[str, str]) -> Table:
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("values", gettext("values"), ColumnKind.COUNT),
        Column("mean", gettext("mean"), decimals=2),
        Column("severity", gettext("severity, logits"), decimals=2),
        Column("fair_mean", gettext("fair mean"), decimals=2),
        Column("infit", gettext("infit"), decimals=2),
        Column("outfit", gettext("outfit"), decimals=2),
    ]
    rows = [row for each in rated.dimensions for row in _rater_rows(each, found, reasons)]
    return Table("raters", gettext("Severity by rater"), columns, rows, heads=2, says=str(_RATERS_SAY))


def _rater_rows(
    dimension: FrozenDimension, found: Mapping[str, Severity], reasons: Mapping[str, str]
) -> Sequence[list[Cell]]:
    named = text(dimension.name, key=dimension.key)
    if dimension.key in reasons:
        return [[named, text(gettext("all raters")), *[Cell(reason=reasons[dimension.key])] * 6]]
    return [
        [
            named,
            text(each.rater),
            Cell(each.values),
            Cell(each.mean, count=each.values),
            _cell(each.severity, each.values),
            _cell(each.fair_mean, each.values),
            Cell(each.infit, count=each.values, how=str(_HOW_FIT)),
            Cell(each.outfit, count=each.values, how=str(_HOW_FIT)),
        ]
        for each in found[dimension.key].raters
    ]


def _systems(rated: RatedRound, found: Mapping[str, Severity]) -> Table:
    columns = [
        DIMENSION,
        Column("system", gettext("System"), ColumnKind.TEXT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("mean", gettext("mean"), decimals=2),
        Column("rank", gettext("rank"), ColumnKind.COUNT),
        Column("fair_mean", gettext("fair mean"), decimals=2),
        Column("fair_rank", gettext("rank by fair mean"), ColumnKind.COUNT),
        Column("places", gettext("ranks gained"), ColumnKind.COUNT),
    ]
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(each.system),
            Cell(each.items),
            Cell(each.mean, count=each.items),
            Cell(each.rank),
            _cell(each.fair, each.items),
            Cell(each.fair_rank),
            Cell(each.rank - each.fair_rank),
        ]
        for dimension in rated.dimensions
        if dimension.key in found
        for each in sorted(found[dimension.key].systems, key=lambda one: (one.fair_rank, one.system))
    ]
    title = gettext("Systems with raters of average severity")
    return Table("fair", title, columns, rows, heads=2, says=str(_SYSTEMS_SAY))


def _drift(rated: RatedRound, items: ItemOrigins, reasons: Mapping[str, str]) -> Table:
    timed = read_timed_ratings(rated.round)
    rows = [row for each in rated.dimensions for row in _drift_rows(rated, each, items, reasons, timed)]
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        *(Column(key, str(name), decimals=2) for key, name in NAMES_OF_THIRDS.items()),
        Column("change", gettext("change"), decimals=2),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
    ]
    return Table(
        "drift", gettext("Severity by thirds of time"), columns, rows, heads=2, says=str(_DRIFT_SAYS)
    )


def _drift_rows(
    rated: RatedRound,
    dimension: FrozenDimension,
    items: ItemOrigins,
    reasons: Mapping[str, str],
    timed: npt.NDArray[Any],
) -> Iterator[list[Cell]]:
    named, own = text(dimension.name, key=dimension.key), rated.rated[dimension.key]
    times = times_of(dimension, own, timed)
    reason = reasons.get(dimension.key, "") or why_not_severity(
        np.where(np.isnan(times), np.nan, own.data.values), dimension.values, items.documents_of(own)
    )
    if reason:
        says = reason if dimension.key in reasons or not np.isnan(times).all() else str(UNTIMED)
        yield [named, text(gettext("all raters")), *[Cell(reason=says)] * 5]
        return
    for each in severity_drift(
        own.data.values,
        times,
        dimension.values,
        items.systems_of(own).tolist(),
        items.documents_of(own),
        own.data.raters,
    ):
        if each.change is None:
            yield [named, text(each.rater), *[Cell(reason=each.reason)] * 5]
        else:
            figures = [_cell(one, None) for one in (*each.by_third, each.change)]
            yield [named, text(each.rater), *figures, Cell(each.adjusted_p_value, how=str(_HOW_DRIFT))]


def _cell(found: Estimated, count: int | None) -> Cell:
    return Cell(found.value, found.low, found.high, count=count, how=str(_HOW))
