"""Errors related to the judged output:

a property of outputs, the judge's own family, quality, familiarity.
"""

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, spearman
from agreement.biases.measures import (
    CONTROLS,
    DEALT,
    Bias,
    BiasMeasure,
    control_of,
    errors_of,
    judged_by_both,
    nothing,
)
from agreement.biases.quality import beyond_quality, judged_with_two
from agreement.comparison import Scores, bin_values, meta_correlation
from agreement.data import FloatArray
from agreement.streams import Randomness, generator_of


def slope_beyond_quality(
    scores: Scores, property_of_items: FloatArray, name: str, label: str, *, generator: Randomness
) -> Bias:
    """c of f = a_system + b q + c z, in points of the scale for one standard deviation of the property.

    property_of_items: (items,), such as the logarithm of a length, NaN if unknown. z is it standardised by
    its mean and standard deviation over all used items; resamples keep these two. f is the judge, q quality
    as people see it, by `CauseBeyondQuality`. The measure removes the effect a_system of each system, so a
    system with long and good outputs is no bias. It removes b, so a narrow range is no bias. Above 0 the
    judge prefers more of the property than people do. The interval resamples documents. Undefined if the
    property does not vary within systems, without two raters of an item, and if raters do not agree. Source:
    Dubois and others 2024 (arXiv 2404.04475, length), Stureborg and others 2024 (familiarity).
    """
    judged = judged_with_two(scores, ~np.isnan(property_of_items))
    both, values = scores.of_items(judged), property_of_items[judged]
    spread = values.std() if len(values) else 0.0
    z = (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
    measure = BiasMeasure(f"slope_beyond_quality_{name}", label, _SLOPE_SOURCE)
    why = "This property does not vary within any system, so its effect cannot be estimated."
    return beyond_quality(measure, both, z, both.systems, why, generator)


_SLOPE_SOURCE = "Stureborg, Alikaniotis and Suhara 2024; two-stage least squares within systems"
_SELF_PREFERENCE = BiasMeasure(
    "self_preference",
    "Points for systems of its own family, at the same quality",
    "Wataoka, Takahashi and Ri 2024 (arXiv 2410.21819), for scores; two-stage least squares",
)
_UNKNOWN_FAMILY = (
    "Tag outputs with the family of their model, such as “family: gpt”. A judge belongs to a family if its "
    "model’s name contains the family’s name."
)


def self_preference(scores: Scores, own: FloatArray, *, generator: Randomness) -> Bias:
    """c of f = a + b q + c own, in points of the scale: the judge's bonus for outputs of the same family.

    own: (items,), 1 of its family, 0 of another, NaN unknown. q is quality as people see it, by
    `CauseBeyondQuality`, so a narrow range does not look like hostility to a good family. Above 0 the judge
    is kinder to its family than people are. The interval resamples documents. Undefined without items of both
    kinds, without two raters of an item, and if raters do not agree.
    """
    if len(np.unique(own[~np.isnan(own)])) < 2:
        unknown = _SELF_PREFERENCE.of_documents(nothing, 0, 0, _UNKNOWN_FAMILY, generator)
        return Bias(unknown, _SELF_PREFERENCE.without)
    judged = judged_with_two(scores, ~np.isnan(own))
    both = scores.of_items(judged)
    together = np.zeros(len(both.judge), dtype=np.intp)
    return beyond_quality(_SELF_PREFERENCE, both, own[judged], together, _UNKNOWN_FAMILY, generator)


def decline_with_quality(scores: Scores, measured: Coefficient, *, generator: Randomness) -> Bias:
    """M by Spearman: the correlation over systems of P with the mean human score; below 0 is a decline.

    measured: M with its interval, as `agreement.reliability.meta_correlation` gives it. The control deals the
    judge's errors at random: where systems are near the end of the scale M falls below 0 for any judge, since
    what does not vary correlates with nothing.
    Source: Shen and others 2023, table 6.
    """
    if not measured.defined:
        return Bias(measured, 0.0)
    both = judged_by_both(scores)
    dice, errors = generator_of(generator, "decline_with_quality", "control"), errors_of(both)
    found = (
        meta_correlation(both.of_judge(both.human_means + dice.permutation(errors)), spearman).value
        for _ in range(CONTROLS)
    )
    return Bias(measured, 0.0, control_of((np.nan if m is None else m for m in found), DEALT))


_FAMILIARITY = "Stureborg, Alikaniotis and Suhara 2024, table 1"
_NO_PERPLEXITY = "No text with a perplexity has this rating."


def perplexity_by_rating(
    scores: Scores, log_perplexity: FloatArray, points: FloatArray, *, generator: Randomness
) -> list[tuple[Coefficient, Coefficient]]:
    """The mean perplexity of the outputs at each point of a scale, by the judge's rating and by people's
    mean.

    log_perplexity: (items,), NaN if unknown. points: (points,), in order; a value between two counts as the
    nearer one, halfway as the upper. Only outputs with ratings of judge and people count, so both means use
    the same outputs. A judge that prefers familiar outputs has a mean that falls more steeply than people's.
    Intervals resample documents. Undefined at a point that no such output has.

    Source: Stureborg and others 2024, table 1.
    """
    usable = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(log_perplexity)
    both, perplexity = scores.of_items(usable), np.exp(log_perplexity[usable])
    judged, rated = (bin_values(each, points) for each in (both.judge, both.human_means))
    return [
        (
            _mean_perplexity(both, perplexity, judged == point, "judge", point, generator),
            _mean_perplexity(both, perplexity, rated == point, "people", point, generator),
        )
        for point in points
    ]


def _mean_perplexity(
    both: Scores,
    perplexity: FloatArray,
    at: npt.NDArray[np.bool_],
    whose: str,
    point: float,
    generator: Randomness,
) -> Coefficient:
    measure = BiasMeasure(
        f"perplexity_by_rating_{whose}_{point:g}", "Mean perplexity", _FAMILIARITY, bounds=(0.0, np.inf)
    )
    return measure.mean_of_items(perplexity[at], both.documents[at], _NO_PERPLEXITY, generator)
