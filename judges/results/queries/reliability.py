"""Reliability of judges: R, P, M and the predictive value of R, from a project's judgments and ratings.

Also replacement: the alternative annotator test on the ratings of Round I.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, Stream, holm_by_key
from agreement.comparison import CORRELATIONS, OneMoreRater, correlation_called, judge_as_one_more_rater
from agreement.reliability import (
    AlternativeAnnotatorTest,
    CorrectionGain,
    DimensionReliability,
    DrawnWith,
    JudgeError,
    ReplacementPlan,
    SystemReliability,
    UseFinding,
    Validity,
    alternative_annotator_test,
    correction_gain,
    find_uses,
    judge_error,
    minus_root_mean_squared_error,
    plan_replacement,
    reliability,
    share_of_equal_values,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from judges.core.models import Calibration, CalibrationUnit, Judge, RoutingPolicy
from judges.results.queries.pairings import Pairing
from judges.results.queries.scores import (
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
    stream_of_pair,
    stream_of_people,
)
from judges.results.queries.texts import lengths_of
from judges.results.tables.parameters import digest_of_values

SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class DimensionIndicator:
    """The indicator on one dimension, and its permitted use.

    adjusted_p_value: of `figures.validity`, by Holm over the report's dimensions. reading: in words, whether
    R predicts the judge's agreement with people here.
    """

    dimension: FrozenDimension
    figures: DimensionReliability
    adjusted_p_value: float | None
    reading: str


@dataclass(frozen=True)
class ReliabilityReport:
    """Results for one pair of judges by one measure; P, M and validity concern `compared_judge`.

    rated_units: units with ratings. settling: rated units that set r of a policy or a certificate of these
    judges; P excludes them if `fresh`. judged: a digest of the judgments that determine R.
    """

    project: Project
    pairing: Pairing
    compared_judge: Judge
    coefficient: str
    round: Round | None
    dimensions: Sequence[DimensionIndicator]
    rated_units: int
    settling: int
    fresh: bool
    with_corrected: bool
    judged: str

    @property
    def label(self) -> str:
        return CORRELATIONS[self.coefficient].estimator.label

    @property
    def rated(self) -> bool:
        return any(each.rated for one in self.dimensions for each in one.figures.systems)

    @property
    def rows(self) -> list[tuple[str, list[SystemReliability]]]:
        columns = zip(*(one.figures.systems for one in self.dimensions), strict=True)
        return [(cells[0].system, list(cells)) for cells in columns]


def reliability_report(
    project: Project,
    pairing: Pairing,
    *,
    coefficient: str = "spearman",
    confidence_level: float = 0.95,
    compared_judge: Judge | None = None,
    round_number: int | None = None,
    fresh: bool = False,
    with_corrected: bool = True,
) -> ReliabilityReport:
    """Return R of a pair of judges with P of one of them (the RTS judge), against people's values of a round.

    The round is the last one unless a number is passed. `fresh`: exclude ratings of units that set the trust
    in these judges. Seven queries, before a round six.
    """
    rounds = rounds_of(project)
    round = rounds.get(round_number or max(rounds, default=0))
    material = material_of(project, round)
    first = compared_judge or pairing.rts
    second = pairing.mcq if first == pairing.rts else pairing.rts
    # Units that set the trust in these judges: their ratings report on no policy or certificate of them.
    judges = [pairing.rts, pairing.mcq]
    policies = RoutingPolicy.objects.filter(status=RoutingPolicy.Status.ROUTED)
    calibrations = Calibration.objects.filter(status=Calibration.Status.CERTIFIED)
    rows = CalibrationUnit.objects.filter(
        Q(policy__in=policies.filter(Q(rts__in=judges) | Q(mcq__in=judges)))
        | Q(calibration__in=calibrations.filter(judge__in=judges))
    )
    units, items = set(rows.values_list("item", "dimension")), material.items.tolist()
    # (items,) by dimension key: True if the unit is rated and one of these.
    settling = {
        one.key: np.isin(material.items, material.rated[one.key].items)
        & np.array([(item, one.id) in units for item in items], dtype=bool)
        for one in material.dimensions
        if one.key in material.rated
    }
    samples = samples_of([first, second], material, with_corrected=with_corrected)
    found: list[tuple[FrozenDimension, DimensionReliability]] = []
    for dimension in material.dimensions:
        own, others = (
            scores_of(material, dimension.key, samples[judge.pk, dimension.key]) for judge in (first, second)
        )
        if np.isnan([own.judge, others.judge]).all():
            continue
        if fresh and dimension.key in settling:
            # P must not rest on ratings that chose r or calibrated a threshold; R needs no ratings.
            own = own.without_people(settling[dimension.key])
        of_pair = stream_of_pair(project, pairing.rts, pairing.mcq, dimension)
        # Separate streams, so that intervals of R do not depend on people or on which judge P is of.
        figures = reliability(
            own,
            others.as_read,
            correlation_called(coefficient, named=dimension.is_named),
            drawn_with=DrawnWith(
                indicator=of_pair,
                agreement=stream_of_judge(project, first, dimension),
                validity=of_pair.of("beside people", first.name),
            ),
            resampling=Resampling(confidence_level=confidence_level),
        )
        found.append((dimension, figures))
    # The use of R is tested on every dimension, so p is corrected over them.
    p_values = holm_by_key({index: each.validity.p_value for index, (_, each) in enumerate(found)})
    return ReliabilityReport(
        project=project,
        pairing=pairing,
        compared_judge=first,
        coefficient=coefficient,
        round=round,
        dimensions=[
            DimensionIndicator(
                dimension, each, p_values.get(index), _verdict(each.validity, p_values.get(index))
            )
            for index, (dimension, each) in enumerate(found)
        ],
        rated_units=sum(len(rated.items) for rated in material.rated.values()),
        settling=sum(int(chosen.sum()) for chosen in settling.values()),
        fresh=fresh,
        with_corrected=with_corrected,
        judged=digest_of_values(project, judges, material, with_corrected=with_corrected),
    )


def r_tells(found: Validity, adjusted: float | None) -> bool:
    """Return True if R predicts on which systems the judge agrees with people. adjusted: p by Holm."""
    value = found.correlation.value
    return value is not None and value > 0 and adjusted is not None and adjusted <= SIGNIFICANCE_LEVEL


def _verdict(found: Validity, adjusted: float | None) -> str:
    value = found.correlation.value
    if value is None or adjusted is None:
        reason = found.correlation.reason or found.p_value_reason or ""
        why = reason[:1].lower() + reason[1:]
        return gettext("Not known yet: {why}").format(why=why)
    if adjusted > SIGNIFICANCE_LEVEL:
        return gettext("No: R does not predict agreement with people on this dimension. Do not route by R.")
    if value < 0:
        return gettext("No: the judge agrees less with people on systems with a high R. Do not route by R.")
    return gettext(
        "Yes: the judge agrees more with people on systems with a higher R. R does not show the size of "
        "errors: audit the units that the judge decides."
    )


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
    # After Round II annotators know each other's values, and the test compares independent ones.
    round = rounds_of(project).get(1)
    material = material_of(project, round)
    samples = samples_of([judge], material, with_corrected=with_corrected)
    lengths = np.array(list(lengths_of(project).values()), dtype=float)
    tests = []
    for one in material.dimensions:
        if not samples[judge.pk, one.key].given.any():
            continue
        scores = scores_of(material, one.key, samples[judge.pk, one.key])
        # One stream serves all statistics, because each of them adds its own name.
        stream, is_nominal = stream_of_judge(project, judge, one), one.measurement_level == "nominal"
        test = alternative_annotator_test(
            scores.human,
            scores.judge,
            epsilon=epsilon,
            generator=stream,
            documents=scores.documents,
            # Controls know the system or the length alone, and the plain test rewards such judges.
            systems=scores.systems,
            lengths=lengths,
            annotators=tuple(material.raters(one.key)),
            alignment=share_of_equal_values if is_nominal else minus_root_mean_squared_error,
        )
        one_more = judge_as_one_more_rater(
            scores,
            measurement_level=one.measurement_level,
            generator=stream,
            # Alpha among people then has the same interval as on the pages about people.
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
