"""Changes of a routed policy due to new judgments; shown first, and applied only on request."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from annotate.core.models import AssignedUnit
from annotate.rating.queries.assigned import Unit
from judges.core.models import RoutedUnit, RoutingPolicy
from judges.routing.queries.preview import RoutingPlan
from judges.routing.queries.units import PlannedUnit
from judges.routing.queries.verdicts import PolicyVerdict


@dataclass(frozen=True)
class RoutingProposal:
    """The present decisions of a routed policy.

    add: units to send to people. change: units that are with people already, for another reason now. drop:
    unstarted units that would no longer be sent. begun: the number of started units that would no longer be
    sent, or not with certainty, and stay.
    """

    add: Sequence[PlannedUnit]
    change: Sequence[PlannedUnit]
    drop: Sequence[RoutedUnit]
    begun: int

    @property
    def is_empty(self) -> bool:
        """Return True if following it would change nothing."""
        return not (self.add or self.change or self.drop)

    @cached_property
    def digest(self) -> str:
        """Return a digest that is equal exactly for proposals with the same changes."""
        parts = [
            sorted((*unit.unit, unit.why, unit.inclusion_probability) for unit in (*self.add, *self.change)),
            sorted(unit.pk for unit in self.drop),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def proposal_of(policy: RoutingPolicy, plan: RoutingPlan, verdict: PolicyVerdict) -> RoutingProposal:
    """Return the changes of a routed policy to become `plan`. Two queries.

    verdict: on the policy as routed. No unit returns to a judge that must not decide it.
    """
    refused = {each.dimension.id for each in verdict.dimensions if each.verdict.refuses or verdict.audit}
    there = {(unit.item_id, unit.dimension_id): unit for unit in policy.units.all()}
    wanted = {unit.unit: unit for unit in plan.units}
    begun = _begun_units(policy)
    moved = {
        unit
        for unit, each in wanted.items()
        if unit in there and (each.inclusion_probability != there[unit].inclusion_probability)
    }
    lowered = {
        unit
        for unit in moved & begun
        if wanted[unit].inclusion_probability < there[unit].inclusion_probability
    }
    gone = there.keys() - wanted.keys()
    return RoutingProposal(
        add=[each for unit, each in wanted.items() if unit not in there],
        change=[wanted[unit] for unit in sorted(moved - lowered)],
        drop=[there[unit] for unit in sorted(gone - begun) if there[unit].dimension_id not in refused],
        begun=len(lowered) + len(gone & begun),
    )


def _begun_units(policy: RoutingPolicy) -> set[Unit]:
    begun = AssignedUnit.objects.filter(
        assignment__round=policy.round_id,
        assignment__origin=policy.origin,
        assignment__started_at__isnull=False,
    )
    return set(begun.values_list("assignment__item", "dimension"))
