"""Positions of dimensions in the calls of judges that cover several per call."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judges.core.models import Judge, Judgment


@dataclass(frozen=True, eq=False)
class CallPositions:
    """Positions of a dimension in the calls about items, each (items,).

    places: 0 for the first position, NaN if the call had no other dimensions. before: the id of the dimension
    before it, 0 if there is none.
    """

    positions: npt.NDArray[np.float64]
    before: npt.NDArray[np.int64]


def load_call_positions(
    judges: Sequence[Judge], items: Sequence[int]
) -> Mapping[tuple[int, int], CallPositions]:
    """Return positions by judge and dimension id; none for judges with one dimension per call. One query.

    items: ids in the order of the result.
    """
    index = {pk: index for index, pk in enumerate(items)}
    found: defaultdict[tuple[int, int], CallPositions] = defaultdict(
        lambda: CallPositions(np.full(len(items), np.nan), np.zeros(len(items), dtype=np.int64))
    )
    done = Judgment.objects.filter(judge__in=judges, other__isnull=True, status=Judgment.Status.DONE)
    # Rotated orders depend on the item, so all samples of an item have the same.
    calls = done.exclude(asked_dimensions=[]).order_by("judge", "item")
    for judge, item, asked in calls.values_list("judge", "item", "asked_dimensions").distinct():
        for position, (before, dimension) in enumerate(zip([0, *asked], asked, strict=False)):
            own = found[judge, dimension]
            own.positions[index[item]], own.before[index[item]] = position, before
    return dict(found)
