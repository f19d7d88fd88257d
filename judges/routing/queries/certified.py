"""Routing by certificates: units at or above a threshold stay with the judge, all others go to people."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from annotate.core.guideline import FrozenDimension
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Certificate, RoutingPolicy
from judges.results.queries.confidences import confidences_by_model
from judges.results.queries.scores import Material
from judges.routing.queries.audit import AuditCell, mean_share
from judges.routing.queries.certifying import Look, look_at
from judges.routing.queries.kept_units import KeptAgreement, kept_agreement
from judges.routing.queries.units import (
    CertifiedDimension,
    Decided,
    Grounds,
    KeptUnit,
    PlannedUnit,
    Why,
    audit_of,
)

Mask = npt.NDArray[np.bool_]


def decided_by_certificate(policy: RoutingPolicy, material: Material) -> Decided:
    """Return which units stay by the certificates of the policy's calibration. Ten queries.

    Dimensions without a certificate go to people. Nothing can be routed by certificates that have lapsed.
    """
    assert policy.calibration_id is not None  # a constraint of the table
    calibrations = Calibration.objects.select_related("project", *OF_JUDGES)
    calibration = calibrations.get(pk=policy.calibration_id)
    items = material.items.tolist()
    look = look_at(calibration)
    found = {each.dimension_id: each for each in calibration.certificates.all()}
    sent: list[PlannedUnit] = []
    kept: list[KeptUnit] = []
    for dimension in material.dimensions:
        _divide(items, dimension, found.get(dimension.id), look, sent, kept)
    audited, audit = audit_of(policy, material, kept)
    units = [*sent, *audited]
    lapses = list(dict.fromkeys(sentence for each in look.lapses.values() for sentence in each))
    return Decided(
        units=units,
        agreement=_agreement(material, look, kept),
        refusal=_refusal(calibration, found, lapses),
        audit=audit,
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
) -> None:
    """Put every unit of a dimension into `sent` or `kept`."""
    if certificate is None or certificate.threshold is None:
        reason = _why_all(dimension, certificate)
        grounds = Grounds()
        sent += [PlannedUnit(item, dimension.id, Why.ABSTAINED, reason, grounds, 1.0) for item in items]
        return
    threshold, judge = certificate.threshold, look.calibration.judge
    confidences = _confidences(look, dimension.key, certificate)
    fits = set(look.fits[dimension.key].tolist())
    for index, (item, confidence) in enumerate(zip(items, confidences.tolist(), strict=True)):
        known = not np.isnan(confidence)
        grounds = Grounds(confidence=confidence if known else None, threshold=threshold)
        why, reason = Why.UNSURE, f"Its confidence is {confidence:.3f}, below the certified {threshold:.3f}."
        if not known:
            why, reason = Why.NO_VALUE, f"{judge} has no value or confidence for this unit: humans rate it."
        elif index in fits:
            why, reason = Why.FITTED, "It fits the model of errors, so the certificate does not speak of it."
        elif confidence >= threshold:
            reason = f"Its confidence is {confidence:.3f}, at or above the certified {threshold:.3f}."
            kept.append(KeptUnit((item, dimension.id), reason, grounds, -confidence))
            continue
        sent.append(PlannedUnit(item, dimension.id, why, reason, grounds, 1.0))


def _confidences(look: Look, key: str, certificate: Certificate) -> npt.NDArray[np.float64]:
    """(items,): the confidences that were certified, NaN where the judge has no value."""
    evidence = look.evidence[key]
    model: Mapping[str, object] | None = certificate.error_model
    found = evidence.confidences if model is None else confidences_by_model(evidence, model)
    return np.where(evidence.usable, found, np.nan)


def _agreement(material: Material, look: Look, kept: list[KeptUnit]) -> list[KeptAgreement]:
    """People beside the judge on what stays; ratings that calibrated report nothing here."""
    stay = {each.unit for each in kept}
    found = []
    for one in look.dimensions:
        chosen: Mask = np.array([(item, one.id) in stay for item in material.items.tolist()], dtype=bool)
        chosen[look.sample[one.key]] = False
        agreement = kept_agreement(one, look.evidence[one.key].scores, chosen)
        if agreement is not None:
            found.append(agreement)
    return found


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
        reason="" if certified else _why_all(dimension, certificate),
        units=items,
        sent=len(own) - audited,
        audited=audited,
        audited_share=mean_share(each for each in audit if each.dimension == dimension.id),
    )


def _why_all(dimension: FrozenDimension, certificate: Certificate | None) -> str:
    if certificate is None:
        return f"{dimension.name} was not calibrated, so all its units go to humans."
    return certificate.reason


def _refusal(calibration: Calibration, found: Mapping[int, Certificate], lapses: list[str]) -> str:
    if lapses:
        return f"The certificates of {calibration} have lapsed, so nothing can be routed by them. {lapses[0]}"
    if not any(each.threshold is not None for each in found.values()):
        return f"{calibration} certified nothing, so no unit may stay with the judge by it."
    return ""
