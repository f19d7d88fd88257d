"""Two sources of values compared on their common units: agreement, bias, and ranks that change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import (
    COEFFICIENTS,
    ReliabilityData,
    Resampling,
    Stream,
    TwoRankings,
    bias,
    checked_alpha,
    compare_rankings,
    observed_domain,
)
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.queries.by_system import difference_cell
from annotate.results.queries.reliability_data import Unit
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from judges.results.queries.sources import (
    JUDGE,
    Options,
    ValueSource,
    find_common_units,
    list_sources,
    read_sources,
)
from judges.results.tables.columns import SYSTEM, number_or_reason

LEAST_UNITS = 3
_BY_DOCUMENTS = Resampling(by="documents")
SAME_SOURCE = gettext_lazy("Both sources are the same. Choose another one above.")
NOTHING_COMMON = gettext_lazy(
    "No unit is common to both sources. A unit needs the same document key, system name, dimension key and "
    "texts in both, and a value of both. Choose other sources, or rate or judge the same outputs."
)
_VALUE = gettext_lazy(
    "People’s value of a unit is the mean of its raters; a judge’s is the mean of its samples. Of categories "
    "it is the most frequent one; a tie of people is no value."
)
_AGREEMENT = gettext_lazy(
    "Each source is one rater. A mean of several raters varies less than one rater: do not compare this "
    "alpha with alpha among people. Intervals resample documents."
)
_BIAS = gettext_lazy(
    "The second source’s mean minus the first’s, on the common units. Intervals resample documents."
)
_RANKS = gettext_lazy(
    "Means on the common units. Rank 1 is the highest mean; ties share a rank. A change above 0 is a higher "
    "place by the second source. p is corrected by Holm over systems, not over dimensions."
)
_ORDER = gettext_lazy(
    "Kendall’s tau-b of the systems’ means by both sources; 1 is the same order. The interval resamples "
    "documents."
)
_UNITS = gettext_lazy(
    "Only common units count. Without a common text: the document or the output differs between the sources."
)
_HOW_DIFFERENT = gettext_lazy(
    "Paired differences by document (function compare_rankings); t interval with n - 1 degrees of freedom; "
    "Holm over the systems; sources: Student 1908; Holm 1979."
)
_HOW_POSSIBLE = gettext_lazy(
    "Ranks by inverting the simultaneous 95 % intervals of all pairs (function rank_sets); source: Chatzi "
    "and others 2024, algorithm 1."
)


def _first(project: Project) -> Options:
    own, related = list_sources(project)
    return [*own, *related]


def _second(project: Project) -> Options:
    """Return the sources, judges first.

    A related project is never the first choice: exports and files of this project show first choices.
    """
    own, related = list_sources(project)
    return [*sorted(own, key=lambda each: not each[0].startswith(JUDGE)), *related]


FIRST = Parameter("first", gettext_lazy("First source"), _first)
SECOND = Parameter("second", gettext_lazy("Second source"), _second)


@dataclass(frozen=True)
class ComparedSources:
    """Both sources on one dimension, as `find_common_units` returns it.

    values: (2, units). problem: why their values cannot be compared.
    """

    dimension: FrozenDimension
    units: Sequence[Unit]
    others: tuple[int, int, int]
    values: FloatArray
    problem: str = ""

    @property
    def name(self) -> Cell:
        return text(self.dimension.name, key=self.dimension.key)

    @property
    def documents(self) -> Sequence[str]:
        return [document for document, _ in self.units]


def compare_sources_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the tables of two sources, or a message if both are the same."""
    keys = (chosen["first"], chosen["second"])
    title = gettext("Two sources of values")
    if keys[0] == keys[1]:
        return [Section(title, str(SAME_SOURCE), [])]
    first, second = read_sources(project, keys, dict(_first(project)))
    shared = [key for key in first.dimensions if key in second.dimensions]
    found = [_compare(first, second, key) for key in shared]
    tables = [_units(found)]
    if any(each.units for each in found):
        # Sorted names give the same random numbers after the two sources are exchanged.
        stream = Stream(project.seed).of("sources", *sorted((first.name, second.name)))
        amounts = [each for each in found if not each.dimension.is_named and not each.problem]
        rankings = [(each, _rank(each, stream)) for each in amounts if each.units]
        tables = [
            _agreement(found, stream),
            *([_bias(amounts, stream), _ranks(rankings), _order(rankings)] if rankings else []),
            *tables,
        ]
    says = gettext("First: {first}. Second: {second}.").format(first=first.label, second=second.label)
    return [Section(title, f"{says} {_VALUE}", tables)]


def _compare(first: ValueSource, second: ValueSource, key: str) -> ComparedSources:
    units, others = find_common_units(first, second, key)
    values = [[source.values[key][unit] for unit in units] for source in (first, second)]
    one, other = first.dimensions[key], second.dimensions[key]
    scales = [(each.values, each.measurement_level) for each in (one, other)]
    problem = ""
    # A value has another meaning on another scale.
    if scales[0] != scales[1]:
        problem = gettext("The scales of the two sources differ.")
    elif not units:
        problem = gettext("No unit is common to both sources.")
    return ComparedSources(one, units, others, np.array(values, dtype=float).reshape(2, -1), problem)


def _agreement(found: Sequence[ComparedSources], stream: Stream) -> Table:
    columns = [
        DIMENSION,
        Column("units", gettext("units"), ColumnKind.COUNT),
        Column("alpha", gettext("alpha")),
        Column("equal", gettext("equal"), ColumnKind.SHARE),
        Column("within_one", gettext("within one"), ColumnKind.SHARE),
    ]
    statistics = {
        # Another package computes every shown alpha again.
        "alpha": checked_alpha,
        "equal": COEFFICIENTS["percent_agreement"],
        "within_one": COEFFICIENTS["within_one_agreement"],
    }
    few = gettext("Only {units} units are common; {least} or more are needed.")
    rows = []
    for each in found:
        units, problem = len(each.units), each.problem
        if not problem and units < LEAST_UNITS:
            problem = few.format(units=units, least=LEAST_UNITS)
        row = [each.name, Cell(units)]
        if problem:
            rows.append([*row, *(Cell(reason=problem) for _ in statistics)])
            continue
        data = ReliabilityData(
            each.values,
            measurement_level=each.dimension.measurement_level,
            value_domain=observed_domain(each.values),
            documents=each.documents,
        )
        for name, statistic in statistics.items():
            if each.dimension.is_named and name == "within_one":
                row.append(Cell(reason=gettext("Categories have no distance.")))
            else:
                # By key, so that a dimension has the same interval whichever others are common.
                drawn = stream.of(each.dimension.key)
                row.append(figure(statistic(data, generator=drawn, resampling=_BY_DOCUMENTS)))
        rows.append(row)
    says = str(_AGREEMENT)
    return Table("agreement", gettext("Agreement of the two sources"), columns, rows, says=says)


def _bias(amounts: Sequence[ComparedSources], stream: Stream) -> Table:
    columns = [DIMENSION, Column("bias", gettext("second minus first"), decimals=2)]
    rows = []
    for each in amounts:
        first, second = each.values
        found = bias(
            second,
            first,
            documents=each.documents,
            generator=stream.of(each.dimension.key),
            resampling=_BY_DOCUMENTS,
        )
        rows.append([each.name, figure(found)])
    return Table("bias", gettext("Bias"), columns, rows, says=str(_BIAS), plot="intervals")


def _rank(each: ComparedSources, stream: Stream) -> tuple[Sequence[str], Sequence[int], TwoRankings]:
    # Both sources as tables of documents by systems, NaN for units that are not common.
    documents, of_document = np.unique(each.documents, return_inverse=True)
    systems, of_system, sizes = np.unique(
        [system for _, system in each.units], return_inverse=True, return_counts=True
    )
    tables = np.full((2, len(documents), len(systems)), np.nan)
    tables[:, of_document, of_system] = each.values
    names = [str(name) for name in systems]
    found = compare_rankings(tables[0], tables[1], names, generator=stream.of(each.dimension.key))
    return names, sizes.tolist(), found


Ranked = Sequence[tuple[ComparedSources, tuple[Sequence[str], Sequence[int], TwoRankings]]]


def _ranks(rankings: Ranked) -> Table:
    columns = [
        DIMENSION,
        SYSTEM,
        Column("first_mean", gettext("first, mean"), decimals=2),
        Column("second_mean", gettext("second, mean"), decimals=2),
        Column("difference", gettext("second minus first"), decimals=2),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
        Column("first_rank", gettext("first, rank"), ColumnKind.COUNT),
        Column("second_rank", gettext("second, rank"), ColumnKind.COUNT),
        Column("change", gettext("change"), ColumnKind.COUNT),
        Column("first_possible", gettext("first, possible ranks"), ColumnKind.TEXT),
        Column("second_possible", gettext("second, possible ranks"), ColumnKind.TEXT),
    ]
    rows = []
    for each, (names, sizes, found) in rankings:
        # By the rank of the first source, ties by name.
        for index in np.lexsort((names, found.ranks[0])).tolist():
            moved = found.differences[index]
            ranks = found.ranks[:, index].tolist()
            rows.append(
                [
                    each.name,
                    text(names[index]),
                    *(Cell(mean, count=sizes[index]) for mean in found.means[:, index].tolist()),
                    difference_cell(moved, str(_HOW_DIFFERENT), ()),
                    number_or_reason(moved.adjusted_p_value, moved.reason, str(_HOW_DIFFERENT)),
                    *(Cell(rank) for rank in ranks),
                    Cell(ranks[0] - ranks[1]),
                    *(
                        Cell(f"{own[index].best}–{own[index].worst}", how=str(_HOW_POSSIBLE))
                        for own in found.possible
                    ),
                ]
            )
    return Table("ranks", gettext("Ranks of the systems"), columns, rows, heads=2, says=str(_RANKS))


def _order(rankings: Ranked) -> Table:
    columns = [
        DIMENSION,
        Column("systems", gettext("systems"), ColumnKind.COUNT),
        Column("moved", gettext("ranks that change"), ColumnKind.COUNT),
        Column("kendall", gettext("Kendall’s tau-b")),
    ]
    rows = [
        [
            each.name,
            Cell(len(names)),
            Cell(int(np.sum(found.ranks[0] != found.ranks[1]))),
            figure(found.tau, count=len(names)),
        ]
        for each, (names, _, found) in rankings
    ]
    return Table("order", gettext("Order of the systems"), columns, rows, says=str(_ORDER))


def _units(found: Sequence[ComparedSources]) -> Table:
    columns = [
        DIMENSION,
        Column("common", gettext("common"), ColumnKind.COUNT),
        Column("other_text", gettext("other text"), ColumnKind.COUNT),
        Column("first_only", gettext("no value of the second"), ColumnKind.COUNT),
        Column("second_only", gettext("no value of the first"), ColumnKind.COUNT),
    ]
    rows = [[each.name, Cell(len(each.units)), *map(Cell, each.others)] for each in found]
    return Table("units", gettext("Common units"), columns, rows, says=str(_UNITS))
