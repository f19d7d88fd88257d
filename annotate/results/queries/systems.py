"""The systems page: mean scores with intervals, possible ranks, and which systems differ."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotate.agreement import RankSet, Resampling, SystemDifference, mean, rank_sets
from annotate.agreement.data import FloatArray, IntArray
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.queries.by_system import difference_cell, mean_over_raters, values_by_document
from annotate.results.queries.compared_systems import (
    ComparedSystems,
    compare_systems,
    is_about_these_texts,
    what_differences_are_about,
)
from annotate.results.queries.material import Items, RatedRound, items_of, rated_rounds
from annotate.results.queries.resolution import resolution_section
from annotate.results.queries.shares import shares_section
from annotate.results.registry import Chosen
from annotate.results.table import Cell, Column, Kind, Table, figure, text

_SYSTEM = Column("system", "System", Kind.TEXT)
_DIMENSION = Column("dimension", "Dimension", Kind.TEXT)
_ADJUSTED = " p values adjusted over all pairs of a dimension: Holm 1979."
_RANKS = (
    "Ranks by inverting the simultaneous 95 % intervals (Bonferroni) of all pairs (function rank_sets); "
    "source: Chatzi and others 2024, algorithm 1."
)
_KNOWN_MEAN = "Every text is rated, so this mean is known."
_NO_RANKS = (
    "Every text is rated: about these texts only there is nothing to test, and no rank to be unsure of."
)
Compared = Mapping[str, ComparedSystems]


def systems_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return all tables about systems, none before Round I. Six queries at most."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    everything, items = rounds[-1], items_of(project)
    names = sorted(set(items.systems.values()))
    named = [each for each in everything.dimensions if each.is_named]
    shares = [shares_section(everything, items, named, names, chosen)] if named else []
    rated = replace(everything, dimensions=tuple(each for each in everything.dimensions if not each.is_named))
    return [*(_of_scores(rated, items, names, chosen) if rated.dimensions else []), *shares]


def _of_scores(rated: RatedRound, items: Items, names: Sequence[str], chosen: Chosen) -> list[Section]:
    compared: dict[str, ComparedSystems] = {}
    tables: dict[str, FloatArray] = {}
    texts = items.shared_texts(names)
    for each in rated.dimensions:
        values = values_by_document(rated, items, each, names)
        compared[each.key] = compare_systems(values, names, chosen, texts)
        tables[each.key] = mean_over_raters(values)
    crossed = {key: each.crossed for key, each in compared.items() if each.crossed}
    about = what_differences_are_about(
        {each.name: compared[each.key] for each in rated.dimensions},
        chosen,
        independent=rated.round.is_independent,
    )
    says = (
        "An item’s score is the mean of its raters’ values at the end of "
        f"{rated.label.split(',')[0]}. Intervals of means are over documents like these, by these raters."
    )
    all_there_are = texts.diagonal() if is_about_these_texts(chosen) else None
    found = [
        Section(
            "Mean scores",
            says,
            [
                _means(rated, tables, names, all_there_are),
                _ranks(rated, compared, names),
                _quartiles(rated, tables, names),
            ],
        ),
        Section(
            "Which systems differ",
            f"{about} Ranks follow from these differences.",
            [_differences(rated, compared)],
        ),
    ]
    return [*found, resolution_section(rated.dimensions, crossed, len(rated.raters))] if crossed else found


def _means(
    rated: RatedRound,
    tables: Mapping[str, FloatArray],
    names: Sequence[str],
    all_there_are: IntArray | None,
) -> Table:
    """all_there_are: (systems,), the texts of each, where the means are about these alone."""
    rows = []
    for index, name in enumerate(names):
        cells = []
        for dimension in rated.dimensions:
            found = mean(
                tables[dimension.key][:, index],
                generator=rated.stream(dimension, name),
                resampling=Resampling(),
            )
            cell = figure(found, count=found.counts.ratings)
            if all_there_are is not None and found.counts.ratings == all_there_are[index]:
                cell = replace(cell, low=None, high=None, interval_reason=_KNOWN_MEAN)
            cells.append(cell)
        rows.append([text(name), *cells])
    columns = [_SYSTEM, *(Column(each.key, each.name, decimals=2) for each in rated.dimensions)]
    says = "A system has one item for each document; n is the number of its rated items."
    return Table("means", "Mean score of every system", columns, rows, says=says, plot="intervals")


def _ranks(rated: RatedRound, compared: Compared, names: Sequence[str]) -> Table:
    sets = {
        key: {each.system: each for each in rank_sets(names, own.differences)}
        for key, own in compared.items()
        if not own.is_known
    }
    rows = [
        [
            text(name),
            *(_rank_cell(sets[each.key][name] if each.key in sets else None) for each in rated.dimensions),
        ]
        for name in names
    ]
    columns = [_SYSTEM, *(Column(each.key, each.name, Kind.TEXT) for each in rated.dimensions)]
    says = "The ranks that a system may have, 1 the best; 95 % confidence that all sets hold at once."
    return Table("ranks", "Possible ranks", columns, rows, says=says)


def _rank_cell(found: RankSet | None) -> Cell:
    if found is None:
        return Cell(reason=_NO_RANKS)
    return Cell(f"{found.best}–{found.worst}" if found.best < found.worst else f"{found.best}", how=_RANKS)


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


def _differences(rated: RatedRound, compared: Compared) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(each.first),
            text(each.second),
            difference_cell(each, own.how),
            _p(each, each.p_value, own.how),
            _p(each, each.adjusted_p_value, own.how + _ADJUSTED),
        ]
        for dimension in rated.dimensions
        for own in [compared[dimension.key]]
        for each in own.differences
    ]
    columns = [
        _DIMENSION,
        Column("first", "First", Kind.TEXT),
        Column("second", "Second", Kind.TEXT),
        Column("difference", "first minus second", decimals=2),
        Column("p", "p", Kind.P_VALUE, decimals=4),
        Column("p_adjusted", "p, adjusted", Kind.P_VALUE, decimals=4),
    ]
    says = (
        "Every pair of systems on the documents that were rated for both. Intervals are per pair; adjusted p "
        "values are corrected over all pairs of a dimension (Holm), not over dimensions."
    )
    return Table("differences", "Differences of mean scores", columns, rows, heads=3, says=says)


def _p(each: SystemDifference, value: float | None, how: str) -> Cell:
    return Cell(value, count=each.documents, reason=each.reason if value is None else "", how=how)
