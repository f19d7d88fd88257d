"""The systems page: mean scores with intervals, possible ranks, and which systems differ."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotate.agreement import (
    Resampling,
    SystemDifference,
    mean,
    rank_sets,
    system_differences,
)
from annotate.agreement.data import FloatArray
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.queries.material import Items, RatedRound, items_of, rated_rounds
from annotate.results.queries.shares import scores_by_document, shares_section
from annotate.results.registry import Chosen
from annotate.results.table import Cell, Column, Kind, Table, figure, text

_SYSTEM = Column("system", "System", Kind.TEXT)
_DIMENSION = Column("dimension", "Dimension", Kind.TEXT)
_PAIRED = (
    "Paired differences of mean scores by document (function system_differences); t interval with n - 1 "
    "degrees of freedom; source: Student 1908"
)
_ADJUSTED = "; p values adjusted over all pairs of a dimension: Holm 1979."
_RANKS = (
    "Ranks by inverting the simultaneous 95 % intervals (Bonferroni) of all pairs (function rank_sets); "
    "source: Chatzi and others 2024, algorithm 1."
)
Differences = Mapping[str, Sequence[SystemDifference]]


def systems_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return all tables about systems, none before Round I. Six queries at most."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    everything, items = rounds[-1], items_of(project)
    names = sorted(set(items.systems.values()))
    named = [each for each in everything.dimensions if each.is_named]
    shares = [shares_section(everything, items, named, names)] if named else []
    rated = replace(everything, dimensions=tuple(each for each in everything.dimensions if not each.is_named))
    return [*(_of_scores(rated, items, names) if rated.dimensions else []), *shares]


def _of_scores(rated: RatedRound, items: Items, names: Sequence[str]) -> list[Section]:
    tables = {each.key: scores_by_document(rated, items, each, names) for each in rated.dimensions}
    differences = {key: system_differences(values, names) for key, values in tables.items()}
    says = (
        "An item’s score is the mean of its raters’ values at the end of "
        f"{rated.label.split(',')[0]}. Intervals are over documents like these."
    )
    return [
        Section(
            "Mean scores",
            says,
            [
                _means(rated, tables, names),
                _ranks(rated, differences, names),
                _quartiles(rated, tables, names),
            ],
        ),
        Section(
            "Which systems differ",
            "Every pair of systems on the documents that were rated for both.",
            [_differences(rated, differences)],
        ),
    ]


def _means(rated: RatedRound, tables: Mapping[str, FloatArray], names: Sequence[str]) -> Table:
    rows = []
    for index, name in enumerate(names):
        cells = []
        for dimension in rated.dimensions:
            found = mean(
                tables[dimension.key][:, index],
                generator=rated.stream(dimension, name),
                resampling=Resampling(),
            )
            cells.append(figure(found, count=found.counts.ratings))
        rows.append([text(name), *cells])
    columns = [_SYSTEM, *(Column(each.key, each.name, decimals=2) for each in rated.dimensions)]
    says = "A system has one item for each document; n is the number of its rated items."
    return Table("means", "Mean score of every system", columns, rows, says=says, plot="intervals")


def _ranks(rated: RatedRound, differences: Differences, names: Sequence[str]) -> Table:
    sets = {key: {each.system: each for each in rank_sets(names, own)} for key, own in differences.items()}
    rows = [
        [
            text(name),
            *(
                Cell(
                    f"{found.best}–{found.worst}" if found.best < found.worst else f"{found.best}", how=_RANKS
                )
                for found in (sets[each.key][name] for each in rated.dimensions)
            ),
        ]
        for name in names
    ]
    columns = [_SYSTEM, *(Column(each.key, each.name, Kind.TEXT) for each in rated.dimensions)]
    says = "The ranks that a system may have, 1 the best; 95 % confidence that all sets hold at once."
    return Table("ranks", "Possible ranks", columns, rows, says=says)


def _quartiles(rated: RatedRound, tables: Mapping[str, FloatArray], names: Sequence[str]) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(name),
            *_quantile_cells(tables[dimension.key][:, index]),
        ]
        for dimension in rated.dimensions
        for index, name in enumerate(names)
    ]
    ends = ("least", "first quartile", "median", "third quartile", "largest")
    columns = [
        _DIMENSION,
        _SYSTEM,
        *(Column(end.replace(" ", "_"), end, decimals=2) for end in ends),
    ]
    return Table("quartiles", "Spread of the items’ scores", columns, rows, heads=2, plot="box")


def _quantile_cells(values: FloatArray) -> list[Cell]:
    given = values[~np.isnan(values)]
    if not len(given):
        return [Cell(reason="There are no values yet.")] * 5
    how = "Quartiles of the items’ scores (function numpy.quantile, linear between values)."
    return [
        Cell(float(value), count=len(given), how=how) for value in np.quantile(given, [0, 0.25, 0.5, 0.75, 1])
    ]


def _differences(rated: RatedRound, differences: Differences) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(each.first),
            text(each.second),
            _difference(each),
            _p(each, each.p_value, _PAIRED + "."),
            _p(each, each.adjusted_p_value, _PAIRED + _ADJUSTED),
        ]
        for dimension in rated.dimensions
        for each in differences[dimension.key]
    ]
    columns = [
        _DIMENSION,
        Column("first", "First", Kind.TEXT),
        Column("second", "Second", Kind.TEXT),
        Column("difference", "first minus second", decimals=2),
        Column("p", "p", Kind.P_VALUE, decimals=4),
        Column("p_adjusted", "p, adjusted", Kind.P_VALUE, decimals=4),
    ]
    return Table("differences", "Differences of mean scores", columns, rows, heads=3)


def _difference(each: SystemDifference) -> Cell:
    return Cell(
        each.value,
        each.low,
        each.high,
        interval_reason=each.reason if each.value is not None else "",
        count=each.documents,
        reason=each.reason if each.value is None else "",
        how=_PAIRED + ".",
    )


def _p(each: SystemDifference, value: float | None, how: str) -> Cell:
    return Cell(value, count=each.documents, reason=each.reason if value is None else "", how=how)
