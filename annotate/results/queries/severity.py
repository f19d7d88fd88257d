"""Severity, a part of the agreement page: raters, systems with equally severe raters, and the model’s fit."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Severity, rater_severity, severity_drift, why_not_severity
from agreement.coefficient import Estimated
from agreement.severity import NO_VARIANCE, SHOWN, FairAverage
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.queries.kept import ratings_of
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.queries.reliability_data import NAMES_OF_THIRDS, UNTIMED, read_timed_ratings, times_of
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text

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
    "Infit and outfit are 1 if a rater’s values are as regular as the model expects. Above 1.5, they agree "
    "less with other raters. Below 0.5, they vary less than predicted."
)
_CORRECTED = gettext_lazy(
    "p values are corrected over the systems and raters of a dimension (Holm), not over dimensions."
)
_FAIR_RATERS = gettext_lazy("Fair mean: the rater’s expected mean over all outputs.")
_HOW_MISFIT = gettext_lazy(
    "Sum over documents of what differs from the model’s prediction, Student’s t; Holm over systems and "
    "raters of a dimension (function severity_misfit); sources: Hausman 1978, Newey 1985."
)
_FIT_SAYS = gettext_lazy(
    "A misfit is found if a system’s mean or a rater’s infit differs significantly from its prediction, by "
    "at least {least:g}. With many values, even a small difference is significant: look at its size."
)
_MISFIT = gettext_lazy("The model does not fit this dimension, so fair means can be wrong.")
_RATED_EVERYTHING = gettext_lazy("Every rater rated everything: the mean is fair.")
_RATED_MOST = gettext_lazy("Raters rated at least 99 % of all outputs: the mean is fair.")
_SAME_RATERS = gettext_lazy("All systems have the same raters in equal shares: the mean is fair.")
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
    "raters happened to get a system’s outputs."
)
LEVEL = 0.05


def size_of_severity(project: Project) -> int:
    """Return the number of values that determines the page's computing time. One query."""
    return _TIMES * ratings_of(project)


def severity_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return all tables, nothing before Round I. Up to seven queries."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    first, items = rounds[0], items_of(project)
    found, reasons = _measure(first, items)
    tables = [
        _raters(first, found, reasons),
        _systems(first, found),
        _fit(first, found),
        _drift(first, items, reasons),
    ]
    return [Section(gettext("Severity of raters"), str(_SAYS), [each for each in tables if each.rows])]


def _measure(rated: RatedRound, items: ItemOrigins) -> tuple[Mapping[str, Severity], Mapping[str, str]]:
    found: dict[str, Severity] = {}
    reasons: dict[str, str] = {}
    for each in rated.dimensions:
        own = rated.rated[each.key]
        documents = items.documents_of(own)
        reason = str(_NAMED) if each.is_named else why_not_severity(own.data.values, each.values, documents)
        if not reason:
            systems = items.systems_of(own).tolist()
            model = rater_severity(own.data.values, each.values, systems, documents, own.data.raters)
            found[each.key], reason = model, model.reason
        if reason:
            reasons[each.key] = reason
    return {key: model for key, model in found.items() if key not in reasons}, reasons


def _raters(rated: RatedRound, found: Mapping[str, Severity], reasons: Mapping[str, str]) -> Table:
    fair = [] if all(each.rated_everything for each in found.values()) else [_FAIR_MEAN]
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("values", gettext("values"), ColumnKind.COUNT),
        Column("mean", gettext("mean"), decimals=2),
        Column("severity", gettext("severity, logits"), decimals=2),
        *fair,
        Column("infit", gettext("infit"), decimals=2),
        Column("p_adjusted", gettext("p of infit, adjusted"), ColumnKind.P_VALUE, decimals=4),
        Column("outfit", gettext("outfit"), decimals=2),
    ]
    rows = []
    for each in rated.dimensions:
        named = text(each.name, key=each.key)
        if each.key in reasons:
            gaps = [Cell(reason=reasons[each.key])] * (len(columns) - 2)
            rows.append([named, text(gettext("all raters")), *gaps])
        else:
            rows += [[named, *cells] for cells in _rater_rows(found[each.key], with_fair=bool(fair))]
    says = f"{_RATERS_SAY} {_CORRECTED} {_FAIR_RATERS if fair else ''}".strip()
    return Table("raters", gettext("Severity by rater"), columns, rows, heads=2, says=says)


_FAIR_MEAN = Column("fair_mean", lambda: gettext("fair mean"), decimals=2)


def _rater_rows(model: Severity, *, with_fair: bool) -> Iterator[list[Cell]]:
    everything = str(_RATED_EVERYTHING if model.share_rated == 1 else _RATED_MOST)
    for each in model.raters:
        # A string times False is empty: there is then no reason against a fair mean.
        fair = _fair(model, each.fair_mean, each.values, everything * model.rated_everything)
        yield [
            text(each.rater),
            Cell(each.values),
            Cell(each.mean, count=each.values),
            _cell(each.severity, each.values),
            *([fair] if with_fair else []),
            Cell(each.infit, count=each.values, how=str(_HOW_FIT)),
            _misfit_cell(each.adjusted_p_value),
            Cell(each.outfit, count=each.values, how=str(_HOW_FIT)),
        ]


def _fair(model: Severity, mean: Estimated, count: int, why_none: str) -> Cell:
    if why_none:
        return Cell(reason=why_none)
    return replace(_cell(mean, count), warning=str(_MISFIT) if model.finds_misfit(LEVEL) else "")


def _misfit_cell(p_value: float | None) -> Cell:
    return Cell(p_value, reason=NO_VARIANCE if p_value is None else "", how=str(_HOW_MISFIT))


def _systems(rated: RatedRound, found: Mapping[str, Severity]) -> Table:
    with_fair = not all(each.same_raters for each in found.values())
    columns = [
        DIMENSION,
        Column("system", gettext("System"), ColumnKind.TEXT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("mean", gettext("mean"), decimals=2),
        Column("expected", gettext("mean by the model"), decimals=2),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
    ]
    # Fair means differ from means only if some system has other raters.
    if with_fair:
        columns += [
            _FAIR_MEAN,
            Column("rank", gettext("rank"), ColumnKind.COUNT),
            Column("fair_rank", gettext("rank by fair mean"), ColumnKind.COUNT),
            Column("places", gettext("ranks gained"), ColumnKind.COUNT),
        ]
    rows = []
    for dimension in rated.dimensions:
        if dimension.key not in found:
            continue
        model = found[dimension.key]
        # The best first, and equal ranks by name.
        for each in sorted(model.systems, key=lambda one: (one.rank, one.system)):
            cells = [
                text(dimension.name, key=dimension.key),
                text(each.system),
                Cell(each.items),
                Cell(each.mean, count=each.items),
                Cell(each.expected, count=each.items, how=str(_HOW)),
                _misfit_cell(each.adjusted_p_value),
            ]
            rows.append([*cells, *(_fair_cells(model, each) if with_fair else [])])
    says = f"{_SYSTEMS_SAY if with_fair else _SAME_RATERS} {_CORRECTED}"
    return Table("fair", gettext("Systems by the model"), columns, rows, heads=2, says=says)


def _fair_cells(model: Severity, system: FairAverage) -> list[Cell]:
    fair = _fair(model, system.fair, system.items, str(_SAME_RATERS) * model.same_raters)
    # Ranks by fair means would repeat the ranks by means, so these cells have only the reason.
    if model.same_raters:
        return [fair, Cell(system.rank), fair, fair]
    return [fair, Cell(system.rank), Cell(system.fair_rank), Cell(system.rank - system.fair_rank)]


def _fit(rated: RatedRound, found: Mapping[str, Severity]) -> Table:
    columns = [
        DIMENSION,
        Column("misfit", gettext("misfit found"), ColumnKind.TEXT),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
        Column("system", gettext("largest difference of a mean"), ColumnKind.TEXT),
        Column("difference", gettext("mean minus model"), decimals=2),
        Column("rater", gettext("infit farthest from 1"), ColumnKind.TEXT),
        Column("infit", gettext("infit"), decimals=2),
    ]
    rows = []
    for dimension in rated.dimensions:
        if model := found.get(dimension.key):
            system = max(model.systems, key=lambda each: abs(each.mean - each.expected))
            # On a logarithmic scale an infit of 0.5 is as far from 1 as one of 2.
            rater = max(model.raters, key=lambda each: abs(np.log(each.infit)))
            is_misfit = model.finds_misfit(LEVEL)
            rows.append(
                [
                    text(dimension.name, key=dimension.key),
                    Cell(gettext("yes") if is_misfit else gettext("no"), key=str(is_misfit).lower()),
                    _misfit_cell(model.misfit_p_value),
                    text(system.system),
                    Cell(system.mean - system.expected, count=system.items, how=str(_HOW)),
                    text(rater.rater),
                    Cell(rater.infit, count=rater.values, how=str(_HOW_FIT)),
                ]
            )
    says = f"{_FIT_SAYS.format(least=SHOWN)} {_CORRECTED}"
    return Table("fit", gettext("Fit of the model"), columns, rows, says=says)


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
    title = gettext("Severity by thirds of time")
    return Table("drift", title, columns, rows, heads=2, says=str(_DRIFT_SAYS))


def _drift_rows(
    rated: RatedRound,
    dimension: FrozenDimension,
    items: ItemOrigins,
    reasons: Mapping[str, str],
    timed: npt.NDArray[Any],
) -> Iterator[list[Cell]]:
    named, own = text(dimension.name, key=dimension.key), rated.rated[dimension.key]
    times = times_of(dimension, own, timed)
    # Only values with a time can belong to a third.
    reason = reasons.get(dimension.key, "") or why_not_severity(
        np.where(np.isnan(times), np.nan, own.data.values), dimension.values, items.documents_of(own)
    )
    if reason:
        # Imported ratings have no times, which is then the reason for the missing values.
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
            p_value = Cell(each.adjusted_p_value, reason=each.reason, how=str(_HOW_DRIFT))
            yield [named, text(each.rater), *figures, p_value]


def _cell(found: Estimated, count: int | None) -> Cell:
    return Cell(found.value, found.low, found.high, count=count, how=str(_HOW))
