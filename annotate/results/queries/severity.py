"""The severity page: how severe raters are, and what systems would score with raters of one severity."""

from collections.abc import Mapping, Sequence

from annotate.agreement import Severity, rater_severity, why_not_severity
from annotate.agreement.estimated import Estimated
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.queries.material import Items, RatedRound, items_of, rated_rounds
from annotate.results.queries.version import ratings_of
from annotate.results.registry import Chosen
from annotate.results.table import Cell, Column, Kind, Table, text

_TIMES = 4
"""How much longer a value takes here than on other pages."""
_NAMED = "Categories have no order, so no rater is more severe than another."
_DIMENSION = Column("dimension", "Dimension", Kind.TEXT)
_HOW = (
    "Rating scale model with raters as a facet, units integrated out (function rater_severity); sources: "
    "Linacre 1989, Andrich 1978; 95 % interval: t, variances summed within documents."
)
_HOW_FIT = (
    "Mean square of residuals, each value beside what the other raters of its unit predict (function "
    "rater_severity); source: Wright and Masters 1982."
)
_SAYS = (
    "From Round I. A rater who is one logit more severe has odds of a point rather than the next one that "
    "are 2.7 times as high. Severity is corrected for which texts a rater got; the mean of raters is 0."
)
_RATERS_SAY = (
    "Fair mean: what the rater would give to all texts on average. Infit and outfit are 1 where a rater’s "
    "values are as regular as the model has it; above 1.5 they go less with the others’, below 0.5 they vary "
    "less than others predict, as when the middle of the scale is taken throughout."
)
_SYSTEMS_SAY = (
    "Fair mean: what raters of average severity would give. It differs from the mean where severe raters "
    "happened to get a system’s texts; where all rated everything, it hardly does."
)


def size_of_severity(project: Project) -> int:
    """Return how many values the page is as slow as. One query."""
    return _TIMES * ratings_of(project)


def severity_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return both tables, nothing before Round I. Six queries at most."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    first, items = rounds[0], items_of(project)
    found, reasons = _measure(first, items)
    tables = [_raters(first, found, reasons), _systems(first, found)]
    return [Section("Severity of raters", _SAYS, [each for each in tables if each.rows])]


def _measure(rated: RatedRound, items: Items) -> tuple[Mapping[str, Severity], Mapping[str, str]]:
    found, reasons = {}, {}
    for each in rated.dimensions:
        own = rated.rated[each.key]
        documents = items.documents_of(own)
        reason = _NAMED if each.is_named else why_not_severity(own.data.values, each.values, documents)
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
        _DIMENSION,
        Column("rater", "Rater", Kind.TEXT),
        Column("values", "values", Kind.COUNT),
        Column("mean", "mean", decimals=2),
        Column("severity", "severity, logits", decimals=2),
        Column("fair_mean", "fair mean", decimals=2),
        Column("infit", "infit", decimals=2),
        Column("outfit", "outfit", decimals=2),
    ]
    rows = [row for each in rated.dimensions for row in _rater_rows(each, found, reasons)]
    return Table("raters", "How severe raters are", columns, rows, heads=2, says=_RATERS_SAY)


def _rater_rows(
    dimension: FrozenDimension, found: Mapping[str, Severity], reasons: Mapping[str, str]
) -> Sequence[list[Cell]]:
    named = text(dimension.name, key=dimension.key)
    if dimension.key in reasons:
        return [[named, text("all raters"), *[Cell(reason=reasons[dimension.key])] * 6]]
    return [
        [
            named,
            text(each.rater),
            Cell(each.values),
            Cell(each.mean, count=each.values),
            _cell(each.severity, each.values),
            _cell(each.fair_mean, each.values),
            Cell(each.infit, count=each.values, how=_HOW_FIT),
            Cell(each.outfit, count=each.values, how=_HOW_FIT),
        ]
        for each in found[dimension.key].raters
    ]


def _systems(rated: RatedRound, found: Mapping[str, Severity]) -> Table:
    columns = [
        _DIMENSION,
        Column("system", "System", Kind.TEXT),
        Column("items", "items", Kind.COUNT),
        Column("mean", "mean", decimals=2),
        Column("rank", "rank", Kind.COUNT),
        Column("fair_mean", "fair mean", decimals=2),
        Column("fair_rank", "rank by fair mean", Kind.COUNT),
        Column("places", "places gained", Kind.COUNT),
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
    title = "What systems would score with raters of average severity"
    return Table("fair", title, columns, rows, heads=2, says=_SYSTEMS_SAY)


def _cell(found: Estimated, count: int) -> Cell:
    return Cell(found.value, found.low, found.high, count=count, how=_HOW)
