"""What became of a policy that was routed: what people did, and what the audit says of what stays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotate.agreement import Interval
from annotate.guideline import FrozenGuideline
from annotate.models import Project
from annotate.queries.assigned import Unit, UnitProgress, unit_progress
from annotate.queries.rounds import round_one
from judges.models import RoutedUnit, RoutingPolicy
from judges.queries.kept_units import KeptAgreement, kept_agreement
from judges.queries.routing_audit import Audited, drawn_in_any_case, exact_share, together, weighted_share
from judges.queries.scores import material_of, samples_of, scores_of
from judges.reliability import more_than_one_point

Why = RoutedUnit.Why


@dataclass(frozen=True)
class SentCount:
    """The units that went to people for one reason, and what they answered so far."""

    why: str
    units: int
    complete: int
    rated: int
    cannot_rate: int
    missing: int


@dataclass(frozen=True)
class AuditResult:
    """The audited units of one dimension (None: of all) that people rated after r was settled.

    errors: those on which the judge is more than a point away from people's mean. share: of them in all that
    stays, None where nothing was rated; weighed, with an asymptotic interval, where units were drawn with
    probabilities of their own. exact: its exact interval. contradicts: whether the low end of `exact` is
    above the risk.
    """

    name: str
    audited: int
    rated: int
    errors: int
    share: float | None
    asymptotic: Interval | None
    exact: Interval | None
    contradicts: bool
    agreement: KeptAgreement | None


@dataclass(frozen=True)
class RoutingState:
    """How far a routed policy is.

    calibrating: audited units that are left out, since their ratings were there when r was settled.
    """

    sent: Sequence[SentCount]
    total: SentCount
    audit: AuditResult
    audit_by_dimension: Sequence[AuditResult]
    calibrating: int


def routing_state(policy: RoutingPolicy, project: Project) -> RoutingState | None:
    """Return how far a policy is, None unless it is routed. Nine queries."""
    round = round_one(project)
    if policy.status != RoutingPolicy.Status.ROUTED or round is None:
        return None
    guideline = FrozenGuideline.from_json(round.guideline.content)
    fields = policy.units.values_list("item", "dimension", "why", "inclusion_probability")
    sent = {(item, dimension): (why, chance) for item, dimension, why, chance in fields}
    seen = set(policy.calibration_units.values_list("item", "dimension"))
    progress = unit_progress(round, policy.origin)
    material = material_of(project, round, guideline)
    samples = samples_of([policy.rts], material)
    chances = {unit: chance for unit, (why, chance) in sent.items() if why == Why.AUDIT}
    fresh = chances.keys() - seen
    results, everything = [], []
    for one in material.dimensions:
        scores = scores_of(material, one.key, samples[policy.rts_id, one.key])
        own = np.array([(item, one.id) in fresh for item in material.items.tolist()], dtype=bool)
        units = [(item, one.id) for item in material.items[own].tolist()]
        found = Audited(
            losses=more_than_one_point(scores.judge[own], scores.human_means[own]),
            chances=np.array([chances[unit] for unit in units], dtype=float),
            in_any_case=drawn_in_any_case(policy, units),
        )
        everything.append(found)
        results.append(_result(one.name, found, policy, kept_agreement(one, scores, own)))
    return RoutingState(
        sent=[
            _count(why.label, [unit for unit, (each, _) in sent.items() if each == why], progress)
            for why in Why
        ],
        total=_count("all", list(sent), progress),
        audit=_result("all dimensions", together(everything), policy, None),
        audit_by_dimension=results,
        calibrating=len(chances.keys() & seen),
    )


def _count(why: str, units: Sequence[Unit], progress: dict[Unit, UnitProgress]) -> SentCount:
    found = [progress[unit] for unit in units if unit in progress]
    return SentCount(
        why=why,
        units=len(units),
        complete=sum(not each.missing for each in found),
        rated=sum(each.rated for each in found),
        cannot_rate=sum(each.cannot_rate for each in found),
        missing=sum(each.missing for each in found),
    )


def _result(name: str, found: Audited, policy: RoutingPolicy, agreement: KeptAgreement | None) -> AuditResult:
    given = found.losses[~np.isnan(found.losses)]
    share, asymptotic = (float(given.mean()) if len(given) else None), None
    if policy.audit == RoutingPolicy.Audit.ACTIVE:
        share, asymptotic = weighted_share(found, policy.confidence_level)
    exact = exact_share(found, policy.confidence_level)
    return AuditResult(
        name=name,
        audited=len(found.losses),
        rated=len(given),
        errors=int(given.sum()),
        share=share,
        asymptotic=asymptotic,
        exact=exact,
        contradicts=exact is not None and exact.low > policy.risk,
        agreement=agreement,
    )
