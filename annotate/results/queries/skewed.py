"""Dimensions with nearly equal values, and the statistics needed to interpret alpha there."""

from collections.abc import Callable, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient
from agreement.bootstrap import LARGEST_MODAL_SHARE, modal_share
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.material import RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text

Measured = Callable[[RatedRound, FrozenDimension], Coefficient]
_SAYS = gettext_lazy(
    "More than {share:.0%} of the values are the same, so alpha depends on the few units "
    "that differ and may be near 0 even if raters agree on nearly all. Compare it with percent agreement "
    "and Gwet’s AC. The intervals of alpha and of kappas allow for rare values that this sample lacks."
)
_HOW = gettext_lazy(
    "Share of the most frequent value among units with two values or more (function modal_share)."
)


def skewed_tables(
    rounds: Sequence[RatedRound], alpha: Measured, percent_agreement: Measured, gwet_ac: Measured
) -> list[Table]:
    """Return a table of the dimensions on which nearly all values are the same, nothing without any."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(rated.label),
            Cell(share, count=rated.data(dimension).values.shape[1], how=str(_HOW)),
            *(figure(measured(rated, dimension)) for measured in (alpha, percent_agreement, gwet_ac)),
        ]
        for dimension in rounds[0].dimensions
        for rated in rounds
        if (share := modal_share(rated.data(dimension))) > LARGEST_MODAL_SHARE
    ]
    columns = [
        DIMENSION,
        Column("round", gettext("Round"), ColumnKind.TEXT),
        Column("modal_share", gettext("share of one value"), ColumnKind.SHARE),
        Column("alpha", gettext("alpha")),
        Column("percent_agreement", gettext("equal"), ColumnKind.SHARE),
        Column("gwet_ac", gettext("Gwet’s AC")),
    ]
    title = gettext("Where nearly all values are the same")
    return (
        [Table("skewed", title, columns, rows, heads=2, says=_SAYS.format(share=LARGEST_MODAL_SHARE))]
        if rows
        else []
    )
