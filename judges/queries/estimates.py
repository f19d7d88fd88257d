"""Mean human scores from all judgments and the ratings there are, with what people or the judge alone say."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from annotate.agreement import RankSet, rank_sets
from annotate.guideline import FrozenDimension
from annotate.models import Project, Round
from annotate.queries.rounds import rounds_of
from judges.comparison import Scores
from judges.models import Judge
from judges.queries.comparison import guideline_of
from judges.queries.sampling import Drawn, drawn_units
from judges.queries.scores import material_of, samples_of, scores_of
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

    @property
    def unsafe(self) -> list[SystemEstimates]:
        """Return the systems whose asymptotic intervals have a warning."""
        return [each for each in self.systems if each.warnings]

    @property
    def differing(self) -> int:
        """Return how many pairs of systems differ."""
        return sum(each.differs for each in self.differences)

    @property
    def complete(self) -> bool:
        """Return whether every item of every system is rated."""
        return all(each.complete for each in self.systems)


@dataclass(frozen=True)
class EstimatesReport:
    """The numbers of one judge and people, from the ratings at the end of a round."""

    judge: Judge
    round: Round | None
    confidence_level: float
    seed: int
    dimensions: Sequence[DimensionEstimates]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, ready for JSON."""
        return {
            "judge": self.judge.name,
            "round": self.round and self.round.number,
            "confidence_level": self.confidence_level,
            "seed": self.seed,
            "dimensions": [{**asdict(each), "dimension": each.dimension.key} for each in self.dimensions],
        }


def estimates_report(
    project: Project, judge: Judge, *, round_number: int | None = None, confidence_level: float = 0.95
) -> EstimatesReport:
    """Return what people would have given each system's items on average, by one judge and their ratings.

    The round is the last one unless a number is given. Seven queries, before a round four.
    """
    rounds = rounds_of(project)
    round = rounds.get(round_number or max(rounds, default=0))
    material = material_of(project, round, guideline_of(project, round))
    samples, drawn = samples_of([judge], material), drawn_units(round, material)
    found = []
    for dimension in material.dimensions:
        scores = scores_of(material, dimension.key, samples[judge.pk, dimension.key])
        if not np.isnan(scores.judge).all():
            found.append(_estimated(dimension, scores, drawn, project.seed, confidence_level))
    return EstimatesReport(judge, round, confidence_level, project.seed, found)


def _estimated(
    dimension: FrozenDimension, scores: Scores, drawn: Drawn, seed: int, level: float
) -> DimensionEstimates:
    generator = np.random.default_rng(seed)
    samples = [
        drawn.sample(scores, dimension.id, scores.systems == index)
        for index in range(len(scores.system_names))
    ]
    systems = [
        _of_system(name, sample, dimension, generator, level, active=drawn.active)
        for name, sample in zip(scores.system_names, samples, strict=True)
    ]
    refused = _why_no_differences(samples)
    betting = Betting(dimension.scale_minimum, dimension.scale_maximum, generator)
    differences = () if refused else pairwise_differences(scores, confidence_level=level, betting=betting)
    ranks = rank_sets(scores.system_names, differences) if differences else ()
    widths = _widths(systems, samples, betting, level)
    return DimensionEstimates(dimension, systems, differences, ranks, refused, widths)


def _of_system(
    system: str,
    sample: RatedSample,
    dimension: FrozenDimension,
    generator: np.random.Generator,
    level: float,
    *,
    active: bool,
) -> SystemEstimates:
    combine = stratified_estimate if sample.unequal else regression_estimate
    guaranteed = guaranteed_mean(
        sample,
        low=dimension.scale_minimum,
        high=dimension.scale_maximum,
        generator=generator,
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
