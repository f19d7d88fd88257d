"""What became of a policy that was routed: what people did, and what the audit says of what stays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotate.guideline import FrozenGuideline
from annotate.models import Project
from annotate.queries.assigned import Unit, UnitProgress, unit_progress
from annotate.queries.rounds import round_one
from judges.models import RoutedUnit, RoutingPolicy
from judges.queries.kept_units import KeptAgreement, kept_agreement
from judges.queries.scores import material_of, samples_of, scores_of
from judges.reliability import bounds, more_than_one_point

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

    errors: those on which the judge is more than a point away from people's mean. low, high: the exact
    interval of the share, None where nothing was rated. contradicts: whether `low` is above the risk.
    """

    name: str
    audited: int
    rated: int
    errors: int
    low: float | None
    high: float | None
    contradicts: bool
    agreement: KeptAgreement | None

    @property
    def share(self) -> float | None:
        """Return the share of errors."""
        return self.errors / self.rated if self.rated else None


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
    why_of = {(item, dim): why for item, dim, why in policy.units.values_list("item", "dimension", "why")}
    seen = set(policy.calibration_units.values_list("item", "dimension"))
    progress = unit_progress(round, policy.origin)
    material = material_of(project, round, guideline)
    samples = samples_of([policy.rts], material)
    audited = {unit for unit, why in why_of.items() if why == Why.AUDIT}
    fresh = audited - seen
    results, losses = [], []
    for one in material.dimensions:
        scores = scores_of(material, one.key, samples[policy.rts_id, one.key])
        own = np.array([(item, one.id) in fresh for item in material.items.tolist()], dtype=bool)
        loss = more_than_one_point(scores.judge[own], scores.human_means[own])
        losses.append(loss)
        results.append(_result(one.name, loss, policy, kept_agreement(one, scores, own)))
    return RoutingState(
        sent=[
            _count(why.label, [unit for unit, each in why_of.items() if each == why], progress) for why in Why
        ],
        total=_count("all", list(why_of), progress),
        audit=_result("all dimensions", np.concatenate([*losses, np.empty(0)]), policy, None),
        audit_by_dimension=results,
        calibrating=len(audited & seen),
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


def _result(
    name: str, losses: np.ndarray, policy: RoutingPolicy, agreement: KeptAgreement | None
) -> AuditResult:
    given = losses[~np.isnan(losses)]
    rated, errors = len(given), int(given.sum())
    low, high = exact_interval(errors, rated, policy.confidence_level)
    return AuditResult(
        name=name,
        audited=len(losses),
        rated=rated,
        errors=errors,
        low=low,
        high=high,
        contradicts=low is not None and low > policy.risk,
        agreement=agreement,
    )


def exact_interval(errors: int, rated: int, confidence_level: float) -> tuple[float | None, float | None]:
    """Return the two-sided interval of Clopper and Pearson 1934 for a share; two None without ratings."""
    if not rated:
        return None, None
    tail = (1 - confidence_level) / 2
    low = 1 - float(bounds.clopper_pearson_upper(rated - errors, rated, tail))
    return low, float(bounds.clopper_pearson_upper(errors, rated, tail))
