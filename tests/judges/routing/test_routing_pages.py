"""Routing in the browser and from the command line: looked at, routed, followed, withdrawn; and by whom."""

import json
from io import StringIO
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement.comparison import Scores
from annotate.core.models import Assignment, Role, Round
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_one
from judges.core.models import Judgment, RoutingPolicy
from judges.routing.commands.policies import draft_policy, fit_budget, make_policy, route
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.units import (
    ExpectedGain,
    PartOfUnits,
    measure_kept_agreement,
    part_of,
)
from tests.factories import make_member, make_project
from tests.judges.pages import HTMX, address, html_of, text_of
from tests.judges.routing.project import TRUSTED, judges_of, routing_project, spec_of
from tests.rating.rounds import frozen

GAP = float("nan")

pytestmark = pytest.mark.django_db


make_scene = routing_project


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def entered(cast, **fields):
    rts, mcq = judges_of(cast)
    usual = {"name": "First", "rts": rts.pk, "mcq": mcq.pk, "threshold": 0.5, "decided_by": "lower_bound"}
    rest = {
        "audit_share": 0.2,
        "audit_least": 0,
        "raters": 2,
        "coefficient": "spearman",
        "confidence_level": 0.95,
        "risk": 0.2,
    }
    return {"audit": "random", **usual, **rest, **fields}


def made(cast, **fields):
    return make_policy(project=cast.project, spec=spec_of(cast, **fields), by=cast.admin)


def routed(cast, **fields):
    policy = route(policy=made(cast, **fields), by=cast.admin)
    assert policy.round is not None
    return policy, policy.round


def page_of(policy, path=""):
    return f"/projects/{policy.project.slug}/judges/routing/{policy.pk}/{path}"


# Looking


def test_preview_shows_raters_per_unit_and_costs(client, cast):
    response = client.post(address(cast, "routing/new/"), {**entered(cast), "show": "preview"}, headers=HTMX)
    page = text_of(response)
    assert "stay with the judge 90 units go to people 90 units" in page
    assert "time of people unknown" in page
    assert "system-1 judge 1.000 [1.000, 1.000]" in page
    assert "system-2 people R undefined" in page
    assert not RoutingPolicy.objects.exists()


def test_a_page_that_shows_its_preview_does_not_ask_for_it_again(client, cast):
    """The preview would be replaced under a click on its button, which then routes nothing."""
    asks_at_once = 'hx-trigger="load, input'
    assert asks_at_once in client.get(address(cast, "routing/new/")).content.decode()
    saved = client.get(page_of(made(cast))).content.decode()
    assert "Route these units" in saved
    assert asks_at_once not in saved


def test_another_r_moves_units(client, cast):
    fields = {**entered(cast, threshold=1), "show": "preview"}
    page = text_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
    assert "stay with the judge 0 units go to people 180 units" in page
    assert "Nothing stays with the judge." in page


def test_moving_r_reads_and_computes_nothing_again_until_a_judgment_changes(client, cast):
    def shown(r):
        fields = {**entered(cast, threshold=r), "show": "preview"}
        with CaptureQueriesContext(connection) as asked:
            page = text_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
        return page, any('"judges_judgment"."sample"' in each["sql"] for each in asked)

    caches["process"].clear()
    page, read = shown(0.5)
    assert ("go to people 90 units" in page, read) == (True, True)
    page, read = shown(1)
    assert ("go to people 180 units" in page, read) == (True, False)
    chosen = Judgment.objects.filter(judge__method="mcq", item__system__name=TRUSTED)
    first, second = chosen.filter(dimension=cast.dimensions[0]).order_by("pk")[:2]
    values = first.value, second.value
    assert values[0] != values[1]
    for judgment, value in ((first, values[1]), (second, values[0])):
        Judgment.objects.filter(pk=judgment.pk).update(value=value)
    page, read = shown(0.5)
    assert ("system-1 judge 1.000" in page, read) == (False, True)


def test_the_fragment_is_its_part_of_the_page(client, cast):
    fields = {**entered(cast), "show": "preview"}
    fragment = html_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
    assert fragment in html_of(client.post(address(cast, "routing/new/"), fields))


def ratings_at(cast, r):
    return routing_plan(draft_policy(cast.project, spec_of(cast, threshold=r)), cast.project).ratings


def test_a_budget_takes_the_largest_r_that_asks_people_for_no_more(client, cast):
    for number, judgment in enumerate(Judgment.objects.filter(judge__method="mcq").order_by("pk")):
        if number % 7 == 0:  # so that R differs between cells
            Judgment.objects.filter(pk=judgment.pk).update(value=number % 5 + 1)
    every = {r / 1000: ratings_at(cast, r / 1000) for r in range(-1000, 1001, 100)}
    for budget in sorted(set(every.values())):
        spec = fit_budget(cast.project, spec_of(cast, threshold=None), budget)
        assert spec.threshold is not None
        found = ratings_at(cast, spec.threshold)
        assert max(asked for asked in every.values() if asked <= budget) <= found <= budget
        assert all(asked <= found for r, asked in every.items() if r <= spec.threshold)
    assert len(set(every.values())) > 3


def test_the_page_shows_what_one_can_afford_and_keeps_the_r_that_it_found(client, cast):
    fields = entered(cast, threshold="", budget=250)
    preview = client.post(address(cast, "routing/new/"), {**fields, "show": "preview"}, headers=HTMX)
    assert "is the largest r that you can afford" in text_of(preview)
    client.post(address(cast, "routing/new/"), fields)
    policy = RoutingPolicy.objects.get()
    assert policy.threshold == preview.context["plan"].policy.threshold
    assert routing_plan(policy, cast.project).ratings <= 250
    shown = client.post(page_of(policy), {**fields, "show": "preview"}, headers=HTMX)
    fields = {**fields, "shown": shown.context["plan"].digest}
    client.post(page_of(policy, "route/"), fields)
    policy.refresh_from_db()
    assert policy.status == "routed"


def test_too_small_or_missing_budget_is_reported_at_the_field(client, cast):
    for fields, said in (
        ({"budget": 3}, "People must give"),
        ({}, "Enter r, or the ratings that you can afford."),
    ):
        entry = {**entered(cast, threshold=""), **fields, "show": "preview"}
        response = client.post(address(cast, "routing/new/"), entry, headers=HTMX)
        assert response.status_code == 422
        assert said in text_of(response)


def test_gain_uses_human_errors_on_rated_units(client, cast):
    rate_everything(cast)  # with 3 throughout, so 1 and 5 are wrong
    gain = routing_plan(draft_policy(cast.project, spec_of(cast)), cast.project).decided.gain
    assert gain is not None
    # Fluency: one of three systems stays; coherence: two. The constant system's 4 is never wrong.
    assert (gain.kept.units, gain.kept.rated, gain.kept.wrong) == (90, 90, 36)
    assert (gain.sent.units, gain.sent.rated, gain.sent.wrong) == (90, 90, 12)
    assert (gain.sent.expected_wrong, gain.kept.expected_wrong) == (12, 36)
    fields = {**entered(cast, raters=4), "show": "preview"}
    page = text_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
    assert "more than a point off on 12 of 90 units that go to them, and on 36 of 90 that stay" in page
    assert "on 12 of 90 units that go to them" in told(cast, "--threshold=0.5", "--raters=4", "--dry-run")


def test_alpha_has_the_judge_as_one_more_rater(cast):
    human: list[list[float]] = [[1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 4], [1, 2, 3, 4, 5, 5]]
    judge = [5.0, 4, 3, 2, 1, 1]
    scores = Scores(systems=[0] * 6, documents=range(6), human=human, judge=judge)
    (dimension, _) = routing_plan(draft_policy(cast.project, spec_of(cast)), cast.project).dimensions
    found = measure_kept_agreement(dimension, scores, np.array([True] * 6))
    assert found is not None

    level: Any = dimension.measurement_level

    def alpha(*raters):
        return krippendorff.alpha(np.array(raters), level_of_measurement=level)

    among_people, with_judge = found.among_people.value, found.with_judge.value
    assert among_people == pytest.approx(alpha(*human))
    assert with_judge == pytest.approx(alpha(*human, judge))
    assert among_people is not None
    assert with_judge is not None
    assert with_judge < among_people


def test_rated_share_of_a_system_extends_to_its_unrated_units():
    human = [[3.0, 3, GAP, GAP, 3, 3]]
    scores = Scores(systems=[0] * 6, documents=range(6), human=human, judge=[1.0, 3, 3, 3, 5, 3])
    goes = np.array([True] * 4 + [False] * 2)
    assert part_of(scores, goes) == PartOfUnits(4, 2, 1, 2.0)
    assert part_of(scores, ~goes) == PartOfUnits(2, 2, 1, 1.0)


def test_systems_without_ratings_get_the_share_of_their_dimension():
    human = [[3.0, 3, 3, 3, GAP, GAP, GAP]]
    judge = [1.0, 3, 3, 3, 1, 1, GAP]
    scores = Scores(systems=[0, 0, 0, 0, 1, 1, 1], documents=[0, 1, 2, 3, 0, 1, 2], human=human, judge=judge)
    kept = part_of(scores, np.array([False] * 4 + [True] * 3))
    assert kept == PartOfUnits(2, 0, 0, expected_wrong=0.5, of_dimension=2)
    assert kept.errors(0.2) is None
    assert kept.expected_share == 0.25


def test_dimensions_without_ratings_have_no_forecast():
    scores = Scores(systems=[0, 1], documents=[0, 0], human=np.empty((0, 2)), judge=[1.0, 3])
    kept = part_of(scores, np.array([True, True]))
    assert kept == PartOfUnits(2, 0, 0, without_forecast=2)
    assert kept.expected_share is None
    says = ExpectedGain(PartOfUnits(4, 2, 1, 2.0), kept).says
    assert says.endswith("The forecast omits 2 units (2 of them stay): their dimensions have no ratings.")


def test_invalid_input_is_reported_at_the_field(client, cast):
    fields = {**entered(cast, threshold=2), "show": "preview"}
    response = client.post(address(cast, "routing/new/"), fields, headers=HTMX)
    assert response.status_code == 422
    assert "Threshold r: Ensure this value is less than or equal to 1." in text_of(response)


def test_page_without_judges_of_both_methods_names_the_missing_one(client):
    cast = make_project()
    client.force_login(cast.admin)
    for path in ("routing/", "routing/new/"):
        assert "Routing needs two judges of one model" in text_of(client.get(address(cast, path)))


def test_preview_reports_missing_judgments_and_offers_no_routing(client, cast):
    Judgment.objects.all().delete()
    policy = made(cast)
    page = text_of(client.get(page_of(policy)))
    assert "Reasoner has no judgments yet" in page
    assert "Route these units" not in page


def test_preview_compares_existing_human_ratings_with_the_judge(client, cast):
    rate_everything(cast)
    fields = {**entered(cast, raters=4), "show": "preview"}
    page = text_of(client.post(address(cast, "routing/new/"), fields, headers=HTMX))
    assert "Fluency 30 of 30" in page
    assert "R and agreement with people" in page
    assert "20 % 60 %" in page


def rate_everything(cast):
    round = open_round_one(project=cast.project, by=cast.admin)
    for annotator in cast.annotators[:2]:
        reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
        for assignment in Assignment.objects.filter(annotator=annotator).select_related("round__guideline"):
            for dimension in cast.dimensions:
                answer = Answer(value=3)
                of = frozen(round, dimension.key)
                save_rating(assignment=assignment, dimension=of, answer=answer, by=annotator.user)


# Routing


def test_policy_is_saved_changed_and_routed_as_previewed(client, cast):
    client.post(address(cast, "routing/new/"), entered(cast))
    policy = RoutingPolicy.objects.get()
    client.post(page_of(policy), entered(cast, threshold=0.3, **{"r-coherence": 0.6}))
    policy.refresh_from_db()
    assert (policy.threshold, policy.thresholds) == (0.3, {"coherence": 0.6})
    shown = client.post(page_of(policy), {**entered(cast, threshold=0.5), "show": "preview"}, headers=HTMX)
    digest = shown.context["plan"].digest
    response = client.post(page_of(policy, "route/"), {**entered(cast), "shown": digest}, follow=True)
    policy.refresh_from_db()
    assert (policy.status, policy.threshold, policy.routed_by) == ("routed", 0.5, cast.admin)
    page = text_of(response)
    assert "into Round I, which is open" in page
    assert "No audited unit has a rating yet" in page
    assert "Withdraw" in page


def test_policy_moved_since_its_preview_is_not_routed(client, cast):
    policy = made(cast)
    response = client.post(page_of(policy, "route/"), {**entered(cast), "shown": "older"}, follow=True)
    assert "changed this preview" in response.content.decode()
    assert not Round.objects.exists()


def test_second_admin_learns_of_the_earlier_routing(client, cast):
    first, second = made(cast), made(cast, name="Second")
    route(policy=first, by=cast.admin)
    fields = {**entered(cast, name="Second"), "shown": "any"}
    response = client.post(page_of(second, "route/"), fields, follow=True)
    assert "First already routes this project" in response.content.decode()


def test_closed_round_is_reported(client, cast):
    open_round_one(project=cast.project, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    page = text_of(client.get(page_of(made(cast))))
    assert "Round I is closed, so nothing can be routed to people any more" in page


def test_proposal_appears_and_is_applied_on_a_click(client, cast):
    policy, _ = routed(cast)
    assert "New judgments would change this" not in text_of(client.get(page_of(policy)))
    Judgment.objects.filter(judge__method="mcq", item__system__name=TRUSTED).update(value=3)
    response = client.get(page_of(policy))
    assert "New judgments would change this" in text_of(response)
    before = policy.units.count()
    client.post(page_of(policy, "follow/"), {"shown": response.context["proposal"].digest})
    assert policy.units.count() > before
    assert "New judgments would change this" not in text_of(client.get(page_of(policy)))


def test_withdrawal_is_available_until_work_starts(client, cast):
    policy, round = routed(cast)
    reserve_items(round=round, annotator=cast.annotators[0])
    membership = Assignment.objects.filter(annotator=cast.annotators[0]).earliest("position")
    dimension = frozen(round, membership.units.all()[0].dimension.key)
    save_rating(
        assignment=membership, dimension=dimension, answer=Answer(value=3), by=cast.annotators[0].user
    )
    assert "Withdraw" not in text_of(client.get(page_of(policy)))
    response = client.post(page_of(policy, "withdraw/"), follow=True)
    assert "People have started" in response.content.decode()


def test_a_draft_is_put_aside(client, cast):
    policy = made(cast)
    assert "withdrawn" in text_of(client.post(page_of(policy, "withdraw/"), follow=True))


def test_an_audit_that_contradicts_warns(client, cast):
    policy, round = routed(cast)
    audited = set(policy.units.filter(why="audit").values_list("item", "dimension"))
    for annotator in cast.annotators[:2]:
        reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
        for assignment in Assignment.objects.filter(annotator=annotator).select_related("round__guideline"):
            for unit in assignment.units.select_related("dimension"):
                if (assignment.item_id, unit.dimension_id) in audited:
                    judge = Judgment.objects.get(
                        judge__method="rts", item=assignment.item_id, dimension=unit.dimension_id
                    )
                    value = 1 if (judge.value or 0) >= 3 else 5
                    of = frozen(round, unit.dimension.key)
                    save_rating(
                        assignment=assignment, dimension=of, answer=Answer(value=value), by=annotator.user
                    )
    assert "The audit contradicts this policy" in text_of(client.get(page_of(policy)))


@pytest.mark.parametrize("documents", [30, 40])
def test_the_pages_take_a_fixed_number_of_queries(client, documents):
    cast = routing_project(documents=documents)
    client.force_login(cast.admin)
    policy = made(cast)
    caches["process"].clear()
    with CaptureQueriesContext(connection) as counted:
        client.get(page_of(policy))
    route(policy=policy, by=cast.admin)
    with CaptureQueriesContext(connection) as counted_routed:
        client.get(page_of(policy))
    assert (len(counted), len(counted_routed)) == (43, 48)


# By whom


def test_researchers_read_and_change_nothing(client, cast):
    (policy, _), draft = routed(cast), made(cast, name="Second")
    client.force_login(cast.researcher)
    page = text_of(client.get(page_of(policy)))
    assert "What people did" in page
    assert "Withdraw" not in page
    assert "stay with the judge" in text_of(client.get(page_of(draft)))
    assert "New policy" not in text_of(client.get(address(cast, "routing/")))
    assert client.get(address(cast, "routing/new/")).status_code == 404
    for step in ("route", "follow", "withdraw"):
        assert client.post(page_of(policy, f"{step}/")).status_code == 404


def test_outsiders_and_annotators_find_nothing(client, cast):
    policy, _ = routed(cast)
    for user in (cast.outsider, cast.annotators[0].user):
        client.force_login(user)
        for path in ("routing/", "routing/new/", f"routing/{policy.pk}/"):
            assert client.get(address(cast, path)).status_code == 404
        assert client.post(page_of(policy, "withdraw/")).status_code == 404


def test_admin_with_ratings_sees_nothing_while_round_one_is_open(client, cast):
    policy, _ = routed(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    assert client.get(page_of(policy)).status_code == 403
    assert "Routing" not in text_of(client.get(address(cast, "")))


def test_another_projects_policy_is_not_found(client, cast):
    policy = made(cast)
    other = routing_project(documents=3)
    client.force_login(other.admin)
    assert client.get(address(other, f"routing/{policy.pk}/")).status_code == 404


def test_nothing_of_systems_judges_or_policies_reaches_an_annotators_browser(client, cast):
    policy, _ = routed(cast, name="Halyard")
    annotator = cast.annotators[0]
    client.force_login(annotator.user)
    first = client.get(f"/projects/{cast.project.slug}/rate/", follow=True)
    assignment = Assignment.objects.filter(annotator=annotator).earliest("position")
    pages = [first.content.decode(), client.get(f"/projects/{cast.project.slug}/").content.decode()]
    asked = [unit.dimension.key for unit in assignment.units.select_related("dimension")]
    for key in ("fluency", "coherence"):
        assert (f'data-key="{key}"' in pages[0]) == (key in asked)
    for page in pages:
        for word in ("Reasoner", "Chooser", "routing", "routed", "audit", policy.name, "probability"):
            assert word not in page
        assert not any(f"{system}<" in page for system in ("system-1", "system-2", "system-3"))


# From the command line


def told(cast, *options):
    out = StringIO()
    call_command("route", cast.project.slug, "--rts=Reasoner", "--mcq=Chooser", *options, stdout=out)
    return out.getvalue()


def test_the_command_shows_first_and_then_routes(cast):
    said = told(cast, "--threshold=0.5", "--dry-run")
    assert "system-1, fluency: judge, R 1.000 [1.000, 1.000]." in said
    assert "90 units stay with the judge, 60 of them audited (66.7% on average)" in said
    all_of_it = told(cast, "--threshold=0.5", "--audit-least=30", "--dry-run")
    assert "In 3 of 3 cells (a system on a dimension) that stay, every unit is audited" in all_of_it
    fewer = told(cast, "--threshold=0.5", "--audit-least=12", "--dry-run")
    assert "90 units stay with the judge, 36 of them audited (40.0% on average)" in fewer
    assert "In 3 of 3 cells (a system on a dimension) that stay, fewer than 20 units are audited" in fewer
    assert "Nothing was written." in said
    assert not RoutingPolicy.objects.exists()
    with pytest.raises(CommandError, match="either --threshold or --budget"):
        told(cast, "--dry-run")
    assert json.loads(told(cast, "--budget=300", "--dry-run", "--json"))["ratings"] <= 300
    assert "Routed as Reasoner × Chooser at 0.5." in told(cast, "--threshold=0.5", "--audit=0.2")
    policy = RoutingPolicy.objects.get()
    assert (policy.status, policy.audit_share, policy.raters) == ("routed", 0.2, 2)


def test_an_active_audit_is_chosen_shown_and_said_to_be_weighed(client, cast):
    active = "--audit-where-errors-are-expected"
    told(cast, "--threshold=0.5", "--audit=0.9", "--audit-least=0", active)
    policy = RoutingPolicy.objects.get()
    assert policy.audit == "active"
    page = text_of(client.get(page_of(policy)))
    assert "audit 0.9 · more where errors are expected" in page
    assert (
        "Each unit is weighted by its sampling probability (weighted estimate; asymptotic interval)" in page
    )


def test_the_command_prints_json(cast):
    said = json.loads(told(cast, "--threshold=1", "--threshold-of=coherence=0.9", "--estimate", "--json"))
    assert (said["kept"], said["sent"], said["status"]) == (60, 120, "routed")
    assert {cell["dimension"] for cell in said["cells"] if cell["to"] == "judge"} == {"coherence"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--threshold=3"], "--threshold lies between -1 and 1, but is 3."),
        (["--threshold=0.5", "--audit=0"], "--audit lies between 0.001 and 1, but is 0."),
        (["--threshold=0.5", "--rts=Nobody"], "There is no RTS judge 'Nobody'; there are: Reasoner."),
        (["--threshold=0.5", "--threshold-of=style=1"], "There is no dimension 'style'"),
        (["--threshold=0.5", "--threshold-of=fluency"], "names no r"),
    ],
)
def test_command_rejects_with_a_message(cast, options, sentence):
    with pytest.raises(CommandError, match=sentence.replace("(", r"\(")):
        told(cast, *options)


def test_command_rejects_a_second_policy(cast):
    told(cast, "--threshold=0.5", "--audit-least=0")
    with pytest.raises(CommandError, match="already routes this project"):
        told(cast, "--threshold=0.6", "--audit-least=0")
    assert RoutingPolicy.objects.count() == 1


def test_overview_states_that_only_routed_units_are_rated(client, cast):
    routed(cast)
    assert "assignments rated (only what was routed to people)" in text_of(
        client.get(f"/projects/{cast.project.slug}/")
    )
