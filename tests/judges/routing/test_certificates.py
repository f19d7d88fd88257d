"""A calibration from the draw to its certificates: what is drawn, what is computed, what makes it lapse."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection, transaction

from agreement.reliability import Guarantee, calibrate, check_audit, draw_sample, plan_calibration
from annotate.core.errors import InvalidValueError
from annotate.core.models import AssignedUnit, Assignment, Document, Rating, Round, System
from annotate.rating.commands.rounds import close_round_one
from judges.core.access import OF_JUDGES
from judges.core.errors import CalibrationChangedError, CalibrationRefusedError, RoutingRefusedError
from judges.core.models import Calibration, CalibrationUnit, Certificate, Endpoint, Judgment
from judges.core.specification import policy_from_certificates
from judges.routing.commands.certificates import compute_certificates, draw_calibration, withdraw_calibration
from judges.routing.commands.policies import make_policy, route, withdraw_policy
from judges.routing.queries.calibration_plans import draw_plan
from judges.routing.queries.calibration_state import calibration_state
from judges.routing.queries.learn_certificates import check_lapses, load_calibration
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.state import routing_state
from tests.judges.certified import (
    calibrated_project,
    calibration_spec,
    first_says,
    numbers_of,
    people_say,
    rate_all_units,
    rate_sample,
    rate_units,
    second_says,
)
from tests.judges.factories import make_judge, make_judgment, make_judgments

pytestmark = pytest.mark.django_db


make_scene = calibrated_project


def drawn(cast, **fields):
    spec = calibration_spec(cast, **fields)
    return draw_calibration(project=cast.project, spec=spec, by=cast.admin)


def computed(cast, calibration):
    found = compute_certificates(calibration=calibration, by=cast.admin)
    keys = {dimension.pk: dimension.key for dimension in cast.dimensions}
    return {keys[each.dimension_id]: each for each in found}


def of_method(method):
    return Judgment.objects.filter(judge__method=method)


def changes_of(calibration):
    """What has changed since the sample was drawn, on fluency."""
    found = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    return check_lapses(load_calibration(found))["fluency"]


# The plan and the draw


def test_planned_size_accounts_for_the_delta_share_of_each_dimension(cast):
    spec = calibration_spec(cast, size=None, expected_error=0.05, accepted_share=0.8)
    plan = draw_plan(cast.project, spec)
    needed = plan_calibration(
        Guarantee(0.2, 0.05), expected_error=0.05, accepted_share=0.8, units=len(cast.items)
    )
    assert plan.calibration.size == needed.ratings
    assert plan.ratings == 2 * 2 * needed.ratings
    assert not plan.refusal
    assert not Calibration.objects.exists()


def test_sampling_assigns_only_the_seeded_sample_to_people(cast):
    calibration = drawn(cast)
    names = {
        f"{len(item.document.key)}:{item.document.key}/{len(item.system.name)}:{item.system.name}": item.pk
        for item in cast.items
    }
    sample = draw_sample(list(names), size=60, seed=calibration.seed)
    expected = {names[str(each.unit)] for each in sample}
    for dimension in cast.dimensions:
        units = calibration.units.filter(dimension=dimension)
        assert set(units.values_list("item", flat=True)) == expected
    round = Round.objects.get()
    assert not round.every_item
    asked = AssignedUnit.objects.filter(assignment__origin=calibration.origin)
    assert asked.count() == AssignedUnit.objects.count() == 2 * 2 * 60
    assert set(asked.values_list("inclusion_probability", flat=True)) == {0.5}


def test_fully_rated_units_add_no_assignments_even_in_a_closed_round(cast):
    rate_all_units(cast)
    close_round_one(project=cast.project, by=cast.admin)
    before = Assignment.objects.count()
    calibration = drawn(cast)
    assert Assignment.objects.count() == before
    assert computed(cast, calibration)["fluency"].rated == 60


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"dimensions": []}, "Choose a dimension"),
        ({"loss": "other_side", "cut": 1}, "The scale of Fluency is 1 to 5, so a cut at 1 divides nothing"),
        ({"other": None, "confidence": "steadiness"}, "Reasoner has one sample for each unit of Fluency"),
        ({"size": None, "expected_error": 0.3}, "passes no sample"),
    ],
)
def test_invalid_plan_is_rejected_with_a_message(cast, fields, sentence):
    with pytest.raises(CalibrationRefusedError, match=sentence):
        drawn(cast, **fields)
    assert not Round.objects.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda: Judgment.objects.filter(judge__method="rts").delete(),
            "Reasoner has no judgments of Fluency",
        ),
        (
            lambda: Judgment.objects.filter(judge__method="mcq").delete(),
            "Chooser and Reasoner have no unit of Fluency in common",
        ),
        (
            lambda: Judgment.objects.filter(judge__method="rts").update(value=5),
            "Reasoner gives 5 to every unit",
        ),
    ],
)
def test_judges_without_values_are_rejected_with_a_message(cast, change, sentence):
    change()
    with pytest.raises(CalibrationRefusedError, match=sentence):
        drawn(cast)


def test_closeness_needs_a_second_judge(cast):
    with pytest.raises(InvalidValueError, match="Closeness needs a second judge"):
        drawn(cast, other=None)


def test_closed_round_without_these_units_is_rejected(cast):
    first = drawn(cast, dimensions=["fluency"], size=40)
    rate_sample(cast, first)
    computed(cast, first)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(
        CalibrationRefusedError,
        match="units to sample have no assignment",
    ):
        drawn(cast, name="Second")


def test_sample_changed_since_its_preview_is_rejected(cast):
    with pytest.raises(CalibrationChangedError, match="Check it again"):
        draw_calibration(project=cast.project, spec=calibration_spec(cast), by=None, shown="older")
    assert not Calibration.objects.exists()


def test_second_sample_of_the_same_judge_needs_the_first_to_end(cast):
    drawn(cast)
    with pytest.raises(CalibrationRefusedError, match="First has a sample for Reasoner without certificates"):
        drawn(cast, name="Second")


@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_concurrent_admins_can_sample(cast):
    def draw(name):
        try:
            return drawn(cast, name=name)
        except CalibrationRefusedError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(draw, ["One", "Other"]))
    assert sorted(type(each).__name__ for each in outcomes) == ["Calibration", "CalibrationRefusedError"]
    assert CalibrationUnit.objects.count() == 120
    assert AssignedUnit.objects.count() == 240


# Certificates


def test_certificate_matches_the_test_on_the_sample(cast):
    calibration = drawn(cast)
    rate_sample(cast, calibration)
    found = computed(cast, calibration)
    numbers = numbers_of(cast)

    def of(key, items):
        confidences = [
            -abs(first_says(numbers[i], "", key) - second_says(numbers[i], "", key)) for i in items
        ]
        losses = [float(first_says(numbers[i], "", key) != people_say(numbers[i], key)) for i in items]
        return confidences, losses

    sample = sorted(set(calibration.units.values_list("item", flat=True)))
    for key in ("fluency", "coherence"):
        batch, _ = of(key, [item.pk for item in cast.items])
        confidences, losses = of(key, sample)
        wanted = calibrate(confidences, losses, [-2, 0], Guarantee(0.2, 0.05), documents=None, batch=batch)
        assert found[key].threshold == wanted.threshold
        assert found[key].kept_share == wanted.kept_share
        assert found[key].more_reason == (wanted.more_reason or "")
        assert [step["p_value"] for step in found[key].steps] == [each.p_value for each in wanted.steps]
    assert (found["fluency"].threshold, found["fluency"].kept, found["fluency"].errors) == (0, 72, 0)
    assert "All units go to humans" in found["coherence"].reason
    assert "No number of ratings will change this" in found["coherence"].more_reason
    assert found["fluency"].controls["shuffled"]["threshold"] is None
    assert found["fluency"].ceiling == 0  # both people always agree


def test_unrated_units_are_missing_and_not_right_or_wrong(cast):
    calibration = drawn(cast)
    rate_sample(cast, calibration, leave_out=20)
    certificate = computed(cast, calibration)["fluency"]
    assert (certificate.rated, certificate.missing) == (50, 10)


def test_without_ratings_nothing_is_computed(cast):
    calibration = drawn(cast)
    with pytest.raises(CalibrationRefusedError, match="No unit of the sample has been rated yet"):
        computed(cast, calibration)
    assert not Certificate.objects.exists()


def test_a_model_of_errors_is_fitted_on_ratings_that_do_not_calibrate(cast):
    calibration = drawn(cast, confidence="error_model", size=60)
    assert calibration.units.filter(fits=True, dimension=cast.dimensions[0]).count() == 30
    rate_sample(cast, calibration)
    certificate = computed(cast, calibration)["fluency"]
    assert certificate.units == len(cast.items) - 30
    assert certificate.rated == 60
    assert certificate.threshold is not None
    assert certificate.error_model["features"][:3] == ["value", "other value", "closeness"]


def test_certificates_are_computed_once_and_the_database_keeps_them(cast):
    calibration = drawn(cast)
    rate_sample(cast, calibration)
    first = computed(cast, calibration)
    assert {each.pk for each in computed(cast, calibration).values()} == {each.pk for each in first.values()}
    for change in (
        lambda: Certificate.objects.update(threshold=-4),
        lambda: Calibration.objects.update(risk=0.9),
    ):
        with pytest.raises(DatabaseError, match="never rewritten"), transaction.atomic():
            change()


def test_share_known_from_people_replaces_a_bound(cast):
    rate_all_units(cast)
    calibration = drawn(cast)
    certificate = computed(cast, calibration)["fluency"]
    found = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    state = next(each for each in calibration_state(found).dimensions if each.dimension.key == "fluency")
    numbers = numbers_of(cast)
    kept = [
        number
        for number in numbers.values()
        if -abs(first_says(number, "", "") - second_says(number, "", "")) >= certificate.threshold
    ]
    wrong = sum(people_say(number, "fluency") != first_says(number, "", "") for number in kept)
    assert state.known is not None
    assert (state.known.rated, state.known.wrong) == (len(kept), wrong)
    assert state.says.startswith(f"People rated all {len(kept)} units of Reasoner: {wrong} (")
    assert "confidence" not in state.says


# Lapsing


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda _: Endpoint.objects.update(base_url="http://other/v1"), "The endpoint of Reasoner was"),
        (
            lambda cast: cast.project.judges.filter(method="rts").update(model="newer"),
            "The model of Reasoner was gpt-3.5-turbo-0301, and is newer.",
        ),
        (
            lambda cast: cast.project.prompt_templates.filter(method="mcq").update(text="Another"),
            "The text of Chooser's prompt was changed.",
        ),
        (
            lambda cast: cast.project.prompt_templates.filter(method="mcq").update(wordings={"1": "Another"}),
            "The text of Chooser's prompt was changed.",
        ),
        (
            lambda cast: cast.items[0].judgments.filter(judge__method="rts").update(value=5),
            "Judgments of Reasoner on fluency were added or changed.",
        ),
        (lambda _: Document.objects.update(digest="0"), "A text was changed."),
        (
            lambda cast: cast.project.judges.update(reference=System.objects.earliest("pk")),
            "The reference of Reasoner was none, and is system-1.",
        ),
    ],
)
def test_certificate_lapses_with_its_inputs_and_reports_the_change(cast, change, sentence):
    calibration = drawn(cast)
    assert changes_of(calibration) == []
    change(cast)
    assert any(sentence in each for each in changes_of(calibration))
    rate_sample(cast, calibration)
    with pytest.raises(CalibrationRefusedError, match="withdraw it and create a new one"):
        computed(cast, calibration)


def test_an_older_calibration_without_a_setting_does_not_lapse(cast):
    calibration = drawn(cast)
    for settings in calibration.bound["judges"].values():
        del settings["reference"]
    Calibration.objects.filter(pk=calibration.pk).update(bound=calibration.bound)
    assert changes_of(calibration) == []


def test_new_items_lapse_it_and_an_unreadable_judgment_that_was_read_too(cast):
    calibration = drawn(cast)
    document = Document.objects.filter(project=cast.project).earliest("pk")
    system = System.objects.create(project=cast.project, name="system-3")
    item = document.items.create(system=system, text="New", digest="1")
    assert changes_of(calibration) == [
        "The items that it speaks of have changed. There were 120 items, and there are 121."
    ]
    make_judgment(cast.project.judges.get(method="rts"), item, cast.dimensions[0])
    assert len(changes_of(calibration)) == 2


# Withdrawing


def test_withdrawal_removes_unstarted_work_and_the_round_opened_for_it(cast):
    calibration = drawn(cast)
    withdraw_calibration(calibration=calibration, by=cast.admin)
    assert not Round.objects.exists()
    calibration.refresh_from_db()
    assert calibration.status == "withdrawn"
    assert drawn(cast, name="Second").seed != calibration.seed


def test_started_or_computed_calibration_cannot_be_withdrawn(cast):
    calibration = drawn(cast)
    rate_sample(cast, calibration, leave_out=100)
    with pytest.raises(CalibrationRefusedError, match="People have started"):
        withdraw_calibration(calibration=calibration, by=cast.admin)
    computed(cast, calibration)
    with pytest.raises(CalibrationRefusedError, match="so you cannot change it"):
        withdraw_calibration(calibration=calibration, by=cast.admin)


def test_lapsed_sample_can_be_withdrawn_and_keeps_started_work(cast):
    calibration = drawn(cast)
    rate_sample(cast, calibration)
    Endpoint.objects.update(base_url="http://other/v1")
    withdraw_calibration(calibration=calibration, by=cast.admin)
    assert Rating.objects.count() == AssignedUnit.objects.count() == 240
    second = drawn(cast, name="Second", dimensions=["fluency"])
    assert changes_of(second) == []


def test_assignments_shared_by_two_samples_stay_for_the_remaining_one(cast):
    first = drawn(cast)
    other = make_judge(cast.project, "g_eval", name="Other")
    make_judgments(other, cast, first_says)
    second = drawn(cast, name="Second", judge=other, size=120)
    withdraw_calibration(calibration=first, by=cast.admin)
    asked = AssignedUnit.objects.values_list("assignment__item", "dimension", "assignment__origin")
    assert {origin for _, _, origin in asked} == {second.origin}
    assert len(asked) == 2 * 2 * 120
    withdraw_calibration(calibration=second, by=cast.admin)
    assert not Round.objects.exists()


# Routing by certificates


def certified(cast, **fields):
    calibration = drawn(cast, **fields)
    rate_sample(cast, calibration)
    computed(cast, calibration)
    calibration.refresh_from_db()
    return calibration


def policy_by(cast, calibration, **fields):
    usual = {"name": "By certificates", "raters": 2, "audit_share": 0.2, "audit_least": 0}
    spec = policy_from_certificates(calibration, **{**usual, **fields})
    return make_policy(project=cast.project, spec=spec, by=cast.admin)


def test_certified_units_stay_all_others_go_to_people_and_some_are_audited(cast):
    calibration = certified(cast)
    policy = route(policy=policy_by(cast, calibration), by=cast.admin)
    fluency, coherence = cast.dimensions
    numbers = numbers_of(cast)
    why = {(unit.item_id, unit.dimension_id): unit for unit in policy.units.all()}
    assert all(why[item.pk, coherence.pk].why == "abstained" for item in cast.items)
    unsure = {
        item for item, dimension in why if dimension == fluency.pk and why[item, dimension].why == "unsure"
    }
    assert unsure == {item.pk for item in cast.items if numbers[item.pk] % 5 < 2}
    audited = [unit for unit in why.values() if unit.why == "audit"]
    assert 0 < len(audited) < 72
    assert {(unit.confidence, unit.threshold, unit.inclusion_probability) for unit in audited} == {
        (0, 0, 0.2)
    }
    assert all(why[item, fluency.pk].confidence == -2 for item in unsure)
    marked = policy.calibration_units.filter(dimension=fluency)
    sample = calibration.units.filter(dimension=fluency)
    assert set(marked.values_list("item")) == set(sample.values_list("item"))


def test_every_assignment_has_its_calibration_or_policy_probability(cast):
    calibration = certified(cast)
    policy = route(policy=policy_by(cast, calibration), by=cast.admin)

    def chances(why):
        units = set(policy.units.filter(why=why).values_list("item", "dimension"))
        asked = AssignedUnit.objects.values_list("assignment__item", "dimension", "inclusion_probability")
        return {chance for item, dimension, chance in asked if (item, dimension) in units}

    assert (chances("unsure"), chances("abstained")) == ({1}, {1})
    assert chances("audit") == {0.6}  # missed by both with probability .5 x .8
    stays = set(calibration.units.filter(dimension=cast.dimensions[0]).values_list("item", flat=True))
    stays -= set(policy.units.filter(why="unsure").values_list("item", flat=True))
    asked = AssignedUnit.objects.filter(dimension=cast.dimensions[0], assignment__item__in=stays)
    assert set(asked.values_list("inclusion_probability", flat=True)) == {0.6}
    withdraw_policy(policy=policy, by=cast.admin)
    assert set(AssignedUnit.objects.values_list("inclusion_probability", flat=True)) == {0.5}


def test_a_lapsed_certificate_is_not_routed_by(cast):
    calibration = certified(cast)
    policy = policy_by(cast, calibration)
    cast.project.judges.filter(method="rts").update(temperature=1)
    with pytest.raises(RoutingRefusedError, match=r"have lapsed.*The temperature of Reasoner"):
        route(policy=policy, by=cast.admin)
    assert not policy.units.exists()


def test_uncomputed_or_empty_certificates_cannot_route(cast):
    calibration = drawn(cast, dimensions=["coherence"])
    with pytest.raises(InvalidValueError, match="has no certificates yet"):
        policy_by(cast, calibration)
    rate_sample(cast, calibration)
    computed(cast, calibration)
    calibration.refresh_from_db()
    with pytest.raises(RoutingRefusedError, match="First certified no threshold"):
        route(policy=policy_by(cast, calibration), by=cast.admin)


def test_calibration_ratings_are_excluded_from_remaining_agreement(cast):
    rate_all_units(cast)
    calibration = certified(cast, size=50)
    policy = policy_by(cast, calibration, raters=3)
    (fluency,) = routing_plan(policy, cast.project).decided.agreement
    drawn_of = set(calibration.units.filter(dimension=cast.dimensions[0]).values_list("item", flat=True))
    numbers = numbers_of(cast)
    assert fluency.rated == len([i for i in cast.items if i.pk not in drawn_of and numbers[i.pk] % 5 >= 2])


@pytest.mark.parametrize("off", [0, 2])
def test_audit_that_contradicts_the_certificate_triggers_a_warning(cast, off):
    calibration = certified(cast)
    policy = route(policy=policy_by(cast, calibration, audit_share=0.6), by=cast.admin)
    audited = policy.units.filter(why="audit").values_list("item", "dimension")
    fresh = set(audited) - set(policy.calibration_units.values_list("item", "dimension"))
    numbers = numbers_of(cast)
    rate_units(cast, policy, fresh, lambda item: people_say(numbers[item], "fluency") + off)
    state = routing_state(policy, cast.project)
    assert state is not None
    found = next(each for each in state.audit_by_dimension if each.name == "Fluency")
    certificate = calibration.certificates.get(dimension=cast.dimensions[0])
    unseen = 72 - certificate.accepted
    assert (found.audited, found.rated, found.errors) == (len(fresh), len(fresh), len(fresh) if off else 0)
    losses = [float(off > 0)] * len(fresh)
    wanted = check_audit(losses, certificate.risk_of_unrated, documents=range(len(fresh)), units=unseen)
    assert found.finding is not None
    assert replace(found.finding, alarm_after=wanted.alarm_after) == wanted
    assert found.contradicts == bool(off)
