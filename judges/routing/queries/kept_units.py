"""How people agree with a judge on units that stay with it, and what sending the others to them corrects."""

from collections.abc import Iterable
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


@dataclass(frozen=True)
class PartOfUnits:
    """Units that go to people, or that stay, with how many are rated, and on how many the judge is wrong.

    Wrong: more than a point away from people's mean. expected_wrong: of all of them, if those without ratings
    are wrong as often as those with, on each dimension.
    """

    units: int
    rated: int
    wrong: int
    expected_wrong: float

    def __add__(self, other: "PartOfUnits") -> "PartOfUnits":
        return PartOfUnits(
            self.units + other.units,
            self.rated + other.rated,
            self.wrong + other.wrong,
            self.expected_wrong + other.expected_wrong,
        )


@dataclass(frozen=True)
class ExpectedGain:
    """What people are expected to correct, over the dimensions on which both parts have rated units."""

    sent: PartOfUnits
    kept: PartOfUnits


def expected_gain(parts: Iterable[tuple[Scores, npt.NDArray[np.bool_]]]) -> ExpectedGain | None:
    """Return it of the scores of each dimension with which items go to people, (items,).

    None where on no dimension people have rated units of both parts.
    """
    found: ExpectedGain | None = None
    for scores, goes in parts:
        sent, kept = _part(scores, goes), _part(scores, ~goes)
        if sent is not None and kept is not None:
            found = ExpectedGain(found.sent + sent, found.kept + kept) if found else ExpectedGain(sent, kept)
    return found


def _part(scores: Scores, chosen: npt.NDArray[np.bool_]) -> PartOfUnits | None:
    rated = chosen & ~np.isnan(scores.judge) & ~np.isnan(scores.human_means)
    if not rated.any():
        return None
    wrong = int(more_than_one_point(scores.judge[rated], scores.human_means[rated]).sum())
    units, seen = int(chosen.sum()), int(rated.sum())
    return PartOfUnits(units, seen, wrong, units * wrong / seen)
