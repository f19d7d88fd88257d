"""Krippendorff's alpha with a judge among the raters, compared with alpha among people."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from agreement import (
    Coefficient,
    MeasurementLevel,
    ReliabilityData,
    Resampling,
    alpha_difference,
    checked_alpha,
)
from agreement.coefficient import UNDEFINED
from agreement.comparison.scores import JUDGE, PEOPLE, Scores
from agreement.data import FloatArray
from agreement.streams import Randomness, substream

_BY_DOCUMENTS = Resampling(by="documents")


@dataclass(frozen=True)
class AlphaWithPeople:
    """Three alphas over the items that have a value of the judge and a human score.

    among_people: the human raters alone, the reference for the judge. with_judge: the judge as one more
    rater; below the first if it disagrees with people more than they disagree with each other. with_mean: two
    raters, the judge and the mean human score.
    """

    among_people: Coefficient
    with_judge: Coefficient
    with_mean: Coefficient


class Effect(StrEnum):
    """Effect of one more rater on alpha: its interval is below 0, above 0, or contains 0."""

    LOWERS = "lowers agreement"
    DOES_NOT_LOWER = "does not lower agreement"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class OneMoreRater:
    """Alpha among people and with the judge as one more rater, over the items that two people rated.

    difference: the second minus the first, with its paired interval.
    """

    among_people: Coefficient
    with_judge: Coefficient
    difference: Coefficient

    @property
    def effect(self) -> Effect | None:
        """Return the effect on alpha, or None without a difference."""
        if not self.difference.defined:
            return None
        found = self.difference.interval
        if found is None or found.low < 0 < found.high:
            return Effect.CANNOT_TELL
        return Effect.LOWERS if found.low < 0 else Effect.DOES_NOT_LOWER

    @property
    def says(self) -> str:
        """Return the effect with both alphas in words, or an empty string without a difference."""
        if self.effect is None:
            return ""
        alphas = f"{self.with_judge.value:.3f}, and among people {self.among_people.value:.3f}"
        return f"{_EFFECTS[self.effect]} With the judge as one more rater alpha is {alphas}."


_EFFECTS = {
    Effect.LOWERS: "It lowers agreement.",
    Effect.DOES_NOT_LOWER: "It does not lower agreement.",
    Effect.CANNOT_TELL: "Cannot tell whether it lowers agreement.",
}


def alpha_with_people(
    scores: Scores,
    *,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness | None = None,
    people: Randomness | None = None,
    resampling: Resampling | None = None,
) -> AlphaWithPeople:
    """Krippendorff's alpha among people, with the judge as one more rater, and of the judge with their mean.

    The mean is not rounded. Rounding to a point of the scale would defeat the purpose of the mean, and halves
    would need a rule. A judge's 3.5 would be wrong if people give 3 and 4, as would halves or means of
    samples. Therefore the default level is interval, at which any number is valid. Intervals resample
    documents; `people`, if given, resamples for alpha among people, whose interval is then the same for every
    judge of the same items and on the page of agreement. Undefined as `krippendorff_alpha`; `with_mean` also
    for nominal values, which have no mean.
    """
    level = MeasurementLevel(measurement_level)
    # The three alphas are compared with each other, so all use the same items.
    judged = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means)
    both = scores.of_items(judged)
    plan = resampling or _BY_DOCUMENTS

    def alpha(values: FloatArray, name: str, label: str, drawn_with: Randomness | None = None) -> Coefficient:
        drawn_with = drawn_with or substream(generator, name)
        result = checked_alpha(_data(values, both, level), generator=drawn_with, resampling=plan)
        named = replace(result, name=f"krippendorff_alpha_{name}", label=f"Krippendorff's alpha, {label}")
        return _explain_undefined(named, scores)

    with_judge = np.vstack([both.human, both.judge])
    with_mean = np.vstack([both.human_means, both.judge])
    of_mean = alpha(with_mean, "with_mean", "the judge and the mean human score")
    if level is MeasurementLevel.NOMINAL:
        reason = "Nominal values have no mean to compare the judge with."
        of_mean = replace(of_mean, value=None, reason=reason, interval=None, interval_reason=UNDEFINED)
    return AlphaWithPeople(
        among_people=alpha(both.human, "among_people", "among people", people),
        with_judge=alpha(with_judge, "with_judge", "people and the judge"),
        with_mean=of_mean,
    )


def judge_as_one_more_rater(
    scores: Scores,
    *,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness | None = None,
    people: Randomness | None = None,
    resampling: Resampling | None = None,
) -> OneMoreRater:
    """Return the change of alpha when the judge joins people as one more rater.

    A judge with the error variance of a person leaves alpha unchanged; one with more lowers it. The mean of
    people does not enter, as it varies less than a person. Pass ratings of Round I: after a discussion people
    agree more than they did alone. generator, people, resampling: as for `alpha_with_people`. Undefined if no
    item with a value of the judge has scores of two people, and without variation.
    """
    level = MeasurementLevel(measurement_level)
    rated = (~np.isnan(scores.human)).sum(axis=0) >= 2
    both = scores.of_items(rated & ~np.isnan(scores.judge))
    alphas = alpha_with_people(
        both, measurement_level=level, generator=generator, people=people, resampling=resampling
    )
    # Both alphas use the same resamples, so the noise of documents cancels in their difference.
    difference = alpha_difference(
        _data(both.human, both, level),
        _data(np.vstack([both.human, both.judge]), both, level),
        generator=substream(generator, "one_more_rater"),
        resampling=resampling or _BY_DOCUMENTS,
    )
    found = alphas.among_people, alphas.with_judge, difference
    return OneMoreRater(*(_explain_undefined(each, scores) for each in found))


def self_consistency(
    samples: npt.ArrayLike,
    *,
    documents: npt.ArrayLike | None = None,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha over a judge's samples (samples, items), as if each sample were a rater.

    1 if the judge repeats itself on every item, 0 if a repeated answer is no closer than an answer to another
    item. documents: (items,), needed for an interval that resamples documents, the default if you pass it.
    Undefined if no item has two samples, and without variation.
    """
    table = np.asarray(samples, dtype=float)
    by: Resampling = _BY_DOCUMENTS if documents is not None else Resampling()
    data = ReliabilityData(
        table,
        measurement_level=measurement_level,
        value_domain=None,
        documents=documents,
    )
    result = checked_alpha(
        data, generator=substream(generator, "self_consistency"), resampling=resampling or by
    )
    named = replace(result, name="self_consistency", label="Self-consistency (alpha over samples)")
    if named.defined or named.counts.pairable_units:
        return named
    missing = "No item has two samples; ask the judge more than once about the same items."
    return replace(named, reason=missing if named.counts.ratings else JUDGE.missing)


def _data(values: FloatArray, scores: Scores, level: MeasurementLevel) -> ReliabilityData:
    # Sort by label, the order in which the raters' own data resample documents.
    documents = np.array(scores.document_labels)[scores.documents]
    return ReliabilityData(values, measurement_level=level, value_domain=None, documents=documents)


def _explain_undefined(alpha: Coefficient, scores: Scores) -> Coefficient:
    """The coefficient; if undefined, its reason names people or judges if one of them has no values."""
    if alpha.defined:
        return alpha
    # The most basic reason comes first: no person, no judge, no common item, no pair of raters.
    for values, side in ((scores.human_means, PEOPLE), (scores.judge, JUDGE)):
        if np.isnan(values).all():
            return replace(alpha, reason=side.missing)
    if (np.isnan(scores.human_means) | np.isnan(scores.judge)).all():
        return replace(alpha, reason="No item has both a human score and a value of the judge.")
    if not alpha.counts.pairable_units:
        return replace(alpha, reason="No item that the judge values has scores of two people.")
    return alpha
