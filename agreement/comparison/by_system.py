"""What people and a judge give each system, and how widely."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement import (
    Coefficient,
    Resampling,
    mean,
    mean_score,
    means_by_group,
    spread_within_units,
    standard_deviation,
)
from agreement.comparison.scores import JUDGE, PEOPLE, ComparedSide, Scores
from agreement.streams import Randomness, substream


@dataclass(frozen=True)
class HumanScores:
    """The part of `SystemScores` that is about people alone."""

    mean: Coefficient
    deviation: Coefficient
    spread: Coefficient


@dataclass(frozen=True)
class SystemScores:
    """Means and standard deviations of one system's scores.

    human_mean, human_deviation: of its items' mean human scores. judge_mean, judge_deviation: of the judge's
    values. human_spread: the mean over items of the standard deviation among people (Shen and others 2023,
    table 20). All deviations have the divisor n, and each number uses every item that it can.
    """

    system: str
    items: int
    human_mean: Coefficient
    human_deviation: Coefficient
    human_spread: Coefficient
    judge_mean: Coefficient
    judge_deviation: Coefficient


def human_scores_by_system(
    scores: Scores,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
    scale: tuple[float, float] | None = None,
) -> tuple[HumanScores, ...]:
    """The human scores of each system, in the order of `scores.system_names`, independent of the judge.

    scale: its ends, with which means have the interval of `mean_score`. Undefined without a value; a
    deviation is undefined without two.
    """
    plan = replace(resampling or Resampling(), by="units")
    results = []
    for system, own in zip(scores.system_names, scores.items_of_systems, strict=True):
        drawn_with = substream(generator, system)
        human = scores.human_means[own]
        found = (
            mean_score(human, scale) if scale else mean(human, generator=drawn_with, resampling=plan),
            standard_deviation(human, generator=drawn_with, resampling=plan),
            spread_within_units(scores.human[:, own], generator=drawn_with, resampling=plan),
        )
        results.append(HumanScores(*(_name_side(each, PEOPLE) for each in found)))
    return tuple(results)


def scores_by_system(
    scores: Scores,
    *,
    generator: Randomness | None = None,
    people: Sequence[HumanScores] | None = None,
    resampling: Resampling | None = None,
) -> tuple[SystemScores, ...]:
    """Means and standard deviations, one entry a system, in the order of `scores.system_names`.

    people: `human_scores_by_system`, if already computed. Intervals resample the system's items. Undefined
    without a value of people (of the judge); a deviation is undefined without two.
    """
    plan = replace(resampling or Resampling(), by="units")
    of_people = people or human_scores_by_system(scores, generator=generator, resampling=resampling)
    results = []
    for system, own, human in zip(scores.system_names, scores.items_of_systems, of_people, strict=True):
        alone, judge = substream(generator, system, "judge"), scores.judge[own]
        results.append(
            SystemScores(
                system=system,
                items=len(own),
                human_mean=human.mean,
                human_deviation=human.deviation,
                human_spread=human.spread,
                judge_mean=_name_side(mean(judge, generator=alone, resampling=plan), JUDGE),
                judge_deviation=_name_side(
                    standard_deviation(judge, generator=alone, resampling=plan), JUDGE
                ),
            )
        )
    return tuple(results)


def human_ranking(*dimensions: Scores) -> tuple[str, ...]:
    """The systems by mean human score, best first; ties keep the order of `system_names`.

    With several dimensions the systems are ranked by the mean over them, as in the published challenge pairs.
    Systems without a human score on each of them are excluded. Raises ValueError without a dimension, or if
    dimensions have different systems.
    """
    if not dimensions:
        raise ValueError("A ranking needs the scores of at least one dimension.")
    names = dimensions[0].system_names
    if any(set(scores.system_names) != set(names) for scores in dimensions):
        raise ValueError("The dimensions are not about the same systems.")
    quality = np.mean([_quality(scores, names) for scores in dimensions], axis=0)
    order = np.argsort(-np.round(quality, 10), kind="stable")
    return tuple(names[index] for index in order if not np.isnan(quality[index]))


def _quality(scores: Scores, names: tuple[str, ...]) -> list[float]:
    means = means_by_group(scores.human_means, scores.systems, len(names))
    by_name = dict(zip(scores.system_names, means.tolist(), strict=True))
    return [by_name[name] for name in names]


def _name_side(coefficient: Coefficient, side: ComparedSide) -> Coefficient:
    """The coefficient; if there is no value at all, its reason names people or judges."""
    if coefficient.defined or coefficient.counts.ratings:
        return coefficient
    if side is PEOPLE and coefficient.name == "spread_within_units":
        return coefficient
    return replace(coefficient, reason=side.missing)
