"""Means of systems on one dimension, corrected by a judge, and the judge's savings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from django.utils.translation import gettext

from agreement.comparison import Scores
from agreement.data import FloatArray
from agreement.pairs import mean_values
from agreement.reliability import (
    About,
    CorrectedSystems,
    CorrectionGain,
    RatedSample,
    correct_systems,
    correction_gain,
)
from agreement.reliability.estimates import warnings_of
from annotate.core.guideline import FrozenDimension

SUPPOSED_SHARE = 0.2
"""Of the documents that people would rate, if they have rated them all."""


@dataclass(frozen=True)
class DimensionCorrection:
    """One dimension: its systems, and the gain of the judge.

    systems: None with `reason`. raters: the number of raters. is_supposed: True if the gain supposes ratings
    of a share of the documents, because people rated all. cautions: by system, the reasons why its interval
    is unsafe.
    """

    dimension: FrozenDimension
    systems: CorrectedSystems | None
    gain: CorrectionGain
    raters: int
    is_supposed: bool = False
    cautions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


def correct_dimension(
    dimension: FrozenDimension, scores: Scores, about: About, *, unequal: bool, confidence_level: float
) -> DimensionCorrection:
    """Return the corrected means of a dimension.

    unequal: whether units of a system were sampled with different probabilities.
    """
    ratings, judge = _lay_out(scores)
    raters = int((~np.isnan(ratings)).any(axis=(1, 2)).sum())
    reason = _explain_no_correction(raters, unequal=unequal)
    if reason:
        gain = CorrectionGain(None, None, None, 0, reason)
        return DimensionCorrection(dimension, None, gain, raters, reason=reason)
    people = mean_values(ratings.reshape(len(ratings), -1)).reshape(judge.shape)
    texts = ~np.isnan(people) | ~np.isnan(judge)
    everything = not np.isnan(people[texts]).any()
    return DimensionCorrection(
        dimension,
        correct_systems(ratings, judge, scores.system_names, about=about, confidence_level=confidence_level),
        correction_gain(
            people,
            judge,
            share=SUPPOSED_SHARE if everything else None,
            confidence_level=confidence_level,
        ),
        raters,
        is_supposed=everything,
        cautions={
            name: _list_cautions(people[texts[:, index], index])
            for index, name in enumerate(scores.system_names)
        },
    )


def _list_cautions(people: FloatArray) -> str:
    """Return warnings about the interval of people's scores (outputs,), NaN for gaps."""
    return " ".join(warnings_of(RatedSample(judge=np.zeros(len(people)), human=people)))


def _explain_no_correction(raters: int, *, unequal: bool) -> str:
    if not raters:
        return gettext("No person has rated a unit yet.")
    if unequal:
        return gettext(
            "There are no corrected means, as units were sampled with different probabilities; the tab “Each "
            "system alone” counts each unit by its probability."
        )
    return ""


def _lay_out(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return ratings (raters, documents, systems) and the judge's scores (documents, systems)."""
    judge = scores.by_document(scores.judge)
    own = [scores.by_document(row) for row in scores.human]
    return np.stack(own) if own else np.empty((0, *judge.shape)), judge
