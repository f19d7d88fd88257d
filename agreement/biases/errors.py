"""Errors that go with what is judged: a property of texts, the judge's own family, quality, familiarity."""

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, spearman
from agreement.biases.measures import (
    CONTROLS,
    DEALT,
    Bias,
    BiasMeasure,
    against_dealt,
    control_of,
    errors_of,
    judged_by_both,
    sums_by_document,
)
from agreement.bootstrap import Statistic
from agreement.comparison import Scores, bin_values, meta_correlation
from agreement.data import FloatArray, divide_where
from agreement.streams import Randomness, generator_of


def slope_of_errors(
    scores: Scores, property_of_items: FloatArray, name: str, label: str, *, generator: Randomness
) -> Bias:
    """b of f - h = a_system + b z, in points of the scale for one standard deviation of the property.

    property_of_items: (items,), such as the logarithm of a length, NaN where unknown; z is it standardised.
    f is the judge, h the mean of people. The effect a_system of each system is taken out, so that a system
    with long and good texts is no bias. Above 0 the judge prefers more of it than people do. The
    interval resamples documents. Undefined where the property does not vary within systems.
    Source: Dubois and others 2024 (arXiv 2404.04475, length), Stureborg and others 2024 (familiarity).
    """
    judged = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(property_of_items)
    both, values = scores.of_items(judged), property_of_items[judged]
    spread = values.std() if len(values) else 0.0
    z = (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
    measure = BiasMeasure(f"slope_of_errors_{name}", label, _SLOPE_SOURCE)
    why = "The texts of each system are alike in this, so nothing can go with it."
    return against_dealt(measure, lambda each: _slope(each, z), both, why, generator)


_SLOPE_SOURCE = "Stureborg, Alikaniotis and Suhara 2024; slope within systems by least squares"


def _slope(both: Scores, z: FloatArray) -> Statistic:
    """Within systems: sum (z - mean z)(e - mean e) / sum (z - mean z)^2, each mean over the drawn items."""
    errors = errors_of(both)
    tables = {
        name: np.nan_to_num(both.by_document(values))
        for name, values in (
            ("n", np.ones_like(z)),
            ("z", z),
            ("e", errors),
            ("ze", z * errors),
            ("zz", z * z),
        )
    }

    def slopes(weights: FloatArray) -> FloatArray:
        n, of_z, of_e, of_ze, of_zz = (weights @ table for table in tables.values())
        drawn = np.where(n > 0, n, 1)
        together = (of_ze - of_z * of_e / drawn).sum(axis=1)
        alone = (of_zz - of_z**2 / drawn).sum(axis=1)
        return divide_where(alone > 1e-9, together, alone)

    return slopes


_SELF_PREFERENCE = BiasMeasure(
    "self_preference",
    "Mean error on systems of its own family minus that on others",
    "Wataoka, Takahashi and Ri 2024 (arXiv 2410.21819), for scores",
)
_UNKNOWN_FAMILY = (
    "Texts of the judge’s own family and of others are needed: tag the items of a system with its family, "
    "such as “family: gpt”, which is that of models with gpt in their names."
)


def self_preference(scores: Scores, own: FloatArray, *, generator: Randomness) -> Bias:
    """mean (f - h) over items of the judge's own family, minus the mean over items of other families.

    own: (items,), 1 of its family, 0 of another, NaN unknown. Above 0 the judge is kinder to its family than
    people are. The interval resamples documents. Undefined without items of both.
    """
    known = ~np.isnan(own) & ~np.isnan(scores.judge) & ~np.isnan(scores.human_means)
    is_own = own[known] == 1
    judged = scores.of_items(known)
    return against_dealt(
        _SELF_PREFERENCE,
        lambda each: _difference(each, is_own),
        judged,
        _UNKNOWN_FAMILY,
        generator,
        without_items=_UNKNOWN_FAMILY,
    )


def _difference(both: Scores, is_own: npt.NDArray[np.bool_]) -> Statistic:
    errors, size = errors_of(both), len(both.document_labels)
    sides = np.column_stack([is_own, ~is_own]).astype(float)
    sums = sums_by_document(sides * errors[:, None], both.documents, size)
    counts = sums_by_document(sides, both.documents, size)

    def differences(weights: FloatArray) -> FloatArray:
        number = weights @ counts
        means = divide_where(number > 0, weights @ sums, number)
        return np.asarray(means[:, 0] - means[:, 1])

    return differences


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
    """The mean perplexity of the texts at each point of a scale: of the judge's rating, and of people's mean.

    log_perplexity: (items,), NaN where unknown. points: (points,), in order; a value between two counts as
    the nearer one, halfway as the upper. Only texts that judge and people have rated count, so both are about
    the same texts. A judge that prefers what it finds familiar has a mean that falls more steeply than
    people's. Intervals resample documents. Undefined at a point that no such text has.
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
