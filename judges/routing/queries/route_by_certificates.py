"""Routing by certificates: units at or above a threshold stay with the judge, all others go to people."""

from collections.abc import Mapping, Sequence, Set

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from annotate.rating.queries.assigned import Unit
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Certificate, RoutingPolicy
from judges.core.stages import JudgeToAsk, judges_to_ask, stages_of
from judges.results.queries.scores import Material
from judges.routing.queries.audit import AuditCell, mean_share
from judges.routing.queries.learn_certificates import Look, decide_items, errors_among_kept, look_at
from judges.routing.queries.state import routing_state
from judges.routing.queries.units import (
    CertifiedDimension,
    Decided,
    Decider,
    Grounds,
    KeptAgreement,
    KeptUnit,
    PartOfUnits,
    PlannedUnit,
    Why,
    audit_of,
    measure_kept_agreement,
)
from judges.runs.queries.drift import alarms_of

Mask = npt.NDArray[np.bool_]


def decided_by_certificate(policy: RoutingPolicy, material: Material) -> Decided:
    """Return the units that stay by the certificates of the policy's calibration. Ten queries.

    Dimensions without a certificate go to people. Lapsed certificates cannot route.
    """
    assert policy.calibration_id is not None  # a constraint of the table
    calibrations = Calibration.objects.select_related("project", *OF_JUDGES)
    calibration = calibrations.get(pk=policy.calibration_id)
    items = material.items.tolist()
    look = look_at(calibration)
    certificates = calibration.certificates.prefetch_related("stages__judge")
    found = {each.dimension_id: each for each in certificates}
    sent: list[PlannedUnit] = []
    kept: list[KeptUnit] = []
    deciders: dict[Unit, Decider] = {}
    stopped = _stopped_judges(policy) if look.is_cascade else set()
    contradicted = dict(policy.stopped_dimensions.values_list("dimension", "reason")) if policy.pk else {}
    for dimension in material.dimensions:
        reason = contradicted.get(dimension.id, "")
        _divide(items, dimension, found.get(dimension.id), look, sent, kept, deciders, stopped, reason)
    waiting = _judges_to_ask(look, sent) if look.is_cascade else []
    audited, audit = audit_of(policy, material, kept)
    units = [*sent, *audited]
    lapses = list(dict.fromkeys(sentence for each in look.lapses.values() for sentence in each))
    return Decided(
        units=units,
        agreement=_agreement(material, look, found, kept),
        kept=_errors(look, found),
        refusal=_refusal(calibration, found, lapses) or _explain_pending(waiting),
        audit=audit,
        deciders=deciders if look.is_cascade else {},
        to_ask=waiting,
        certified=[_summary(one, found.get(one.id), units, len(items), audit) for one in material.dimensions],
        lapses=lapses,
    )


def _divide(
    items: Sequence[int],
    dimension: FrozenDimension,
    certificate: Certificate | None,
    look: Look,
    sent: list[PlannedUnit],
    kept: list[KeptUnit],
    deciders: dict[Unit, Decider],
    stopped: Set[int],
    contradiction: str,
) -> None:
    """Put every unit of a dimension into `sent` or `kept`, and who decides it into `deciders`.

    stopped: the judges that an audit contradicts; their units go to people. contradiction: why an audit
    stopped all judges on this dimension, else empty.
    """
    if certificate is None or certificate.threshold is None:
        reason = _explain_all_sent(dimension, certificate)
        grounds = Grounds()
        sent += [PlannedUnit(item, dimension.id, Why.ABSTAINED, reason, grounds, 1.0) for item in items]
        return
    decided = decide_items(look, dimension.key, certificate)
    thresholds = [each.threshold for each in certificate.stages.all()] or [certificate.threshold]
    fits = set(look.fits[dimension.key].tolist())
    for index, (item, stage) in enumerate(zip(items, decided.deciding.tolist(), strict=True)):
        unit, number = (item, dimension.id), float(decided.confidences[index])
        known, kept_by = not np.isnan(number), look.stages[min(stage, len(look.stages) - 1)].judge
        threshold = thresholds[stage] if stage < len(look.stages) else certificate.threshold
        grounds = Grounds(confidence=number if known else None, threshold=threshold)
        if stage < len(look.stages) and (contradiction or kept_by.pk in stopped):
            reason = gettext("The audit contradicts {judge}, which decided it.").format(judge=kept_by)
            sent.append(PlannedUnit(*unit, Why.STOPPED, f"{reason} {contradiction}".strip(), grounds, 1.0))
            continue
        if stage < len(look.stages):
            reason = gettext("Its confidence is {confidence:.3f}, at or above the certified {threshold:.3f}.")
            if look.is_cascade:
                reason = gettext(
                    "{judge} decides it: its confidence is {confidence:.3f}, at or above the certified "
                    "{threshold:.3f}."
                )
            reason = reason.format(confidence=number, threshold=threshold, judge=kept_by)
            kept.append(KeptUnit(unit, reason, grounds, -number))
            deciders[unit] = Decider(kept_by, number)
            continue
        why, reason = Why.UNSURE, gettext("No judge is sure enough of it.")
        if not known:
            why = Why.NO_VALUE
            reason = gettext("{judge} has no value or confidence for this unit, so people rate it.")
        elif index in fits:
            why = Why.FITTED
            reason = gettext("The model of errors uses this unit, so the certificate does not cover it.")
        elif not look.is_cascade:
            reason = gettext("Its confidence is {confidence:.3f}, below the certified {threshold:.3f}.")
        reason = reason.format(confidence=number, threshold=threshold, judge=look.calibration.judge)
        sent.append(PlannedUnit(*unit, why, reason, grounds, 1.0))


def _stopped_judges(policy: RoutingPolicy) -> set[int]:
    if policy.status != RoutingPolicy.Status.ROUTED:
        return set()
    # Once its units are with people its audit is over, so what stopped a judge is stored.
    stored = set(policy.stopped_stages.values_list("judge", flat=True))
    state = routing_state(policy, policy.project)
    return stored | {each.judge.pk for each in (state.stages if state else ()) if each.says}


def _judges_to_ask(look: Look, sent: Sequence[PlannedUnit]) -> list[JudgeToAsk]:
    """Return the next judges for the units that earlier judges do not decide.

    Only the first stage that lacks answers counts, because later stages do not process units that it decides.
    No judge processes units of a stopped judge: people decide them.
    """
    units = {unit.unit for unit in sent if unit.why == Why.UNSURE}
    for stage in look.stages[1:]:
        waiting = judges_to_ask([stage], units)
        if waiting:
            return waiting
    return []


def _explain_pending(waiting: Sequence[JudgeToAsk]) -> str:
    if not waiting:
        return ""
    message = gettext("{judge} has to judge {count:,} units first that the stages before it do not decide.")
    return " ".join(message.format(judge=each.judge, count=len(each.units)) for each in waiting)


def _agreement(
    material: Material, look: Look, found: Mapping[int, Certificate], kept: list[KeptUnit]
) -> list[KeptAgreement]:
    """Return people compared with the judges on the units that stay; ratings that calibrated report
    nothing here.
    """
    stay = {each.unit for each in kept}
    agreements = []
    for one in look.dimensions:
        certificate = found.get(one.id)
        if certificate is None or certificate.threshold is None:
            continue
        chosen: Mask = np.array([(item, one.id) in stay for item in material.items.tolist()], dtype=bool)
        chosen[look.sample[one.key]] = False
        agreement = measure_kept_agreement(one, decide_items(look, one.key, certificate).scores, chosen)
        if agreement is not None:
            agreements.append(agreement)
    return agreements


def _errors(look: Look, found: Mapping[int, Certificate]) -> dict[str, PartOfUnits]:
    """Return the errors on the units that stay, by dimension key; ratings that calibrated count, too."""
    parts = {
        one.key: errors_among_kept(look, one.key, found[one.id]) for one in look.dimensions if one.id in found
    }
    return {key: part for key, part in parts.items() if part is not None}


def _summary(
    dimension: FrozenDimension,
    certificate: Certificate | None,
    units: list[PlannedUnit],
    items: int,
    audit: Sequence[AuditCell],
) -> CertifiedDimension:
    own = [unit for unit in units if unit.dimension == dimension.id]
    audited = sum(unit.why == Why.AUDIT for unit in own)
    certified = certificate is not None and certificate.threshold is not None
    return CertifiedDimension(
        dimension=dimension,
        certificate=certificate if certified else None,
        reason="" if certified else _explain_all_sent(dimension, certificate),
        units=items,
        sent=len(own) - audited,
        audited=audited,
        audited_share=mean_share(each for each in audit if each.dimension == dimension.id),
    )


def _explain_all_sent(dimension: FrozenDimension, certificate: Certificate | None) -> str:
    if certificate is None:
        message = gettext("{dimension} has no calibration, so all its units go to people.")
        return message.format(dimension=dimension.name)
    return certificate.reason


def _refusal(calibration: Calibration, found: Mapping[int, Certificate], lapses: list[str]) -> str:
    if lapses:
        message = gettext(
            "The certificates of {calibration} have lapsed, so a policy cannot use them. {reason}"
        )
        return message.format(calibration=calibration, reason=lapses[0])
    if not any(each.threshold is not None for each in found.values()):
        message = gettext("{calibration} certified no threshold, so all units go to people.")
        return message.format(calibration=calibration)
    return refusal_where_learned(calibration.learned_in) if calibration.learned_in else ""


def refusal_where_learned(calibration: Calibration) -> str:
    """Return the reason why certificates are no longer valid in the project that learned them; empty if
    valid.

    They lapsed there, a judge has changed, or an audit there contradicts them. Up to 42 queries.
    """
    calibration = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    where = calibration.project
    lapses = [sentence for each in look_at(calibration).lapses.values() for sentence in each]
    if lapses:
        message = gettext("The certificates of {calibration} in {project} have lapsed. {reason}")
        return message.format(calibration=calibration, project=where, reason=lapses[0])
    judges = [judge.pk for stage in stages_of(calibration) for judge in stage.judges]
    if alarm := alarms_of(judges).select_related("judge").first():
        message = gettext("A watch in {project} shows that {judge} has changed. Look at it there first.")
        return message.format(project=where, judge=alarm.judge)
    policies = RoutingPolicy.objects.select_related(
        "project", "rts", "mcq", "calibration", "round__guideline"
    )
    for policy in policies.filter(calibration=calibration, status=RoutingPolicy.Status.ROUTED):
        state = routing_state(policy, where)
        contradicted = [each.name for each in state.audit_by_dimension if each.contradicts] if state else []
        if contradicted or (state and state.verdict.audit) or policy.stopped_stages.exists():
            message = gettext("The audit in {project} contradicts the certificates of {calibration}.")
            return message.format(calibration=calibration, project=where)
    return ""
