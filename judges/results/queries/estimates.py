"""Mean human scores estimated from all judgments and the available ratings, compared with people or the
judge alone; and what leaderboards show of judges: scores of units that a judge decides, and money.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import numpy.typing as npt
from django.db.models import Sum
from django.utils.translation import gettext

from agreement import RankSet, Stream, rank_sets
from agreement.comparison import CategoryAgreement, Scores, category_agreement
from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.reliability import (
    About,
    Betting,
    CorrectedSystems,
    CorrectionGain,
    Difference,
    Estimate,
    RatedSample,
    beyond_batch,
    combined_estimate,
    correct_systems,
    correction_gain,
    cut_to_scale,
    guaranteed_mean,
    humans_only,
    judge_only,
    pairwise_differences,
    pooled_estimate,
    prediction_powered,
    projected_guaranteed_widths,
    projected_widths,
)
from agreement.reliability.estimates import warnings_of
from annotate.core.guideline import FrozenDimension
from annotate.core.models import AssignedUnit, Project, Round
from annotate.core.rounds import last_round
from annotate.leaderboard.standings import JudgedScores
from judges.core.models import Drafting, Judge, RoutingPolicy, Run, StepsWriting
from judges.results.queries.scores import (
    Material,
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
)
from judges.results.tables.parameters import version_of_judges

SUPPOSED_SHARE = 0.2
"""Of the documents that people would rate, if they have rated them all."""


@dataclass(frozen=True)
class DimensionCorrection:
    """One dimension: its systems, and the gain of the judge.

    systems: None with `reason`. raters: the number of raters. is_supposed: True if the gain supposes ratings
    of a share of the documents, because people rated all. cautions: by system, the reasons why its interval
    is unsafe.
    """

    dimension: FrozenDimension
    systems: CorrectedSystems | None
    gain: CorrectionGain
    raters: int
    is_supposed: bool = False
    cautions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


def correct_dimension(
    dimension: FrozenDimension, scores: Scores, about: About, *, unequal: bool, confidence_level: float
) -> DimensionCorrection:
    """unequal: whether units of a system were sampled with different probabilities."""
    judge = scores.by_document(scores.judge)
    own = [scores.by_document(row) for row in scores.human]
    ratings = np.stack(own) if own else np.empty((0, *judge.shape))  # (raters, documents, systems)
    raters = int((~np.isnan(ratings)).any(axis=(1, 2)).sum())
    reason = ""
    if not raters:
        reason = gettext("No person has rated a unit yet.")
    # The correction takes rated texts for a simple random sample.
    elif unequal:
        reason = gettext(
            "There are no corrected means, as units were sampled with different probabilities; the tab “Each "
            "system alone” counts each unit by its probability."
        )
    if reason:
        gain = CorrectionGain(None, None, None, 0, reason)
        return DimensionCorrection(dimension, None, gain, raters, reason=reason)
    # Means over raters, (documents, systems).
    people = mean_values(ratings.reshape(len(ratings), -1)).reshape(judge.shape)
    # Outputs that either of them scored, as `correct_systems` counts them.
    texts = ~np.isnan(people) | ~np.isnan(judge)
    everything = not np.isnan(people[texts]).any()
    cautions = {}
    for index, name in enumerate(scores.system_names):
        human = people[texts[:, index], index]
        # The cautions are about people's values alone, so the judge is a row of zeros.
        cautions[name] = " ".join(warnings_of(RatedSample(judge=np.zeros(len(human)), human=human)))
    return DimensionCorrection(
        dimension,
        correct_systems(ratings, judge, scores.system_names, about=about, confidence_level=confidence_level),
        correction_gain(
            people,
            judge,
            # With every output rated a judge adds nothing, so the gain is that of rating a part.
            share=SUPPOSED_SHARE if everything else None,
            confidence_level=confidence_level,
        ),
        raters,
        is_supposed=everything,
        cautions=cautions,
    )


SENT, LEFT = "sent to people", "left to the judge"
# nothing of such units is known then, whatever this value is; the stratum contains the reason
_NEVER_DRAWN = 0.05


SampledUnits = Mapping[int, npt.NDArray[np.float64]]
"""By dimension id, the probability of each item's unit in the sample, NaN if it was not sampled."""


def sample_of_units(
    units: SampledUnits, scores: Scores, dimension: int, chosen: npt.NDArray[np.bool_]
) -> RatedSample:
    """Return these items (a mask) as a sample: simple random if whole items were assigned.

    If units were sampled individually, the units sent with certainty are one stratum. The units left to the
    judge, of which some were audited, are the other.
    """
    human, judge = scores.human_means[chosen], scores.judge[chosen]
    everywhere = units.get(dimension)
    if everywhere is None:
        return RatedSample(judge=judge, human=human)
    # Units that were sampled one by one have a probability; the others have NaN.
    drawn = everywhere[chosen]
    asked = ~np.isnan(drawn)
    # The (least) probability with which the judge's units among these items are sampled. If none of these
    # was sampled, use the probability of any items of the dimension.
    shares = drawn[drawn < 1] if (drawn < 1).any() else everywhere[everywhere < 1]
    audit_share = float(shares.min()) if len(shares) else _NEVER_DRAWN
    # A rated unit outside the sample has an assignment of its whole item, so it counts as certain.
    chances = np.where(asked, drawn, np.where(np.isnan(human), audit_share, 1.0))
    return RatedSample(
        judge=judge,
        human=human,
        probabilities=chances,
        assigned=asked | ~np.isnan(human),
        strata=np.where(chances == 1, SENT, LEFT),
    )


def sampled_units(round: Round | None, material: Material) -> SampledUnits:
    """Return the units sampled individually up to a round. One query, none before a round."""
    if round is None:
        return {}
    asked = AssignedUnit.objects.filter(
        assignment__round__project=round.project_id, assignment__round__number__lte=round.number
    ).values_list("dimension", "assignment__item", "inclusion_probability")
    found: dict[int, npt.NDArray[np.float64]] = {}
    positions = {item: position for position, item in enumerate(material.items.tolist())}
    for dimension, item, probability in asked.order_by("pk"):
        # People also get comparisons and an addition's bridging items, which have no value here.
        if item in positions:
            chances = found.setdefault(dimension, np.full(len(material.items), np.nan))
            chances[positions[item]] = probability
    return found


SPENT = (5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000)


@dataclass(frozen=True)
class SystemEstimates:
    """One system's mean human score on one dimension; `combined` is by regression or strata.

    beyond: True if it concerns documents like these and not only these outputs.
    """

    system: str
    humans: Estimate
    judge: Estimate
    combined: Estimate
    prediction_powered: Estimate
    guaranteed: Estimate
    beyond: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the reasons why the asymptotic intervals are unsafe here."""
        return () if self.complete else self.humans.warnings or self.combined.warnings

    @property
    def complete(self) -> bool:
        """Return True if the mean is known, because it concerns these outputs and each is rated."""
        return not self.beyond and self.humans.ratings == self.humans.units


@dataclass(frozen=True)
class Width:
    """The mean width of intervals over systems after a number of ratings of each; None: unknown.

    is_now: True for the available ratings.
    """

    ratings: float
    humans: float | None
    combined: float | None
    guaranteed: float | None
    is_now: bool = False


@dataclass(frozen=True)
class DimensionEstimates:
    """All systems on one dimension. `differences` and `ranks` are empty if `no_differences` gives a reason.

    There are no ranks either if no difference is estimated. pooled: all systems together, if units were
    sampled individually and not all are rated.
    """

    dimension: FrozenDimension
    systems: Sequence[SystemEstimates]
    differences: Sequence[Difference]
    ranks: Sequence[RankSet]
    no_differences: str
    widths: Sequence[Width]
    pooled: Estimate | None = None


@dataclass(frozen=True)
class EstimatesReport:
    """The numbers of one judge and people, from the ratings at the end of a round.

    named: the judge's agreement with people on categorical dimensions, which have no mean; shares: of each
    category there the share in each system's items, as a mean of 1 and 0.
    """

    judge: Judge
    round: Round | None
    dimensions: Sequence[DimensionEstimates]
    corrections: Sequence[DimensionCorrection] = ()
    named: Sequence[tuple[FrozenDimension, CategoryAgreement]] = ()
    shares: Sequence[tuple[FrozenDimension, int, Sequence[SystemEstimates]]] = ()


def estimates_report(
    project: Project,
    judge: Judge,
    round: Round | None,
    *,
    confidence_level: float = 0.95,
    about: About = About.RATERS,
    with_corrected: bool = True,
) -> EstimatesReport:
    """Return estimates of people's mean score of each system's items, by one judge and their ratings.

    about: with RATERS corrected means treat raters as a sample, too, and the other estimates concern other
    documents by these raters. Ratings count as of the end of the round. with_corrected: True if corrections
    by people count. Five queries, before a round three.
    """
    material = material_of(project, round)
    samples = samples_of([judge], material, with_corrected=with_corrected)
    drawn = sampled_units(round, material)
    found, corrections, named, shares = [], [], [], []
    for dimension in material.dimensions:
        scores = scores_of(material, dimension.key, samples[judge.pk, dimension.key])
        if not np.isnan(scores.judge).all():
            stream = stream_of_judge(project, judge, dimension)
            how = _EstimationSettings(dimension, confidence_level, beyond=about != About.TEXTS)
            # Categories: agreement, and the share of each one as a mean of 1 and 0.
            if not dimension.has_mean:
                named.append(
                    (dimension, category_agreement(scores, dimension.whole_values, generator=stream))
                )
                # Shares lie from 0 to 1 whatever the codes of categories are.
                as_share = replace(how, dimension=replace(dimension, scale_minimum=0, scale_maximum=1))
                for category in dimension.whole_values:
                    own = scores.of_category(category)
                    of_share = stream.of("share", dimension.name_of(category))
                    systems = _estimate_systems(as_share, own, _samples(how, own, drawn), of_share)
                    shares.append((dimension, category, systems))
                continue
            found.append(_estimate_dimension(how, scores, drawn, stream))
            # Judges may have learned people's scores of these documents by heart.
            unlearned = scores.without_judge(material.in_development)
            samples_known = _samples(how, unlearned, drawn, ~material.in_development)
            # Unequal probabilities do not matter where every unit is rated.
            unequal = any(each.unequal and each.ratings < each.units for each in samples_known)
            corrections.append(
                correct_dimension(
                    dimension, unlearned, about, unequal=unequal, confidence_level=confidence_level
                )
            )
    return EstimatesReport(judge, round, found, corrections, named, shares)


@dataclass(frozen=True)
class _EstimationSettings:
    dimension: FrozenDimension
    level: float
    beyond: bool

    def betting(self, stream: Stream) -> Betting:
        return Betting(self.dimension.scale_minimum, self.dimension.scale_maximum, stream, self.beyond)

    def cut(self, estimate: Estimate) -> Estimate:
        return cut_to_scale(estimate, self.dimension.scale_minimum, self.dimension.scale_maximum)


def _samples(
    how: _EstimationSettings,
    scores: Scores,
    drawn: SampledUnits,
    chosen: npt.NDArray[np.bool_] | bool = True,
) -> list[RatedSample]:
    """Return a sample for each system, of chosen items (a mask)."""
    return [
        sample_of_units(drawn, scores, how.dimension.id, chosen & (scores.systems == index))
        for index in range(len(scores.system_names))
    ]


def _estimate_dimension(
    how: _EstimationSettings, scores: Scores, drawn: SampledUnits, stream: Stream
) -> DimensionEstimates:
    samples = _samples(how, scores, drawn)
    systems = _estimate_systems(how, scores, samples, stream)
    betting, one_by_one = how.betting(stream), how.dimension.id in drawn
    is_known = all(sample.ratings == sample.units for sample in samples)
    # Differences between systems, or the reason why there are none.
    refused = ""
    if len(samples) < 2:
        refused = gettext("A difference needs two systems.")
    elif not any(sample.ratings for sample in samples):
        refused = gettext("No person has rated a unit yet.")
    elif is_known:
        refused = gettext(
            "Every output is rated, so a judge adds nothing. The page Systems compares the systems and "
            "offers a choice of populations."
        )
    differences = (
        ()
        if refused
        else pairwise_differences(
            scores,
            drawn=samples if one_by_one else None,
            confidence_level=how.level,
            betting=betting,
            beyond=how.beyond,
        )
    )
    tested = any(each.p_value is not None for each in differences)
    ranks = rank_sets(scores.system_names, differences) if tested else ()
    widths = _widths(systems, samples, betting, how.level)
    pooled = None
    if one_by_one and len(samples) > 1 and not is_known:
        # Beyond these outputs the documents are the sample.
        documents = len(scores.document_labels) if how.beyond else None
        pooled = how.cut(pooled_estimate(samples, documents=documents, confidence_level=how.level))
    return DimensionEstimates(how.dimension, systems, differences, ranks, refused, widths, pooled)


def _estimate_systems(
    how: _EstimationSettings, scores: Scores, samples: Sequence[RatedSample], stream: Stream
) -> list[SystemEstimates]:
    found, level = [], how.level
    for name, sample in zip(scores.system_names, samples, strict=True):
        betting = vars(how.betting(stream.of(name)))
        humans = humans_only(sample, confidence_level=level)
        # A fully rated batch has no error left; as a sample of documents it has.
        if how.beyond:
            humans = beyond_batch(humans, sample, confidence_level=level)
        found.append(
            SystemEstimates(
                system=name,
                humans=how.cut(humans),
                judge=judge_only(sample),
                combined=how.cut(combined_estimate(sample, confidence_level=level, beyond=how.beyond)),
                prediction_powered=how.cut(prediction_powered(sample, confidence_level=level)),
                guaranteed=guaranteed_mean(sample, **betting, confidence_level=level),
                beyond=how.beyond,
            )
        )
    return found


def _widths(
    systems: Sequence[SystemEstimates], samples: Sequence[RatedSample], betting: Betting, level: float
) -> list[Width]:
    """Return the mean width after 5, 10, ... ratings of each system, if known."""
    largest = min((each.humans.units for each in systems), default=0)
    spent = [number for number in SPENT if number <= largest]
    # None becomes NaN in an array of floats, and `_mean` leaves it out.
    humans = np.array([projected_widths(each.humans, spent) for each in systems], dtype=float)
    combined = np.array(
        [
            # The projection is valid for the regression estimate, not for strata.
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
    known = [each for each in found if each.humans is not None or each.combined is not None]
    if not known:
        return []
    humans_now, combined_now, guaranteed_now = (
        _mean(np.array([getattr(each, kind).width for each in systems], dtype=float))
        for kind in ("humans", "combined", "guaranteed")
    )
    ratings = float(np.mean([each.humans.ratings for each in systems]))
    return [Width(ratings, humans_now, combined_now, guaranteed_now, is_now=True), *known]


def _mean(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def corrected_scores(project: Project) -> Mapping[str, Mapping[int, float]]:
    """Return scores by item, by dimension key, of systems that a routed policy left partly to its judge.

    The score of a unit is f + (y - f) / pi if people rated it and f if not, with f the judge's value, y
    people's mean and pi the probability that people rate it. The mean of a system's scores is an unbiased
    estimate of people's mean. NaN for a system if people have rated no unit that its judge decides, or no
    other unit. Seven queries, two without a policy.
    """
    policy = (
        RoutingPolicy.objects.filter(project=project, status=RoutingPolicy.Status.ROUTED)
        .select_related("rts")
        .order_by("pk")
        .last()
    )
    round = last_round(project)
    if policy is None or round is None:
        return {}
    material = material_of(project, round)
    drawn = sampled_units(round, material)
    samples = samples_of([policy.rts], material)
    found = {}
    for dimension in material.dimensions:
        # Without units sampled one by one, the policy left nothing to the judge on this dimension.
        if dimension.id not in drawn or dimension.is_named:
            continue
        scores = scores_of(material, dimension.key, samples[policy.rts_id, dimension.key])
        by_item: dict[int, float] = {}
        for index in range(len(scores.system_names)):
            own = (scores.systems == index) & ~material.in_development
            sample = sample_of_units(drawn, scores, dimension.id, own)
            # A system that people rated completely needs no correction.
            if sample.ratings < sample.units:
                by_item |= zip(material.items[own].tolist(), increments(sample).tolist(), strict=True)
        if by_item:
            found[dimension.key] = by_item
    return found


def increments(sample: RatedSample) -> FloatArray:
    """Return the score of each unit (units,). Sources: Horvitz and Thompson 1952; Zrnic and Candes 2024.

    NaN if people have rated no unit of a stratum.
    """
    if sample.probabilities is None:
        return sample.human
    # Without a rating in a stratum its errors are unknown, so no correction is possible.
    if sample.strata is not None and set(sample.strata) - set(sample.strata[sample.rated]):
        return np.full(sample.units, np.nan)
    # The score f + (y - f) / pi: the mean of its second part corrects the judge's bias.
    errors = (sample.human - sample.judge) / sample.probabilities
    return np.asarray(sample.judge + np.where(sample.rated, errors, 0.0))


def money_spent(project: Project) -> Decimal:
    """Return the money spent on a project's judges. Three queries."""
    # Drafts and evaluation steps belong to no run.
    spent = (
        Run.objects.filter(project=project),
        Drafting.objects.filter(judge__project=project),
        StepsWriting.objects.filter(judge__project=project),
    )
    return sum((rows.aggregate(sum=Sum("spent"))["sum"] or Decimal(0) for rows in spent), Decimal(0))


def _version(project: Project) -> Sequence[object]:
    routed = RoutingPolicy.objects.filter(project=project, status=RoutingPolicy.Status.ROUTED)
    return [*version_of_judges(project), list(routed.order_by("pk").values_list("pk", flat=True))]


JUDGED_SCORES = JudgedScores(corrected_scores, money_spent, _version)
