"""Routing by certificates: units at or above a threshold stay with the judge, all others go to people."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Certificate, RoutingPolicy
from judges.results.queries.scores import Material
from judges.routing.queries.audit import AuditCell, mean_share
from judges.routing.queries.certifying import Look, confidences_of, errors_among_kept, look_at
from judges.routing.queries.kept_units import KeptAgreement, PartOfUnits, kept_agreement
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
        kept=_errors(look, found),
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
    confidences = confidences_of(look, dimension.key, certificate)
    fits = set(look.fits[dimension.key].tolist())
    for index, (item, confidence) in enumerate(zip(items, confidences.tolist(), strict=True)):
        known = not np.isnan(confidence)
        grounds = Grounds(confidence=confidence if known else None, threshold=threshold)
        why, reason = (
            Why.UNSURE,
            gettext("Its confidence is {confidence:.3f}, below the certified {threshold:.3f}."),
        )
        if not known:
            why = Why.NO_VALUE
            reason = gettext("{judge} has no value or confidence for this unit, so people rate it.")
        elif index in fits:
            why = Why.FITTED
            reason = gettext("The model of errors uses this unit, so the certificate does not cover it.")
        elif confidence >= threshold:
            reason = gettext("Its confidence is {confidence:.3f}, at or above the certified {threshold:.3f}.")
        reason = reason.format(confidence=confidence, threshold=threshold, judge=judge)
        if known and index not in fits and confidence >= threshold:
            kept.append(KeptUnit((item, dimension.id), reason, grounds, -confidence))
            continue
        sent.append(PlannedUnit(item, dimension.id, why, reason, grounds, 1.0))


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
        reason="" if certified else _why_all(dimension, certificate),
        units=items,
        sent=len(own) - audited,
        audited=audited,
        audited_share=mean_share(each for each in audit if each.dimension == dimension.id),
    )


def _why_all(dimension: FrozenDimension, certificate: Certificate | None) -> str:
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
    return ""
