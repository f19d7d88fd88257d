"""Agreement of Round I while it goes on, and whether it drifts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient
from annotate.agreement.drift import RaterDrift, alpha_by_third, rater_drift
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import Assignment, Rating, Round
from annotate.queries.agreement import alpha_with_interval
from annotate.queries.reliability import RatedItems, rated_items

_TIMED = np.dtype([("dimension", "i8"), ("item", "i8"), ("annotator", "i8"), ("at", "f8")])


@dataclass(frozen=True)
class AlphaSoFar:
    """A dimension's reliability on the ratings given until now."""

    dimension: FrozenDimension
    alpha: Coefficient


@dataclass(frozen=True)
class Drift:
    """A dimension's agreement, and each rater's difference from the others, by thirds of the time.

    `is_timed` is false where all ratings were recorded elsewhere, so that nobody knows when they were given.
    """

    dimension: FrozenDimension
    alphas: tuple[Coefficient, ...]
    raters: tuple[RaterDrift, ...]
    is_timed: bool


def alphas_so_far(round: Round) -> list[AlphaSoFar]:
    """Return alpha with its interval for each dimension. Two queries; the round needs its guideline."""
    return _alphas(round, rated_items(round))


def alphas_and_drift(round: Round) -> tuple[list[AlphaSoFar], list[Drift]]:
    """Return alpha and drift for each dimension. Three queries; the round needs its guideline."""
    rated = rated_items(round)
    timed = _timed(round)
    drifts = [_drift(dimension, rated[dimension.key], timed) for dimension in _dimensions(round)]
    return _alphas(round, rated), drifts


def _dimensions(round: Round) -> tuple[FrozenDimension, ...]:
    return FrozenGuideline.from_json(round.guideline.content).dimensions


def _alphas(round: Round, rated: Mapping[str, RatedItems]) -> list[AlphaSoFar]:
    return [
        AlphaSoFar(dimension, alpha_with_interval(rated[dimension.key].data, round, dimension, "units"))
        for dimension in _dimensions(round)
    ]


def _timed(round: Round) -> np.ndarray:
    ratings = (
        Rating.objects.filter(assignment__round=round, value__isnull=False)
        .exclude(assignment__plan=Assignment.Plan.IMPORTED)
        .values_list("dimension", "assignment__item", "assignment__annotator", "created_at")
    )
    rows = ((*key, at.timestamp()) for *key, at in ratings.iterator(20_000))
    return np.fromiter(rows, dtype=_TIMED)


def _drift(dimension: FrozenDimension, rated: RatedItems, timed: np.ndarray) -> Drift:
    known = np.isin(timed["annotator"], rated.annotators) & np.isin(timed["item"], rated.items)
    rows = timed[known & (timed["dimension"] == dimension.id)]
    times = np.full(rated.data.values.shape, np.nan)
    times[_positions(rated.annotators, rows["annotator"]), _positions(rated.items, rows["item"])] = rows["at"]
    return Drift(
        dimension=dimension,
        alphas=alpha_by_third(rated.data, times),
        raters=rater_drift(rated.data, times),
        is_timed=bool(len(rows)),
    )


def _positions(among: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    order = np.argsort(among)
    return order[np.searchsorted(among, wanted, sorter=order)]
