"""Sampling probabilities of the units that people rate, for estimates from a part of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.comparison import Scores
from agreement.reliability import RatedSample
from annotate.core.models import AssignedUnit, Round
from judges.results.queries.scores import Material

SENT, LEFT = "sent to people", "left to the judge"
# nothing of such units is known then, whatever this value is; the stratum contains the reason
_NEVER_DRAWN = 0.05


@dataclass(frozen=True)
class SampledUnits:
    """By dimension id, the probability of each item's unit in the sample, NaN if it was not sampled."""

    by_dimension: dict[int, npt.NDArray[np.float64]]

    def sample(self, scores: Scores, dimension: int, chosen: npt.NDArray[np.bool_]) -> RatedSample:
        """Return these items (a mask) as a sample: simple random if whole items were assigned.

        If units were sampled individually, the units sent with certainty are one stratum. The units left to
        the judge, of which some were audited, are the other.
        """
        human, judge = scores.human_means[chosen], scores.judge[chosen]
        everywhere = self.by_dimension.get(dimension)
        if everywhere is None:
            return RatedSample(judge=judge, human=human)
        drawn = everywhere[chosen]
        asked = ~np.isnan(drawn)
        # The (least) probability with which the judge's units among these items are
        # sampled. If none of these was sampled, use the probability of any items of the
        # dimension.
        shares = drawn[drawn < 1] if (drawn < 1).any() else everywhere[everywhere < 1]
        audit_share = float(shares.min()) if len(shares) else _NEVER_DRAWN
        chances = np.where(asked, drawn, np.where(np.isnan(human), audit_share, 1.0))
        return RatedSample(
            judge=judge,
            human=human,
            probabilities=chances,
            assigned=asked | ~np.isnan(human),
            strata=np.where(chances == 1, SENT, LEFT),
        )


def load_sampled_units(round: Round | None, material: Material) -> SampledUnits:
    """Return the units sampled individually up to a round. One query, none before a round."""
    if round is None:
        return SampledUnits({})
    asked = AssignedUnit.objects.filter(
        assignment__round__project=round.project_id, assignment__round__number__lte=round.number
    ).values_list("dimension", "assignment__item", "inclusion_probability")
    found: dict[int, npt.NDArray[np.float64]] = {}
    for dimension, item, probability in asked.order_by("pk"):
        chances = found.setdefault(dimension, np.full(len(material.items), np.nan))
        chances[np.searchsorted(material.items, item)] = probability
    return SampledUnits(found)
