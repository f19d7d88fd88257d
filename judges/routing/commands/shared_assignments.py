"""Assignments shared by a round's calibrations and policy, with one probability per unit."""

from collections import defaultdict

import numpy as np
from django.db.models import Avg

from annotate.core.database import step
from annotate.core.models import Assignment, Round
from annotate.rating.commands.units import WantedUnit, ask_for_units, change_probabilities
from annotate.rating.queries.assigned import Unit
from judges.core.models import Calibration, RoutedUnit, RoutingPolicy


def ask_again(round: Round, *, besides: str = "") -> None:
    """Assign missing units of samples and the policy, except for the origin `besides`.

    An assignment serves all origins that want its units, so an origin that withdraws its assignments may
    leave others without raters. The caller holds the lock on the project.
    """
    drawn = Calibration.objects.filter(project=round.project_id, status=Calibration.Status.DRAWN)
    routed = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED)
    everybody: list[Calibration | RoutingPolicy] = [*drawn, *routed]
    # All of them, not only the origins that shared an assignment with `besides`: repeated requests add
    # nothing, and an assignment's origin is only the first one.
    for asking in everybody:
        if asking.origin == besides:
            continue
        units = asking.units.order_by("pk").values_list("item", "dimension", "inclusion_probability")
        ask_for_units(
            round=round,
            units=[WantedUnit(item, dimension, chance or 1.0) for item, dimension, chance in units],
            raters=asking.raters,
            origin=asking.origin,
            seed=asking.seed,
        )
    with step():
        settle_probabilities(round)


def ask_for_routed_units(round: Round) -> bool:
    """Assign the units that the round's policy sends to people; return True if there is a policy."""
    is_routed = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED).exists()
    if is_routed:
        ask_again(round)
    return is_routed


def settle_probabilities(round: Round) -> None:
    """Store each sampled unit's total probability over the calibrations and the policy.

    A unit that goes to people with certainty has 1, whatever sampled it before. A unit that stays with the
    judge was missed by all samples, with the product of their probabilities of missing it. This product is
    the same for all staying units of a system on a dimension. Without a calibration that assigned units
    nothing changes. The caller holds the lock on the project.
    """
    # Those whose assignments in the round are not all withdrawn.
    origins = set(Assignment.objects.filter(round=round, partial=True).values_list("origin", flat=True))
    every = Calibration.objects.filter(project=round.project_id)
    calibrations = [each for each in every if each.origin in origins]
    if not calibrations:
        return
    # By dimension, the probability that none of the calibrations samples a unit.
    missed: defaultdict[int, float] = defaultdict(lambda: 1.0)
    for calibration in calibrations:
        drawn = calibration.units.order_by().values_list("dimension", "inclusion_probability").distinct()
        for dimension, chance in drawn:
            missed[dimension] *= 1 - (chance or 0.0)
    policy = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED).first()
    # A calibration may have sampled a unit that the policy's audit did not. The unit still had the audit's
    # probability of its system on the dimension: estimates without it would weigh such units too much.
    routed: dict[Unit, float] = {}
    usual, shares = 0.0, {}
    if policy is not None:
        rows = policy.units.values_list("item", "dimension", "inclusion_probability")
        routed = {(item, dimension): chance for item, dimension, chance in rows}
        audited = policy.units.filter(why=RoutedUnit.Why.AUDIT).order_by()
        means = audited.values_list("item__system", "dimension").annotate(Avg("inclusion_probability"))
        usual, shares = policy.audit_share, {(system, key): share for system, key, share in means}
    for calibration in calibrations:
        units = calibration.units.values_list("item", "dimension", "item__system")
        chances = {
            (item, dimension): _either(
                routed.get((item, dimension), shares.get((system, dimension), usual)), missed[dimension]
            )
            for item, dimension, system in units
        }
        change_probabilities(round=round, units=chances, origin=calibration.origin)
    if policy is not None:
        chances = {unit: _either(chance, missed[unit[1]]) for unit, chance in routed.items()}
        change_probabilities(round=round, units=chances, origin=policy.origin)


def _either(chance: float, missed: float) -> float:
    # Rounded: the same factors in another order must not look like two probabilities to an audit.
    return float(np.round(1 - (1 - chance) * missed, 12))
