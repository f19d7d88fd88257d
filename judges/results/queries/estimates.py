"""Mean human scores from all judgments and the ratings there are, with what people or the judge alone say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotate.agreement import RankSet, Stream, rank_sets
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from judges.comparison import Scores
from judges.core.models import Judge
from judges.reliability import (
    Betting,
    Difference,
    Estimate,
    RatedSample,
    guaranteed_mean,
    humans_only,
    judge_only,
    pairwise_differences,
    prediction_powered,
    projected_guaranteed_widths,
    projected_widths,
    regression_estimate,
    stratified_estimate,
)
from judges.results.queries.comparison import guideline_of
from judges.results.queries.sampling import Drawn, drawn_units
from judges.results.queries.scores import material_of, samples_of, scores_of
from judges.results.tables.streams import stream_of_judge

SPENT = (5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000)


@dataclass(frozen=True)
class SystemEstimates:
    """One system's mean human score on one dimension; `combined` is by regression or strata."""

    system: str
    humans: Estimate
    judge: Estimate
    combined: Estimate
    prediction_powered: Estimate
    guaranteed: Estimate

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what makes the asymptotic intervals unsafe here."""
        return () if self.complete else self.humans.warnings or self.combined.warnings

    @property
    def complete(self) -> bool:
        """Return whether every item is rated, so that the mean is known and nothing is estimated."""
        return self.humans.ratings == self.humans.units


@dataclass(frozen=True)
class Width:
    """How wide intervals are after so many ratings of each system, on average over systems; None: unknown.

    is_now: for the ratings there are.
    """

    ratings: float
    humans: float | None
    combined: float | None
    guaranteed: float | None
    is_now: bool = False


@dataclass(frozen=True)
class DimensionEstimates:
    """All systems on one dimension. `differences` and `ranks` are empty with `no_differences` saying why."""

    dimension: FrozenDimension
    systems: Sequence[SystemEstimates]
    differences: Sequence[Difference]
    ranks: Sequence[RankSet]
    no_differences: str
    widths: Sequence[Width]


@dataclass(frozen=True)
class EstimatesReport:
    """The numbers of one judge and people, from the ratings at the end of a round."""

    judge: Judge
    round: Round | None
    confidence_level: float
    dimensions: Sequence[DimensionEstimates]


def estimates_report(
    project: Project, judge: Judge, round: Round | None, *, confidence_level: float = 0.95
) -> EstimatesReport:
    """Return what people would have given each system's items on average, by one judge and their ratings.

    Ratings are those at the end of the round. Six queries, before a round three.
    """
    material = material_of(project, round, guideline_of(project, round))
    samples, drawn = samples_of([judge], material), drawn_units(round, material)
    found = []
    for dimension in material.dimensions:
        scores = scores_of(material, dimension.key, samples[judge.pk, dimension.key])
        if not np.isnan(scores.judge).all():
            stream = stream_of_judge(project, judge, dimension)
            found.append(_estimate_dimension(dimension, scores, drawn, stream, confidence_level))
    return EstimatesReport(judge, round, confidence_level, found)


def _estimate_dimension(
    dimension: FrozenDimension, scores: Scores, drawn: Drawn, stream: Stream, level: float
) -> DimensionEstimates:
    samples = [
        drawn.sample(scores, dimension.id, scores.systems == index)
        for index in range(len(scores.system_names))
    ]
    systems = [
        _of_system(name, sample, dimension, stream.of(name), level, active=drawn.active)
        for name, sample in zip(scores.system_names, samples, strict=True)
    ]
    refused = _why_no_differences(samples)
    betting = Betting(dimension.scale_minimum, dimension.scale_maximum, stream)
    differences = () if refused else pairwise_differences(scores, confidence_level=level, betting=betting)
    ranks = rank_sets(scores.system_names, differences) if differences else ()
    widths = _widths(systems, samples, betting, level)
    return DimensionEstimates(dimension, systems, differences, ranks, refused, widths)


def _of_system(
    system: str,
    sample: RatedSample,
    dimension: FrozenDimension,
    stream: Stream,
    level: float,
    *,
    active: bool,
) -> SystemEstimates:
    combine = stratified_estimate if sample.unequal else regression_estimate
    guaranteed = guaranteed_mean(
        sample,
        low=dimension.scale_minimum,
        high=dimension.scale_maximum,
        generator=stream,
        confidence_level=level,
    )
    if active and sample.ratings < sample.units:
        guaranteed = replace(guaranteed, value=None, interval=None, reason=_WHY_NOT_GUARANTEED)
    return SystemEstimates(
        system=system,
        humans=humans_only(sample, confidence_level=level),
        judge=judge_only(sample),
        combined=combine(sample, confidence_level=level),
        prediction_powered=prediction_powered(sample, confidence_level=level),
        guaranteed=guaranteed,
    )


_WHY_NOT_GUARANTEED = (
    "The audit drew more units where errors were expected; betting needs units of one probability."
)


def _why_no_differences(samples: Sequence[RatedSample]) -> str:
    if len(samples) < 2:
        return "A difference needs two systems."
    if not any(sample.ratings for sample in samples):
        return "No person has rated a unit yet."
    if any(sample.unequal for sample in samples):
        return "Units were drawn with different probabilities; differences need documents drawn at random."
    return ""


def _widths(
    systems: Sequence[SystemEstimates], samples: Sequence[RatedSample], betting: Betting, level: float
) -> list[Width]:
    """Return the mean width after 5, 10, ... ratings of each system, as far as it can be told."""
    largest = min((each.humans.units for each in systems), default=0)
    spent = [number for number in SPENT if number <= largest]
    humans = np.array([projected_widths(each.humans, spent) for each in systems], dtype=float)
    combined = np.array(
        [
            projected_widths(each.combined, spent)
            if each.combined.name == "regression"
            else [None] * len(spent)
            for each in systems
        ],
        dtype=float,
    )
    guaranteed = np.array(
        [
            projected_guaranteed_widths(sample, spent, **vars(betting), confidence_level=level)
            for sample in samples
        ],
        dtype=float,
    )
    found = [
        Width(number, _mean(humans[:, index]), _mean(combined[:, index]), _mean(guaranteed[:, index]))
        for index, number in enumerate(spent)
    ]
    told = [each for each in found if each.humans is not None or each.combined is not None]
    return [_now(systems), *told] if told else []


def _now(systems: Sequence[SystemEstimates]) -> Width:
    """Return the mean widths with the ratings there are."""
    kinds = ("humans", "combined", "guaranteed")
    widths = {
        kind: _mean(np.array([getattr(each, kind).width for each in systems], dtype=float)) for kind in kinds
    }
    ratings = np.mean([each.humans.ratings for each in systems])
    return Width(float(ratings), widths["humans"], widths["combined"], widths["guaranteed"], is_now=True)


def _mean(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
