"""The agreement page: every coefficient of both rounds, as tables."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from annotate.agreement import (
    COEFFICIENTS,
    Coefficient,
    Resampling,
    between_raters,
    krippendorff_alpha,
    root_mean_squared_error,
    value_distributions,
)
from annotate.guideline import FrozenDimension
from annotate.models import MeasurementLevel, Project
from annotate.queries.agreement import Drawn
from annotate.queries.results.breakdown import breakdowns
from annotate.queries.results.material import RatedRound, items_of, rated_rounds
from annotate.queries.results.movement import movement
from annotate.results.page import Section
from annotate.results.table import Cell, Column, Kind, Table, figure, text

RELIABILITY = (
    "Raters worked alone, without seeing each other’s values: agreement here is reliability, and says what "
    "other raters of the same kind might give."
)
AFTER_DISCUSSION = (
    "Raters of disputed units had seen each other’s values and reasons: this is agreement after discussion, "
    "not reliability. It says that a panel came to terms, not that other raters would have come to the same."
)
_DIMENSION = Column("dimension", "Dimension", Kind.TEXT)
_OTHERS = ("percent_agreement", "within_one_agreement", "weighted_kappa", "gwet_ac", "icc_a1", "icc_ak")
_NAMES = {
    "percent_agreement": "equal",
    "within_one_agreement": "within one",
    "weighted_kappa": "weighted kappa",
    "gwet_ac": "Gwet’s AC",
    "icc_a1": "ICC(A,1)",
    "icc_ak": "ICC(A,k)",
}
_HOW_OFTEN = "How often each value was given, and its mean (function value_distributions)."
_SHARES = {"percent_agreement", "within_one_agreement"}


def agreement_sections(project: Project, drawn: Drawn) -> list[Section]:
    """Return all tables about agreement, none before Round I. Six queries at most."""
    rounds = rated_rounds(project, drawn)
    if not rounds:
        return []
    items = items_of(project)
    beside = Section("Both rounds", "", [_both_rounds(rounds), *movement(rounds)])
    return [
        beside,
        *(
            Section(
                each.label,
                RELIABILITY if each.round.is_independent else AFTER_DISCUSSION,
                [
                    _levels(each),
                    _coefficients(each),
                    _distributions(each),
                    *_pairs(each),
                    *breakdowns(each, items),
                ],
            )
            for each in rounds
        ),
    ]


def _both_rounds(rounds: Sequence[RatedRound]) -> Table:
    columns = [Column(f"round_{each.round.number}", each.label) for each in rounds]
    rows = [
        [text(dimension.name), *(figure(_alpha(each, dimension)) for each in rounds)]
        for dimension in rounds[0].dimensions
    ]
    return Table(
        "alpha",
        "Krippendorff’s alpha",
        [_DIMENSION, *columns],
        rows,
        says="At each dimension’s measurement level.",
        plot="intervals",
    )


def _alpha(rated: RatedRound, dimension: FrozenDimension) -> Coefficient:
    return krippendorff_alpha(
        rated.data(dimension), generator=rated.generator(dimension), resampling=rated.resampling
    )


def _levels(rated: RatedRound) -> Table:
    levels = [
        level
        for level in MeasurementLevel.values
        if level != MeasurementLevel.RATIO or all(each.scale_minimum >= 0 for each in rated.dimensions)
    ]
    rows = [
        [
            text(dimension.name),
            text(dimension.measurement_level),
            *(
                figure(
                    krippendorff_alpha(
                        rated.data(dimension).at_level(level),
                        generator=rated.generator(dimension),
                        resampling=rated.resampling,
                    )
                )
                for level in levels
            ),
        ]
        for dimension in rated.dimensions
    ]
    columns = [_DIMENSION, Column("own_level", "own level", Kind.TEXT), *(Column(x, x) for x in levels)]
    return Table(
        f"{rated.prefix}-alpha",
        f"Krippendorff’s alpha at several levels of measurement ({rated.label})",
        columns,
        rows,
        heads=2,
    )


def _coefficients(rated: RatedRound) -> Table:
    rows = [
        [
            text(dimension.name),
            *(
                figure(
                    COEFFICIENTS[name](
                        rated.data(dimension),
                        generator=rated.generator(dimension),
                        resampling=rated.resampling,
                    )
                )
                for name in _OTHERS
            ),
            figure(_rmse(rated, dimension), count=len(rated.data(dimension).ratings_per_unit)),
        ]
        for dimension in rated.dimensions
    ]
    columns = [
        _DIMENSION,
        *(Column(name, _NAMES[name], Kind.SHARE if name in _SHARES else Kind.NUMBER) for name in _OTHERS),
        Column("rmse", "RMSE"),
    ]
    return Table(
        f"{rated.prefix}-coefficients",
        f"Other coefficients ({rated.label})",
        columns,
        rows,
        says="RMSE is over all pairs of raters, in points of the scale.",
    )


def _rmse(rated: RatedRound, dimension: FrozenDimension) -> Coefficient:
    """Return the RMSE over all pairs of raters; what is resampled keeps all its pairs together."""
    data = rated.data(dimension)
    first, second = np.triu_indices(len(data.raters), 1)
    return root_mean_squared_error(
        data.values[first].ravel(),
        data.values[second].ravel(),
        documents=np.tile(data.documents if data.documents is not None else np.empty(0), len(first)),
        generator=rated.generator(dimension),
        resampling=Resampling(by="documents"),
    )


def _distributions(rated: RatedRound) -> Table:
    values = sorted({value for each in rated.dimensions for value in each.values})
    rows = [row for dimension in rated.dimensions for row in _distribution(rated, dimension, values)]
    columns = [
        _DIMENSION,
        Column("rater", "Rater", Kind.TEXT),
        *(Column(f"value_{value}", str(value), Kind.COUNT) for value in values),
        Column("mean", "mean", decimals=2),
    ]
    return Table(
        f"{rated.prefix}-distribution",
        f"How often each value was given ({rated.label})",
        columns,
        rows,
        heads=2,
        says="Means describe all values that were given, so they have no interval.",
        plot="distribution",
    )


def _distribution(rated: RatedRound, dimension: FrozenDimension, values: Iterable[int]) -> list[list[Cell]]:
    rows = []
    for each in value_distributions(rated.data(dimension)):
        counts = dict(zip((int(value) for value in each.values), each.counts, strict=True))
        mean = Cell(
            each.mean,
            count=each.ratings,
            reason="" if each.ratings else "There are no ratings yet.",
            how=_HOW_OFTEN,
        )
        own = [Cell(counts.get(value, ""), how=_HOW_OFTEN) for value in values]
        rows.append([text(dimension.name), text(each.rater or "all"), *own, mean])
    return rows


def _pairs(rated: RatedRound) -> list[Table]:
    """Return alpha and RMSE of every pair of raters."""
    kinds: list[tuple[str, str, str, Callable[[RatedRound, FrozenDimension], Iterable[Cell]]]] = [
        ("pairs", "Krippendorff’s alpha of every pair of raters", "heat", _alpha_of_pairs),
        ("rmse", "RMSE of every pair of raters, in points of the scale", "", _rmse_of_pairs),
    ]
    names = [f"{one} – {other}" for one, other in combinations(rated.raters, 2)]
    columns = [Column("pair", "Pair", Kind.TEXT), *rated.columns()]
    tables = []
    for key, title, plot, measure in kinds:
        by_dimension = [list(measure(rated, dimension)) for dimension in rated.dimensions]
        rows = [[text(name), *cells] for name, *cells in zip(names, *by_dimension, strict=True)]
        tables.append(Table(f"{rated.prefix}-{key}", f"{title} ({rated.label})", columns, rows, plot=plot))
    return tables


def _alpha_of_pairs(rated: RatedRound, dimension: FrozenDimension) -> Iterable[Cell]:
    data = rated.data(dimension)
    for pair in combinations(range(len(data.raters)), 2):
        yield figure(
            krippendorff_alpha(
                data.of_raters(pair), generator=rated.generator(dimension), resampling=rated.resampling
            )
        )


def _rmse_of_pairs(rated: RatedRound, dimension: FrozenDimension) -> Iterable[Cell]:
    compared = between_raters(
        rated.data(dimension),
        root_mean_squared_error,
        generator=rated.generator(dimension),
        resampling=rated.resampling,
    )
    return (figure(each.coefficient) for each in compared)
