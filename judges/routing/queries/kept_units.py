"""How people agree with a judge on units that stay with it, and what sending the others to them corrects."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement import Coefficient
from agreement.comparison import Scores, alpha_with_people, correlation_called, correlation_with_humans
from agreement.reliability import KnownErrors, Loss, another_point, more_than_one_point
from annotate.core.guideline import FrozenDimension


@dataclass(frozen=True)
class KeptAgreement:
    """People beside the judge on the `rated` of some units of one dimension.

    among_people: alpha of the people who rated these units. with_judge: the same with the judge as one more
    rater. exact: the share on which the judge gives the point nearest to people's mean. within_one: the share
    on which it is a point away or less.
    """

    dimension: FrozenDimension
    units: int
    rated: int
    among_people: Coefficient
    with_judge: Coefficient
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
        among_people=alphas.among_people,
        with_judge=alphas.with_judge,
        spearman=correlation_with_humans(rated, correlation_called("spearman", named=dimension.is_named)),
        exact=1 - float(np.mean(another_point(rated.judge, rated.human_means))),
        within_one=1 - float(np.mean(more_than_one_point(rated.judge, rated.human_means))),
    )


@dataclass(frozen=True)
class PartOfUnits:
    """Units that go to people, or that stay, with how many are rated, and on how many the judge is wrong.

    Wrong: more than a point away from people's mean, or what a calibration calls wrong. expected_wrong: of
    all of them, if those without ratings are wrong as often as those with, on each dimension.
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

    def errors(self, accepted: float) -> KnownErrors:
        """Return the errors among the rated units, with the share that is accepted."""
        return KnownErrors(self.rated, self.wrong, accepted)


@dataclass(frozen=True)
class ExpectedGain:
    """What people are expected to correct, and what stays wrong.

    Each part counts the dimensions on which people have rated units of it.
    """

    sent: PartOfUnits
    kept: PartOfUnits


def expected_gain(
    sent: Iterable[PartOfUnits | None], kept: Iterable[PartOfUnits | None]
) -> ExpectedGain | None:
    """Return the gain over both parts by dimension; None without ratings."""
    nothing = PartOfUnits(0, 0, 0, 0.0)
    gain = ExpectedGain(
        *(sum((part for part in parts if part is not None), nothing) for parts in (sent, kept))
    )
    return gain if gain.sent.rated or gain.kept.rated else None


def part_of(
    scores: Scores, chosen: npt.NDArray[np.bool_], loss: Loss = more_than_one_point
) -> PartOfUnits | None:
    """Return the errors of the judge on the chosen items (items,); None without ratings of them."""
    rated = chosen & ~np.isnan(scores.judge) & ~np.isnan(scores.human_means)
    if not rated.any():
        return None
    wrong = int(loss(scores.judge[rated], scores.human_means[rated]).sum())
    units, seen = int(chosen.sum()), int(rated.sum())
    return PartOfUnits(units, seen, wrong, units * wrong / seen)
