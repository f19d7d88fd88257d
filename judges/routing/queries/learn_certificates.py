"""Computation of certificates from the ratings of a calibration's sample, once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from agreement import Stream
from agreement.comparison import Scores
from agreement.reliability import (
    Certified,
    Guarantee,
    certify,
    certify_cascade,
    deciding_stages,
    grid_of,
    paths_of,
)
from agreement.reliability import RiskCertificate as Found
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Round
from annotate.core.rounds import round_one
from judges.core.models import Calibration, Certificate, CertifiedStage
from judges.core.stages import JudgeStage, stages_of
from judges.results.queries.confidences import (
    Evidence,
    Kind,
    confidences_of,
    evidence_of,
    fit_model,
    loss_of,
)
from judges.results.queries.scores import Material, material_of, samples_of
from judges.routing.queries.bindings import bound_now, lapses_of, population_of
from judges.routing.queries.units import PartOfUnits, part_of

THRESHOLDS = 50


@dataclass(frozen=True)
class Look:
    """A calibration with the present judgments and ratings.

    stages: its judges in order. evidence: by dimension key, of each of them. lapses: by dimension key, the
    changes since the sampling. sample, fits: by dimension key, the indices of the items that calibrate and of
    the items that fit the error model.
    """

    calibration: Calibration
    stages: Sequence[JudgeStage]
    round: Round | None
    material: Material
    dimensions: Sequence[FrozenDimension]
    evidence: Mapping[str, Sequence[Evidence]]
    lapses: Mapping[str, list[str]]
    sample: Mapping[str, npt.NDArray[np.intp]]
    fits: Mapping[str, npt.NDArray[np.intp]]

    @property
    def rated(self) -> int:
        return sum(self.rated_of(each.key) for each in self.dimensions)

    @property
    def is_cascade(self) -> bool:
        return len(self.stages) > 1

    @property
    def load_sampled_units(self) -> set[tuple[int, int]]:
        """Return the units of the sample, including units that fit a model."""
        return {
            (int(self.material.items[index]), each.id)
            for each in self.dimensions
            for index in (*self.sample[each.key], *self.fits[each.key])
        }

    def rated_of(self, key: str) -> int:
        return int((~np.isnan(self.evidence[key][0].scores.human_means[self.sample[key]])).sum())


def look_at(calibration: Calibration) -> Look:
    """Return a calibration with the present data. Ten queries; it needs its `OF_JUDGES`."""
    project, stages = calibration.project, stages_of(calibration)
    round = round_one(project)
    guideline = guideline_at(project, round)
    material = material_of(project, round, guideline)
    dimensions = [each for each in guideline.scales if each.key in calibration.grids]
    samples = samples_of([judge for stage in stages for judge in stage.judges], material)
    ids = {each.id: each.key for each in dimensions}
    drawn: dict[bool, dict[str, list[int]]] = {
        fits: {key: [] for key in ids.values()} for fits in (False, True)
    }
    for dimension, item, fits in calibration.units.values_list("dimension", "item", "fits"):
        if dimension in ids:
            drawn[fits][ids[dimension]].append(item)
    sample, fitting = (
        {
            key: np.searchsorted(material.items, np.array(sorted(items), dtype=np.int64))
            for key, items in drawn[fits].items()
        }
        for fits in (False, True)
    )
    now = bound_now(stages, dimensions, material, samples, population_of(project, material))
    evidence = {
        each.key: [
            evidence_of(calibration.confidence, stage, material, samples, each.key) for stage in stages
        ]
        for each in dimensions
    }
    return Look(
        calibration=calibration,
        stages=stages,
        round=round,
        material=material,
        dimensions=dimensions,
        evidence=evidence,
        lapses=lapses_of(calibration, stages, now),
        sample=sample,
        fits=fitting,
    )


def certificates_from(look: Look) -> Iterator[tuple[Certificate, list[CertifiedStage]]]:
    """Yield an unsaved certificate for each dimension, each with its share of delta, and its stages."""
    calibration, loss = look.calibration, loss_of(look.calibration)
    level = calibration.significance_level
    guarantee = Guarantee(calibration.risk, level).divide(len(look.dimensions))
    for dimension in look.dimensions:
        key = dimension.key
        evidence, sample, fits = look.evidence[key], look.sample[key], look.fits[key]
        batch = batch_of(evidence[0], fits)
        models: list[dict[str, Any] | None] = [None] * len(evidence)
        if calibration.confidence == Kind.ERROR_MODEL:
            try:
                models = [fit_model(each, fits, loss) for each in evidence]
            except ValueError as error:
                yield _make_uncertified(look, dimension, guarantee, int(batch.sum()), str(error)), []
                continue
        if look.is_cascade:
            yield _certify_cascade(look, dimension, guarantee, batch, models)
            continue
        confidences = confidences_of(evidence[0], models[0])
        found = certify(
            evidence[0].scores.judge[sample],
            evidence[0].scores.human[:, sample],
            confidences[sample],
            loss,
            calibration.grids[key] or grid_of(confidences[batch], thresholds=THRESHOLDS),
            guarantee,
            documents=look.material.documents[sample],
            generator=Stream(calibration.seed).of("certificate", key),
            batch=confidences[batch],
        )
        yield _row(look, dimension, found, models[0]), []


def batch_of(evidence: Evidence, fits: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """(items,): True for items with a confidence, except the ones that fitted the model."""
    batch = evidence.usable.copy()
    batch[fits] = False
    return batch


@dataclass(frozen=True, eq=False)
class StagesOfItems:
    """The deciders of items on a dimension under a certificate.

    deciding: (items,), the index of the stage, the number of stages if people decide. confidences: (items,),
    of the deciding stage, else of the last one that has any; NaN if none has. scores: people and the values
    of the deciding judges.
    """

    deciding: npt.NDArray[np.intp]
    confidences: npt.NDArray[np.float64]
    scores: Scores


def decide_items(look: Look, key: str, certificate: Certificate) -> StagesOfItems:
    """Return the decider of each item; units that fitted a model of errors go to people."""
    evidence = look.evidence[key]
    if look.is_cascade:
        stages = list(certificate.stages.all())
        models = [each.error_model for each in stages]
        thresholds = [np.inf if each.threshold is None else each.threshold for each in stages]
    else:
        models, thresholds = [certificate.error_model], [certificate.threshold or 0.0]
    sure = np.array([_sure(each, model) for each, model in zip(evidence, models, strict=True)])
    in_batch = batch_of(evidence[0], look.fits[key])
    deciding = deciding_stages(np.where(in_batch, sure, np.nan), thresholds)
    last = np.where(np.isnan(sure), -1, np.arange(len(sure))[:, None]).max(axis=0)
    shown = np.where(deciding < len(sure), deciding, last)
    values = np.array([each.scores.judge for each in evidence])
    as_read = np.array([each.scores.as_read for each in evidence])
    by_judge = np.minimum(deciding, len(sure) - 1)[None]
    return StagesOfItems(
        deciding=deciding,
        confidences=np.where(shown >= 0, np.take_along_axis(sure, np.maximum(shown, 0)[None], 0)[0], np.nan),
        scores=replace(
            evidence[0].scores,
            judge=np.take_along_axis(values, by_judge, 0)[0],
            as_read=np.take_along_axis(as_read, by_judge, 0)[0],
        ),
    )


def _sure(evidence: Evidence, model: Mapping[str, Any] | None) -> npt.NDArray[np.float64]:
    return np.where(evidence.usable, confidences_of(evidence, model), np.nan)


def errors_among_kept(look: Look, key: str, certificate: Certificate) -> PartOfUnits | None:
    """Return the errors among the units that stay with judges; None without a threshold."""
    if certificate.threshold is None:
        return None
    found = decide_items(look, key, certificate)
    return part_of(found.scores, found.deciding < len(look.stages), loss_of(look.calibration))


def _certify_cascade(
    look: Look,
    dimension: FrozenDimension,
    guarantee: Guarantee,
    batch: npt.NDArray[np.bool_],
    models: Sequence[Mapping[str, Any] | None],
) -> tuple[Certificate, list[CertifiedStage]]:
    key, calibration = dimension.key, look.calibration
    evidence, sample = look.evidence[key], look.sample[key]
    sure = np.array([_sure(each, model) for each, model in zip(evidence, models, strict=True)])
    # Later judges process the sample alone. Their values of other units are ignored, because the choice of
    # these units could depend on anything.
    known = sure.copy()
    known[1:, np.setdiff1d(np.arange(len(batch)), sample)] = np.nan
    found = certify_cascade(
        np.array([each.scores.judge[sample] for each in evidence]),
        evidence[0].scores.human[:, sample],
        sure[:, sample],
        loss_of(calibration),
        paths_of(known[:, batch], comparable=calibration.confidence == Kind.ERROR_MODEL),
        guarantee,
        documents=look.material.documents[sample],
        generator=Stream(calibration.seed).of("certificate", key),
        batch=int(batch.sum()),
    )
    cascade, thresholds = found.cascade, found.cascade.thresholds
    certified = Certified(
        cascade.certificate, found.constant, found.constant_value, found.shuffled, found.ceiling
    )
    row = _row(look, dimension, certified, None)
    if thresholds is None:
        return row, []
    row.threshold = float(thresholds[np.isfinite(thresholds)][0])
    row.kept = round(row.units * int(cascade.accepted.sum()) / row.rated)
    return row, [
        CertifiedStage(
            certificate=row,
            position=stage.position,
            judge=stage.judge,
            threshold=float(threshold) if np.isfinite(threshold) else None,
            accepted=int(accepted),
            errors=int(errors),
            error_model=model,
        )
        for stage, threshold, accepted, errors, model in zip(
            look.stages, thresholds, cascade.accepted, cascade.errors, models, strict=True
        )
    ]


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
        ceiling=found.ceiling.risk,
        ceiling_units=found.ceiling.units,
        ceiling_reason=found.ceiling.reason or "",
    )


def _make_uncertified(
    look: Look, dimension: FrozenDimension, guarantee: Guarantee, units: int, why: str
) -> Certificate:
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
        ceiling=None,
        ceiling_units=0,
        ceiling_reason=why,
    )


def _control(certificate: Found) -> dict[str, Any]:
    return {
        "threshold": certificate.threshold,
        "kept_share": certificate.kept_share,
        "reason": certificate.reason,
    }
