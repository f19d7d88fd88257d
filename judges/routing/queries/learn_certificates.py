"""Certificates from the ratings of a calibration's sample, and the changes that make them lapse."""

import hashlib
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
from annotate.core.models import Project, text_digest
from annotate.core.rounds import round_one
from judges.core.judge_settings import BOUND_SETTINGS, in_words
from judges.core.material import outputs_of
from judges.core.models import Calibration, Certificate, CertifiedStage, DriftWatch, Judge
from judges.core.stages import JudgeStage, stages_of
from judges.results.queries.confidences import Evidence, Kind, confidences_of, evidence_of, fit_model, loss_of
from judges.results.queries.scores import Material, SamplesOf, material_of, samples_of
from judges.routing.queries.units import PartOfUnits, part_of
from judges.runs.queries.drift import alarms_of


def population_of(project: Project, material: Material) -> dict[str, Any]:
    """Return the outputs that certificates cover. One query."""
    # In one order, because the digest depends on it.
    rows = outputs_of(project).order_by("pk")
    texts = list(rows.values_list("pk", "digest", "document__digest", "system"))
    return {"items": len(material.items), "digest": text_digest(texts)}


def bound_now(
    stages: Sequence[JudgeStage],
    dimensions: Sequence[FrozenDimension],
    material: Material,
    samples: SamplesOf,
    population: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values that certificates of these judges on these dimensions bind.

    The judges need their endpoints, templates and references. Judgments of later stages are not bound: these
    judges process more units after the certificates are computed.
    """
    return {
        "judges": {
            name: {setting.key: setting.read(judge) for setting in BOUND_SETTINGS}
            for name, judge in _judges_by_name(stages).items()
        },
        "population": dict(population),
        "dimensions": {
            each.key: {
                "definition": text_digest(
                    [
                        *(getattr(each, name) for name in _DEFINING),
                        # A step of 1 has no entry, so stored certificates without a step stay valid.
                        *([] if each.scale_step == 1 else [each.scale_step]),
                    ]
                ),
                "judgments": {
                    name: _digest(material.items, samples[judge.pk, each.key].as_read)
                    for name, judge in _judges_by_name(stages[:1]).items()
                },
            }
            for each in dimensions
        },
    }


_DEFINING = ("definition", "guidelines", "scale_minimum", "scale_maximum", "measurement_level")


def _digest(items: npt.NDArray[np.int64], samples: npt.NDArray[np.float64]) -> str:
    """Return a digest of all available values, each with its item and sample."""
    row, sample = np.nonzero(~np.isnan(samples))
    parts = (items[row], sample, np.round(samples[row, sample], 9))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def _judges_by_name(stages: Sequence[JudgeStage]) -> dict[str, Judge]:
    # A stage without a second judge has two names and one judge.
    return {name: judge for stage in stages for name, judge in zip(stage.names, stage.judges, strict=False)}


def lapses_of(
    calibration: Calibration, stages: Sequence[JudgeStage], now: dict[str, Any]
) -> dict[str, list[str]]:
    """Return the changes since the sampling by dimension key, one message each. One query."""
    bound = calibration.bound
    judges = _judges_by_name(stages)
    # Changes of judges, models and items concern every dimension.
    common = []
    for name, settings in bound["judges"].items():
        for setting in BOUND_SETTINGS:
            old, new = settings.get(setting.key), now["judges"][name][setting.key]
            # A setting that the stored certificate does not contain is not bound by it.
            if setting.key not in settings or old == new:
                continue
            message = (
                gettext("The text of {judge}'s prompt was changed.")
                if setting.key == "prompt_digest"
                else gettext("The {setting} of {judge} was {old}, and is {new}.")
            )
            words = {"setting": setting.label, "old": in_words(old), "new": in_words(new)}
            common.append(message.format(judge=judges[name], **words))
    # An unconfirmed alarm invalidates the judge itself.
    confirmed = DriftWatch.objects.filter(
        alarmed_at__gt=calibration.drawn_at, confirmed_at__isnull=False
    ).select_related("judge")
    common += [
        gettext("{judge} has changed since the sample was drawn, as its watch shows.").format(
            judge=each.judge
        )
        for each in alarms_of((judge.pk for judge in judges.values()), confirmed.order_by("pk"))
    ]
    if bound["population"] != now["population"]:
        before, after = bound["population"]["items"], now["population"]["items"]
        what = (
            gettext("There were {before} items, and there are {after}.").format(before=before, after=after)
            if before != after
            else gettext("A text was changed.")
        )
        changed = gettext("The items that it speaks of have changed.")
        common.append(f"{changed} {what}")
    # Changes of one dimension: its definition, and the judgments of the first judge.
    lapses = {}
    for key, parts in bound["dimensions"].items():
        lapses[key] = [*common]
        present = now["dimensions"].get(key)
        if present is None:
            lapses[key].append(gettext("The dimension {dimension} is no longer there.").format(dimension=key))
            continue
        if parts["definition"] != present["definition"]:
            message = gettext("The definition or scale of {dimension} was changed.")
            lapses[key].append(message.format(dimension=key))
        message = gettext("Judgments of {judge} on {dimension} were added or changed.")
        lapses[key] += [
            message.format(judge=judges[name], dimension=key)
            for name, digest in parts["judgments"].items()
            if digest != present["judgments"][name]
        ]
    return lapses


THRESHOLDS = 50


@dataclass(frozen=True)
class LoadedCalibration:
    """A calibration with the present judgments and ratings.

    stages: its judges in order. evidence: by dimension key, of each of them. sample, fits: by dimension key,
    the indices of the items that calibrate and of the items that fit the error model.
    """

    calibration: Calibration
    stages: Sequence[JudgeStage]
    material: Material
    samples: SamplesOf
    dimensions: Sequence[FrozenDimension]
    evidence: Mapping[str, Sequence[Evidence]]
    sample: Mapping[str, npt.NDArray[np.intp]]
    fits: Mapping[str, npt.NDArray[np.intp]]

    @property
    def rated(self) -> int:
        return sum(self.rated_of(each.key) for each in self.dimensions)

    @property
    def is_cascade(self) -> bool:
        return len(self.stages) > 1

    @property
    def sampled_units(self) -> set[tuple[int, int]]:
        """Return the units of the sample, including units that fit a model."""
        return {
            (int(self.material.items[index]), each.id)
            for each in self.dimensions
            for index in (*self.sample[each.key], *self.fits[each.key])
        }

    def rated_of(self, key: str) -> int:
        return int((~np.isnan(self.evidence[key][0].scores.human_means[self.sample[key]])).sum())


def load_calibration(calibration: Calibration) -> LoadedCalibration:
    """Return a calibration with the present data. Eight queries; it needs its `OF_JUDGES`."""
    project, stages = calibration.project, stages_of(calibration)
    round = round_one(project)
    guideline = guideline_at(project, round)
    material = material_of(project, round, guideline)
    # `grids` has a key for each sampled dimension, even if its grid is empty.
    dimensions = [each for each in guideline.scales if each.key in calibration.grids]
    samples = samples_of([judge for stage in stages for judge in stage.judges], material)
    ids = {each.id: each.key for each in dimensions}
    # The sampled items by dimension: False for the ones that calibrate, True for the ones that fit the model.
    drawn: dict[bool, dict[str, list[int]]] = {
        fits: {key: [] for key in ids.values()} for fits in (False, True)
    }
    for dimension, item, fits in calibration.units.values_list("dimension", "item", "fits"):
        if dimension in ids:
            drawn[fits][ids[dimension]].append(item)
    sample, fitting = (
        {
            # The items of the material are sorted, so a search finds their indices.
            key: np.searchsorted(material.items, np.array(sorted(items), dtype=np.int64))
            for key, items in drawn[fits].items()
        }
        for fits in (False, True)
    )
    return LoadedCalibration(
        calibration=calibration,
        stages=stages,
        material=material,
        samples=samples,
        dimensions=dimensions,
        evidence={
            each.key: [
                evidence_of(calibration.confidence, stage, material, samples, each.key) for stage in stages
            ]
            for each in dimensions
        },
        sample=sample,
        fits=fitting,
    )


def check_lapses(loaded: LoadedCalibration) -> dict[str, list[str]]:
    """Return the changes since the sampling by dimension key, one message each. Two queries."""
    population = population_of(loaded.calibration.project, loaded.material)
    now = bound_now(loaded.stages, loaded.dimensions, loaded.material, loaded.samples, population)
    return lapses_of(loaded.calibration, loaded.stages, now)


def all_lapses(loaded: LoadedCalibration) -> list[str]:
    """Return the changes since the sampling, each message once. Two queries."""
    return list(dict.fromkeys(sentence for each in check_lapses(loaded).values() for sentence in each))


def certificates_from(loaded: LoadedCalibration) -> Iterator[tuple[Certificate, list[CertifiedStage]]]:
    """Yield an unsaved certificate for each dimension, each with its share of delta, and its stages."""
    calibration, loss = loaded.calibration, loss_of(loaded.calibration)
    level = calibration.significance_level
    # The guarantee is about all dimensions together, so they share delta.
    guarantee = Guarantee(calibration.risk, level).divide(len(loaded.dimensions))
    for dimension in loaded.dimensions:
        key = dimension.key
        evidence, sample, fits = loaded.evidence[key], loaded.sample[key], loaded.fits[key]
        batch = batch_of(evidence[0], fits)
        # Only the kind with a model of errors fits one for each judge.
        models: list[dict[str, Any] | None] = [None] * len(evidence)
        if calibration.confidence == Kind.ERROR_MODEL:
            try:
                models = [fit_model(each, fits, loss) for each in evidence]
            # With too few ratings to fit a model, this dimension alone goes to people.
            except ValueError as error:
                yield _make_uncertified(loaded, dimension, guarantee, int(batch.sum()), str(error)), []
                continue
        if loaded.is_cascade:
            yield _certify_cascade(loaded, dimension, guarantee, batch, models)
            continue
        confidences = confidences_of(evidence[0], models[0])
        found = certify(
            evidence[0].scores.judge[sample],
            evidence[0].scores.human[:, sample],
            confidences[sample],
            loss,
            # A model of errors has no confidences before it is fitted, so its sampling stored no grid.
            calibration.grids[key] or grid_of(confidences[batch], thresholds=THRESHOLDS),
            guarantee,
            documents=loaded.material.documents[sample],
            generator=Stream(calibration.seed).of("certificate", key),
            # The batch is closed, and its rated units are known: the bound is smaller than for endless units.
            batch=confidences[batch],
        )
        yield _row(loaded, dimension, found, models[0]), []


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


def decide_items(loaded: LoadedCalibration, key: str, certificate: Certificate) -> StagesOfItems:
    """Return the decider of each item; units that fitted a model of errors go to people."""
    evidence = loaded.evidence[key]
    if loaded.is_cascade:
        stages = list(certificate.stages.all())
        models = [each.error_model for each in stages]
        # A stage without a threshold decides no unit.
        thresholds = [np.inf if each.threshold is None else each.threshold for each in stages]
    else:
        models, thresholds = [certificate.error_model], [certificate.threshold or 0.0]
    sure = np.array([_sure(each, model) for each, model in zip(evidence, models, strict=True)])
    in_batch = batch_of(evidence[0], loaded.fits[key])
    # NaN sends units outside the batch to people.
    deciding = deciding_stages(np.where(in_batch, sure, np.nan), thresholds)
    # A unit for people shows the confidence of the last judge that has one.
    last = np.where(np.isnan(sure), -1, np.arange(len(sure))[:, None]).max(axis=0)
    shown = np.where(deciding < len(sure), deciding, last)
    values = np.array([each.scores.judge for each in evidence])
    as_read = np.array([each.scores.as_read for each in evidence])
    # The index of people is cut to the last judge, because the arrays have a row for judges only.
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


def errors_among_kept(loaded: LoadedCalibration, key: str, certificate: Certificate) -> PartOfUnits | None:
    """Return the errors among the units that stay with judges; None without a threshold."""
    if certificate.threshold is None:
        return None
    found = decide_items(loaded, key, certificate)
    return part_of(found.scores, found.deciding < len(loaded.stages), loss_of(loaded.calibration))


def _certify_cascade(
    loaded: LoadedCalibration,
    dimension: FrozenDimension,
    guarantee: Guarantee,
    batch: npt.NDArray[np.bool_],
    models: Sequence[Mapping[str, Any] | None],
) -> tuple[Certificate, list[CertifiedStage]]:
    key, calibration = dimension.key, loaded.calibration
    evidence, sample = loaded.evidence[key], loaded.sample[key]
    sure = np.array([_sure(each, model) for each, model in zip(evidence, models, strict=True)])
    # Later judges process the sample alone. Their values of other units are ignored, because the choice of
    # these units could depend on anything.
    known = sure.copy()
    known[1:, np.setdiff1d(np.arange(len(batch)), sample)] = np.nan
    # Each test is about all units that any stage decides, so delta is not split over stages.
    found = certify_cascade(
        np.array([each.scores.judge[sample] for each in evidence]),
        evidence[0].scores.human[:, sample],
        sure[:, sample],
        loss_of(calibration),
        # Predicted errors of several judges have one unit; other confidences do not.
        paths_of(known[:, batch], comparable=calibration.confidence == Kind.ERROR_MODEL),
        guarantee,
        documents=loaded.material.documents[sample],
        generator=Stream(calibration.seed).of("certificate", key),
        batch=int(batch.sum()),
    )
    cascade, thresholds = found.cascade, found.cascade.thresholds
    certified = Certified(
        cascade.certificate, found.constant, found.constant_value, found.shuffled, found.ceiling
    )
    row = _row(loaded, dimension, certified, None)
    if thresholds is None:
        return row, []
    # Any threshold marks the row as certified; units are decided by the ones of the stages.
    row.threshold = float(thresholds[np.isfinite(thresholds)][0])
    # Later judges have answered about the sample alone, so its share is projected to all units.
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
            loaded.stages, thresholds, cascade.accepted, cascade.errors, models, strict=True
        )
    ]


def _row(
    loaded: LoadedCalibration, dimension: FrozenDimension, found: Certified, model: Mapping[str, Any] | None
) -> Certificate:
    certificate, step = found.certificate, found.certificate.step
    return Certificate(
        calibration=loaded.calibration,
        dimension_id=dimension.id,
        significance_level=certificate.guarantee.significance_level,
        threshold=certificate.threshold,
        reason=certificate.reason or "",
        units=certificate.units or 0,
        kept=(step.units or 0) if step else 0,
        rated=certificate.rated,
        missing=certificate.without_loss,
        accepted=step.accepted if step else None,
        # Losses are 0 or 1, so their sum is a whole number.
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
    loaded: LoadedCalibration, dimension: FrozenDimension, guarantee: Guarantee, units: int, why: str
) -> Certificate:
    rated = loaded.rated_of(dimension.key)
    nothing = {"threshold": None, "kept_share": 0.0, "reason": why}
    return Certificate(
        calibration=loaded.calibration,
        dimension_id=dimension.id,
        significance_level=guarantee.significance_level,
        reason=f"{why} {gettext('All units go to humans.')}",
        units=units,
        rated=rated,
        missing=len(loaded.sample[dimension.key]) - rated,
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
