"""Places that a round's calibrations and policy share: kept for whoever needs them, with one probability."""

from collections import defaultdict

import numpy as np
from django.db.models import Avg

from annotate.core.long_writes import step
from annotate.core.models import Assignment, Round
from annotate.rating.commands.units import WantedUnit, ask_for_units, change_probabilities
from annotate.rating.queries.assigned import Unit
from judges.core.models import Calibration, RoutedUnit, RoutingPolicy


def ask_again(round: Round, *, besides: str = "") -> None:
    """Ask for what drawn samples and the policy need and lack, but not for the origin `besides`.

    An assignment serves all origins that want its units, so an origin that withdraws its assignments may
    leave others without raters. The caller holds the project.
    """
    drawn = Calibration.objects.filter(project=round.project_id, status=Calibration.Status.DRAWN)
    routed = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED)
    everybody: list[Calibration | RoutingPolicy] = [*drawn, *routed]
    # All of them, and not only who shared a place with `besides`: asking twice adds nothing, and a place's
    # origin names only who asked first.
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
    """Ask people for what the round's policy sends to them; return whether there is a policy."""
    is_routed = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED).exists()
    if is_routed:
        ask_again(round)
    return is_routed


def settle_probabilities(round: Round) -> None:
    """Store for each unit that calibrations and the policy asked for its probability over all of them.

    A unit that goes to people for certain has 1, whatever drew it before. One that stays with the judge was
    missed by all draws with the product of their misses, which is the same for all of a system that stay on a
    dimension.
    Without a calibration that asked people nothing changes. The caller holds the project's lock.
    """
    calibrations = _calibrations_that_ask(round)
    if not calibrations:
        return
    missed = _probabilities_missed(calibrations)
    policy = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED).first()
    routed = _routed_chances(policy)
    # A calibration may have drawn a unit that the policy's audit did not. It still had the chance of the
    # audit, that of its system on the dimension: estimates without it would weigh such units too much.
    usual, shares = policy.audit_share if policy else 0.0, _audit_shares(policy)
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


def _routed_chances(policy: RoutingPolicy | None) -> dict[Unit, float]:
    if policy is None:
        return {}
    rows = policy.units.values_list("item", "dimension", "inclusion_probability")
    return {(item, dimension): chance for item, dimension, chance in rows}


def _audit_shares(policy: RoutingPolicy | None) -> dict[tuple[int, int], float]:
    """By system and dimension, with which probability a unit that stays is drawn, on average."""
    if policy is None:
        return {}
    audited = policy.units.filter(why=RoutedUnit.Why.AUDIT).order_by()
    rows = audited.values("item__system", "dimension").annotate(share=Avg("inclusion_probability"))
    return {(row["item__system"], row["dimension"]): row["share"] for row in rows}


def _either(chance: float, missed: float) -> float:
    # Rounded: the same factors in another order must not look like two probabilities to an audit.
    return float(np.round(1 - (1 - chance) * missed, 12))


def _calibrations_that_ask(round: Round) -> list[Calibration]:
    """The project's calibrations that asked people for units of the round and have not taken all back."""
    origins = set(Assignment.objects.filter(round=round, partial=True).values_list("origin", flat=True))
    calibrations = Calibration.objects.filter(project=round.project_id)
    return [each for each in calibrations if each.origin in origins]


def _probabilities_missed(calibrations: list[Calibration]) -> defaultdict[int, float]:
    """By dimension, the probability that none of the calibrations draws a unit."""
    missed: defaultdict[int, float] = defaultdict(lambda: 1.0)
    for calibration in calibrations:
        chances = calibration.units.order_by().values_list("dimension", "inclusion_probability").distinct()
        for dimension, chance in chances:
            missed[dimension] *= 1 - (chance or 0.0)
    return missed
