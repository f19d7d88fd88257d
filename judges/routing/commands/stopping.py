"""Judges that the audit of an addition contradicts stop without an admin: their units go to people."""

import logging

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from annotate.core.audit import record
from annotate.core.guidelines import guideline_at
from annotate.core.models import Round
from annotate.rating.commands.units import change_probabilities
from judges.core.models import RoutedUnit, RoutingPolicy, StoppedDimension, StoppedStage
from judges.results.queries.scores import material_of
from judges.routing.commands.policies import ask_for, delete_records, lock_policy, record_units
from judges.routing.commands.shared_assignments import settle_probabilities
from judges.routing.queries.audit import rating_times
from judges.routing.queries.route_by_certificates import decide_by_certificate
from judges.routing.queries.state import contradictions_of, deciders_of

LOOKED = 600.0  # seconds; "cannot rate" completes a unit without a new rating
logger = logging.getLogger(__name__)


def stop_contradicted_judges() -> None:
    """Look at the audits of additions that have new ratings, and stop the judges that they contradict.

    An error is logged, and keeps no other policy from its look. Workers may do so at the same time.
    """
    policies = RoutingPolicy.objects.filter(
        status=RoutingPolicy.Status.ROUTED,
        calibration__learned_in__isnull=False,
        round__status=Round.Status.OPEN,
    )
    for policy in policies.select_related("project", "calibration", "round__guideline").order_by("pk"):
        assert policy.round is not None
        times = rating_times(policy, policy.round)
        seen = [len(times), max(times.values(), default=0.0)]
        key = f"audit-{policy.pk}"
        if not times or cache.get(key) == seen:
            continue
        try:
            found = contradictions_of(policy, policy.project)
            if found.dimensions or found.judges:
                stop_contradicted(policy=policy)
            cache.set(key, seen, LOOKED)
        except Exception:
            logger.exception("The audit of policy %d could not be checked.", policy.pk)


@transaction.atomic
def stop_contradicted(*, policy: RoutingPolicy) -> int:
    """Send the units of judges that an audit contradicts to people; return how many were sent.

    For certificates that were learned in another project. Only documents whose audited units have all their
    ratings count, so no later rating withdraws the reason. What the judge still decides elsewhere stays.
    Locks the project, the policy, then its assignments. Safe to run twice.
    """
    policy = lock_policy(policy)
    calibration, round = policy.calibration, policy.round
    is_routed = policy.status == RoutingPolicy.Status.ROUTED
    if not is_routed or calibration is None or calibration.learned_in_id is None:
        return 0
    if round is None or not round.is_open:
        return 0
    found = contradictions_of(policy, policy.project)
    for dimension, reason in found.dimensions.items():
        StoppedDimension.objects.get_or_create(
            policy=policy, dimension_id=dimension, defaults={"reason": reason}
        )
    for judge, reason in found.judges.items():
        StoppedStage.objects.get_or_create(policy=policy, judge_id=judge, defaults={"reason": reason})
    stopped = set(policy.stopped_dimensions.values_list("dimension", flat=True))
    stages = set(policy.stopped_stages.values_list("judge", flat=True))
    decided = decide_by_certificate(
        policy, material_of(policy.project, None, guideline_at(policy.project, round))
    )
    deciders = deciders_of(policy)
    rows = policy.units.values_list("item", "dimension", "why")
    there = {(item, dimension): why for item, dimension, why in rows}
    units = {
        each.unit: each
        for each in decided.units
        if each.why == RoutedUnit.Why.STOPPED
        and (each.dimension in stopped or deciders.get(each.unit) in stages)
        and there.get(each.unit, RoutedUnit.Why.AUDIT) == RoutedUnit.Why.AUDIT
    }
    if not units:
        return 0
    ask_for(policy, round, [each for unit, each in units.items() if unit not in there])
    change_probabilities(round=round, units=dict.fromkeys(units, 1.0), origin=policy.origin)
    delete_records(policy, units.keys())
    record_units(policy, units.values(), None, timezone.now())
    decisions = policy.stage_decisions.values_list("pk", "item", "dimension")
    gone = [pk for pk, item, dimension in decisions if (item, dimension) in units]
    policy.stage_decisions.filter(pk__in=gone).delete()
    reasons = [*found.dimensions.values(), *found.judges.values()]
    record(
        policy.project, "routing.stopped", policy, after={"units": len(units), "reasons": reasons}, by=None
    )
    settle_probabilities(round)
    return len(units)
