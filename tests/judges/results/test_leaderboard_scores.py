"""Scores of a leaderboard where a judge decides a part of the units."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from django.utils import timezone

from agreement.reliability import RatedSample
from annotate.core.models import AssignedUnit, Assignment, Rating, Round
from annotate.core.rounds import last_round
from annotate.leaderboard.queries import leaderboard_of
from annotate.leaderboard.standings import CORRECTED
from annotate.rating.commands.assignments import reserve_items
from judges.core.models import RoutingPolicy, StepsWriting
from judges.results.queries.estimates import increments, money_spent, sampled_units
from judges.results.queries.scores import material_of
from judges.routing.commands.policies import make_policy, route
from tests.additions.scenes import make_new_raters
from tests.factories import Cast, make_project
from tests.judges.additions.test_route import (
    finished_benchmark,
    number_of,
    routed,
)
from tests.judges.certified import numbers_of, people_say
from tests.judges.factories import make_judge
from tests.judges.routing.project import DOCUMENTS, TRUSTED, routing_project, spec_of

pytestmark = pytest.mark.django_db


def test_mean_of_increments_is_unbiased_over_samples() -> None:
    random = np.random.default_rng(5)
    people = random.integers(1, 6, 400).astype(float)
    judge = np.clip(people + random.integers(0, 3, 400), 1, 5).astype(float)
    chances = np.where(np.arange(400) < 100, 1.0, 0.25)
    means = [
        increments(
            RatedSample(
                judge=judge,
                human=np.where(random.random(400) < chances, people, np.nan),
                probabilities=chances,
            )
        ).mean()
        for _ in range(300)
    ]
    error = np.std(means) / np.sqrt(len(means))
    assert np.mean(means) == pytest.approx(people.mean(), abs=4 * error)


def test_routed_systems_have_a_mean_once_people_rated_of_each_part() -> None:
    cast = routing_project()
    policy = make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin)
    policy = route(policy=policy, by=cast.admin)
    board = leaderboard_of(cast.project).board("fluency")
    assert board is not None
    assert {(each.source, each.mean) for each in board.systems} == {(CORRECTED, None)}
    _rate_sent_units(cast, policy)
    board = leaderboard_of(cast.project).board("fluency")
    assert board is not None
    # People give 5 to every unit. The judge gives the trusted system 1 to 5 in turn and keeps a part of it.
    trusted = next(each for each in board.systems if each.system == TRUSTED)
    audited = policy.units.filter(item__system__name=TRUSTED, dimension__key="fluency", why="audit")
    numbers = numbers_of(cast)
    errors = [5 - (numbers[unit.item_id] % 5 + 1) for unit in audited]
    assert trusted.documents == DOCUMENTS
    assert trusted.mean == pytest.approx(3 + sum(errors) / 0.2 / DOCUMENTS)
    assert {each.mean for each in board.systems if each.system != TRUSTED} == {5}


def _rate_sent_units(cast: Cast, policy: RoutingPolicy) -> None:
    """Let people give 5 to every unit that they were sent."""
    now = timezone.now()
    assignments = list(Assignment.objects.filter(round=policy.round).order_by("item", "slot"))
    for position, each in enumerate(assignments, start=1):
        each.annotator = cast.annotators[each.slot % len(cast.annotators)]
        each.position, each.started_at = position, now
    Assignment.objects.bulk_update(assignments, ["annotator", "position", "started_at"])
    Rating.objects.bulk_create(
        Rating(assignment=unit.assignment, dimension=unit.dimension, value=5, created_at=now, updated_at=now)
        for unit in AssignedUnit.objects.filter(assignment__in=assignments).select_related("assignment")
    )


def test_addition_that_a_judge_scores_in_part_has_people_s_mean() -> None:
    cast = finished_benchmark()
    addition, policy = routed(cast, documents=60)
    round = Round.objects.get(project=addition.project, number=1)
    for rater in make_new_raters(addition):
        reserve_items(round=round, annotator=rater, how_many=100)
    assignments = Assignment.objects.filter(annotator__project=addition.project).select_related(
        "item__document"
    )
    now, rows = timezone.now(), []
    for each in assignments:
        asked = set(each.units.values_list("dimension", flat=True))
        for dimension in addition.project.dimensions.all():
            if not each.partial or dimension.pk in asked:
                value = people_say(number_of(each.item), dimension.key)
                rows.append(
                    Rating(assignment=each, dimension=dimension, value=value, created_at=now, updated_at=now)
                )
    Rating.objects.bulk_create(rows)
    Round.objects.filter(pk=round.pk).update(status=Round.Status.CLOSED, closed_at=now)
    board = leaderboard_of(cast.project).board("fluency")
    assert board is not None
    new = next(each for each in board.systems if each.addition == 1)
    assert policy.units.filter(dimension__key="fluency").count() < 60 == new.documents
    assert new.source == CORRECTED
    assert new.severity_correction == pytest.approx(0, abs=0.01)
    # The judge is right about the units that stay with it.
    assert new.mean == pytest.approx(np.mean([people_say(each, "fluency") for each in range(60)]), abs=0.02)


def test_units_of_items_without_values_are_no_sample() -> None:
    cast = routing_project()
    policy = make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin)
    policy = route(policy=policy, by=cast.admin)
    round = last_round(cast.project)
    assert round is not None
    material = material_of(cast.project, round)
    whole = sampled_units(round, material)
    dimension, chances = next(iter(whole.items()))
    last = int(np.flatnonzero(~np.isnan(chances))[-1])
    # As if the last sampled item were a comparison, which has no value.
    fewer = sampled_units(round, replace(material, items=np.delete(material.items, last)))
    np.testing.assert_array_equal(fewer[dimension], np.delete(chances, last))


def test_money_of_a_leaderboard_includes_evaluation_steps() -> None:
    judge = make_judge(make_project().project)
    assert judge.template
    assert money_spent(judge.project) == 0
    StepsWriting.objects.create(
        template=judge.template, judge=judge, status=StepsWriting.Status.FINISHED, spent=Decimal("0.25")
    )
    assert money_spent(judge.project) == Decimal("0.25")
