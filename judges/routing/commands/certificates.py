"""Calibrations: sample, assign, compute certificates or withdraw; stop judges that an audit contradicts."""

import logging
from collections.abc import Sequence

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.database import write_rows
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project, Round, User
from annotate.core.rounds import round_one
from annotate.rating.commands.rounds import open_round_one_for_units
from annotate.rating.commands.units import (
    WantedUnit,
    ask_for_units,
    begun_units,
    change_probabilities,
    withdraw_units,
)
from judges.core.access import OF_JUDGES
from judges.core.errors import CalibrationChangedError, CalibrationRefusedError, RunRefusedError
from judges.core.models import (
    Calibration,
    CalibrationStage,
    CalibrationUnit,
    Certificate,
    CertifiedStage,
    Judgment,
    RoutedUnit,
    RoutingPolicy,
    Run,
    StoppedDimension,
    StoppedStage,
)
from judges.core.specification import CalibrationSpec
from judges.core.stages import JudgeToAsk, judges_to_ask
from judges.results.queries.scores import material_of
from judges.routing.commands.policies import (
    ask_again,
    ask_for,
    delete_records,
    forget_empty_round,
    lock_policy,
    record_units,
    settle_probabilities,
)
from judges.routing.queries.audit import rating_times
from judges.routing.queries.calibration_plans import draw_plan
from judges.routing.queries.calibration_state import scope_to_ask
from judges.routing.queries.learn_certificates import all_lapses, certificates_from, load_calibration
from judges.routing.queries.route_by_certificates import decide_by_certificate
from judges.routing.queries.state import contradictions_of, deciders_of
from judges.runs.commands.runs import plan_run, retry_failed, start_run

Status = Calibration.Status


@transaction.atomic
def draw_calibration(
    *, project: Project, spec: CalibrationSpec, by: User | None, shown: str | None = None
) -> Calibration:
    """Sample the units of a calibration and assign exactly these to people.

    If Round I was never opened, opens it with these units. Existing assignments count, so nothing is assigned
    if everything was rated. `shown`: the digest of the viewed plan. Locks the project, then the items'
    assignments: if two admins act at once, one succeeds and the other gets an error. Raises
    InvalidValueError, CalibrationRefusedError, CalibrationChangedError, NotReadyError.
    """
    project = lock_project(project)
    plan = draw_plan(project, spec)
    if plan.refusal:
        raise CalibrationRefusedError(plan.refusal)
    if shown is not None and shown != plan.digest:
        raise CalibrationChangedError(
            gettext("New judgments or items changed this preview. Check it again before you continue.")
        )
    calibration = plan.calibration
    calibration.drawn_at, calibration.drawn_by = timezone.now(), by
    calibration.opened_round = plan.round is None
    calibration.save()
    CalibrationStage.objects.bulk_create(
        CalibrationStage(
            calibration=calibration, position=stage.position, judge=stage.judge, other=stage.other
        )
        # The calibration itself stores the first stage.
        for stage in plan.stages[1:]
    )
    write_rows(
        CalibrationUnit,
        ("calibration", "item", "dimension", "fits", "inclusion_probability"),
        [(calibration.pk, *unit.unit, unit.fits, unit.inclusion_probability) for unit in plan.units],
    )
    record(project, "calibration.drawn", calibration, after={"units": len(plan.units)}, by=by)
    # Not in a closed round, with its fixed panel.
    if plan.ratings and (plan.round is None or plan.round.is_open):
        round = open_round_one_for_units(project=project, by=by)
        ask_for_units(
            round=round,
            units=[WantedUnit(*unit.unit, unit.inclusion_probability) for unit in plan.units],
            raters=calibration.raters,
            origin=calibration.origin,
            seed=calibration.seed,
        )
        # Another sample may have selected the same units, which changes their total probability.
        settle_probabilities(round)
    return calibration


@transaction.atomic
def compute_certificates(*, calibration: Calibration, by: User | None) -> list[Certificate]:
    """Read the ratings, once, and store a certificate for each dimension; repeated calls return these.

    Locks the project and the calibration. Raises CalibrationRefusedError if nothing was rated yet, or the
    certificates' subject has changed since the sampling.
    """
    calibration = _lock_calibration(calibration)
    # The ratings are read once: a second look would be one more test, with its own delta.
    if calibration.status == Status.CERTIFIED:
        return list(calibration.certificates.select_related("dimension"))
    if calibration.status == Status.WITHDRAWN:
        raise CalibrationRefusedError(
            gettext("{calibration} was withdrawn; create a new sample.").format(calibration=calibration)
        )
    loaded = load_calibration(calibration)
    if changes := all_lapses(loaded):
        raise CalibrationRefusedError(
            gettext(
                "{value} The sample no longer represents the items and judgments: withdraw it and"
                " create a new one."
            ).format(value=changes[0])
        )
    if not loaded.rated:
        raise CalibrationRefusedError(
            gettext("No unit of the sample has been rated yet, so there is nothing to compute from.")
        )
    # The thresholds of a cascade need the answers of every judge about the whole sample.
    waiting = judges_to_ask(loaded.stages[1:], loaded.sampled_units)
    if waiting:
        raise CalibrationRefusedError(
            gettext(
                "{judge} has not judged {count:,} units of the sample yet. Run it on these first."
            ).format(judge=waiting[0].judge, count=len(waiting[0].units))
        )
    found = list(certificates_from(loaded))
    certificates = Certificate.objects.bulk_create(certificate for certificate, _ in found)
    CertifiedStage.objects.bulk_create(stage for _, stages in found for stage in stages)
    _end(calibration, Status.CERTIFIED, by)
    return certificates


@transaction.atomic
def withdraw_calibration(*, calibration: Calibration, by: User | None) -> Calibration:
    """Withdraw a sample before its computation, if no rater has started it or it has lapsed.

    Started assignments stay with their ratings. A Round I opened for units returns to unopened if it is
    empty. Locks the project, the calibration, then its assignments. Raises CalibrationRefusedError.
    """
    calibration = _lock_calibration(calibration)
    if calibration.status == Status.WITHDRAWN:
        return calibration
    if calibration.status == Status.CERTIFIED:
        raise CalibrationRefusedError(
            gettext("{calibration} is computed, so you cannot change it.").format(calibration=calibration)
        )
    round = round_one(calibration.project)
    if round is not None and round.is_open:
        begun = begun_units(round=round, origin=calibration.origin)
        if begun and not all_lapses(load_calibration(calibration)):
            raise CalibrationRefusedError(
                gettext(
                    "People have started {count} of these units, so you can no longer withdraw "
                    "{calibration}; compute it instead."
                ).format(count=len(begun), calibration=calibration)
            )
        units = set(calibration.units.values_list("item", "dimension"))
        withdraw_units(round=round, units=units, origin=calibration.origin)
        ask_again(round, besides=calibration.origin)
        # A routed policy keeps its round, also while it sends no unit to people.
        is_routed = RoutingPolicy.objects.filter(round=round, status=RoutingPolicy.Status.ROUTED).exists()
        if not round.every_item and not is_routed:
            forget_empty_round(round)
    _end(calibration, Status.WITHDRAWN, by)
    return calibration


def _lock_calibration(calibration: Calibration) -> Calibration:
    project = lock_project(calibration.project)
    # PostgreSQL cannot lock the outer joins of `other` and its endpoint, which may be empty.
    locked = Calibration.objects.select_for_update(of=("self",)).select_related(*OF_JUDGES)
    found = locked.get(pk=calibration.pk)
    found.project = project
    return found


def _end(calibration: Calibration, status: Status, by: User | None) -> None:
    calibration.status, calibration.ended_at, calibration.ended_by = status, timezone.now(), by
    calibration.save(update_fields=["status", "ended_at", "ended_by"])
    record(calibration.project, f"calibration.{status}", calibration, by=by)


def ask_waiting_judges(*, project: Project, waiting: Sequence[JudgeToAsk], by: User | None) -> Run:
    """Start a run on exactly the units that the judges lack, and restart the failed runs there.

    Raises RunRefusedError, RunStateError.
    """
    if not waiting:
        raise RunRefusedError(gettext("No judge has to be asked."))
    units = {(each.judge.pk, *unit) for each in waiting for unit in each.units}
    # Failed judgments belong to earlier runs, so a new run would not ask for them.
    failed = Judgment.objects.filter(
        judge__in=[each.judge.pk for each in waiting], status=Judgment.Status.FAILED, run__isnull=False
    )
    # A cancelled run cannot be resumed.
    rows = failed.exclude(run__status=Run.Status.CANCELLED).order_by()
    again = {
        run for run, *unit in rows.values_list("run", "judge", "item", "dimension") if tuple(unit) in units
    }
    retried = [retry_failed(run=run) for run in Run.objects.filter(pk__in=again).order_by("pk")]
    run = start_run(run=plan_run(project=project, scope=scope_to_ask(project, waiting), by=by))
    # If the earlier runs contain all that is missing, the new run is empty.
    return run if run.judgments.exists() or not retried else retried[-1]


LOOKED = 600.0  # seconds; "cannot rate" completes a unit without a new rating
logger = logging.getLogger(__name__)


def stop_contradicted_judges() -> None:
    """Look at the audits of additions that have new ratings, and stop the judges that they contradict.

    An error is logged, and keeps no other policy from its check. Workers may do so at the same time.
    """
    policies = RoutingPolicy.objects.filter(
        status=RoutingPolicy.Status.ROUTED,
        calibration__learned_in__isnull=False,
        round__status=Round.Status.OPEN,
    )
    for policy in policies.select_related("project", "calibration", "round__guideline").order_by("pk"):
        assert policy.round is not None
        # The number of rated units and the last time change with every new rating.
        times = rating_times(policy, policy.round)
        seen = [len(times), max(times.values(), default=0.0)]
        key = f"audit-{policy.pk}"
        if not times or cache.get(key) == seen:
            continue
        try:
            if any(contradictions_of(policy, policy.project)):
                stop_contradicted(policy=policy)
            # After an error the key is not set, so the next look tries again.
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
    # A judge of a benchmark stops only if an admin agrees: its certificate is about these systems.
    if not is_routed or calibration is None or calibration.learned_in_id is None:
        return 0
    if round is None or not round.is_open:
        return 0
    dimensions, judges = contradictions_of(policy, policy.project)
    for dimension, reason in dimensions.items():
        # The first reason stays, because later looks have other numbers.
        StoppedDimension.objects.get_or_create(
            policy=policy, dimension_id=dimension, defaults={"reason": reason}
        )
    for judge, reason in judges.items():
        StoppedStage.objects.get_or_create(policy=policy, judge_id=judge, defaults={"reason": reason})
    # Stored stops count too, because an audit ends once people have the units.
    stopped = set(policy.stopped_dimensions.values_list("dimension", flat=True))
    stages = set(policy.stopped_stages.values_list("judge", flat=True))
    decided = decide_by_certificate(
        policy, material_of(policy.project, None, guideline_at(policy.project, round))
    )
    deciders = deciders_of(policy)
    rows = policy.units.values_list("item", "dimension", "why")
    there = {(item, dimension): why for item, dimension, why in rows}
    # Units that a stopped judge decided and that people do not rate yet, except for the audit.
    units = {
        each.unit: each
        for each in decided.units
        if each.why == RoutedUnit.Why.STOPPED
        and (each.dimension in stopped or deciders.get(each.unit) in stages)
        and there.get(each.unit, RoutedUnit.Why.AUDIT) == RoutedUnit.Why.AUDIT
    }
    if not units:
        return 0
    # Audited units have assignments already, so only their probability changes.
    ask_for(policy, round, [each for unit, each in units.items() if unit not in there])
    change_probabilities(round=round, units=dict.fromkeys(units, 1.0), origin=policy.origin)
    # An audited unit has a record already, and a policy has one record for each unit.
    delete_records(policy, units.keys())
    record_units(policy, units.values(), None, timezone.now())
    # The stopped judge no longer decides these units.
    decisions = policy.stage_decisions.values_list("pk", "item", "dimension")
    gone = [pk for pk, item, dimension in decisions if (item, dimension) in units]
    policy.stage_decisions.filter(pk__in=gone).delete()
    reasons = [*dimensions.values(), *judges.values()]
    record(
        policy.project, "routing.stopped", policy, after={"units": len(units), "reasons": reasons}, by=None
    )
    settle_probabilities(round)
    return len(units)
