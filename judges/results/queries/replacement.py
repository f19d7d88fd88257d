"""Replacement: the alternative annotator test on the ratings of Round I."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Stream
from agreement.comparison import OneMoreRater, judge_as_one_more_rater
from agreement.reliability import (
    AlternativeAnnotatorTest,
    CorrectionGain,
    JudgeError,
    ReplacementPlan,
    UseFinding,
    alternative_annotator_test,
    correction_gain,
    find_uses,
    judge_error,
    minus_root_mean_squared_error,
    plan_replacement,
    share_of_equal_values,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from judges.core.models import Judge
from judges.results.queries.scores import (
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
    stream_of_people,
)
from judges.results.queries.texts import lengths_of

EPSILONS = {
    0.2: gettext_lazy("experts"),
    0.15: gettext_lazy("skilled annotators"),
    0.1: gettext_lazy("a crowd"),
}
"""Allowed advantage of a person over the judge, by the kind of annotators (Calderon and others 2025)."""


RATED_SHARE = 0.2
"""The share of documents that people would rate if the judge corrected means of systems."""


@dataclass(frozen=True)
class DimensionTest:
    """The test on one dimension with its controls, and the change of alpha with the judge as one more rater.

    error: the judge's error compared with a random person's. gain: of correcting means if people rate
    `RATED_SHARE` of the documents. uses: the uses that both allow.
    """

    dimension: FrozenDimension
    test: AlternativeAnnotatorTest
    one_more_rater: OneMoreRater
    error: JudgeError
    gain: CorrectionGain
    uses: Sequence[UseFinding]
    epsilon: float
    stream: Stream

    @cached_property
    def plan(self) -> ReplacementPlan:
        """Return the documents that the test needs; only its own page uses them."""
        return plan_replacement(self.test, epsilon=self.epsilon, generator=self.stream)


@dataclass(frozen=True)
class ReplacementReport:
    judge: Judge
    round: Round | None
    epsilon: float
    dimensions: Sequence[DimensionTest]


def replacement_report(
    project: Project, judge: Judge, *, epsilon: float = 0.2, with_corrected: bool = True
) -> ReplacementReport:
    """Return the test of the judge as a substitute for an annotator of Round I, with independent values.

    The judge's stream generates the shuffled judge. Six queries, before a round five.
    """
    round = rounds_of(project).get(1)
    material = material_of(project, round)
    samples = samples_of([judge], material, with_corrected=with_corrected)
    lengths = np.array(list(lengths_of(project).values()), dtype=float)
    tests = []
    for one in material.dimensions:
        if not samples[judge.pk, one.key].given.any():
            continue
        scores = scores_of(material, one.key, samples[judge.pk, one.key])
        stream, is_nominal = stream_of_judge(project, judge, one), one.measurement_level == "nominal"
        test = alternative_annotator_test(
            scores.human,
            scores.judge,
            epsilon=epsilon,
            generator=stream,
            documents=scores.documents,
            systems=scores.systems,
            lengths=lengths,
            annotators=tuple(material.raters(one.key)),
            alignment=share_of_equal_values if is_nominal else minus_root_mean_squared_error,
        )
        one_more = judge_as_one_more_rater(
            scores,
            measurement_level=one.measurement_level,
            generator=stream,
            people=stream_of_people(project, one),
        )
        error = judge_error(
            scores, generator=stream, lengths=lengths, loss="unequal" if is_nominal else "squared"
        )
        if is_nominal:
            why = gettext("The values are category names, which have no mean.")
            gain = CorrectionGain(None, None, None, 0, why)
        else:
            people, judged = scores.by_document(scores.human_means), scores.by_document(scores.judge)
            gain = correction_gain(people, judged, share=RATED_SHARE)
        uses = find_uses(error, gain, alpha_among_people=one_more.among_people.value)
        tests.append(DimensionTest(one, test, one_more, error, gain, uses, epsilon, stream))
    return ReplacementReport(judge, round, epsilon, tests)
