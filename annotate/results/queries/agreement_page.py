"""The agreement page: every coefficient of both rounds, as tables."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_lazy

from agreement import (
    COEFFICIENTS,
    Coefficient,
    PairMeasure,
    Resampling,
    between_raters,
    checked_alpha,
    kendall_tau_b,
    root_mean_squared_error,
    spearman,
    value_distributions,
    with_mean,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import MeasurementLevelChoices, Project, Rating, Round
from annotate.core.scale import normalize
from annotate.disputes.queries.activity import DisputeCounts, dispute_counts_by_dimension
from annotate.results.queries.agreement_tables import breakdowns, latent_tables, movement, skewed_tables
from annotate.results.queries.material import Drawn, ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.queries.splits import split_tables
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text


@dataclass
class WithoutValue:
    """One dimension's answers of a round without a value.

    `apart`: units to which the dimension does not apply for one rater, and which another rater gave a value.
    """

    not_applicable: int = 0
    cannot_rate: int = 0
    apart: int = 0


def answers_without_value(round: Round) -> Mapping[int, WithoutValue]:
    """Return the counts by the dimension's id, of dimensions that have such answers. One query."""
    units = (
        Rating.objects.filter(assignment__round=round)
        .values_list("dimension", "assignment__item")
        .annotate(
            rated=Count("pk", filter=Q(value__isnull=False)),
            cannot=Count("pk", filter=Q(cannot_rate=True)),
            away=Count("pk", filter=Q(not_applicable=True)),
        )
        .filter(Q(cannot__gt=0) | Q(away__gt=0))
        .order_by()
    )
    found: defaultdict[int, WithoutValue] = defaultdict(WithoutValue)
    for dimension, _, rated, cannot, away in units:
        found[dimension].not_applicable += away
        found[dimension].cannot_rate += cannot
        found[dimension].apart += rated > 0 and away > 0
    return found


RELIABILITY = gettext_lazy(
    "Raters worked alone, without seeing each other’s values. Agreement here is reliability: it shows what "
    "to expect from other raters of the same kind."
)
AFTER_DISCUSSION = gettext_lazy(
    "Raters of disputed units had seen each other’s values and reasons: this is agreement after discussion, "
    "not reliability. It shows that this panel agreed, not that another panel would."
)
_NAMES = {
    "percent_agreement": gettext_lazy("equal"),
    "within_one_agreement": gettext_lazy("within one"),
    "weighted_kappa": gettext_lazy("weighted kappa"),
    "fleiss_kappa": gettext_lazy("Fleiss’ kappa"),
    "gwet_ac": gettext_lazy("Gwet’s AC"),
    "icc_a1": gettext_lazy("ICC(A,1)"),
    "icc_ak": gettext_lazy("ICC(A,k)"),
    "icc_ck": gettext_lazy("ICC(C,k)"),
    "kendall_w": gettext_lazy("Kendall’s W"),
}
# McGraw and Wong's interval from the F distribution is valid here. Resampling units is not, because it
# excludes raters (docs/reference/statistics.md).
_WITH_OWN_INTERVAL = {"icc_a1", "icc_ak", "icc_ck"}
_HOW_OFTEN = gettext_lazy("Counts of each value, and their mean (function value_distributions).")
_SHARES = {"percent_agreement", "within_one_agreement"}
_NOT_OPENED = gettext_lazy("Round II has not been opened.")
_NOT_ON_THIS_SCALE = gettext_lazy("A ratio needs a scale without negative values.")


def agreement_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return all tables about agreement, none before Round I. Up to ten queries."""
    drawn: Drawn = "units" if chosen.get("drawn") == "units" else "documents"
    rounds = rated_rounds(project, drawn)
    if not rounds:
        return []
    items, first = items_of(project), rounds[0].round
    disputes, without_value = dispute_counts_by_dimension(project), answers_without_value(first)
    # Tables that compare both rounds, or are about Round I alone.
    together = [
        _rounds(rounds, disputes),
        _both_rounds(rounds),
        *skewed_tables(
            rounds,
            alpha_of,
            lambda rated, dimension: _coefficient(rated, dimension, "percent_agreement"),
            lambda rated, dimension: _coefficient(rated, dimension, "gwet_ac"),
        ),
        *movement(rounds),
        *split_tables(rounds, items),
        *_table_of_missing_values(rounds[0], without_value),
    ]
    says = gettext("Round I is still open: values may change.") if first.is_open else ""
    return [
        Section(gettext("Both rounds"), says, together),
        *(_build_round_section(each, items, disputes.values()) for each in rounds),
    ]


def alpha_of(rated: RatedRound, dimension: FrozenDimension) -> Coefficient:
    return _alpha_at(rated, dimension, dimension.measurement_level)


def _alpha_at(rated: RatedRound, dimension: FrozenDimension, level: str) -> Coefficient:
    compute = partial(checked_alpha, generator=rated.stream(dimension), resampling=rated.resampling)
    return rated.once(dimension, ("alpha at", level), lambda: compute(rated.data(dimension).at_level(level)))


def _build_round_section(
    rated: RatedRound, items: ItemOrigins, disputes: Collection[DisputeCounts]
) -> Section:
    says = str(RELIABILITY if rated.round.is_independent else AFTER_DISCUSSION)
    unresolved = sum(each.unresolved for each in disputes)
    if unresolved and not rated.round.is_independent:
        still = gettext(
            "{unresolved:,} of {total:,} disputes are unresolved: the values of these units still differ."
        )
        says += f" {still.format(unresolved=unresolved, total=sum(each.total for each in disputes))}"
    tables = [_levels(rated), _coefficients(rated), _distributions(rated), *_pairs(rated)]
    return Section(rated.label, says, [*tables, *latent_tables(rated), *breakdowns(rated, items)])


def _rounds(rounds: Sequence[RatedRound], disputes: Mapping[int, DisputeCounts]) -> Table:
    names = {"settled": gettext("settled"), "adjudicated": gettext("adjudicated")}
    names |= {"irresolvable": gettext("irresolvable by discussion"), "left_open": gettext("left open")}
    columns = [
        DIMENSION,
        Column("level", gettext("level"), ColumnKind.TEXT),
        *_columns_of(1, gettext("Round I, reliability: alpha")),
        Column("opened", gettext("disputes opened"), ColumnKind.COUNT),
        *(Column(key, name, ColumnKind.COUNT) for key, name in names.items()),
        *_columns_of(2, gettext("Round II, agreement after discussion: alpha")),
    ]
    rows = []
    for dimension in rounds[0].dimensions:
        became = disputes.get(dimension.id, DisputeCounts())
        first, *second = (_measure_dimension(each, dimension) for each in rounds)
        rows.append(
            [
                text(dimension.name, key=dimension.key),
                text(dimension.measurement_level),
                *first,
                Cell(became.total),
                *(Cell(getattr(became, key)) for key in names),
                # The four columns of Round II, of which `_measure_dimension` gives one list.
                *(second[0] if second else [Cell(reason=str(_NOT_OPENED))] * 4),
            ]
        )
    title = gettext("Reliability, disputes and agreement after discussion")
    says = gettext(
        "Krippendorff’s alpha at each dimension’s measurement level, on units with values from two raters."
    )
    return Table("rounds", title, columns, rows, heads=2, says=says)


def _columns_of(number: int, name: str) -> list[Column]:
    return [
        Column(f"round_{number}_alpha", name),
        Column(f"round_{number}_within_one", gettext("within one"), ColumnKind.SHARE),
        Column(f"round_{number}_raters", gettext("raters"), ColumnKind.COUNT),
        Column(f"round_{number}_values", gettext("values"), ColumnKind.COUNT),
    ]


def _measure_dimension(rated: RatedRound, dimension: FrozenDimension) -> list[Cell]:
    alpha = alpha_of(rated, dimension)
    return [
        figure(alpha),
        figure(_coefficient(rated, dimension, "within_one_agreement")),
        Cell(alpha.counts.raters),
        Cell(alpha.counts.pairable_values),
    ]


def _both_rounds(rounds: Sequence[RatedRound]) -> Table:
    columns = [DIMENSION, *(Column(f"round_{each.round.number}", each.label) for each in rounds)]
    rows = [
        [text(dimension.name, key=dimension.key), *(figure(alpha_of(each, dimension)) for each in rounds)]
        for dimension in rounds[0].dimensions
    ]
    title = gettext("Krippendorff’s alpha")
    says = gettext("At each dimension’s measurement level.")
    return Table("alpha", title, columns, rows, says=says, plot="intervals")


def _table_of_missing_values(rated: RatedRound, found: Mapping[int, WithoutValue]) -> list[Table]:
    """Return the number of answers of Round I without a value; empty if all have one."""
    rows = [
        [text(each.name, key=each.key), Cell(own.not_applicable), Cell(own.cannot_rate), Cell(own.apart)]
        for each in rated.dimensions
        if (own := found.get(each.id))
    ]
    columns = [
        DIMENSION,
        Column("not_applicable", gettext("does not apply"), ColumnKind.COUNT),
        Column("cannot_rate", gettext("cannot rate"), ColumnKind.COUNT),
        Column("apart", gettext("not applicable for one rater, rated by another"), ColumnKind.COUNT),
    ]
    says = gettext("Coefficients treat answers of Round I without a value as missing.")
    title = gettext("Answers without a value")
    return [Table("without-value", title, columns, rows, says=says)] if rows else []


def _levels(rated: RatedRound) -> Table:
    # The ratio metric divides by the sum of two values, which may be 0 if some are negative.
    def has_level(dimension: FrozenDimension, level: str) -> bool:
        return level != MeasurementLevelChoices.RATIO or dimension.scale_minimum >= 0

    levels = [
        level
        for level in MeasurementLevelChoices.values
        if any(has_level(dimension, level) for dimension in rated.dimensions)
    ]
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(dimension.measurement_level),
            *(
                figure(_alpha_at(rated, dimension, level))
                if has_level(dimension, level)
                else Cell(reason=str(_NOT_ON_THIS_SCALE))
                for level in levels
            ),
        ]
        for dimension in rated.dimensions
    ]
    own_level = Column("own_level", gettext("own level"), ColumnKind.TEXT)
    columns = [DIMENSION, own_level, *(Column(each, each) for each in levels)]
    title = gettext("Krippendorff’s alpha at several levels of measurement ({round})")
    return Table(f"{rated.prefix}-alpha", title.format(round=rated.label), columns, rows, heads=2)


def _coefficients(rated: RatedRound) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            *(figure(_coefficient(rated, dimension, name)) for name in _NAMES),
            figure(_rmse(rated, dimension), count=len(rated.data(dimension).ratings_per_unit)),
        ]
        for dimension in rated.dimensions
    ]
    columns = [
        DIMENSION,
        *(
            Column(name, str(said), ColumnKind.SHARE if name in _SHARES else ColumnKind.NUMBER)
            for name, said in _NAMES.items()
        ),
        Column("rmse", gettext("RMSE")),
    ]
    title = gettext("Other coefficients ({round})").format(round=rated.label)
    says = gettext("The files also have RMSE over all pairs of raters, in points of the scale.")
    return Table(f"{rated.prefix}-coefficients", title, columns, rows, says=says)


def _coefficient(rated: RatedRound, dimension: FrozenDimension, name: str) -> Coefficient:
    drawn_with = None if name in _WITH_OWN_INTERVAL else rated.stream(dimension)
    compute = partial(COEFFICIENTS[name], generator=drawn_with, resampling=rated.resampling)
    return rated.once(dimension, ("coefficient", name), lambda: compute(rated.data(dimension)))


def _rmse(rated: RatedRound, dimension: FrozenDimension) -> Coefficient:
    """Return the RMSE over all pairs of raters; a resampled unit or document keeps all its pairs together."""
    data = rated.data(dimension)
    first, second = np.triu_indices(len(data.raters), 1)
    # Pairs of raters repeat every unit, so an interval over single values would be too narrow: the pairs of
    # one unit are the "document" of this computation.
    noun, together = "units", np.arange(data.values.shape[1])
    if rated.drawn == "documents" and data.documents is not None:
        noun, together = "documents", data.documents
    return root_mean_squared_error(
        data.values[first].ravel(),
        data.values[second].ravel(),
        # One entry for each pair and unit, in the order of `ravel`.
        documents=np.tile(together, len(first)),
        generator=rated.stream(dimension),
        resampling=Resampling(by="documents", noun=noun),
    )


def _distributions(rated: RatedRound) -> Table:
    values = sorted({value for each in rated.dimensions for value in each.values})
    rows = []
    for dimension in rated.dimensions:
        for each in value_distributions(rated.data(dimension)):
            # Dimensions with other scales share the table, so a value may have no count here.
            counts = dict(zip(map(normalize, each.values), each.counts, strict=True))
            heads = [text(dimension.name, key=dimension.key), text(each.rater or gettext("all"))]
            own = [Cell(counts.get(value, ""), how=str(_HOW_OFTEN)) for value in values]
            reason = "" if each.ratings else gettext("There are no ratings yet.")
            mean = Cell(each.mean, count=each.ratings, reason=reason, how=str(_HOW_OFTEN))
            rows.append([*heads, *own, mean])
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        *(Column(f"value_{value}", str(value), ColumnKind.COUNT) for value in values),
        Column("mean", gettext("mean"), decimals=2),
    ]
    key, title = f"{rated.prefix}-distribution", gettext("Values given ({round})").format(round=rated.label)
    says = gettext("Means describe all values, so they have no interval.")
    return Table(key, title, columns, rows, heads=2, says=says, plot="distribution")


def _pairs(rated: RatedRound) -> list[Table]:
    """Return alpha, RMSE and rank correlations of every pair of raters, and of each rater with the mean."""
    names = [f"{one} – {other}" for one, other in combinations(rated.raters, 2)]
    with_means = [*names, *(gettext("mean – {rater}").format(rater=rater) for rater in rated.raters)]
    pooled = partial(_pair_cells, rated, measure=root_mean_squared_error)
    rmse, rho, tau = (
        partial(_pair_cells, rated, measure=each, within=True)
        for each in (root_mean_squared_error, spearman, kendall_tau_b)
    )
    # By the key of each table: its title, and the function that computes its cells.
    kinds: dict[str, tuple[str, Callable[[FrozenDimension], Sequence[Cell]]]] = {
        "pairs": (gettext("Krippendorff’s alpha of every pair of raters"), partial(_alpha_of_pairs, rated)),
        "rmse": (
            gettext("Pooled RMSE of every pair of raters, and of each with the mean, over all items"),
            pooled,
        ),
        # Smaller than the pooled one, since a root is concave: SummEval-OP's table 7 has this.
        "rmse-by-document": (
            gettext("RMSE of every pair of raters, and of each with the mean, mean within documents"),
            rmse,
        ),
        "spearman": (
            gettext("Spearman of every pair of raters, and of each with the mean, mean within documents"),
            rho,
        ),
        "kendall": (
            gettext(
                "Kendall’s tau-b of every pair of raters, and of each with the mean, mean within documents"
            ),
            tau,
        ),
    }
    columns = [Column("pair", gettext("Pair"), ColumnKind.TEXT), *rated.columns()]
    tables = []
    for key, (title, measured) in kinds.items():
        by_dimension = [
            # Dimensions without a change in Round II share their data with Round I, and so these costly
            # values.
            rated.once(dimension, ("pairs", key), partial(measured, dimension))
            for dimension in rated.dimensions
        ]
        # Alpha is of pairs alone; the other measures also compare each rater with the mean.
        pairs, plot = (names, "heat") if key == "pairs" else (with_means, "")
        rows = [[text(name), *cells] for name, *cells in zip(pairs, *by_dimension, strict=True)]
        tables.append(Table(f"{rated.prefix}-{key}", f"{title} ({rated.label})", columns, rows, plot=plot))
    return tables


def _alpha_of_pairs(rated: RatedRound, dimension: FrozenDimension) -> Sequence[Cell]:
    data = rated.data(dimension)
    return [
        figure(
            checked_alpha(
                data.of_raters(pair),
                # Each pair has its own random stream, so its interval does not depend on the other raters.
                generator=rated.stream(dimension, *(data.raters[rater] for rater in pair)),
                resampling=rated.resampling,
            )
        )
        for pair in combinations(range(len(data.raters)), 2)
    ]


def _pair_cells(
    rated: RatedRound, dimension: FrozenDimension, *, measure: PairMeasure, within: bool = False
) -> Sequence[Cell]:
    """Return a measure of every pair of raters, then of the mean of all with each; some within documents."""
    data = rated.data(dimension)
    documents = data.documents if within else None
    plan = Resampling(by="documents") if within else rated.resampling
    return [
        figure(each.coefficient)
        for compare in (between_raters, with_mean)
        for each in compare(
            data, measure, within=documents, generator=rated.stream(dimension), resampling=plan
        )
    ]
