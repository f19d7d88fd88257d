"""Differences between the values of disputed units in Round I and in Round II."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import value_ranges
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Dispute
from annotate.core.scale import normalize
from annotate.results.queries.material import RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

_SAYS = gettext_lazy(
    "Units that were disputed, by the largest minus the smallest value in Round I (rows) and at the end of "
    "Round II (columns)."
)
_HOW = gettext_lazy(
    "Counts of disputed units; value_ranges of the values that raters hold at the end of each round."
)


def movement(rounds: Sequence[RatedRound]) -> list[Table]:
    """Return the table of disputed units by spread before and after, none before Round II. One query."""
    if len(rounds) < 2:
        return []
    before, after = rounds[0], rounds[1]
    disputed = _disputed_units(before)
    moved = {
        dimension.name: Counter(_moves(before, after, dimension, disputed.get(dimension.id, set())))
        for dimension in before.dimensions
    }
    total: Counter[tuple[float, float]] = sum(moved.values(), Counter())
    if not total:
        return []
    found = {spread for move in total for spread in move}
    spreads = sorted({*found, *range(int(max(found)) + 1)})
    rows = [
        [text(name), text(str(first)), *(Cell(counts[first, last], how=str(_HOW)) for last in spreads)]
        for name, counts in [("all", total), *moved.items()]
        for first in sorted({first for first, _ in counts})
    ]
    columns = [
        DIMENSION,
        Column("apart_before", gettext("range in Round I"), ColumnKind.TEXT),
        *(
            Column(f"apart_{last}", gettext("range {last}").format(last=last), ColumnKind.COUNT)
            for last in spreads
        ),
    ]
    title = gettext("Disputes from Round I to Round II")
    return [Table("movement", title, columns, rows, heads=2, says=str(_SAYS), plot="movement")]


def _disputed_units(rated: RatedRound) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    disputes = Dispute.objects.filter(round=rated.round)
    for dimension, item in disputes.values_list("dimension", "item"):
        found.setdefault(dimension, set()).add(item)
    return found


def _moves(
    before: RatedRound, after: RatedRound, dimension: FrozenDimension, items: set[int]
) -> list[tuple[float, float]]:
    """Return the range of each disputed unit before and after; raters who are now excluded do not count."""
    wanted = np.array(sorted(items), dtype=np.int64)
    first, last = (_spreads(each, dimension, wanted) for each in (before, after))
    known = ~np.isnan(first) & ~np.isnan(last)
    return [(normalize(one), normalize(other)) for one, other in zip(first[known], last[known], strict=True)]


def _spreads(rated: RatedRound, dimension: FrozenDimension, items: np.ndarray) -> FloatArray:
    own = rated.rated[dimension.key]
    spreads = dict(zip(own.items.tolist(), value_ranges(own.data).tolist(), strict=True))
    return np.array([spreads.get(item, np.nan) for item in items.tolist()])
