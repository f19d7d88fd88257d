"""Intervals do not depend on the keys that a database gives its rows."""

import random

import pytest

from annotate.agreement import Coefficient
from annotate.models import Round
from annotate.queries.agreement import alpha_with_interval
from annotate.queries.reliability import reliability_data
from tests.annotate.rounds import frozen, opened, rate
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def alpha_of_the_same_ratings() -> Coefficient:
    """Rate a new project always alike, with enough units for a bootstrap; return alpha of its one round."""
    cast = make_project(dimensions=("fluency",), documents=10, systems=2)
    round = opened(cast)
    Round.objects.filter(pk=round.pk).update(seed=3)
    round.refresh_from_db()
    chance = random.Random(5)
    for item in cast.items:
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, chance.randint(1, 5))
    return alpha_with_interval(reliability_data(round)["fluency"], round, frozen(round, "fluency"), "units")


def test_an_interval_is_the_same_in_another_project() -> None:
    first, second = alpha_of_the_same_ratings(), alpha_of_the_same_ratings()
    assert first.interval is not None
    assert first == second
