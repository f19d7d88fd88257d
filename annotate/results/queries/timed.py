"""Ratings of a round with their times and positions in the order of work."""

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext_lazy

from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Rating, Round
from annotate.results.queries.reliability_data import RatedItems

_NUMBERS = ("dimension", "item", "annotator", "document", "position")
_TIMED = np.dtype([*((name, "i8") for name in _NUMBERS), ("value", "f8"), ("at", "f8")])
NAMES_OF_THIRDS = {
    "first_third": gettext_lazy("first third"),
    "middle": gettext_lazy("middle"),
    "last_third": gettext_lazy("last third"),
}
UNTIMED = gettext_lazy("These ratings were imported, and imported ratings have no times.")


def read_timed_ratings(round: Round) -> np.ndarray:
    """Return a round's values given in Concord, as records with these names. One query.

    position: in the rater's own order of work, over all documents. at: seconds since 1970.
    """
    assignment_fields = ("item", "annotator", "item__document", "position")
    ratings = (
        Rating.objects.filter(assignment__round=round, value__isnull=False)
        .exclude(assignment__plan=Assignment.Plan.IMPORTED)
        .values_list(
            "dimension", *(f"assignment__{name}" for name in assignment_fields), "value", "created_at"
        )
    )
    rows = ((*numbers, at.timestamp()) for *numbers, at in ratings.iterator(20_000))
    return np.fromiter(rows, dtype=_TIMED)


def timed_of(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> np.ndarray:
    known = np.isin(timed["annotator"], rated.annotators) & np.isin(timed["item"], rated.items)
    rows: np.ndarray = timed[known & (timed["dimension"] == dimension.id)]
    return rows


def times_of(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> FloatArray:
    """Return (raters, units): the time of each value of a dimension, NaN if unknown."""
    rows = timed_of(dimension, rated, timed)
    times = np.full(rated.data.values.shape, np.nan)
    times[_positions(rated.annotators, rows["annotator"]), _positions(rated.items, rows["item"])] = rows["at"]
    return times


def _positions(among: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    order = np.argsort(among)
    return order[np.searchsorted(among, wanted, sorter=order)]
