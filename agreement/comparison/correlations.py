"""How values of a judge, or of one rater, go with mean human scores, and with the quality of systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import (
    Coefficient,
    PairMeasure,
    Resampling,
    kendall_tau_b,
    means_by_group,
    over_groups,
    pearson,
    spearman,
    values_within_documents,
    within_documents,
)
from agreement.bootstrap import nothing
from agreement.comparison.scores import (
    JUDGE,
    OTHER_JUDGE,
    PEOPLE,
    RATER,
    ComparedSide,
    Scores,
    explain_undefined,
    numbers,
)
from agreement.data import FloatArray
from agreement.groups import is_studentised, studentised_interval
from agreement.streams import Randomness, substream

CORRELATIONS: Mapping[str, PairMeasure] = MappingProxyType(
    {measure.estimator.name: measure for measure in (spearman, pearson, kendall_tau_b)}
)
"""The correlations that papers report, by the `name` they carry."""
_NAMED = "Categories have no order, so nothing can rise or fall with them."


def correlation_called(name: str, *, named: bool) -> PairMeasure:
    """Return one of CORRELATIONS by its name; KeyError for another.

    named: the values are names of categories, for which each correlation is undefined with this reason.
    """
    measure = CORRELATIONS[name]
    if not named:
        return measure
    estimator = replace(measure.estimator, statistic=lambda _: nothing, why_undefined=_NAMED)
    return replace(measure, estimator=estimator)


_SHEN = "Shen and others 2023, Large Language Models are Not Yet Human-Level Evaluators"
_BY_DOCUMENTS = Resampling(by="documents")


class Level(StrEnum):
    """The units of a correlation: items, systems, or items within a document."""

    DATASET = "dataset"
    SYSTEM = "system"
    DOCUMENT = "document"


@dataclass(frozen=True)
class SystemCoefficient:
    """A coefficient over the items of one system."""

    system: str
    coefficient: Coefficient


def correlation_with_humans(
    scores: Scores,
    measure: PairMeasure,
    level: Level = Level.DATASET,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
    side: ComparedSide = JUDGE,
) -> Coefficient:
    """The correlation of the judge's values with mean human scores, over the items that have both.

        dataset   over all items pooled; its interval resamples documents
        system    over the systems' means; its interval is Fisher's, over systems
        document  over the items of each document, averaged, without documents in which it is
                  undefined (`counts.undefined_groups`); its interval resamples documents

    side: the name in reasons for the values compared with people's, if they are not a judge's.

    Undefined with fewer than two items (systems), if a side is constant, and if it is undefined within every
    document.
    """
    # A table may map the judge's scale nonlinearly, which would change correlations; so its own values count.
    human, judge = scores.human_means, scores.as_read
    plan = resampling or _BY_DOCUMENTS
    if level is Level.DATASET:
        result = measure(human, judge, documents=scores.documents, generator=generator, resampling=plan)
        result = explain_undefined(result, human, judge, (PEOPLE, side), "item")
    elif level is Level.DOCUMENT:
        result = within_documents(
            measure, human, judge, scores.documents, generator=generator, resampling=plan
        )
        result = explain_undefined(result, human, judge, (PEOPLE, side), "item")
    else:
        result = _between_systems(scores, measure, generator, plan, side)
    label = f"{measure.estimator.label}, {_LEVELS[level]}"
    return replace(result, name=f"{measure.estimator.name}_{level}_level", label=label)


_LEVELS = {
    Level.DATASET: "judge and mean human score, data-set level",
    Level.SYSTEM: "judge and mean human score, system level",
    Level.DOCUMENT: "judge and mean human score, mean within documents",
}


def correlation_by_system(
    scores: Scores,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemCoefficient, ...]:
    """P_i = rho(judge, mean human score) over the items of each system i (Shen and others 2023, equation 2).

    In the order of `scores.system_names`. Undefined if a side is constant over the system's items.
    """
    label = f"{measure.estimator.label}, judge and mean human score over one system's items"
    named = {"name": f"{measure.estimator.name}_by_system", "label": label, "source": f"{_SHEN}, equation 2"}
    values, sides = (scores.human_means, scores.as_read), (PEOPLE, JUDGE)
    drawn_with = substream(generator, "by_system")
    return _by_system(scores, values, sides, measure, named, drawn_with, resampling)


def correlation_of_systems(scores: Scores, measure: PairMeasure) -> FloatArray:
    """(systems,): the values of `correlation_by_system`, computed in one step; NaN if undefined."""
    return values_within_documents(measure, scores.human_means, scores.as_read, scores.systems)


def meta_correlation(scores: Scores, measure: PairMeasure) -> Coefficient:
    """M = rho([P_1, ...], [Q_1, ...]) over systems (Shen and others 2023, equation 3), without an interval.

    P_i as `correlation_by_system`, Q_i the mean human score of system i. Below 0 the judge agrees less with
    people the better a system is. Systems whose P_i is undefined are excluded and counted
    (`counts.undefined_groups`). `agreement.reliability.meta_correlation` has its interval, over documents.
    Undefined with fewer than two systems left, and if all P_i or all Q_i are equal.
    """
    correlations = correlation_of_systems(scores, measure)
    quality = means_by_group(scores.human_means, scores.systems, len(scores.system_names))
    result = _over_systems(measure, correlations, quality, (_CORRELATION, PEOPLE), None, None)
    result = explain_undefined(result, scores.human_means, scores.as_read, (PEOPLE, JUDGE), "item")
    return replace(
        result,
        name=f"{measure.estimator.name}_meta_correlation",
        label=f"Meta-correlation ({measure.estimator.label})",
        source=f"{_SHEN}, equation 3",
    )


def reliability_by_system(
    scores: Scores,
    other_judge: npt.ArrayLike,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemCoefficient, ...]:
    """R_i = rho(judge, other judge) over the items of each system i (Shen and others 2023, equation 4).

    other_judge: (items,), another method's values for the same items; in the paper RTS compared with MCQ. It
    needs no human scores. Undefined if a side is constant over the system's items.
    """
    named = {
        "name": f"{measure.estimator.name}_reliability_indicator",
        "label": f"Reliability indicator ({measure.estimator.label})",
        "source": f"{_SHEN}, equation 4",
    }
    values, sides = (scores.as_read, _other_values(scores, other_judge)), (JUDGE, OTHER_JUDGE)
    drawn_with = substream(generator, "reliability_indicator")
    return _by_system(scores, values, sides, measure, named, drawn_with, resampling)


def reliability_of_systems(scores: Scores, other_judge: npt.ArrayLike, measure: PairMeasure) -> FloatArray:
    """(systems,): the values of `reliability_by_system`, computed in one step; NaN if undefined."""
    other = _other_values(scores, other_judge)
    return values_within_documents(measure, scores.as_read, other, scores.systems)


def _other_values(scores: Scores, other_judge: npt.ArrayLike) -> FloatArray:
    """(items,): another judge's values, checked."""
    values = numbers(other_judge, "The judge's values", dimensions=1)
    if len(values) != len(scores.judge):
        raise ValueError(f"There are {len(values)} values of the other judge, but {len(scores.judge)} items.")
    return values


def reliability_and_correlation(
    scores: Scores,
    other_judge: npt.ArrayLike,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """rho([R_1, ...], [P_1, ...]) over systems: the quality of R as an indicator of agreement with people.

    other_judge: (items,), the other method's values. R_i as `reliability_by_system`, P_i as
    `correlation_by_system`. Source: Shen and others 2023, table 7. Systems in which either is undefined are
    excluded and counted (`counts.undefined_groups`). The interval is Fisher's, over systems, and treats R_i
    and P_i as fixed.
    """
    indicators = reliability_of_systems(scores, other_judge, measure)
    correlations = correlation_of_systems(scores, measure)
    return indicators_with_correlations(
        scores, indicators, correlations, measure, generator=generator, resampling=resampling
    )


def indicators_with_correlations(
    scores: Scores,
    indicators: FloatArray,
    correlations: FloatArray,
    measure: PairMeasure,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`reliability_and_correlation` of known R_i and P_i (systems,), NaN if undefined."""
    sides = (_INDICATOR, _CORRELATION)
    result = _over_systems(
        measure, indicators, correlations, sides, substream(generator, "validity"), resampling
    )
    result = explain_undefined(result, scores.human_means, scores.as_read, (PEOPLE, JUDGE), "item")
    return replace(
        result,
        name=f"{measure.estimator.name}_reliability_and_correlation",
        label=f"{measure.estimator.label}, reliability indicator and correlation with humans over systems",
        source=f"{_SHEN}, table 7",
    )


_CORRELATION = ComparedSide(
    "correlation with humans", "The judge's correlation with mean human scores is undefined for every system."
)
_INDICATOR = ComparedSide("reliability indicator", "The reliability indicator is undefined for every system.")


def _by_system(
    scores: Scores,
    compared: tuple[FloatArray, FloatArray],
    sides: tuple[ComparedSide, ComparedSide],
    measure: PairMeasure,
    named: Mapping[str, Any],
    generator: Randomness | None,
    resampling: Resampling | None,
) -> tuple[SystemCoefficient, ...]:
    """The measure of each system's pairs of values, with another name, label and source.

    Items of one system belong to different documents, so resampling items is resampling documents. The
    function resamples documents, so that statistics on the same documents share resamples. With few documents
    the interval is studentised.
    """
    plan, found = replace(resampling or Resampling(), by="documents"), []
    for system, pairs in zip(scores.system_names, scores.pairs_of_systems(*compared), strict=True):
        result = measure.of(pairs)
        if generator is not None and is_studentised(measure, pairs, result):
            interval, reason = studentised_interval(measure, pairs, result, plan)
            result = replace(result, interval=interval, interval_reason=reason)
        elif generator is not None:
            result = measure.of(pairs, substream(generator, system), plan)
        first, second = pairs.values
        result = explain_undefined(replace(result, **named), first, second, sides, "item of this system")
        found.append(SystemCoefficient(system, result))
    return tuple(found)


def _between_systems(
    scores: Scores,
    measure: PairMeasure,
    generator: Randomness | None,
    resampling: Resampling,
    side: ComparedSide,
) -> Coefficient:
    human, judge, number = scores.human_means, scores.as_read, len(scores.system_names)
    gap = np.isnan(human) | np.isnan(judge)
    # Each mean is over the items with both values, so that the two means of a system rest on the same items.
    means = [means_by_group(np.where(gap, np.nan, each), scores.systems, number) for each in (human, judge)]
    result = _over_systems(measure, means[0], means[1], (PEOPLE, side), generator, resampling)
    # A reason about items, if there is one, replaces the reason about systems.
    return explain_undefined(result, human, judge, (PEOPLE, side), "item")


def _over_systems(
    measure: PairMeasure,
    first: FloatArray,
    second: FloatArray,
    sides: tuple[ComparedSide, ComparedSide],
    generator: Randomness | None,
    resampling: Resampling | None,
) -> Coefficient:
    result = over_groups(measure, first, second, noun="systems", generator=generator, resampling=resampling)
    return explain_undefined(result, first, second, sides, "system")


def coefficient_values(coefficients: Sequence[SystemCoefficient]) -> FloatArray:
    """(systems,): the values of coefficients by system, NaN if undefined."""
    values = (each.coefficient.value for each in coefficients)
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def correlation_with_other_raters(
    scores: Scores,
    rater: int,
    measure: PairMeasure,
    level: Level = Level.DATASET,
    *,
    with_own: bool = False,
    generator: Randomness | None = None,
) -> Coefficient:
    """The correlation of one rater's values with the mean of the other raters', over the items of both.

    rater: a row of `scores.human`. with_own: include the rater's own value in the mean, as in Gao and others
    2023 (arXiv 2304.02554), table 6. A rater then partly correlates with itself, and is above a judge of the
    same quality. Levels and intervals as in `correlation_with_humans`. Undefined with fewer than two such
    items (systems), and if a side is constant.
    """
    own = scores.human[rater]
    others = scores.human if with_own else np.delete(scores.human, rater, axis=0)
    # The rater takes the role of the judge.
    beside = scores.beside(others, own)
    found = correlation_with_humans(
        beside, measure, level, generator=substream(generator, "rater", rater, with_own), side=RATER
    )
    against = "the mean of all raters" if with_own else "the mean of the other raters"
    return replace(found, label=f"{found.label}: one rater and {against}")
