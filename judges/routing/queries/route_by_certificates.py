"""Routing by certificates: units at or above a threshold stay with the judge, all others go to people."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set

import numpy as np
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from annotate.rating.queries.assignments import Unit
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Certificate, RoutingPolicy
from judges.core.stages import JudgeToAsk, judges_to_ask, stages_of
from judges.results.queries.confidences import loss_of
from judges.results.queries.scores import Material
from judges.routing.queries.audit import mean_share
from judges.routing.queries.learn_certificates import (
    LoadedCalibration,
    StagesOfItems,
    all_lapses,
    decide_items,
    load_calibration,
)
from judges.routing.queries.state import routing_state
from judges.routing.queries.units import (
    CertifiedDimension,
    Decided,
    Decider,
    Grounds,
    KeptUnit,
    PlannedUnit,
    Why,
    audit_of,
    measure_kept_agreement,
    part_of,
)
from judges.runs.queries.drift import alarms_of


def decide_by_certificate(policy: RoutingPolicy, material: Material) -> Decided:
    """Return the units that stay by the certificates of the policy's calibration. Ten queries.

    Dimensions without a certificate go to people. Lapsed certificates cannot route.
    """
    assert policy.calibration_id is not None  # a constraint of the table
    calibrations = Calibration.objects.select_related("project", *OF_JUDGES)
    calibration = calibrations.get(pk=policy.calibration_id)
    items, loaded = material.items.tolist(), load_calibration(calibration)
    certificates = calibration.certificates.prefetch_related("stages__judge")
    found = {each.dimension_id: each for each in certificates}
    stopped: set[int] = set()
    if loaded.is_cascade and policy.status == RoutingPolicy.Status.ROUTED:
        # Once its units are with people its audit is over, so what stopped a judge is stored.
        stopped.update(policy.stopped_stages.values_list("judge", flat=True))
        state = routing_state(policy, policy.project)
        stopped |= {each.judge.pk for each in (state.stages if state else ()) if each.says}
    # Django rejects the relations of an unsaved policy, which has no rows.
    contradicted = dict(policy.stopped_dimensions.values_list("dimension", "reason")) if policy.pk else {}
    sent: list[PlannedUnit] = []
    kept: list[KeptUnit] = []
    deciders: dict[Unit, Decider] = {}
    agreement, errors, all_sent = [], {}, dict[int, str]()
    without = gettext("{dimension} has no calibration, so all its units go to people.")
    for one in material.dimensions:
        # A dimension without a threshold goes to people as a whole.
        certificate = found.get(one.id)
        if certificate is None or certificate.threshold is None:
            all_sent[one.id] = certificate.reason if certificate else without.format(dimension=one.name)
            sent += [
                PlannedUnit(item, one.id, Why.ABSTAINED, all_sent[one.id], Grounds(), 1.0) for item in items
            ]
            continue
        decided = decide_items(loaded, one.key, certificate)
        of_people, of_judges, own = _divide(
            items, one, certificate, loaded, decided, stopped, contradicted.get(one.id, "")
        )
        sent, kept, deciders = sent + of_people, kept + of_judges, deciders | own
        stay = np.array([(item, one.id) in own for item in items], dtype=bool)
        stay[loaded.sample[one.key]] = False  # ratings that calibrated report no agreement
        agreement.append(measure_kept_agreement(one, decided.scores, stay))
        by_judges = decided.deciding < len(loaded.stages)
        errors[one.key] = part_of(decided.scores, by_judges, loss_of(calibration))
    # Only the first stage that lacks answers: later stages judge nothing that it decides. People decide the
    # units of stopped judges.
    waiting: list[JudgeToAsk] = []
    unsure = {unit.unit for unit in sent if unit.why == Why.UNSURE}
    for stage in loaded.stages[1:]:
        waiting = waiting or judges_to_ask([stage], unsure)
    # The audit of the units that stay, and what has changed since the sampling.
    audited, audit = audit_of(policy, material, kept)
    sent_counts, audited_counts = Counter(u.dimension for u in sent), Counter(u.dimension for u in audited)
    lapses = all_lapses(loaded)
    return Decided(
        units=[*sent, *audited],
        agreement=[each for each in agreement if each is not None],
        kept=errors,
        refusal=_refusal(calibration, found, lapses, waiting),
        audit=audit,
        deciders=deciders if loaded.is_cascade else {},
        to_ask=waiting,
        certified=[
            CertifiedDimension(
                dimension=one,
                certificate=None if one.id in all_sent else found[one.id],
                reason=all_sent.get(one.id, ""),
                units=len(items),
                sent=sent_counts[one.id],
                audited=audited_counts[one.id],
                audited_share=mean_share(each for each in audit if each.dimension == one.id),
            )
            for one in material.dimensions
        ],
        lapses=lapses,
    )


def _divide(
    items: Sequence[int],
    dimension: FrozenDimension,
    certificate: Certificate,
    loaded: LoadedCalibration,
    decided: StagesOfItems,
    stopped: Set[int],
    contradiction: str,
) -> tuple[list[PlannedUnit], list[KeptUnit], dict[Unit, Decider]]:
    """Return the units of a dimension for people, the staying ones, and who decides these.

    stopped: the judges that an audit contradicts; their units go to people. contradiction: why an audit
    stopped all judges on this dimension, else empty.
    """
    sent, kept, deciders = [], [], {}
    # A certificate of one judge has no stages.
    thresholds = [each.threshold for each in certificate.stages.all()] or [certificate.threshold]
    fits = set(loaded.fits[dimension.key].tolist())
    for index, (item, stage) in enumerate(zip(items, decided.deciding.tolist(), strict=True)):
        unit, number = (item, dimension.id), float(decided.confidences[index])
        # The index after the last stage means that people decide.
        is_decided, known = stage < len(loaded.stages), not np.isnan(number)
        threshold = thresholds[stage] if is_decided else certificate.threshold
        grounds = Grounds(confidence=number if known else None, threshold=threshold)
        judge = loaded.stages[stage].judge if is_decided else loaded.calibration.judge
        why, reason = Why.UNSURE, gettext("No judge is sure enough of it.")
        if is_decided and (contradiction or judge.pk in stopped):
            why, reason = Why.STOPPED, gettext("The audit contradicts {judge}, which decided it.")
        elif is_decided:
            reason = (
                gettext(
                    "{judge} decides it: its confidence is {confidence:.3f}, at or above the certified "
                    "{threshold:.3f}."
                )
                if loaded.is_cascade
                else gettext("Its confidence is {confidence:.3f}, at or above the certified {threshold:.3f}.")
            )
        elif not known:
            why = Why.NO_VALUE
            reason = gettext("{judge} has no value or confidence for this unit, so people rate it.")
        elif index in fits:
            why = Why.FITTED
            reason = gettext("The model of errors uses this unit, so the certificate does not cover it.")
        elif not loaded.is_cascade:
            reason = gettext("Its confidence is {confidence:.3f}, below the certified {threshold:.3f}.")
        reason = reason.format(confidence=number, threshold=threshold, judge=judge)
        if is_decided and why != Why.STOPPED:
            # A larger distance means a likelier error, so the confidence is negated.
            kept.append(KeptUnit(unit, reason, grounds, -number))
            deciders[unit] = Decider(judge, number)
        else:
            if why == Why.STOPPED:
                reason = f"{reason} {contradiction}".strip()
            sent.append(PlannedUnit(*unit, why, reason, grounds, 1.0))
    return sent, kept, deciders


def _refusal(
    calibration: Calibration,
    found: Mapping[int, Certificate],
    lapses: list[str],
    waiting: Sequence[JudgeToAsk],
) -> str:
    if lapses:
        message = gettext(
            "The certificates of {calibration} have lapsed, so a policy cannot use them. {reason}"
        )
        return message.format(calibration=calibration, reason=lapses[0])
    if not any(each.threshold is not None for each in found.values()):
        message = gettext("{calibration} certified no threshold, so all units go to people.")
        return message.format(calibration=calibration)
    if calibration.learned_in and (refusal := refusal_where_learned(calibration.learned_in)):
        return refusal
    message = gettext("{judge} has to judge {count:,} units first that the stages before it do not decide.")
    return " ".join(message.format(judge=each.judge, count=len(each.units)) for each in waiting)


def refusal_where_learned(calibration: Calibration) -> str:
    """Return why certificates are no longer valid in the project that learned them, else empty.

    They lapsed there, a judge has changed, or an audit there contradicts them. Up to 42 queries.
    """
    calibration = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    where = calibration.project
    if lapses := all_lapses(load_calibration(calibration)):
        message = gettext("The certificates of {calibration} in {project} have lapsed. {reason}")
        return message.format(calibration=calibration, project=where, reason=lapses[0])
    judges = [judge.pk for stage in stages_of(calibration) for judge in stage.judges]
    if alarm := alarms_of(judges).select_related("judge").first():
        message = gettext("A watch in {project} shows that {judge} has changed. Look at it there first.")
        return message.format(project=where, judge=alarm.judge)
    policies = RoutingPolicy.objects.select_related(
        "project", "rts", "mcq", "calibration", "round__guideline"
    )
    # These policies audit the same certificates in the project that learned them.
    for policy in policies.filter(calibration=calibration, status=RoutingPolicy.Status.ROUTED):
        state = routing_state(policy, where)
        contradicted = [each.name for each in state.audit_by_dimension if each.contradicts] if state else []
        if contradicted or (state and state.verdict.audit) or policy.stopped_stages.exists():
            message = gettext("The audit in {project} contradicts the certificates of {calibration}.")
            return message.format(calibration=calibration, project=where)
    return ""
