"""May a judge replace an annotator? The alternative annotator test on a project's Round I ratings."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.agreement import Stream
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from judges.core.models import Judge
from judges.reliability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
    minus_root_mean_squared_error,
    share_of_equal_values,
)
from judges.results.queries.comparison import guideline_of
from judges.results.queries.scores import Material, Samples, material_of, samples_of, scores_of
from judges.results.tables.streams import stream_of_judge

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
    dimensions: Sequence[DimensionTest]


def replacement_report(
    project: Project, judge: Judge, *, epsilon: float = 0.2, with_corrected: bool = True
) -> ReplacementReport:
    """Return whether the judge may stand in for an annotator of Round I, where nobody saw others' values.

    The shuffled judge is dealt with the judge's stream. with_corrected: whether what a person corrected
    counts. Five queries, before a round four.
    """
    round = rounds_of(project).get(1)
    material = material_of(project, round, guideline_of(project, round))
    samples = samples_of([judge], material, with_corrected=with_corrected)
    given = [each for each in material.dimensions if samples[judge.pk, each.key].given.any()]
    tests = [
        DimensionTest(
            dimension,
            _test_dimension(
                material,
                dimension,
                samples[judge.pk, dimension.key],
                epsilon,
                stream_of_judge(project, judge, dimension),
            ),
        )
        for dimension in given
    ]
    return ReplacementReport(judge, round, epsilon, tests)


def _test_dimension(
    material: Material, dimension: FrozenDimension, samples: Samples, epsilon: float, stream: Stream
) -> AlternativeAnnotatorTest:
    scores = scores_of(material, dimension.key, samples)
    rated = material.rated.get(dimension.key)
    nominal = dimension.measurement_level == "nominal"
    return alternative_annotator_test(
        scores.human,
        scores.judge,
        epsilon=epsilon,
        generator=stream,
        documents=scores.documents,
        annotators=tuple(rated.data.raters) if rated else (),
        alignment=share_of_equal_values if nominal else minus_root_mean_squared_error,
    )
