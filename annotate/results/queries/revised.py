"""Alpha of the independent values of Round I beside alpha of those that raters revised."""

from collections.abc import Callable

import numpy as np

from annotate.agreement import Coefficient, alpha_difference
from annotate.core.guideline import FrozenDimension
from annotate.results.page import Section
from annotate.results.queries.material import RatedRound
from annotate.results.queries.reliability_data import RatedItems, rated_items
from annotate.results.table import Cell, Column, Kind, Table, figure, text

SAYS = (
    "At the end of a document raters saw their own values of all its items side by side and could revise "
    "them. The independent values are primary: all other figures take them. Raters still worked alone."
)
_HOW = "How many values differ from the independent ones (of counted raters)."


def revised_section(
    rated: RatedRound, alpha: Callable[[RatedRound, FrozenDimension], Coefficient]
) -> Section:
    """Return a table of both alphas by dimension, given Round I and what computes alpha. Two queries."""
    after = RatedRound(rated.round, rated.dimensions, rated_items(rated.round, revised=True), rated.drawn)
    rows = [
        [
            text(dimension.name, key=dimension.key),
            figure(alpha(rated, dimension)),
            figure(alpha(after, dimension)),
            figure(_difference(rated, after, dimension)),
            Cell(_count_revised(rated.rated[dimension.key], after.rated[dimension.key]), how=_HOW),
            Cell(int(np.sum(rated.data(dimension).ratings_per_unit)), how=_HOW),
        ]
        for dimension in rated.dimensions
    ]
    columns = [
        Column("dimension", "Dimension", Kind.TEXT),
        Column("alpha_independent", "alpha, independent"),
        Column("alpha_revised", "alpha, revised"),
        Column("difference", "difference"),
        Column("revised", "values revised", Kind.COUNT),
        Column("values", "of", Kind.COUNT),
    ]
    says = "The difference is revised minus independent, with an interval over the same resamples."
    table = Table("revised", "Krippendorff’s alpha before and after the revision", columns, rows, says=says)
    return Section("With revised values", SAYS, [table], "revised")


def _difference(before: RatedRound, after: RatedRound, dimension: FrozenDimension) -> Coefficient:
    return alpha_difference(
        before.data(dimension),
        after.data(dimension),
        generator=before.stream(dimension),
        resampling=before.resampling,
    )


def _count_revised(before: RatedItems, after: RatedItems) -> int:
    rated = ~np.isnan(before.data.values)
    return int(np.sum(before.data.values[rated] != after.data.values[rated]))
