"""May a judge replace an annotator? The alternative annotator test on a project's Round I ratings."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotate.guideline import FrozenDimension
from annotate.models import Project, Round
from annotate.queries.rounds import rounds_of
from judges.models import Judge
from judges.queries.comparison import guideline_of
from judges.queries.scores import Material, material_of, samples_of, scores_of
from judges.reliability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
    minus_root_mean_squared_error,
    share_of_equal_values,
)

EPSILONS = {0.2: "experts", 0.15: "skilled annotators", 0.1: "a crowd"}
"""What a person may be worth more than a judge, by who the people are (Calderon and others 2025)."""


@dataclass(frozen=True)
class DimensionTest:
    """The test on one dimension, with the constant and the shuffled judge in it."""

    dimension: FrozenDimension
    test: AlternativeAnnotatorTest


@dataclass(frozen=True)
class ReplacementReport:
    """The test of one judge on every dimension that it has values on."""

    judge: Judge
    round: Round | None
    epsilon: float
    seed: int
    dimensions: Sequence[DimensionTest]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, ready for JSON."""
        return {
            "judge": self.judge.name,
            "round": self.round and self.round.number,
            "epsilon": self.epsilon,
            "seed": self.seed,
            "dimensions": [
                {"dimension": each.dimension.key, "test": asdict(each.test)} for each in self.dimensions
            ],
        }


def replacement_report(project: Project, judge: Judge, *, epsilon: float = 0.2) -> ReplacementReport:
    """Return whether the judge may stand in for an annotator of Round I, where nobody saw others' values.

    The shuffled judge is dealt with the project's seed. Five queries, before a round four.
    """
    round = rounds_of(project).get(1)
    material = material_of(project, round, guideline_of(project, round))
    samples = samples_of([judge], material)
    given = [each for each in material.dimensions if not np.isnan(samples[judge.pk, each.key]).all()]
    tests = [
        DimensionTest(
            dimension, _tested(material, dimension, samples[judge.pk, dimension.key], epsilon, project.seed)
        )
        for dimension in given
    ]
    return ReplacementReport(judge, round, epsilon, project.seed, tests)


def _tested(
    material: Material, dimension: FrozenDimension, samples: np.ndarray, epsilon: float, seed: int
) -> AlternativeAnnotatorTest:
    scores = scores_of(material, dimension.key, samples)
    rated = material.rated.get(dimension.key)
    nominal = dimension.measurement_level == "nominal"
    return alternative_annotator_test(
        scores.human,
        scores.judge,
        epsilon=epsilon,
        generator=np.random.default_rng(seed),
        documents=scores.documents,
        annotators=tuple(rated.data.raters) if rated else (),
        alignment=share_of_equal_values if nominal else minus_root_mean_squared_error,
    )
