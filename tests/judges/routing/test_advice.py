"""Advice on r: the forecast is counted here with NumPy, and the chosen r is the one that saves most."""

import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from agreement.reliability import CellDecision, JudgeEvidence, more_than_one_point
from annotate.core.models import Dimension, Item, Rating
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.models import Judgment, RoutingPolicy, Run
from judges.routing.commands.policies import draft_policy
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.units import PartOfUnits, PolicyCell
from judges.routing.queries.verdicts import advise_thresholds, curve_of_advice, fewest_decimals
from tests.api.client import ApiClient
from tests.factories import Cast, make_user
from tests.judges.certified import numbers_of
from tests.judges.factories import make_judge
from tests.judges.methods.dimensions import FIVE
from tests.judges.news import imported_news
from tests.judges.pages import HTMX, address, text_of
from tests.judges.routing.project import TRUSTED, routing_project, rts_value, spec_of
from tests.judges.routing.test_routing_pages import entered
from tests.judges.routing.test_verdicts import rate_all
from tests.published.news_summeval import DIMENSIONS, scores, values

pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_forecast_on_news_counts_every_unit_that_stays():
    """Where people rated nothing on a system or dimension, as everywhere else."""
    project = imported_news(make_user())
    items = {(item.system.name, item.document.key): item for item in Item.objects.select_related()}
    dimensions = {each.key: each for each in Dimension.objects.filter(project=project)}
    run = Run.objects.create(project=project, guideline=freeze_guideline(project), status="finished")
    now = timezone.now()
    for method in ("rts", "mcq"):
        judge = make_judge(project, method)
        Judgment.objects.bulk_create(
            Judgment(
                run=run,
                judge=judge,
                item=items[unit],
                dimension=dimensions[key],
                value=value,
                status="done",
                answered_at=now,
            )
            for key in DIMENSIONS
            for unit, value in values(method)[key].items()
        )
    unrated = {("coherence", name) for name in scores("rts", "coherence").system_names[:6]}
    unrated |= {("fluency", name) for name in scores("rts", "fluency").system_names}
    for key, name in unrated:
        ratings = Rating.objects.filter(dimension__key=key, assignment__item__system__name=name)
        ratings.update(value=None, cannot_rate=True)

    rts, mcq = (project.judges.get(method=method) for method in ("rts", "mcq"))
    options = (f"--rts={rts}", f"--mcq={mcq}", "--threshold=0.2", "--dry-run", "--json")
    out = StringIO()
    call_command("route", project.slug, *options, stdout=out)
    told = json.loads(out.getvalue())

    stays = [(each["dimension"], each["system"]) for each in told["cells"] if each["to"] == "judge"]
    assert {name for key, name in stays if key == "relevance"} == set(scores("rts", "relevance").system_names)
    expected, of_dimension, without = 0.0, 0, 0
    for key, name in stays:
        found = scores("rts", key)
        names = np.array(found.system_names)[found.systems]
        wrong = more_than_one_point(found.judge, found.human_means)
        rated = np.array([(key, each) not in unrated for each in names])
        if (key, name) not in unrated:
            expected += wrong[names == name].sum()
        elif rated.any():
            expected += 100 * wrong[rated].mean()
            of_dimension += 100
        else:
            without += 100
    kept = told["gain"]["kept"]
    assert kept["units"] == told["kept"] == 100 * len(stays)
    assert kept["expected_wrong"] == pytest.approx(expected)
    assert (kept["of_dimension"], kept["without_forecast"]) == (of_dimension, without)
    assert of_dimension > 0
    assert without > 0


def make_scene():
    """People agree with the judge, except on every second text of systems without R."""
    cast = routing_project(raters=3)
    numbers = numbers_of(cast)

    def value_of(item, key):
        number, system = numbers[item.pk], item.system.name
        said = rts_value(number, system, key)
        return said if system == TRUSTED or number % 2 else 6 - said

    rate_all(cast, value_of, people=3)
    return cast


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def plan_of(cast: Cast, **fields):
    usual = {"raters": 4, "audit_least": 0, "audit_share": 0.1}
    return routing_plan(draft_policy(cast.project, spec_of(cast, **{**usual, **fields})), cast.project)


def advice_on(cast: Cast, key: str, **fields):
    return next(each for each in plan_of(cast, **fields).advice if each.dimension.key == key)


def test_each_step_matches_a_policy_with_this_r(cast):
    for step in advice_on(cast, "coherence").steps:
        plan = plan_of(cast, threshold=step.threshold, thresholds={"fluency": 1.0})
        assert plan.kept == step.kept.units
        assert plan.decided.gain.kept.expected_wrong == pytest.approx(step.kept.expected_wrong)
        on_coherence = next(each for each in plan.verdict.dimensions if each.dimension.key == "coherence")
        assert on_coherence == step.verdict


def test_form_api_and_command_show_one_advice(client, cast):
    advice = advice_on(cast, "coherence")
    fields = {**entered(cast, raters=4), "show": "preview"}
    page = text_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
    assert f"Coherence {advice.says}" in page
    assert "R has one value for each system, and 3 systems certify nothing." in page
    options = ("--rts=Reasoner", "--mcq=Chooser", "--threshold=0.5", "--raters=4", "--audit=0.2")
    out = StringIO()
    call_command("route", cast.project.slug, *options, "--audit-least=0", "--dry-run", "--json", stdout=out)
    told = json.loads(out.getvalue())["advice"]
    assert [each["says"] for each in told if each["dimension"] == "coherence"] == [advice.says]
    draft = draft_policy(cast.project, spec_of(cast, raters=4), cast.admin)
    draft.save()
    found = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/policies/{draft.pk}/").json()
    assert found["advice"] == told


def test_curve_shows_each_step_and_the_accepted_share(cast):
    plan = plan_of(cast, risk=0.3)
    curve = curve_of_advice(plan.policy, plan.advice)
    assert curve is not None
    wrong = [each for each in curve["points"] if each["series"] == "wrong among units that stay"]
    assert [(each["panel"], each["value"]) for each in wrong] == [
        (each.dimension.name, step.kept.expected_share)
        for each in plan.advice
        for step in each.steps
        if step.kept.units
    ]
    assert {each["value"] for each in curve["points"] if each["series"] == "accepted share"} == {0.3}


# What is chosen, without a database: five systems of 100 units.

R = (0.1, 0.2, 0.3, 0.4, 0.5)
ALLOWED = JudgeEvidence(is_rated=True, alpha=0.5)
DECIDED: dict[str, Any] = {"indicator": None, "threshold": None}


def advise(wrong: Sequence[int | None], *, known: JudgeEvidence = ALLOWED, told: bool = True, **fields):
    """Return the advice on five systems, by the wrong values of each; None: without ratings."""
    cells = [
        PolicyCell(
            system=f"S{r}",
            dimension=FIVE,
            decision=CellDecision(f"S{r}", FIVE.key, to_humans=True, reason="", held_against=r, **DECIDED),
            units=100,
            sent=100,
            audited=0,
            audited_share=None,
            errors=PartOfUnits(100, 100, count, count)
            if count is not None
            else PartOfUnits(100, without_forecast=100),
        )
        for r, count in zip(R, wrong, strict=True)
    ]
    usual = {"risk": 0.2, "raters": 3, "audit_share": 0.1, "audit_least": 0, "audit": "random"}
    policy = RoutingPolicy(**{**usual, **fields})
    (found,) = advise_thresholds(policy, [FIVE], cells, {FIVE.key: told}, {FIVE.key: known})
    return found


def test_r_is_the_least_at_which_few_enough_are_wrong():
    found = advise([60, 40, 20, 15, 10])
    assert [each.kept.units for each in found.steps] == [500, 400, 300, 200, 100, 0]
    assert [each.threshold for each in found.steps] == [-1, *R]
    assert found.chosen is found.steps[2]
    # Of the 300 units a tenth is audited, and three people rate each of the others.
    assert found.says == (
        "r = 0.2 saves most, about 810 ratings. 300 of 500 units stay, about 45 of them wrong "
        "(15 %; 20 % is accepted)."
    )


def test_all_units_stay_where_few_are_wrong_on_every_system():
    assert advise([10] * 5, told=False).chosen is not None
    assert advise([10] * 5, told=False).chosen.threshold == -1


@pytest.mark.parametrize(
    ("wrong", "fields", "reason"),
    [
        (
            [60, 60, 60, 60, 30],
            {},
            "At every r, 30 % or more of the units that stay are expected to be wrong",
        ),
        (
            [60, 60, 60, 60, 10],
            {"told": False},
            "At r = 0.4 few enough units are expected to be wrong, but R",
        ),
        ([10] * 5, {"known": replace(ALLOWED, alpha=-0.1)}, "Do not use it: its alpha with people is -0.10"),
        ([10] * 5, {"audit_least": 100}, "People audit every unit that stays, so r saves no ratings."),
        ([None] * 5, {"known": JudgeEvidence()}, "Not known: these texts have no ratings."),
    ],
)
def test_no_r_has_a_reason(wrong, fields, reason):
    found = advise(wrong, **fields)
    assert found.chosen is None
    assert found.says.startswith(f"No r. {reason}")


@pytest.mark.parametrize(
    ("low", "below", "shown"), [(0.291, 0.33, 0.3), (0.2912, 0.2921, 0.292), (0.5, 2, 0.5)]
)
def test_r_has_as_few_decimals_as_needed(low, below, shown):
    assert fewest_decimals(low, below) == shown
