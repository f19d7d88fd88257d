"""What leaderboards show of judges: scores of units that a judge decides, and money."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
from django.db.models import Sum

from agreement.data import FloatArray
from agreement.reliability import RatedSample
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.leaderboard.standings import JudgedScores
from judges.core.models import Drafting, RoutingPolicy, Run
from judges.results.queries.estimates import sampled_units
from judges.results.queries.scores import material_of, samples_of, scores_of
from judges.results.tables.version import version_of_judges


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
        if dimension.id not in drawn.by_dimension or dimension.is_named:
            continue
        scores = scores_of(material, dimension.key, samples[policy.rts_id, dimension.key])
        by_item: dict[int, float] = {}
        for index in range(len(scores.system_names)):
            own = (scores.systems == index) & ~material.in_development
            sample = drawn.sample(scores, dimension.id, own)
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
    if sample.strata is not None and set(sample.strata) - set(sample.strata[sample.rated]):
        return np.full(sample.units, np.nan)
    errors = (sample.human - sample.judge) / sample.probabilities
    return np.asarray(sample.judge + np.where(sample.rated, errors, 0.0))


def money_spent(project: Project) -> Decimal:
    """Return the money spent on a project's judges, drafts included. Two queries."""
    runs = Run.objects.filter(project=project).aggregate(spent=Sum("spent"))["spent"]
    drafts = Drafting.objects.filter(judge__project=project).aggregate(spent=Sum("spent"))["spent"]
    return (runs or Decimal(0)) + (drafts or Decimal(0))


def _version(project: Project) -> Sequence[object]:
    routed = RoutingPolicy.objects.filter(project=project, status=RoutingPolicy.Status.ROUTED)
    return [*version_of_judges(project), list(routed.order_by("pk").values_list("pk", flat=True))]


JUDGED_SCORES = JudgedScores(corrected_scores, money_spent, _version)
