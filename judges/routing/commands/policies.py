"""Routing policies: create, follow, update to new judgments, withdraw, and share assignments."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, replace
from datetime import datetime

import numpy as np
from django.db import connection, transaction
from django.db.models import Avg
from django.utils import timezone
from django.utils.translation import gettext

from agreement import Stream
from annotate.core.audit import facts, record
from annotate.core.configuration import lock_project
from annotate.core.database import long_write, step, write_rows
from annotate.core.errors import InvalidValueError
from annotate.core.models import Assignment, Project, Round, User
from annotate.material.commands.holding import write_when_free
from annotate.rating.commands.rounds import BATCH, finish_round, note_finished, open_round_one_for_units
from annotate.rating.commands.units import (
    WantedUnit,
    ask_for_units,
    begun_units,
    change_probabilities,
    refuse_gold,
    withdraw_units,
)
from annotate.rating.queries.assignments import Unit
from judges.core.errors import RoutingChangedError, RoutingRefusedError, invalid_field
from judges.core.models import (
    Calibration,
    CalibrationUnit,
    RoutedUnit,
    RoutingPolicy,
    StageDecision,
    StoppedStage,
)
from judges.core.specification import PolicySpec
from judges.routing.queries.preview import RoutingProposal, proposal_of, routing_plan, threshold_within
from judges.routing.queries.route_by_reliability import IndicatorsNotKeptError
from judges.routing.queries.state import routing_state
from judges.routing.queries.units import Decider, Grounds, PlannedUnit


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
    # The ones whose assignments in the round are not all withdrawn.
    origins = set(Assignment.objects.filter(round=round, partial=True).values_list("origin", flat=True))
    every = Calibration.objects.filter(project=round.project_id)
    calibrations = [each for each in every if each.origin in origins]
    # Without samples the probabilities of the policy are the total ones already.
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
    # Without a policy nothing but the samples sends a unit to people.
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
    return float(np.round(1 - (1 - chance) * missed, 12))  # 1 - P(no sample contains it)


Status = RoutingPolicy.Status


def draft_policy(
    project: Project, spec: PolicySpec, by: User | None = None, *, policy: RoutingPolicy | None = None
) -> RoutingPolicy:
    """Return the policy that `make_policy` would store, for a preview. Maximum one query.

    policy: the stored draft to change; its own seed determines its audit.
    """
    if policy is not None:
        return RoutingPolicy(pk=policy.pk, project=project, seed=policy.seed, created_by=by, **_values(spec))
    number = RoutingPolicy.objects.filter(project=project).count() + 1
    # The number gives every policy an audit sample of its own, the same at each preview.
    seed = Stream(project.seed).of("routing", number).shuffler().randrange(2**31)
    return RoutingPolicy(project=project, seed=seed, created_by=by, **_values(spec))


def fit_budget(
    project: Project,
    spec: PolicySpec,
    budget: int | None,
    *,
    policy: RoutingPolicy | None = None,
    preview: bool = False,
) -> PolicySpec:
    """Return a policy with the largest r that needs up to `budget` ratings; unchanged without a budget.

    policy: see `draft_policy`. Raises InvalidValueError, and in a preview IndicatorsNotKeptError.
    """
    if budget is None:
        return spec
    # Any valid r passes the checks; `threshold_within` finds the real one.
    spec = replace(spec, threshold=-1.0)
    _refuse_indicator(project, spec)
    draft = draft_policy(project, spec, policy=policy)
    return replace(spec, threshold=threshold_within(draft, budget, preview=preview))


def make_policy(*, project: Project, spec: PolicySpec, by: User | None) -> RoutingPolicy:
    """Store a draft of a policy. Locks the project. Raises InvalidValueError."""
    _refuse(project, spec)
    # It takes seconds, so it runs without a lock; `route` checks again.
    _refuse_by_verdict(draft_policy(project, spec, by))
    with transaction.atomic():
        project = lock_project(project)
        # Another admin may have taken the name before the lock.
        _refuse(project, spec)
        policy = draft_policy(project, spec, by)
        policy.save()
        record(project, "routing.drafted", policy, after=_facts(policy), by=by)
    return policy


def update_policy(*, policy: RoutingPolicy, to: PolicySpec) -> RoutingPolicy:
    """Locks project and policy. Raises InvalidValueError, RoutingRefusedError."""
    # Early and without a lock, because the verdict takes seconds; the checks below decide.
    if policy.status == Status.DRAFT:
        _refuse(policy.project, to, besides=policy)
        _refuse_by_verdict(
            draft_policy(policy.project, to, policy=policy)
        )  # without a lock, as in make_policy
    with transaction.atomic():
        policy = lock_policy(policy)
        if policy.status != Status.DRAFT:
            raise RoutingRefusedError(
                gettext("{policy} was {status}, so you cannot change it.").format(
                    policy=policy, status=policy.get_status_display()
                )
            )
        _refuse(policy.project, to, besides=policy)
        values = _values(to)
        before = _facts(policy)
        for name, value in values.items():
            setattr(policy, name, value)
        policy.save(update_fields=list(values))
        record(policy.project, "routing.changed", policy, before=before, after=_facts(policy))
    return policy


def route(*, policy: RoutingPolicy, by: User | None, shown: str | None = None) -> RoutingPolicy:
    """Open assignments for exactly the units that the policy sends to people; a routed policy is returned
    unchanged.

    If Round I was never opened, opens it with these units. `shown`: the digest of the viewed plan; a changed
    plan raises RoutingChangedError. Existing ratings mark their units as having calibrated r. Locks the
    project, the policy, then the items' assignments: if two admins act at once, one routes and the other
    finds it routed. A long write; `finish_round` writes its assignments. Raises RoutingRefusedError,
    RoutingChangedError, and NotReadyError for gold items.
    """

    def decide(project: Project) -> RoutingPolicy:
        locked = lock_policy(policy, project)
        if locked.status == Status.ROUTED:
            return locked
        if locked.status == Status.WITHDRAWN:
            raise RoutingRefusedError(
                gettext("{policy} was withdrawn; make a new policy.").format(policy=locked)
            )
        other = RoutingPolicy.objects.filter(project=locked.project, status=Status.ROUTED).first()
        # A message instead of the error of the constraint `one_policy_routes_a_project`.
        if other is not None:
            raise RoutingRefusedError(
                gettext(
                    "{other} already routes this project; withdraw it first, or Concord would sample "
                    "every unit twice."
                ).format(other=other)
            )
        # The plan is created again under the lock, and must be the one that the admin has seen.
        plan = routing_plan(locked, locked.project)
        if plan.refusal:
            raise RoutingRefusedError(plan.refusal)
        if shown is not None and shown != plan.digest:
            raise RoutingChangedError(
                gettext("New judgments or items changed this preview. Check it again before you continue.")
            )
        # The round, the reasons for each unit, and the state of the policy, in one transaction.
        round = open_round_one_for_units(project=locked.project, by=by)
        refuse_gold(round, {unit.item for unit in plan.units})
        now = timezone.now()
        record_units(locked, plan.units, by, now, plan.decided.deciders)
        # Units that people had rated already give no new evidence in the audit.
        write_rows(
            CalibrationUnit,
            ("policy", "item", "dimension", "fits"),
            [(locked.pk, item, dimension, False) for item, dimension in sorted(plan.rated_units)],
        )
        locked.status, locked.routed_at, locked.routed_by = Status.ROUTED, now, by
        # Only the policy that opened the round returns it to unopened when it is withdrawn.
        locked.round, locked.opened_round = round, plan.round is None
        locked.save(update_fields=["status", "routed_at", "routed_by", "round", "opened_round"])
        record(locked.project, "routing.routed", locked, after={"units": len(plan.units)}, by=by)
        # The assignments follow in steps after this transaction; if this process dies, a worker goes on.
        note_finished(round, finished=False)
        return locked

    with long_write():
        # Long writes hold a project while they write in steps, so this one starts after their end.
        routed = write_when_free(policy.project, decide)
        # A repeated call also writes what an interrupted one has left.
        if routed.round and routed.round.is_unfinished:
            finish_round(round=routed.round)
    return routed


@transaction.atomic
def follow_proposal(*, policy: RoutingPolicy, by: User | None, shown: str) -> RoutingProposal:
    """Update a routed policy to the present judgments, and return the changes.

    `shown`: the digest of the viewed proposal. Started ratings stay. Locks the project, the policy, then its
    assignments. Raises RoutingRefusedError, RoutingChangedError.
    """
    policy = lock_policy(policy)
    round = _open_round(policy)
    begun_units(round=round, origin=policy.origin)  # locks them: no rater starts during the decision
    plan = routing_plan(policy, policy.project)
    if plan.refusal:
        raise RoutingRefusedError(plan.refusal)
    state = routing_state(policy, policy.project)
    assert state is not None  # a policy with an open round is routed
    proposal = proposal_of(policy, plan, state.verdict)
    if proposal.is_empty:
        return proposal
    if proposal.digest != shown:
        raise RoutingChangedError(gettext("The proposal has changed since you opened it. Check it again."))
    # The audit ends once people have the judge's units, so the reason for the stop is stored.
    for audit in state.stages:
        if audit.says:
            StoppedStage.objects.get_or_create(
                policy=policy, judge=audit.judge, defaults={"reason": audit.says}
            )
    ask_for(policy, round, proposal.add)  # before others are dropped: existing assignments serve both
    # Units that stay in started assignments keep their records.
    gone = {(unit.item_id, unit.dimension_id) for unit in proposal.drop}
    delete_records(policy, gone - withdraw_units(round=round, units=gone, origin=policy.origin))
    probabilities = {unit.unit: unit.inclusion_probability for unit in proposal.change}
    change_probabilities(round=round, units=probabilities, origin=policy.origin)
    # `record_units` adds rows, so the old reasons and deciders are deleted before it.
    delete_records(policy, {unit.unit for unit in proposal.change})
    policy.stage_decisions.all().delete()
    record_units(policy, (*proposal.add, *proposal.change), by, timezone.now(), plan.decided.deciders)
    parts = {"added": proposal.add, "dropped": proposal.drop, "changed": proposal.change}
    counts = {name: len(units) for name, units in parts.items()}
    record(policy.project, "routing.followed", policy, after=counts, by=by)
    settle_probabilities(round)
    return proposal


@transaction.atomic
def withdraw_policy(*, policy: RoutingPolicy, by: User | None) -> RoutingPolicy:
    """Withdraw all assignments of a policy if none is started; a draft is discarded.

    A Round I opened for the policy returns to unopened if it is otherwise empty. Locks the project, the
    policy, then its assignments. Raises RoutingRefusedError once an assignment was started.
    """
    policy = lock_policy(policy)
    if policy.status == Status.WITHDRAWN:
        return policy
    if policy.status == Status.ROUTED:
        round = _open_round(policy)
        if begun := begun_units(round=round, origin=policy.origin):
            raise RoutingRefusedError(
                gettext(
                    "People have started {count} of these units, so you can no longer withdraw {policy}."
                ).format(count=len(begun), policy=policy)
            )
        units = set(policy.units.values_list("item", "dimension"))
        withdraw_units(round=round, units=units, origin=policy.origin)
        ask_again(round, besides=policy.origin)
        if policy.opened_round and forget_empty_round(round):
            policy.round = None
    policy.status, policy.withdrawn_at, policy.withdrawn_by = Status.WITHDRAWN, timezone.now(), by
    policy.save(update_fields=["status", "withdrawn_at", "withdrawn_by", "round"])
    record(policy.project, "routing.withdrawn", policy, by=by)
    if policy.round is not None:
        # `ask_again` has settled them while the policy still counted as routed.
        settle_probabilities(policy.round)
    return policy


def forget_empty_round(round: Round) -> bool:
    """Return a round without assignments to unopened; return True if it had none."""
    if round.assignments.exists():
        return False
    # The key protects the round, so policies have to release it first.
    RoutingPolicy.objects.filter(round=round).update(status=Status.WITHDRAWN, round=None)
    round.delete()
    return True


def lock_policy(policy: RoutingPolicy, project: Project | None = None) -> RoutingPolicy:
    """Lock a policy's project, unless the caller has locked it as `project`, then the policy."""
    project = project or lock_project(policy.project)
    # PostgreSQL cannot lock the outer joins of `mcq` and `calibration`, which may be empty.
    locked = RoutingPolicy.objects.select_for_update(of=("self",)).select_related("rts", "mcq", "calibration")
    found = locked.get(pk=policy.pk)
    found.project = project
    return found


def _open_round(policy: RoutingPolicy) -> Round:
    if policy.status != Status.ROUTED or policy.round_id is None:
        raise RoutingRefusedError(
            gettext("{policy} was not routed, so there is nothing to change.").format(policy=policy)
        )
    round = Round.objects.select_related("guideline").get(pk=policy.round_id)
    if not round.is_open:
        raise RoutingRefusedError(gettext("Round I is closed, so routed units cannot change."))
    return round


def ask_for(policy: RoutingPolicy, round: Round, units: Iterable[PlannedUnit]) -> None:
    wanted = [WantedUnit(*unit.unit, unit.inclusion_probability) for unit in units]
    ask_for_units(round=round, units=wanted, raters=policy.raters, origin=policy.origin, seed=policy.seed)


def delete_records(policy: RoutingPolicy, units: Set[Unit]) -> None:
    """Delete the records of why a policy sends these units to people."""
    rows = policy.units.values_list("pk", "item", "dimension")
    gone = [pk for pk, item, dimension in rows if (item, dimension) in units]
    # Databases limit the parameters of a statement.
    for start in range(0, len(gone), BATCH):
        RoutedUnit.objects.filter(pk__in=gone[start : start + BATCH]).delete()


_UNIT = ("policy", "item", "dimension", "why", "reason", "inclusion_probability", "at", "by")
# Fields of `Grounds` have the names of the columns that store them.
_GROUNDS = tuple(each.name for each in fields(Grounds))


def record_units(
    policy: RoutingPolicy,
    units: Iterable[PlannedUnit],
    by: User | None,
    at: datetime,
    deciders: Mapping[Unit, Decider] | None = None,
) -> None:
    """Store why a policy sends these units to people, and which of several judges decide the others."""
    # `write_rows` needs values in the database's form.
    time, actor = connection.ops.adapt_datetimefield_value(at), by.pk if by else None
    write_rows(
        RoutedUnit,
        (*_UNIT, *_GROUNDS),
        [
            (
                *(policy.pk, *unit.unit, str(unit.why), unit.reason, unit.inclusion_probability, time, actor),
                *(getattr(unit.grounds, name) for name in _GROUNDS),
            )
            for unit in units
        ],
    )
    write_rows(
        StageDecision,
        ("policy", "item", "dimension", "judge", "confidence"),
        [
            (policy.pk, *unit, decider.judge.pk, decider.confidence)
            for unit, decider in sorted((deciders or {}).items())
        ],
    )


def _facts(policy: RoutingPolicy) -> dict[str, object]:
    return facts(policy, list(PolicySpec.__dataclass_fields__))


def _values(spec: PolicySpec) -> dict[str, object]:
    plain = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    # A specification takes any mapping; JSON takes a `dict` only.
    return {**plain, "thresholds": dict(spec.thresholds)}


def _refuse(project: Project, spec: PolicySpec, *, besides: RoutingPolicy | None = None) -> None:
    # No row has the id 0.
    others = RoutingPolicy.objects.filter(project=project).exclude(pk=besides.pk if besides else 0)
    if others.filter(name=spec.name).exists():
        raise invalid_field(
            "name",
            gettext("The project has a policy {name} already; choose another name.").format(name=spec.name),
        )
    if spec.rule == RoutingPolicy.Rule.CERTIFICATE:
        calibration = spec.calibration
        if calibration is None or calibration.project_id != project.pk:
            raise invalid_field("calibration", gettext("This calibration belongs to another project."))
        if calibration.status != Calibration.Status.CERTIFIED:
            raise invalid_field(
                "calibration",
                gettext("{calibration} has no certificates yet; compute them first.").format(
                    calibration=calibration
                ),
            )
    else:
        _refuse_indicator(project, spec)
    if not 0 < spec.audit_share <= 1:
        raise invalid_field("audit_share", gettext("Enter an audit share above 0 and up to 1."))
    if spec.audit_least < 0:
        raise invalid_field("audit_least", gettext("Enter 0 or more as the minimum number of audited units."))
    if spec.raters < 1:
        raise invalid_field("raters", gettext("A unit needs a rater or more."))


def _refuse_by_verdict(policy: RoutingPolicy) -> None:
    """Raise RoutingRefusedError for a draft that leaves units to a judge that must not decide them."""
    try:
        plan = routing_plan(policy, policy.project, preview=True)
    except IndicatorsNotKeptError:
        return  # nothing is known before a worker has computed R
    if plan.verdict and plan.verdict.message:
        raise InvalidValueError(plan.verdict.message)


def _refuse_indicator(project: Project, spec: PolicySpec) -> None:
    for field, judge in (("rts", spec.rts), ("mcq", spec.mcq)):
        if judge is None or judge.project_id != project.pk or judge.method != field:
            raise invalid_field(
                field,
                gettext("{judge} is no {method} judge of this project.").format(
                    judge=judge, method=field.upper()
                ),
            )
    if any(r is None or not -1 <= r <= 1 for r in (spec.threshold, *spec.thresholds.values())):
        raise invalid_field("threshold", gettext("Enter a threshold r from -1 to 1."))
