"""Confidences of a judge in each item of a project, of the kind planned in a calibration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import spearman
from agreement.comparison import Scores
from agreement.reliability import (
    ErrorModel,
    Loss,
    another_point,
    at_cut,
    closeness,
    fit_error_model,
    indicator,
    largest_probability,
    more_than_one_point,
    steadiness,
)
from judges.core.models import Calibration, Judgment
from judges.core.stages import JudgeStage
from judges.core.values import chosen_probabilities
from judges.results.queries.scores import Material, SamplesOf, scores_of

Kind = Calibration.Confidence
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence of the judgments about each item on one dimension.

    scores: the judge with people. features: (items, features) for an error model, None for other kinds.
    confidences: (items,), NaN if there is none; for an error model it marks only the items that will have
    one.
    """

    scores: Scores
    confidences: Values
    features: Values | None
    feature_names: tuple[str, ...]

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """(items,): True if the judge has a value and a confidence, so that the item is in the batch."""
        return np.asarray(~np.isnan(self.confidences) & ~np.isnan(self.scores.judge))


def loss_of(calibration: Calibration) -> Loss:
    if calibration.loss == Calibration.Loss.OTHER_SIDE:
        assert calibration.cut is not None  # a constraint of the table
        return at_cut(calibration.cut)
    return another_point if calibration.loss == Calibration.Loss.ANOTHER_POINT else more_than_one_point


def evidence_of(kind: str, stage: JudgeStage, material: Material, samples: SamplesOf, key: str) -> Evidence:
    """Return a judge's values and confidences on a dimension. kind: of `Calibration.Confidence`."""
    # Judges may have learned from development documents, so these are in no batch.
    said = samples[stage.judge.pk, key].of_items(~material.in_development)
    scores, own = scores_of(material, key, said), said.values
    other = None
    if stage.other is not None:
        held_out = samples[stage.other.pk, key].of_items(~material.in_development)
        other = scores_of(material, key, held_out)
    if kind == Kind.ERROR_MODEL:
        predictors: dict[str, Values] = {"value": scores.judge}
        if other is not None:
            close = closeness(scores.judge, other.judge)
            predictors |= {"other value": other.judge, "closeness": close}
            # An undefined R counts as no correlation.
            r = [each.coefficient.value or 0.0 for each in indicator(scores, other.as_read, spearman)]
            predictors["R of the system"] = np.asarray(r, dtype=float)[scores.systems]
        # One sample shows no spread.
        if own.shape[1] > 1:
            predictors["steadiness"] = steadiness(own)
        features = np.column_stack(list(predictors.values()))
        # The model is fitted later, so 0 only marks the items that will have a confidence.
        confidences = np.where(np.isnan(features).any(axis=1), np.nan, 0.0)
        return Evidence(scores, confidences, features, tuple(predictors))
    if kind == Kind.CHOSEN_PROBABILITY:
        # The mean over samples of the probability of the given value; NaN if none is stored.
        judge = stage.judge
        dimension = next(each for each in material.dimensions if each.key == key)
        answered = Judgment.objects.filter(
            judge=judge, dimension=dimension.id, log_probabilities__isnull=False
        )
        rows = list(answered.filter(status=Judgment.Status.DONE).values_list("item", "log_probabilities"))
        items = np.array([item for item, _ in rows], dtype=np.int64)
        # A foreign item gets a position, too; `given` leaves it out below.
        positions = np.searchsorted(material.items, items)
        found = chosen_probabilities([kept for _, kept in rows])
        # Restored judgments can be about other items: an addition's bridging items.
        given = ~np.isnan(found) & np.isin(items, material.items)
        size = len(material.items)
        # Counts and sums by item, over its samples.
        numbers, totals = (np.bincount(positions[given], each, size) for each in (None, found[given]))
        # `where` computes both branches, and a division by 0 would warn.
        means = np.where(numbers > 0, totals / np.maximum(numbers, 1), np.nan)
        confidences = np.where(material.in_development, np.nan, means)
    elif kind == Kind.STEADINESS:
        confidences = steadiness(own)
    elif kind == Kind.LARGEST_PROBABILITY:
        # The share of the most frequent value, NaN with fewer than two samples.
        given = ~np.isnan(own)
        counts = [(own == value).sum(axis=1) for value in np.unique(own[given])]
        number = given.sum(axis=1)
        confidences = np.full(len(own), np.nan)
        if counts:
            shares = np.stack(counts, axis=1) / np.maximum(number, 1)[:, None]
            confidences = np.where(number >= 2, largest_probability(shares), np.nan)
    else:
        assert other is not None  # closeness is impossible without it
        confidences = closeness(scores.judge, other.judge)
    return Evidence(scores, confidences, None, ())


def fit_model(evidence: Evidence, fits: npt.NDArray[np.intp], loss: Loss) -> dict[str, Any]:
    """Return an error model fitted on these rated items, in its stored form.

    Raises ValueError with fewer than two.
    """
    assert evidence.features is not None
    # This excludes units that calibrate, because the test is exact only with a model from other ratings.
    losses = loss(evidence.scores.judge[fits], evidence.scores.human_means[fits])
    model = fit_error_model(evidence.features[fits], losses)
    return {
        "features": list(evidence.feature_names),
        "intercept": model.intercept,
        "slopes": model.slopes.tolist(),
        "centres": model.centres.tolist(),
        "scales": model.scales.tolist(),
    }


def confidences_of(evidence: Evidence, model: Mapping[str, Any] | None) -> Values:
    """(items,): the confidences, by a stored error model if there is one."""
    if model is None:
        return evidence.confidences
    assert evidence.features is not None
    arrays = (np.asarray(model[name], dtype=float) for name in ("slopes", "centres", "scales"))
    return ErrorModel(model["intercept"], *arrays).confidence(evidence.features)
