"""Routing by the paper's rule: what a plan says, what routing opens, what new judgments propose."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agreement.reliability import thin_to_one_probability, uniform_numbers
from annotate.core import database
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import SILENT_AFTER, run_job
from annotate.core.models import AssignedUnit, Assignment, Rating, Round
from annotate.periodic_tasks import find_due_jobs
from annotate.rating.commands import units
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_one
from judges.core.errors import RoutingChangedError, RoutingRefusedError
from judges.core.models import CalibrationUnit, DevelopmentDocument, Judgment, RoutedUnit, RoutingPolicy
from judges.routing.commands.certificates import draw_calibration, withdraw_calibration
from judges.routing.commands.policies import (
    draft_policy,
    follow_proposal,
    make_policy,
    route,
    update_policy,
    withdraw_policy,
)
from judges.routing.queries.audit import Audited, check_in_order, exact_interval
from judges.routing.queries.preview import proposal_of, routing_plan
from judges.routing.queries.state import routing_state
from tests.factories import make_project
from tests.judges.certified import calibration_spec, numbers_of
from tests.judges.factories import make_judge
from tests.judges.routing.project import (
    CONSTANT,
    DOCUMENTS,
    DOUBTED,
    TRUSTED,
    judges_of,
    routing_project,
    sent_by,
    spec_of,
)
from tests.rating.rounds import frozen

pytestmark = pytest.mark.django_db


make_scene = routing_project


def made(cast, **fields):
    return make_policy(project=cast.project, spec=spec_of(cast, **fields), by=cast.admin)


def routed(cast, **fields):
    return route(policy=made(cast, **fields), by=cast.admin)


def name_of(item, dimension):
    """What a unit is called where a seed draws from units: by no key of the database."""
    key, system = item.document.key, item.system.name
    return f"{len(key)}:{key}/{len(system)}:{system}/{dimension.key}"


def plan_of(cast, **fields):
    return routing_plan(draft_policy(cast.project, spec_of(cast, **fields)), cast.project)


def state_of(cast, policy):
    state = routing_state(policy, cast.project)
    assert state is not None
    return state


def rate_assignment(assignment, key, value):
    save_rating(
        assignment=assignment,
        dimension=frozen(assignment.round, key),
        answer=Answer(value=value),
        by=assignment.annotator.user,
    )


def rate_units(cast, policy, value_of, *, why):
    """Let the first annotators rate every unit of this kind."""
    units = {(unit.item_id, unit.dimension_id): unit for unit in policy.units.filter(why=why)}
    for annotator in cast.annotators[: policy.raters]:
        reserve_items(round=policy.round, annotator=annotator, how_many=len(cast.items))
        for assignment in Assignment.objects.filter(annotator=annotator).select_related("round__guideline"):
            for assigned in assignment.units.select_related("dimension"):
                unit = units.get((assignment.item_id, assigned.dimension_id))
                if unit is not None:
                    rate_assignment(assignment, assigned.dimension.key, value_of(unit))


# The plan


def test_a_plan_sends_cells_by_the_lower_bound_of_r(cast):
    plan = plan_of(cast)
    decided = {(cell.system, cell.dimension.key): cell for cell in plan.decided.cells}
    assert {key for key, cell in decided.items() if not cell.decision.to_humans} == {
        (TRUSTED, "fluency"),
        (TRUSTED, "coherence"),
        (DOUBTED, "coherence"),
    }
    assert decided[TRUSTED, "fluency"].indicator.value == pytest.approx(1)
    assert "Every value of the judge is 4" in decided[CONSTANT, "fluency"].decision.reason
    assert "not above 0.5" in decided[DOUBTED, "fluency"].decision.reason
    assert (plan.sent, plan.kept, plan.all_units) == (90, 90, 180)
    assert plan.ratings == 2 * (90 + plan.audited)
    assert not plan.refusal


def test_audit_samples_the_kept_units_with_the_stored_seed(cast):
    plan = plan_of(cast)
    sent = {unit.unit for unit in plan.units if unit.why != RoutedUnit.Why.AUDIT}
    kept = {
        (item.pk, dimension.pk): name_of(item, dimension)
        for item in cast.items
        for dimension in cast.dimensions
        if (item.pk, dimension.pk) not in sent
    }
    numbers = uniform_numbers(list(kept.values()), seed=plan.policy.seed)
    expected = {unit for unit, number in zip(kept, numbers, strict=True) if number < 0.2}
    audit = [unit for unit in plan.units if unit.why == RoutedUnit.Why.AUDIT]
    assert {unit.unit for unit in audit} == expected
    assert len(expected) > 5
    assert {unit.inclusion_probability for unit in audit} == {0.2}


def test_the_estimate_and_a_threshold_of_a_dimension_decide_when_asked(cast):
    everything = plan_of(cast, threshold=1.0)
    assert everything.kept == 0
    assert "Nothing stays with the judge." in everything.warnings
    only_coherence = plan_of(cast, threshold=1.0, thresholds={"coherence": 0.9}, decided_by="estimate")
    assert {cell.dimension.key for cell in only_coherence.decided.cells if not cell.decision.to_humans} == {
        "coherence"
    }


def test_the_same_data_give_the_same_plan_in_a_fixed_number_of_queries(cast):
    policy = draft_policy(cast.project, spec_of(cast))
    with CaptureQueriesContext(connection) as counted:
        first = routing_plan(policy, cast.project)
    assert first.digest == routing_plan(policy, cast.project).digest
    assert len(counted) <= 24
    larger = routing_project(documents=40)
    policy = draft_policy(larger.project, spec_of(larger))
    with CaptureQueriesContext(connection) as counted_again:
        routing_plan(policy, larger.project)
    assert len(counted_again) == len(counted)


def test_a_unit_without_a_value_of_the_judge_goes_to_people_though_its_system_stays(cast):
    item = next(item for item in cast.items if item.system.name == TRUSTED)
    rts, _ = judges_of(cast)
    Judgment.objects.filter(judge=rts, item=item, dimension=cast.dimensions[0]).update(
        status="unreadable", value=None, reason="No score."
    )
    (unit,) = (unit for unit in plan_of(cast).units if unit.why == RoutedUnit.Why.NO_VALUE)
    assert unit.unit == (item.pk, cast.dimensions[0].pk)
    assert unit.reason == "Reasoner has no value for this unit, so humans rate it."


def test_systems_with_less_than_three_items_go_to_people():
    cast = routing_project(documents=2)
    plan = plan_of(cast)
    assert plan.kept == 0
    assert any("3 are needed" in cell.decision.reason for cell in plan.decided.cells)


@pytest.mark.parametrize(("method", "name"), [("rts", "Reasoner"), ("mcq", "Chooser")])
def test_without_judgments_of_a_judge_nothing_is_routed(cast, method, name):
    Judgment.objects.filter(judge__method=method).delete()
    assert plan_of(cast).refusal == (
        f"{name} has no judgments yet, so R cannot be computed and nothing can be routed."
    )
    with pytest.raises(RoutingRefusedError, match="has no judgments yet"):
        routed(cast)
    assert not Round.objects.exists()


def test_hours_are_known_once_people_have_rated(cast):
    assert plan_of(cast).seconds is None
    policy = routed(cast)
    reserve_items(round=policy.round, annotator=cast.annotators[0])
    assignment = Assignment.objects.filter(annotator=cast.annotators[0]).earliest("position")
    rate_assignment(assignment, assignment.units.all()[0].dimension.key, 3)
    Rating.objects.update(active_seconds=12)
    assert plan_of(cast).seconds_per_rating == 12


# Routing


def test_routing_opens_round_one_with_exactly_these_units(cast):
    policy = routed(cast)
    round = Round.objects.get()
    assert (policy.round, policy.opened_round, round.every_item) == (round, True, False)
    sent = sent_by(policy)
    assert {key: count for key, count in sent.items() if key[2] != "audit"} == {
        (CONSTANT, "fluency", "undefined"): 30,
        (CONSTANT, "coherence", "undefined"): 30,
        (DOUBTED, "fluency", "threshold"): 30,
    }
    assert AssignedUnit.objects.count() == 2 * policy.units.count()
    asked = AssignedUnit.objects.values_list(
        "assignment__item", "dimension", "inclusion_probability", "assignment__origin", "assignment__plan"
    )
    assert set(asked) == {
        (unit.item_id, unit.dimension_id, unit.inclusion_probability, policy.origin, "routed")
        for unit in policy.units.all()
    }


def test_each_routed_unit_records_rule_r_interval_and_who(cast):
    policy = routed(cast)
    unit = policy.units.filter(why="threshold").first()
    assert unit.low <= unit.indicator <= unit.high
    assert (unit.low <= 0.5, unit.threshold, unit.items, unit.by) == (True, 0.5, 30, cast.admin)
    undefined = policy.units.filter(why="undefined").first()
    assert (undefined.indicator, undefined.low) == (None, None)
    assert "Every value of the judge is 4" in undefined.reason


def test_routing_twice_is_routing_once(cast):
    policy = routed(cast)
    again = route(policy=policy, by=cast.researcher)
    assert again.routed_by == cast.admin
    assert RoutedUnit.objects.count() == policy.units.count()


def test_second_policy_is_rejected_and_a_routed_one_is_frozen(cast):
    policy = routed(cast)
    second = made(cast, name="Second", threshold=0.9)
    with pytest.raises(RoutingRefusedError, match="First already routes this project"):
        route(policy=second, by=cast.admin)
    with pytest.raises(RoutingRefusedError, match="First was routed, so you cannot change it"):
        update_policy(policy=policy, to=spec_of(cast, threshold=0.1))


def test_a_closed_round_is_not_routed_into(cast):
    open_round_one(project=cast.project, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(RoutingRefusedError, match="Round I is closed"):
        routed(cast)


def test_a_round_in_which_people_rate_everything_leaves_nothing_to_route(cast):
    open_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(RoutingRefusedError, match="nothing to route"):
        routed(cast)
    policy = routed(cast, name="More raters", raters=3)
    assert AssignedUnit.objects.count() == policy.units.count()
    assert not policy.opened_round


def test_routing_changed_since_its_preview_is_rejected(cast):
    policy = made(cast)
    shown = routing_plan(policy, cast.project).digest
    Judgment.objects.filter(judge__method="mcq", item__system__name=TRUSTED).update(value=3)
    with pytest.raises(RoutingChangedError, match="Check it again"):
        route(policy=policy, by=cast.admin, shown=shown)
    assert not Round.objects.exists()


def test_impossible_policy_is_rejected_with_a_message(cast):
    made(cast)
    with pytest.raises(InvalidValueError, match="has a policy First already"):
        made(cast)
    with pytest.raises(InvalidValueError, match="from -1 to 1"):
        made(cast, name="Second", threshold=1.5)
    with pytest.raises(InvalidValueError, match="Enter an audit share above 0"):
        made(cast, name="Second", audit_share=0)
    rts, _ = judges_of(cast)
    with pytest.raises(InvalidValueError, match="Reasoner is no MCQ judge"):
        made(cast, name="Second", mcq=rts)
    foreign = make_judge(make_project().project, "mcq", name="Elsewhere")
    with pytest.raises(InvalidValueError, match="Elsewhere is no MCQ judge of this project"):
        made(cast, name="Second", mcq=foreign)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("helper", ["worker", "admin"])
def test_a_routing_that_dies_is_finished_by_others(cast, monkeypatch, helper):
    policy = made(cast)
    monkeypatch.setattr(database, "sleep", lambda _: None)
    with monkeypatch.context() as patch:
        patch.setattr(units, "write_in_steps", partial(database.write_in_steps, most=10))
        writings = iter([vars(units)["_write"], _die][connection.vendor != "sqlite" :])
        patch.setattr(units, "_write", lambda changed: next(writings)(changed))
        with pytest.raises(KeyboardInterrupt):
            route(policy=policy, by=cast.admin)
    if connection.vendor == "sqlite":
        round = Round.objects.get()
        assert round.is_unfinished
        assert AssignedUnit.objects.exists()
        with pytest.raises(NotReadyError):
            withdraw_policy(policy=policy, by=cast.admin)
        if helper == "worker":
            Round.objects.update(touched_at=timezone.now() - SILENT_AFTER)
            assert ("round", round.pk) in find_due_jobs()
            run_job("round", round.pk)
    if helper == "admin" or connection.vendor != "sqlite":
        route(policy=policy, by=cast.admin)
    assert not Round.objects.get().is_unfinished
    sent = RoutedUnit.objects.values_list("item", "dimension")
    asked = AssignedUnit.objects.values_list("assignment__item", "dimension")
    assert Counter(asked) == Counter(dict.fromkeys(sent, policy.raters))


def _die(_changed):
    raise KeyboardInterrupt


@pytest.mark.django_db(transaction=True)
def test_two_admins_at_once_route_once(cast):
    policies = [made(cast), made(cast, name="Second", threshold=0.9)]

    def attempt(policy):
        try:
            return str(route(policy=policy, by=cast.admin))
        except RoutingRefusedError as error:
            return error.message
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as people:
        said = list(people.map(attempt, [policies[0], policies[0], policies[1]]))
    (winner,) = RoutingPolicy.objects.filter(status="routed")
    assert all(each == winner.name or f"{winner} already routes this project" in each for each in said)
    assert set(RoutedUnit.objects.values_list("policy", flat=True)) == {winner.pk}
    assert AssignedUnit.objects.count() == 2 * winner.units.count()


# Withdrawing


def test_an_untouched_policy_is_withdrawn_without_trace_in_the_round(cast):
    policy = routed(cast)
    reserve_items(round=policy.round, annotator=cast.annotators[0])
    policy = withdraw_policy(policy=policy, by=cast.admin)
    assert (policy.status, policy.round) == ("withdrawn", None)
    assert not Round.objects.exists()
    assert not Assignment.objects.exists()
    assert policy.units.exists()
    assert withdraw_policy(policy=policy, by=cast.admin).status == "withdrawn"
    with pytest.raises(RoutingRefusedError, match="was withdrawn"):
        route(policy=policy, by=cast.admin)
    assert routed(cast, name="Second").opened_round


def test_round_open_before_the_policy_stays_unchanged(cast):
    round = open_round_one(project=cast.project, by=cast.admin)
    policy = routed(cast, raters=3)
    withdraw_policy(policy=policy, by=cast.admin)
    assert set(Assignment.objects.values_list("round", "plan")) == {(round.pk, "n_of_m")}


def test_policy_with_started_work_cannot_be_withdrawn(cast):
    policy = routed(cast)
    reserve_items(round=policy.round, annotator=cast.annotators[0])
    membership = Assignment.objects.filter(annotator=cast.annotators[0]).earliest("position")
    rate_assignment(membership, membership.units.all()[0].dimension.key, 3)
    with pytest.raises(RoutingRefusedError, match="People have started"):
        withdraw_policy(policy=policy, by=cast.admin)
    assert RoutingPolicy.objects.get().status == "routed"


# Proposals


def proposal(cast, policy):
    state = routing_state(policy, cast.project)
    assert state is not None
    return proposal_of(policy, routing_plan(policy, cast.project), state.verdict)


def distrust(key="fluency"):
    """Let the second judge say other things of the trusted system."""
    for judgment in Judgment.objects.filter(
        judge__method="mcq", item__system__name=TRUSTED, dimension__key=key
    ):
        judgment.value = (judgment.item_id * judgment.item_id) % 4 + 1
        judgment.save()


def trust(key="fluency"):
    """Let the second judge say the same as the first of the doubted system."""
    rts = {
        judgment.item_id: judgment.value
        for judgment in Judgment.objects.filter(judge__method="rts", dimension__key=key)
    }
    for judgment in Judgment.objects.filter(
        judge__method="mcq", item__system__name=DOUBTED, dimension__key=key
    ):
        judgment.value = rts[judgment.item_id]
        judgment.save()


def test_without_new_judgments_nothing_is_proposed(cast):
    policy = routed(cast)
    assert proposal(cast, policy).is_empty
    assert follow_proposal(policy=policy, by=cast.admin, shown="").is_empty


def test_units_of_a_system_that_lost_trust_are_proposed_and_asked_when_followed(cast):
    policy = routed(cast)
    audited = sent_by(policy).get((TRUSTED, "fluency", "audit"), 0)
    distrust()
    found = proposal(cast, policy)
    assert (len(found.add), len(found.change), len(found.drop)) == (30 - audited, audited, 0)
    assert policy.units.filter(item__system__name=TRUSTED, why="threshold").count() == 0
    follow_proposal(policy=policy, by=cast.researcher, shown=found.digest)
    assert sent_by(policy)[TRUSTED, "fluency", "threshold"] == 30
    asked = AssignedUnit.objects.filter(assignment__item__system__name=TRUSTED, dimension__key="fluency")
    assert set(asked.values_list("inclusion_probability", flat=True)) == {1.0}
    assert asked.count() == 60
    assert proposal(cast, policy).is_empty


def test_units_of_a_newly_trusted_system_are_withdrawn_unless_started(cast):
    policy = routed(cast)
    annotator = cast.annotators[0]
    reserve_items(round=policy.round, annotator=annotator, how_many=len(cast.items))
    mine = Assignment.objects.filter(
        annotator=annotator, item__system__name=DOUBTED, units__dimension__key="fluency"
    )
    begun = mine.select_related("round__guideline")[0]
    said = Judgment.objects.get(judge__method="rts", item=begun.item, dimension__key="fluency")
    rate_assignment(begun, "fluency", said.value)
    trust()
    found = proposal(cast, policy)
    assert not found.add
    assert found.begun == 1
    assert len(found.drop) + len(found.change) == 29
    follow_proposal(policy=policy, by=cast.admin, shown=found.digest)
    left = sent_by(policy)
    assert left[DOUBTED, "fluency", "threshold"] == 1
    assert left.get((DOUBTED, "fluency", "audit"), 0) == len(found.change)
    assert AssignedUnit.objects.count() == 2 * policy.units.count()
    assert proposal(cast, policy).is_empty


def test_withdrawn_sample_leaves_the_round_of_a_policy_without_units(cast):
    policy = routed(cast, audit_share=1e-6)
    # Both judges now say the same of all systems, so people get nothing.
    for judgment in Judgment.objects.all():
        judgment.value = judgment.item.document_id % 5 + 1
        judgment.save()
    follow_proposal(policy=policy, by=cast.admin, shown=proposal(cast, policy).digest)
    assert not Assignment.objects.exists()
    sample = draw_calibration(project=cast.project, spec=calibration_spec(cast), by=cast.admin)
    assert Assignment.objects.exists()
    withdraw_calibration(calibration=sample, by=cast.admin)
    assert not Assignment.objects.exists()
    policy.refresh_from_db()
    assert (policy.status, policy.round_id) == ("routed", Round.objects.get().pk)
    withdraw_policy(policy=policy, by=cast.admin)
    assert not Round.objects.exists()


def test_unit_that_people_rate_for_a_new_reason_gets_it(cast):
    policy = routed(cast)
    # Equal values have no correlation, so R is undefined where it was too low.
    Judgment.objects.filter(judge__method="mcq", item__system__name=DOUBTED, dimension__key="fluency").update(
        value=3
    )
    found = proposal(cast, policy)
    assert (len(found.add), len(found.change), len(found.drop)) == (0, 30, 0)
    follow_proposal(policy=policy, by=cast.admin, shown=found.digest)
    left = sent_by(policy)
    assert (left[DOUBTED, "fluency", "undefined"], left.get((DOUBTED, "fluency", "threshold"), 0)) == (30, 0)
    assert proposal(cast, policy).is_empty


def test_a_proposal_that_moved_on_is_not_followed(cast):
    policy = routed(cast)
    distrust()
    shown = proposal(cast, policy).digest
    distrust("coherence")
    with pytest.raises(RoutingChangedError, match="proposal has changed"):
        follow_proposal(policy=policy, by=cast.admin, shown=shown)


def test_a_closed_round_follows_no_proposal(cast):
    policy = routed(cast)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(RoutingRefusedError, match="Round I is closed"):
        follow_proposal(policy=policy, by=cast.admin, shown="")
    with pytest.raises(NotReadyError):
        open_round_one(project=cast.project, by=cast.admin)


# What becomes of it


def judged(unit):
    return Judgment.objects.get(judge__method="rts", item=unit.item_id, dimension=unit.dimension_id).value


def test_audit_compares_people_with_the_judge_on_its_sample(cast):
    policy = routed(cast)
    assert state_of(cast, policy).audit.share is None
    rate_units(cast, policy, lambda unit: int(judged(unit)), why="audit")
    state = state_of(cast, policy)
    count = policy.units.filter(why="audit").count()
    assert (state.audit.audited, state.audit.rated, state.audit.errors) == (count, count, 0)
    assert not state.audit.contradicts
    assert state.total.missing == 2 * 90
    audit = next(each for each in state.sent if each.why == RoutedUnit.Why.AUDIT.label)
    assert (audit.units, audit.complete, audit.missing) == (count, count, 0)


def test_contradicting_audit_is_reported(cast):
    policy = routed(cast)
    rate_units(cast, policy, lambda unit: 1 if judged(unit) >= 3 else 5, why="audit")
    state = state_of(cast, policy)
    assert state.audit.errors == state.audit.rated > 5
    assert state.audit.contradicts
    assert state.audit.exact.low > policy.risk


@pytest.mark.parametrize("audit", ["random", "active"])
def test_no_unit_of_a_development_document_is_audited(cast, audit):
    documents = sorted({item.document_id for item in cast.items})[: DOCUMENTS // 2]
    DevelopmentDocument.objects.bulk_create(DevelopmentDocument(document_id=pk) for pk in documents)
    plan = plan_of(cast, audit=audit, audit_share=1.0)
    audited = {unit.item for unit in plan.units if unit.why == RoutedUnit.Why.AUDIT}
    trusted = {item.pk for item in cast.items if item.system.name == TRUSTED}
    learned = {item.pk for item in cast.items if item.document_id in documents}
    assert trusted - learned <= audited, "all of it, by the share"
    assert not audited & learned
    assert plan.sent == 90, "what the rule sends to people is sent"
    cells = [each for each in plan.decided.audit if each.system == TRUSTED]
    assert {each.kept for each in cells} == {DOCUMENTS // 2}


def test_active_audit_favors_disagreements_and_stores_probabilities(cast):
    _, mcq = judges_of(cast)
    far = [item for number, item in enumerate(cast.items) if number % 4 == 0]
    Judgment.objects.filter(judge=mcq, item__in=far, item__system__name=TRUSTED).update(value=3)
    policy = routed(cast, audit="active", decided_by="estimate", threshold=0.3)
    drawn = policy.units.filter(why="audit")
    least = 0.75 * policy.audit_share
    kept = [
        (item, dimension, abs(one - other))
        for item in cast.items
        for dimension in cast.dimensions
        for one, other in [values_of(item, dimension)]
        if item.system.name == TRUSTED or (item.system.name == DOUBTED and dimension.key == "coherence")
    ]
    usual = {
        dimension.pk: sum(d for _, of, d in kept if of == dimension)
        / sum(of == dimension for _, of, _ in kept)
        for dimension in cast.dimensions
    }
    expected = {}
    for item, dimension, distance in kept:
        chance = round((0.75 + 0.25 * distance / usual[dimension.pk]) / 0.05) * 0.05 * policy.audit_share
        if uniform_numbers([name_of(item, dimension)], seed=policy.seed)[0] < chance:
            expected[item.pk, dimension.pk] = pytest.approx(chance)
    found = {(unit.item_id, unit.dimension_id): unit.inclusion_probability for unit in drawn}
    assert found == expected
    assert min(found.values()) == pytest.approx(least)
    assert max(found.values()) > 1.5 * policy.audit_share
    asked = AssignedUnit.objects.filter(assignment__origin=policy.origin, inclusion_probability__lt=1)
    assert {one.inclusion_probability for one in asked} == set(found.values())
    assert proposal(cast, policy).is_empty


def values_of(item, dimension):
    rows = Judgment.objects.filter(item=item, dimension=dimension).order_by("judge__method")
    return [row.value for row in rows]


def test_active_audit_weights_units_and_tests_equal_probability_ones(cast):
    _, mcq = judges_of(cast)
    far = [item for number, item in enumerate(cast.items) if number % 4 == 0]
    Judgment.objects.filter(judge=mcq, item__in=far, item__system__name=TRUSTED).update(value=3)
    policy = routed(cast, audit="active", audit_share=0.5, decided_by="estimate", threshold=0.3)
    rate_units(cast, policy, lambda unit: 1 if judged(unit) >= 3 else int(judged(unit)), why="audit")
    audit = state_of(cast, policy).audit
    units = list(policy.units.filter(why="audit"))
    weights = [1 / unit.inclusion_probability for unit in units]
    wrong = [judged(unit) >= 3 for unit in units]
    assert audit.share == pytest.approx(
        sum(weight for weight, each in zip(weights, wrong, strict=True) if each) / sum(weights)
    )
    names = [name_of(unit.item, unit.dimension) for unit in units]
    chances = [unit.inclusion_probability for unit in units]
    alike = thin_to_one_probability(names, chances, seed=policy.seed)
    usual = [each for each, stays in zip(wrong, alike, strict=True) if stays]
    assert 0 < len(usual) < len(wrong)
    low, high = exact_interval(sum(usual), len(usual), 0.95)
    assert (audit.exact.low, audit.exact.high) == (low, high)
    assert (audit.finding.audited, audit.finding.errors) == (len(usual), sum(usual))
    assert audit.contradicts == audit.finding.contradicts
    assert audit.asymptotic.method == "asymptotic"


def test_audit_bets_in_the_order_of_rating():
    def alarm_after(times):
        found = Audited(
            names=[str(number) for number in range(40)],
            losses=np.repeat([1.0, 0.0], 20),
            chances=np.full(40, 0.2),
            documents=np.arange(40),
            times=times,
            seed=1,
            complete=np.ones(40, dtype=bool),
            judges=np.zeros(40, dtype=np.int64),
        )
        return check_in_order(found, 0.1, units=None, significance_level=0.05).alarm_after

    errors_first, errors_last = alarm_after(np.arange(40.0)), alarm_after(-np.arange(40.0))
    assert errors_first < 10
    assert errors_last > 20


def test_the_exact_interval_is_the_published_one():
    # Clopper and Pearson for 0 of 10 and for 5 of 10 at 95 %
    assert list(exact_interval(0, 10, 0.95)) == pytest.approx([0, 0.3085], abs=5e-5)
    assert list(exact_interval(5, 10, 0.95)) == pytest.approx([0.1871, 0.8129], abs=5e-5)
    assert exact_interval(0, 0, 0.95) == (None, None)


def test_ratings_that_were_there_calibrate_and_report_nothing(cast):
    round, numbers = open_round_one(project=cast.project, by=cast.admin), numbers_of(cast)
    for annotator in cast.annotators[:2]:
        reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
        for assignment in Assignment.objects.filter(annotator=annotator).select_related(
            "item", "round__guideline"
        ):
            for dimension in cast.dimensions:
                rate_assignment(
                    assignment, dimension.key, min(max(numbers[assignment.item_id] % 5 + 1, 2), 4)
                )
    plan = plan_of(cast, raters=3)
    agreement = {each.dimension.key: each for each in plan.decided.agreement}
    assert {key: each.rated for key, each in agreement.items()} == {"fluency": 30, "coherence": 60}
    fluency = agreement["fluency"]
    # The judge says 1 to 5 in turn and people say 2 to 4: exact in three of five, never more than one off.
    assert (fluency.exact, fluency.within_one) == (pytest.approx(0.6), 1)
    policy = routed(cast, raters=3)
    assert CalibrationUnit.objects.filter(policy=policy).count() == 180
    state = state_of(cast, policy)
    assert (state.audit.audited, state.calibrating) == (0, policy.units.filter(why="audit").count())


def test_without_human_ratings_there_is_no_agreement(cast):
    assert plan_of(cast).decided.agreement == []


def test_validity_of_r_appears_next_to_it():
    # Of three systems the constant one has no R; two are too few for a p value.
    cast = routing_project()
    assert [each.correlation.value for each in plan_of(cast).decided.validities] == [None, None]
    round = open_round_one(project=cast.project, by=cast.admin)
    annotator = cast.annotators[0]
    reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
    for assignment in Assignment.objects.filter(annotator=annotator).select_related("round__guideline"):
        rate_assignment(assignment, "fluency", assignment.item_id % 5 + 1)
    fluency, coherence = plan_of(cast).decided.validities
    assert (fluency.systems, fluency.p_value) == (2, None)
    assert coherence.correlation.value is None
