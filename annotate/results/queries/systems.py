"""The systems page: mean scores with intervals, possible ranks, and differing systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import CrossedDifferences, RankSet, SystemDifference, mean, mean_score, rank_sets
from agreement.crossed import VarianceSource
from agreement.data import FloatArray, IntArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import MeasurementLevelChoices, Project
from annotate.questions.scale import SCALE
from annotate.results.answers import NO_SYSTEM
from annotate.results.queries.by_system import (
    Unequal,
    difference_cell,
    mean_over_raters,
    unequally_drawn,
    values_by_document,
    warn_if,
)
from annotate.results.queries.compared_systems import (
    ComparedSystems,
    adjust_together,
    compare_shares,
    compare_systems,
    describe_adjustment,
    describe_reach,
    is_about_these_texts,
    is_across_dimensions,
    name_outlying_systems,
    shares_section,
)
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import (
    DIMENSION,
    Cell,
    Column,
    ColumnKind,
    Section,
    Table,
    figure,
    mark_best,
    text,
)

_SYSTEM = Column("system", lambda: gettext("System"), ColumnKind.TEXT)
_ADJUSTED = gettext_lazy("p values adjusted over all pairs of a dimension: Holm 1979.")
_ADJUSTED_ACROSS = gettext_lazy("p values adjusted over all pairs of all dimensions: Holm 1979.")
_RANKS = gettext_lazy(
    "Ranks by inverting the simultaneous 95 % intervals (Bonferroni) of all pairs (function rank_sets); "
    "source: Chatzi and others 2024, algorithm 1."
)
_NO_RANKS = gettext_lazy(
    "Every output is rated: for these outputs only, there is nothing to test, and ranks have no uncertainty."
)
BY_NAME, AS_IMPORTED = "name", "imported"


def _orders(project: Project) -> Sequence[tuple[str, str]]:
    scales = project.dimensions.filter(kind=SCALE.key)
    dimensions = scales.exclude(measurement_level=MeasurementLevelChoices.NOMINAL).order_by("position")
    by_mean = [
        (f"{_MEAN}{each.key}", gettext("largest mean first: {dimension}").format(dimension=each.name))
        for each in dimensions
    ]
    return [(BY_NAME, gettext("by name")), (AS_IMPORTED, gettext("as they were imported")), *by_mean]


_MEAN = "mean-"  # a dimension may be called “name”
ORDER = Parameter("order", gettext_lazy("Order of systems"), _orders)
Compared = Mapping[str, ComparedSystems]


def systems_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return all tables about systems, none before Round I. Up to seven queries."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    everything, items = rounds[-1], items_of(project)
    names = sorted(set(items.systems.values()))
    named = [each for each in everything.dimensions if each.is_named]
    unequal = unequally_drawn(everything, items)
    rated = replace(everything, dimensions=tuple(each for each in everything.dimensions if not each.is_named))
    # Each category is compared like a dimension, so tests over all dimensions count them one by one.
    tables = len(rated.dimensions) + sum(len(each.whole_values) for each in named)
    texts = items.shared_texts(names)
    values = {each.key: values_by_document(rated, items, each, names) for each in rated.dimensions}
    compared = {key: compare_systems(own, names, chosen, texts, tables) for key, own in values.items()}
    categories, shares = compare_shares(everything, items, named, names, chosen, tables)
    if is_across_dimensions(chosen):
        together = adjust_together({**compared, **shares})
        # Keys are strings of dimensions, or pairs of dimension and category, so both fit into one mapping.
        compared, shares = {key: together[key] for key in compared}, {key: together[key] for key in shares}
    scores = {key: mean_over_raters(own) for key, own in values.items()}
    sections = []
    if rated.dimensions:
        sections += _build_score_sections(rated, items, names, chosen, unequal, scores, compared)
    if named:
        arguments = (everything, items, named, names, chosen, unequal)
        sections.append(shares_section(*arguments, categories, shares))
    return sections


def _build_score_sections(
    rated: RatedRound,
    items: ItemOrigins,
    names: Sequence[str],
    chosen: Chosen,
    unequal: Unequal,
    tables: Mapping[str, FloatArray],
    compared: Compared,
) -> list[Section]:
    texts = items.shared_texts(names)
    crossed = {key: each.crossed for key, each in compared.items() if each.crossed}
    by_name = {each.name: compared[each.key] for each in rated.dimensions}
    about = describe_reach(by_name, chosen, independent=rated.round.is_independent)
    says = gettext(
        "An item’s score is the mean of its raters’ values at the end of "
        "{round}. Intervals of means are over documents like these, by these raters."
    ).format(round=rated.name)
    order = _order_of(tables, names, items, chosen.get(ORDER.name, ""))
    all_there_are = texts.diagonal() if is_about_these_texts(chosen) else None  # of each system
    means = [
        _means(rated, tables, names, order, all_there_are, unequal),
        _ranks(rated, compared, names, order),
        _quartiles(rated, tables, names, order),
    ]
    about = f"{about} {gettext('Ranks follow from these differences.')}"
    differences = [_differences(rated, compared, unequal, across=is_across_dimensions(chosen))]
    found = [
        Section(gettext("Mean scores"), says, means),
        Section(gettext("Which systems differ"), about, differences),
    ]
    return [*found, resolution_section(rated.dimensions, crossed, len(rated.raters))] if crossed else found


def _means(
    rated: RatedRound,
    tables: Mapping[str, FloatArray],
    names: Sequence[str],
    order: Sequence[int],
    all_there_are: IntArray | None,
    unequal: Unequal,
) -> Table:
    """all_there_are: (systems,), the number of outputs of each, if the means are about these alone."""
    rows = []
    for index in order:
        name, cells = names[index], []
        for dimension in rated.dimensions:
            found = mean_score(
                tables[dimension.key][:, index],
                (dimension.scale_minimum, dimension.scale_maximum),
                texts=None if all_there_are is None else int(all_there_are[index]),
            )
            cell = figure(found, count=found.counts.ratings)
            cells.append(warn_if(cell, name in unequal[dimension.key]))
        rows.append([text(name), *cells])
    columns = [_SYSTEM, *(Column(each.key, each.name, decimals=2) for each in rated.dimensions)]
    says = gettext(
        "A system has one item for each document; n is the number of its rated items. Marks show the "
        "largest and the second largest mean of a dimension, as printed; see below for the differences "
        "that count."
    )
    marked = mark_best(rows, columns)
    return Table("means", gettext("Mean score of every system"), columns, marked, says=says, plot="intervals")


def _order_of(
    tables: Mapping[str, FloatArray], names: Sequence[str], items: ItemOrigins, order: str
) -> Sequence[int]:
    """Return the positions of systems in `names`, which are sorted, in the chosen order."""
    if order == AS_IMPORTED:
        # In reverse, a system's first item overwrites its later ones.
        first = {name: item for item, name in sorted(items.systems.items(), reverse=True)}
        return sorted(range(len(names)), key=lambda index: first[names[index]])
    table = tables.get(order.removeprefix(_MEAN))
    if order.startswith(_MEAN) and table is not None:
        means = [mean(table[:, index]).value for index in range(len(names))]
        known = [-np.inf if each is None else each for each in means]  # systems without a mean come last
        return sorted(range(len(names)), key=known.__getitem__, reverse=True)
    return range(len(names))


def _ranks(rated: RatedRound, compared: Compared, names: Sequence[str], order: Sequence[int]) -> Table:
    # Ranks from differences without an error would claim more than was asked.
    sets = {
        key: {each.system: each for each in rank_sets(names, own.differences)}
        for key, own in compared.items()
        if not own.is_known
    }
    rows = []
    for name in (names[index] for index in order):
        found = [sets[each.key][name] if each.key in sets else None for each in rated.dimensions]
        rows.append([text(name), *map(_rank_cell, found)])
    columns = [_SYSTEM, *(Column(each.key, each.name, ColumnKind.TEXT) for each in rated.dimensions)]
    says = gettext(
        "The ranks that a system may have, 1 the best; 95 % confidence that all sets hold at once."
    )
    return Table("ranks", gettext("Possible ranks"), columns, rows, says=says)


def _rank_cell(found: RankSet | None) -> Cell:
    if found is None:
        return Cell(reason=str(_NO_RANKS))
    ranks = f"{found.best}–{found.worst}" if found.best < found.worst else f"{found.best}"
    return Cell(ranks, how=str(_RANKS))


def _quartiles(
    rated: RatedRound, tables: Mapping[str, FloatArray], names: Sequence[str], order: Sequence[int]
) -> Table:
    rows = []
    for each in rated.dimensions:
        for index in order:
            cells = _quantile_cells(tables[each.key][:, index])
            rows.append([text(each.name, key=each.key), text(names[index]), *cells])
    ends = {
        "least": gettext("least"),
        "first_quartile": gettext("first quartile"),
        "median": gettext("median"),
        "third_quartile": gettext("third quartile"),
        "largest": gettext("largest"),
    }
    columns = [DIMENSION, _SYSTEM, *(Column(key, name, decimals=2) for key, name in ends.items())]
    return Table("quartiles", gettext("Spread of the items’ scores"), columns, rows, heads=2, plot="box")


def _quantile_cells(values: FloatArray) -> list[Cell]:
    given = values[~np.isnan(values)]
    if not len(given):
        return [Cell(reason=gettext("There are no values yet."))] * 5
    how = gettext("Quartiles of the items’ scores (function numpy.quantile, linear between values).")
    ends = np.quantile(given, [0, 0.25, 0.5, 0.75, 1])
    return [Cell(float(value), count=len(given), how=how) for value in ends]


def _differences(rated: RatedRound, compared: Compared, unequal: Unequal, *, across: bool) -> Table:
    adjusted = _ADJUSTED_ACROSS if across else _ADJUSTED
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(each.first),
            text(each.second),
            difference_cell(each, own.how, unequal[dimension.key]),
            _p(each, each.p_value, own.how),
            _p(each, each.adjusted_p_value, f"{own.how} {adjusted}"),
        ]
        for dimension in rated.dimensions
        for own in [compared[dimension.key]]
        for each in own.differences
    ]
    columns = [
        DIMENSION,
        Column("first", gettext("First"), ColumnKind.TEXT),
        Column("second", gettext("Second"), ColumnKind.TEXT),
        Column("difference", gettext("first minus second"), decimals=2),
        Column("p", "p", ColumnKind.P_VALUE, decimals=4),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
    ]
    says = gettext("Every pair of systems on the documents that were rated for both. Intervals are per pair.")
    says = f"{says} {describe_adjustment(across=across)}"
    return Table("differences", gettext("Differences of mean scores"), columns, rows, heads=3, says=says)


def _p(each: SystemDifference, value: float | None, how: str) -> Cell:
    return Cell(value, count=each.documents, reason=each.reason if value is None else "", how=how)


FEW_RATERS = (2, 3, 5, 8, 12)
MOST_RATERS = 50
TIMES = (1, 2, 4)
_LEVEL, _POWER = 0.05, 0.8
_ABOUT_SOURCES = gettext_lazy(
    "The error of a difference has three sources: raters rank systems differently (only more raters help), "
    "documents suit systems differently (only more documents help), and the rest (both help)."
)
_HOW_RESOLVED = gettext_lazy(
    "Smallest true difference that the crossed model finds with a probability of 80 % after Bonferroni’s "
    "correction over all pairs of a dimension (method ErrorVariances.smallest_difference), if every rater "
    "rates every output; noncentral t."
)
_LARGER = gettext_lazy("Larger than the scale: this many cannot distinguish systems.")
_TOO_MANY = gettext_lazy("More than {most} raters with this number of documents.")
Found = Mapping[str, CrossedDifferences]


def resolution_section(dimensions: Sequence[FrozenDimension], found: Found, raters: int) -> Section:
    """Return the components of the error of a difference, and the detectable differences of other designs."""
    known = [each for each in dimensions if each.key in found]
    # The present number of raters too; the model needs at least two.
    numbers = sorted({*FEW_RATERS, raters} - {1})
    tables = [_sources(known, found), _designs(known, found, numbers)]
    return Section(gettext("Smallest differences for more raters or documents"), str(_ABOUT_SOURCES), tables)


def _sources(dimensions: Sequence[FrozenDimension], found: Found) -> Table:
    rows = []
    for each in dimensions:
        own = found[each.key]
        how = gettext(
            "Standard deviation in points (function crossed_differences); variances by {method}."
        ).format(method=own.method)
        parts = (own.variances.rater_by_system, own.variances.document_by_system, own.variances.residual)
        sizes = [Cell(own.raters), Cell(own.documents)]
        marked = [text(name_outlying_systems(own.outlying, source) or NO_SYSTEM) for source in VarianceSource]
        errors = [Cell(part**0.5, how=how) for part in parts]
        rows.append([text(each.name, key=each.key), *sizes, *errors, *marked])
    columns = [
        DIMENSION,
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("rater_by_system", gettext("raters by system")),
        Column("document_by_system", gettext("documents by system")),
        Column("residual", gettext("the rest")),
        Column("outlying_raters", gettext("raters differ more about"), ColumnKind.TEXT),
        Column("outlying_documents", gettext("documents differ more on"), ColumnKind.TEXT),
    ]
    says = gettext(
        "Standard deviations in points of the scale, common to all systems; a variance below 0 is cut at 0. "
        "The last columns name systems with a larger variance of raters’ or documents’ means (F test, "
        "p < .01 / systems)."
    )
    return Table("error-sources", gettext("Sources of the error of a difference"), columns, rows, says=says)


def _designs(dimensions: Sequence[FrozenDimension], found: Found, numbers: Sequence[int]) -> Table:
    rows = [
        [
            text(each.name, key=each.key),
            text(str(times * own.documents)),
            *_estimate_design(each, own, times, numbers),
        ]
        for each in dimensions
        for own in [found[each.key]]
        for times in TIMES
    ]
    columns = [
        DIMENSION,
        Column("documents", gettext("Documents"), ColumnKind.TEXT),
        *(
            Column(f"raters_{number}", gettext("{number} raters").format(number=number), decimals=2)
            for number in numbers
        ),
        Column("points", gettext("an eighth of the scale"), decimals=2),
        Column("raters_needed", gettext("raters that find it"), ColumnKind.COUNT),
    ]
    says = gettext(
        "Smallest difference in points that is found with a power of 80 %, corrected for all pairs of the "
        "dimension, if every rater rates every output. On a scale from 1 to 5, an eighth is half a point. "
        "One variance for all systems is assumed: a system that uses its own needs a larger difference."
    )
    title = gettext("Smallest detectable difference of systems")
    return Table("smallest-differences", title, columns, rows, heads=2, says=says)


def _estimate_design(
    dimension: FrozenDimension, own: CrossedDifferences, times: int, numbers: Sequence[int]
) -> Iterator[Cell]:
    documents, length = times * own.documents, dimension.scale_maximum - dimension.scale_minimum
    # Bonferroni over all pairs of systems.
    level = _LEVEL / (own.systems * (own.systems - 1) / 2)

    def smallest(raters: int) -> float:
        return own.variances.smallest_difference(
            own.systems, raters, documents, significance_level=level, power=_POWER
        )

    for number in numbers:
        value = smallest(number)
        yield Cell(value, how=str(_HOW_RESOLVED)) if value <= length else Cell(reason=str(_LARGER))
    enough = next((each for each in range(2, MOST_RATERS + 1) if smallest(each) <= length / 8), None)
    yield Cell(length / 8)
    yield Cell(enough, reason="" if enough else _TOO_MANY.format(most=MOST_RATERS), how=str(_HOW_RESOLVED))
