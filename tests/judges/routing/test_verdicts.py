"""Verdicts on policies: forms, API and commands reject a refused judge, and the overview lists it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agreement.reliability import Ground
from annotate.core.errors import InvalidValueError
from annotate.core.models import Assignment, DataImport
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import open_round_one
from judges.core.errors import RoutingRefusedError
from judges.core.models import Judgment, RoutingPolicy
from judges.routing.commands.policies import draft_policy, make_policy, route
from judges.routing.queries.preview import needs_of_routing, proposal_of, routing_plan
from judges.routing.queries.state import routing_state
from judges.routing.queries.trust import trust_in
from tests.api.client import ApiClient
from tests.judges.certified import numbers_of
from tests.judges.pages import HTMX, address, text_of
from tests.judges.routing.project import judges_of, routing_project, rts_value, spec_of
from tests.judges.routing.test_routing_pages import entered, page_of
from tests.rating.rounds import frozen

pytestmark = pytest.mark.django_db

REFUSED = "Reasoner must not decide Fluency. Send each whole dimension to people"


def make_scene():
    """Three people contradict the judge on fluency, and agree with it on coherence."""
    cast = routing_project(raters=3)
    numbers = numbers_of(cast)

    def value_of(item, key):
        said = rts_value(numbers[item.pk], item.system.name, key)
        return 6 - said if key == "fluency" else said

    rate_all(cast, value_of, people=3)
    return cast


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def rate_all(cast, value_of, *, people):
    """Let the first people rate every unit in an open Round I."""
    round = open_round_one(project=cast.project, by=cast.admin)
    for annotator in cast.annotators[:people]:
        reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
        assignments = Assignment.objects.filter(annotator=annotator)
        for assignment in assignments.select_related("round__guideline", "item__system"):
            for each in cast.dimensions:
                answer = Answer(value=value_of(assignment.item, each.key))
                of = frozen(round, each.key)
                save_rating(assignment=assignment, dimension=of, answer=answer, by=annotator.user)


def plan_of(cast, **fields):
    spec = spec_of(cast, raters=4, **fields)
    return routing_plan(draft_policy(cast.project, spec), cast.project)


def stored_policy(cast, **fields):
    """Store a policy as older data have it, past the commands that refuse it."""
    policy = draft_policy(cast.project, spec_of(cast, raters=4, **fields), cast.admin)
    policy.save()
    return policy


def test_only_the_contradicted_dimension_is_rejected(cast):
    verdict = plan_of(cast).verdict
    grounds = {each.dimension.key: (each.verdict.ground, bool(each.refusal)) for each in verdict.dimensions}
    assert grounds["fluency"] == (Ground.ALPHA, True)
    assert grounds["coherence"] == (Ground.REPLACEMENT, False)
    assert verdict.refusal.startswith(REFUSED)
    assert verdict.reasons[0].startswith("Fluency: Do not use it: its alpha with people is -")
    assert not plan_of(cast, thresholds={"fluency": 1.0}).verdict.refusal


def test_rejected_dimension_may_go_to_people_as_a_whole(cast):
    policy = make_policy(
        project=cast.project, spec=spec_of(cast, raters=4, thresholds={"fluency": 1.0}), by=cast.admin
    )
    assert route(policy=policy, by=cast.admin).status == "routed"


def test_excess_of_wrong_values_rejects_the_judge():
    cast = routing_project(raters=3)
    numbers = numbers_of(cast)
    # The judge says 1 to 5 in turn: it is two points off where it says 1, on 6 of 30 units.
    rate_all(cast, lambda item, _: (3, 3, 3, 4, 4)[numbers[item.pk] % 5], people=2)
    refused = verdict_on_fluency(cast, risk=0.1)
    assert refused.verdict.ground is Ground.ERRORS
    assert "it is wrong on 6 of 30 rated units that stay (20 %); 10 % is accepted." in refused.refusal
    assert not verdict_on_fluency(cast, risk=0.2).refusal


def verdict_on_fluency(cast, **fields):
    verdict = plan_of(cast, **fields).verdict
    return next(each for each in verdict.dimensions if each.dimension.key == "fluency")


def test_form_api_and_commands_reject_the_same_plan_as_the_preview(client, cast):
    fields = entered(cast, raters=4)
    shown = client.post(address(cast, "routing/new/"), {**fields, "show": "preview"}, headers=HTMX)
    assert (shown.status_code, REFUSED in text_of(shown)) == (200, True)
    saved = client.post(address(cast, "routing/new/"), fields)
    assert (saved.status_code, REFUSED in text_of(saved)) == (422, True)
    answer = ApiClient(cast.admin).post(f"projects/{cast.project.slug}/policies/", fields)
    assert (answer.status_code, REFUSED in str(answer.json())) == (422, True)
    with pytest.raises(InvalidValueError, match=REFUSED):
        make_policy(project=cast.project, spec=spec_of(cast, raters=4), by=cast.admin)
    said = run_route(cast, "--dry-run", "--json")
    assert said["refusal"].startswith(REFUSED)
    assert [each["use"] for each in said["verdicts"]] == ["refused", "all"]
    with pytest.raises(CommandError, match=REFUSED):
        run_route(cast)
    assert not RoutingPolicy.objects.exists()


def run_route(cast, *options):
    out = StringIO()
    usual = ("--rts=Reasoner", "--mcq=Chooser", "--threshold=0.5", "--raters=4", "--audit-least=0")
    call_command("route", cast.project.slug, *usual, *options, stdout=out)
    return json.loads(out.getvalue()) if "--json" in options else out.getvalue()


def test_a_stored_draft_stays_and_its_pages_say_the_verdict(client, cast):
    policy = stored_policy(cast)
    with pytest.raises(RoutingRefusedError, match=REFUSED):
        route(policy=policy, by=cast.admin)
    for page in (page_of(policy), address(cast, "routing/")):
        assert REFUSED in text_of(client.get(page))
    detail = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/policies/{policy.pk}/").json()
    assert detail["refusal"].startswith(REFUSED)
    assert {each["dimension"]: each["ground"] for each in detail["verdicts"]} == {
        "fluency": "alpha",
        "coherence": "replacement",
    }
    assert needs_of_routing(cast.project) == []


def test_routed_policy_of_a_rejected_judge_tops_the_admin_tasks(client, cast):
    policy = make_policy(
        project=cast.project, spec=spec_of(cast, raters=4, thresholds={"fluency": 1.0}), by=cast.admin
    )
    route(policy=policy, by=cast.admin)
    overview = f"/projects/{cast.project.slug}/"
    DataImport.objects.create(
        project=cast.project,
        kind="material",
        name="left.csv",
        size=1,
        status="uploaded",
        touched_at=timezone.now(),
    )
    assert needs_of_routing(cast.project) == []
    # Newer judgments contradict the ratings that were there.
    for judgment in Judgment.objects.filter(judge__method="rts", dimension__key="coherence"):
        Judgment.objects.filter(pk=judgment.pk).update(value=6 - (judgment.value or 0))
    (need,) = needs_of_routing(cast.project)
    assert "these units. Coherence: Do not use it: its alpha with people is -" in need.sentence
    assert need.url == page_of(policy)
    page = text_of(client.get(overview))
    assert page.index(need.sentence) < page.index("left.csv")
    for path in (page_of(policy), address(cast, "routing/")):
        assert "Reasoner must not decide Coherence. Do not report its values there" in text_of(
            client.get(path)
        )


def test_no_proposal_returns_units_to_a_rejected_judge(cast):
    spec = spec_of(cast, raters=4, thresholds={"fluency": 1.0})
    policy = route(policy=make_policy(project=cast.project, spec=spec, by=cast.admin), by=cast.admin)
    RoutingPolicy.objects.update(thresholds={})
    policy.refresh_from_db()
    state, plan = routing_state(policy, cast.project), routing_plan(policy, cast.project)
    assert state is not None
    fluency = next(each for each in plan.dimensions if each.key == "fluency")
    kept = [each for each in plan.decided.cells if each.dimension == fluency and not each.decision.to_humans]
    assert kept
    assert proposal_of(policy, plan, state.verdict).drop == []


def test_contradicting_audit_is_reported_everywhere(client):
    cast = routing_project()
    client.force_login(cast.admin)
    policy = route(policy=make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin), by=cast.admin)
    assert needs_of_routing(cast.project) == []
    rate_audit(cast, policy)
    state = routing_state(policy, cast.project)
    assert state is not None
    assert state.audit.contradicts
    counts = f"{state.audit.errors} of {state.audit.rated} audited units"
    assert any(counts in reason for reason in state.verdict.reasons)
    assert any(counts in need.sentence for need in needs_of_routing(cast.project))
    for path in (page_of(policy), f"/projects/{cast.project.slug}/"):
        assert counts in text_of(client.get(path))
    assert "Do not report its values there" in text_of(client.get(address(cast, "routing/")))
    rts, _ = judges_of(cast)
    assert Ground.AUDIT in {each.verdict.ground for each in trust_in(cast.project, rts, {})}


def rate_audit(cast, policy):
    """Let people contradict the judge on every audited unit."""
    audited = {(unit.item_id, unit.dimension_id) for unit in policy.units.filter(why="audit")}
    numbers = numbers_of(cast)
    for annotator in cast.annotators[: policy.raters]:
        reserve_items(round=policy.round, annotator=annotator, how_many=len(cast.items))
        assignments = Assignment.objects.filter(annotator=annotator)
        for assignment in assignments.select_related("round__guideline", "item__system"):
            for assigned in assignment.units.select_related("dimension"):
                if (assignment.item_id, assigned.dimension_id) in audited:
                    said = rts_value(numbers[assignment.item_id], assignment.item.system.name, "")
                    save_rating(
                        assignment=assignment,
                        dimension=frozen(assignment.round, assigned.dimension.key),
                        answer=Answer(value=1 if said >= 3 else 5),
                        by=annotator.user,
                    )
