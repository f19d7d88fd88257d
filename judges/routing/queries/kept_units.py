"""How people agree with a judge on units that stay with it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient
from annotate.core.guideline import FrozenDimension
from judges.comparison import Scores, alpha_with_people, correlation_called, correlation_with_humans
from judges.reliability import another_point, more_than_one_point


@dataclass(frozen=True)
class KeptAgreement:
    """People beside the judge on the `rated` of some units of one dimension.

    alpha: of the judge with people's mean; panel: of people among themselves on the same units. exact: the
    share on which the judge gives the point nearest to people's mean; within_one: at most a point away.
    """

    dimension: FrozenDimension
    units: int
    rated: int
    alpha: Coefficient
    panel: Coefficient
    spearman: Coefficient
    exact: float
    within_one: float


def kept_agreement(
    dimension: FrozenDimension, scores: Scores, chosen: npt.NDArray[np.bool_]
) -> KeptAgreement | None:
    """Return the agreement on the chosen items (items,), None where nobody rated any that is judged."""
    kept = scores.of_items(chosen)
    both = ~np.isnan(kept.judge) & ~np.isnan(kept.human_means)
    if not both.any():
        return None
    rated = kept.of_items(both)
    alphas = alpha_with_people(rated, measurement_level=dimension.measurement_level)
    return KeptAgreement(
        dimension=dimension,
        units=int(chosen.sum()),
        rated=int(both.sum()),
        alpha=alphas.with_mean,
        panel=alphas.among_people,
        spearman=correlation_with_humans(rated, correlation_called("spearman", named=dimension.is_named)),
        exact=1 - float(np.mean(another_point(rated.judge, rated.human_means))),
        within_one=1 - float(np.mean(more_than_one_point(rated.judge, rated.human_means))),
    )
