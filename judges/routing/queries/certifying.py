"""From the ratings of a calibration's sample to its certificates, which are computed once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from agreement import Stream
from agreement.reliability import Ceiling, Certified, Guarantee, certify, grid_of
from agreement.reliability import RiskCertificate as Found
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Round
from annotate.core.rounds import round_one
from judges.core.models import Calibration, Certificate
from judges.results.queries.confidences import (
    Evidence,
    Kind,
    confidences_by_model,
    evidence_of,
    fit_model,
    loss_of,
)
from judges.results.queries.scores import Material, material_of, samples_of
from judges.routing.queries.bindings import bound_now, lapses_of, population_of
from judges.routing.queries.kept_units import PartOfUnits, part_of

THRESHOLDS = 50


@dataclass(frozen=True)
class Look:
    """A calibration beside the judgments and ratings as they are now.

    lapses: by dimension key, what has changed since the sample was drawn. sample, fits: by dimension key, the
    indices of the items that calibrate and of those that fit the error model.
    """

    calibration: Calibration
    round: Round | None
    material: Material
    dimensions: Sequence[FrozenDimension]
    evidence: Mapping[str, Evidence]
    lapses: Mapping[str, list[str]]
    sample: Mapping[str, npt.NDArray[np.intp]]
    fits: Mapping[str, npt.NDArray[np.intp]]

    @property
    def rated(self) -> int:
        """Return how many units of the sample have a rating."""
        return sum(self.rated_of(each.key) for each in self.dimensions)

    def rated_of(self, key: str) -> int:
        """Return how many calibrating units of a dimension have a rating."""
        return int((~np.isnan(self.evidence[key].scores.human_means[self.sample[key]])).sum())


def look_at(calibration: Calibration) -> Look:
    """Return a calibration beside what there is now. Nine queries; it needs its `OF_JUDGES`."""
    project = calibration.project
    round = round_one(project)
    guideline = guideline_at(project, round)
    material = material_of(project, round, guideline)
    dimensions = [each for each in guideline.scales if each.key in calibration.grids]
    judges = {"judge": calibration.judge, "other": calibration.other}
    samples = samples_of([judge for judge in judges.values() if judge is not None], material)
    drawn = list(calibration.units.values_list("dimension", "item", "fits"))
    now = bound_now(judges, dimensions, material, samples, population_of(project, material))
    return Look(
        calibration=calibration,
        round=round,
        material=material,
        dimensions=dimensions,
        evidence={each.key: evidence_of(calibration, material, samples, each.key) for each in dimensions},
        lapses=lapses_of(calibration, now),
        sample={each.key: _indices(material, drawn, each.id, fits=False) for each in dimensions},
        fits={each.key: _indices(material, drawn, each.id, fits=True) for each in dimensions},
    )


def certificates_from(look: Look) -> Iterator[Certificate]:
    """Yield an unsaved certificate for each dimension, each with its share of delta."""
    calibration = look.calibration
    level = calibration.significance_level
    guarantee = Guarantee(calibration.risk, level).divide(len(look.dimensions))
    for dimension in look.dimensions:
        yield _certificate(look, dimension, guarantee)


def batch_of(evidence: Evidence, fits: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """(items,): what a certificate speaks of: all with a confidence but those that fitted the model."""
    batch = evidence.usable.copy()
    batch[fits] = False
    return batch


def confidences_of(look: Look, key: str, certificate: Certificate) -> npt.NDArray[np.float64]:
    """(items,): the confidences that were certified, NaN where the judge has no value."""
    evidence = look.evidence[key]
    model: Mapping[str, object] | None = certificate.error_model
    found = evidence.confidences if model is None else confidences_by_model(evidence, model)
    return np.where(evidence.usable, found, np.nan)


def errors_among_kept(look: Look, key: str, certificate: Certificate) -> PartOfUnits | None:
    """Return the errors among the units that stay with the judge; None without a threshold."""
    if certificate.threshold is None:
        return None
    kept = batch_of(look.evidence[key], look.fits[key])
    kept &= np.nan_to_num(confidences_of(look, key, certificate), nan=-np.inf) >= certificate.threshold
    return part_of(look.evidence[key].scores, kept, loss_of(look.calibration))


def _certificate(look: Look, dimension: FrozenDimension, guarantee: Guarantee) -> Certificate:
    key, calibration = dimension.key, look.calibration
    evidence, sample = look.evidence[key], look.sample[key]
    batch = batch_of(evidence, look.fits[key])
    confidences, model = evidence.confidences, None
    if calibration.confidence == Kind.ERROR_MODEL:
        try:
            model = fit_model(evidence, look.fits[key], loss_of(calibration))
        except ValueError as error:
            return _without(look, dimension, guarantee, int(batch.sum()), str(error))
        confidences = confidences_by_model(evidence, model)
    found = certify(
        evidence.scores.judge[sample],
        evidence.scores.human[:, sample],
        confidences[sample],
        loss_of(calibration),
        calibration.grids[key] or grid_of(confidences[batch], thresholds=THRESHOLDS),
        guarantee,
        documents=look.material.documents[sample],
        generator=Stream(calibration.seed).of("certificate", dimension.key),
        batch=confidences[batch],
    )
    return _row(look, dimension, found, model)


def _row(
    look: Look, dimension: FrozenDimension, found: Certified, model: Mapping[str, Any] | None
) -> Certificate:
    certificate, step = found.certificate, found.certificate.step
    return Certificate(
        calibration=look.calibration,
        dimension_id=dimension.id,
        significance_level=certificate.guarantee.significance_level,
        threshold=certificate.threshold,
        reason=certificate.reason or "",
        units=certificate.units or 0,
        kept=(step.units or 0) if step else 0,
        rated=certificate.rated,
        missing=certificate.without_loss,
        accepted=step.accepted if step else None,
        errors=round(step.lost) if step else None,
        upper_bound=step.bound if step else None,
        risk_of_unrated=certificate.risk_of_unrated,
        more_ratings=certificate.more_ratings,
        more_reason=certificate.more_reason or "",
        steps=[asdict(each) for each in certificate.steps],
        controls={
            "constant": {"value": found.constant_value, **_control(found.constant)},
            "shuffled": _control(found.shuffled),
        },
        error_model=model,
        **_ceiling(found.ceiling),
    )


def _without(
    look: Look, dimension: FrozenDimension, guarantee: Guarantee, units: int, why: str
) -> Certificate:
    """A dimension on which nothing could be tested."""
    rated = look.rated_of(dimension.key)
    nothing = {"threshold": None, "kept_share": 0.0, "reason": why}
    return Certificate(
        calibration=look.calibration,
        dimension_id=dimension.id,
        significance_level=guarantee.significance_level,
        reason=f"{why} {gettext('All units go to humans.')}",
        units=units,
        rated=rated,
        missing=len(look.sample[dimension.key]) - rated,
        steps=[],
        controls={"constant": {"value": None, **nothing}, "shuffled": nothing},
        **_ceiling(Ceiling(None, 0, why)),
    )


def _control(certificate: Found) -> dict[str, Any]:
    return {
        "threshold": certificate.threshold,
        "kept_share": certificate.kept_share,
        "reason": certificate.reason,
    }


def _ceiling(ceiling: Ceiling) -> dict[str, Any]:
    return {
        "ceiling": ceiling.risk,
        "ceiling_units": ceiling.units,
        "ceiling_reason": ceiling.reason or "",
    }


def _indices(
    material: Material, drawn: Sequence[tuple[int, int, bool]], dimension: int, *, fits: bool
) -> npt.NDArray[np.intp]:
    items = sorted(item for of, item, fit in drawn if of == dimension and fit == fits)
    return np.searchsorted(material.items, np.array(items, dtype=np.int64))
