"""Confidences of a judge in each item of a project, of the kind planned in a calibration."""

from collections.abc import Mapping, Sequence
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
from judges.core.probabilities import chosen_probabilities
from judges.core.stages import JudgeStage
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
    said = samples[stage.judge.pk, key].of_items(~material.in_development)
    scores, own = scores_of(material, key, said), said.values
    other = None
    if stage.other is not None:
        held_out = samples[stage.other.pk, key].of_items(~material.in_development)
        other = scores_of(material, key, held_out)
    if kind == Kind.ERROR_MODEL:
        names, features = _features(scores, own, other)
        confidences = np.where(np.isnan(features).any(axis=1), np.nan, 0.0)
        return Evidence(scores, confidences, features, names)
    if kind == Kind.CHOSEN_PROBABILITY:
        # (items,): the mean over samples of the probability of the given value; NaN if none is
        # stored.
        judge = stage.judge
        dimension = next(each for each in material.dimensions if each.key == key)
        answered = Judgment.objects.filter(
            judge=judge, dimension=dimension.id, log_probabilities__isnull=False
        )
        rows = list(answered.filter(status=Judgment.Status.DONE).values_list("item", "log_probabilities"))
        positions = np.searchsorted(material.items, np.array([item for item, _ in rows], dtype=np.int64))
        found = chosen_probabilities([kept for _, kept in rows])
        given = ~np.isnan(found)
        size = len(material.items)
        numbers, totals = (np.bincount(positions[given], each, size) for each in (None, found[given]))
        means = np.where(numbers > 0, totals / np.maximum(numbers, 1), np.nan)
        probabilities_of_items = np.where(material.in_development, np.nan, means)
        return Evidence(scores, probabilities_of_items, None, ())
    return Evidence(scores, _confidences(kind, scores, own, other), None, ())


def fit_model(evidence: Evidence, fits: npt.NDArray[np.intp], loss: Loss) -> dict[str, Any]:
    """Return an error model fitted on these rated items, in its stored form.

    Raises ValueError with fewer than two.
    """
    assert evidence.features is not None
    losses = loss(evidence.scores.judge[fits], evidence.scores.human_means[fits])
    model = fit_error_model(evidence.features[fits], losses)
    return {
        "features": list(evidence.feature_names),
        "intercept": model.intercept,
        "slopes": model.slopes.tolist(),
        "centres": model.centres.tolist(),
        "scales": model.scales.tolist(),
    }


def confidences_by_model(evidence: Evidence, model: Mapping[str, Any]) -> Values:
    """(items,): the confidences that a stored error model gives."""
    assert evidence.features is not None
    arrays = (np.asarray(model[name], dtype=float) for name in ("slopes", "centres", "scales"))
    return ErrorModel(model["intercept"], *arrays).confidence(evidence.features)


def _confidences(kind: str, scores: Scores, own: Values, other: Scores | None) -> Values:
    if kind == Kind.STEADINESS:
        return steadiness(own)
    if kind == Kind.LARGEST_PROBABILITY:
        # (items,): the share of the most frequent value, NaN with fewer than two samples.
        given = ~np.isnan(own)
        distinct = np.unique(own[given])
        if not len(distinct):
            return np.full(len(own), np.nan)
        counts = np.stack([(own == value).sum(axis=1) for value in distinct], axis=1)
        number = given.sum(axis=1)
        shares = counts / np.maximum(number, 1)[:, None]
        return np.where(number >= 2, largest_probability(shares), np.nan)
    assert other is not None  # closeness is impossible without it
    return closeness(scores.judge, other.judge)


def _features(scores: Scores, own: Values, other: Scores | None) -> tuple[tuple[str, ...], Values]:
    """(items, features): possible predictors of the judge's errors, including R of the item's system."""
    found: dict[str, Values] = {"value": scores.judge}
    if other is not None:
        found |= {"other value": other.judge, "closeness": closeness(scores.judge, other.judge)}
        found["R of the system"] = _indicators(scores, other.as_read)
    if own.shape[1] > 1:
        found["steadiness"] = steadiness(own)
    return tuple(found), np.column_stack(list(found.values()))


def _indicators(scores: Scores, other: Values) -> Values:
    """(items,): R of each item's system, 0 if it is undefined."""
    found: Sequence[float] = [each.coefficient.value or 0.0 for each in indicator(scores, other, spearman)]
    return np.asarray(found, dtype=float)[scores.systems]
