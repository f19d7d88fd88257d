"""Judges in stages, from the sample to the audit of each: the second is asked about what the first leaves."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from agreement.reliability import Guarantee, calibrate_cascade, paths_of
from annotate.core.errors import InvalidValueError
from annotate.core.models import Assignment, Project
from annotate.results.registry import result_of
from judges.core.access import OF_JUDGES
from judges.core.errors import CalibrationRefusedError, RoutingRefusedError
from judges.core.models import Calibration, CertifiedStage, Judge, Judgment, RoutingPolicy, Run
from judges.core.specification import Scope, policy_from_certificates
from judges.core.stages import JudgeToAsk, units_to_ask
from judges.routing.commands.certificates import (
    ask_waiting_judges,
    compute_certificates,
    draw_calibration,
    stop_contradicted,
    stop_contradicted_judges,
)
from judges.routing.commands.policies import draft_policy, follow_proposal, make_policy, route
from judges.routing.forecasts import RISKS, answer_routes, routes_sections
from judges.routing.queries.calibration_state import calibration_state
from judges.routing.queries.learn_certificates import load_calibration
from judges.routing.queries.preview import needs_of_routing, proposal_of, routing_plan
from judges.routing.queries.state import routing_state
from judges.runs.queries.plans import plan_of
from tests.api.client import concord
from tests.factories import Cast
from tests.judges.certified import (
    calibrated_project,
    calibration_spec,
    numbers_of,
    people_say,
    rate_all_units,
    rate_sample,
    rate_units,
)
from tests.judges.factories import make_answers, make_judge
from tests.judges.pages import HTMX, text_of
from tests.judges.routing.test_certificate_pages import entered

pytestmark = pytest.mark.django_db

Unit = tuple[int, int]


def make_scene() -> Cast:
    """The project of certificates with a second pair of judges, which has judged nothing yet."""
    found = calibrated_project()
    make_judge(found.project, "rts", name="Strong")
    make_judge(found.project, "mcq", name="Strong chooser")
    return found


def strong_judges(cast: Cast) -> tuple[Judge, Judge]:
    judges = {judge.name: judge for judge in Judge.objects.filter(project=cast.project)}
    return judges["Strong"], judges["Strong chooser"]


def answer(cast: Cast, units: set[Unit]) -> None:
    """Let the second pair judge these units: it is right about all, and sure of four documents of five."""
    numbers = numbers_of(cast)
    items = {item.pk: item for item in cast.items}
    dimensions = {dimension.pk: dimension for dimension in cast.dimensions}
    for offset, judge in enumerate(strong_judges(cast)):
        make_answers(
            judge,
            [
                (
                    items[item],
                    dimensions[dimension],
                    people_say(numbers[item], dimensions[dimension].key)
                    - offset * 2 * (numbers[item] % 5 == 4),
                )
                for item, dimension in sorted(units)
            ],
        )


def drawn(cast: Cast, **fields: object) -> Calibration:
    spec = calibration_spec(cast, stages=[strong_judges(cast)], **fields)
    return draw_calibration(project=cast.project, spec=spec, by=cast.admin)


def sample_of(calibration: Calibration) -> set[Unit]:
    return set(calibration.units.values_list("item", "dimension"))


def certified(cast: Cast, *, is_learned: bool = False, **fields: object) -> Calibration:
    """is_learned: as if the certificates came from another project."""
    calibration = drawn(cast, **fields)
    if is_learned:
        Calibration.objects.filter(pk=calibration.pk).update(learned_in=calibration)
        calibration.refresh_from_db()
    rate_sample(cast, calibration)
    answer(cast, sample_of(calibration))
    compute_certificates(calibration=calibration, by=cast.admin)
    return Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)


def policy_of(cast: Cast, calibration: Calibration) -> RoutingPolicy:
    spec = policy_from_certificates(calibration, name="Route", raters=2, audit_share=0.5, audit_least=0)
    return make_policy(project=cast.project, spec=spec, by=cast.admin)


def routed(cast: Cast, *, is_learned: bool = False) -> RoutingPolicy:
    policy = policy_of(cast, certified(cast, is_learned=is_learned))
    (*_, last) = waiting = routing_plan(policy, cast.project).decided.to_ask
    assert last
    answer(cast, {unit for each in waiting[:1] for unit in each.units})
    return route(policy=policy, by=cast.admin)


def test_certificates_wait_until_every_judge_has_judged_the_sample(cast: Cast) -> None:
    calibration = drawn(cast)
    rate_sample(cast, calibration)
    with pytest.raises(CalibrationRefusedError, match="Strong has not judged 120 units of the sample"):
        compute_certificates(calibration=calibration, by=cast.admin)
    state = calibration_state(calibration)
    assert [(each.judge.name, len(each.units)) for each in state.to_ask] == [
        ("Strong", 120),
        ("Strong chooser", 120),
    ]
    scope = Scope([state.to_ask[0].judge], ["fluency", "coherence"], units=state.to_ask[0].items_by_dimension)
    assert plan_of(cast.project, scope).calls == 120


def test_stages_match_the_test_on_the_sample(cast: Cast) -> None:
    calibration = certified(cast)
    loaded = load_calibration(calibration)
    for dimension in loaded.dimensions:
        sample, evidence = loaded.sample[dimension.key], loaded.evidence[dimension.key]
        sure = np.array([each.confidences for each in evidence])
        known = np.where(
            np.isin(np.arange(sure.shape[1]), sample), sure, [sure[0], np.full_like(sure[0], np.nan)]
        )
        means = evidence[0].scores.human_means[sample]
        losses = np.array([np.abs(each.scores.judge[sample] - means) > 0.5 for each in evidence])
        wanted = calibrate_cascade(
            sure[:, sample],
            losses.astype(float),
            paths_of(known, comparable=False),
            Guarantee(0.2, 0.1).divide(2),
            documents=None,
            batch=len(cast.items),
        )
        assert wanted.thresholds is not None
        rows = CertifiedStage.objects.filter(
            certificate__dimension=dimension.id, certificate__calibration=calibration
        )
        found = [(each.judge.name, each.threshold, each.accepted, each.errors) for each in rows]
        thresholds = [None if np.isinf(each) else each for each in wanted.thresholds.tolist()]
        names, accepted, errors = ["Reasoner", "Strong"], wanted.accepted.tolist(), wanted.errors.tolist()
        assert found == list(zip(names, thresholds, accepted, errors, strict=True))


def test_second_judge_covers_the_remainder_of_the_first(cast: Cast) -> None:
    policy = policy_of(cast, certified(cast))
    plan = routing_plan(policy, cast.project)
    assert [each.judge.name for each in plan.decided.to_ask] == ["Strong", "Strong chooser"]
    assert "Strong has to judge" in plan.refusal
    with pytest.raises(RoutingRefusedError, match="has to judge"):
        route(policy=policy, by=cast.admin)
    asked = set(plan.decided.to_ask[0].units)
    decided_by_first = {unit for unit, each in plan.decided.deciders.items() if each.judge.name == "Reasoner"}
    assert asked
    assert not asked & decided_by_first
    answer(cast, asked)
    plan = routing_plan(policy, cast.project)
    assert plan.decided.to_ask == []
    assert {judge.name for judge, _ in plan.decided.judges} >= {"Strong"}
    route(policy=policy, by=cast.admin)
    stored = policy.stage_decisions.values_list("item", "dimension", "judge__name")
    assert {(item, dimension): name for item, dimension, name in stored} == {
        unit: each.judge.name for unit, each in plan.decided.deciders.items()
    }


def test_audit_of_each_judge_is_its_own_and_a_contradicted_one_stops(cast: Cast) -> None:
    policy = routed(cast)
    state = routing_state(policy, cast.project)
    assert state is not None
    by_name = {each.judge.name: each for each in state.stages}
    assert by_name["Strong"].audited > 0
    assert not needs_of_routing(cast.project)
    deciders = {
        (item, dimension): name
        for item, dimension, name in policy.stage_decisions.values_list("item", "dimension", "judge__name")
    }
    numbers, keys = numbers_of(cast), {each.pk: each.key for each in cast.dimensions}
    of_strong = {unit for unit, name in deciders.items() if name == "Strong"}
    for dimension in cast.dimensions:  # people now disagree with whatever the second judge says

        def disagree(item: int, key: str = keys[dimension.pk]) -> int:
            return 5 if people_say(numbers[item], key) < 3 else 1

        rate_units(cast, policy, {unit for unit in of_strong if unit[1] == dimension.pk}, disagree)
    state = routing_state(policy, cast.project)
    assert state is not None
    stopped = {each.judge.name: each.says for each in state.stages if each.says}
    assert list(stopped) == ["Strong"]
    assert any("Strong" in need.sentence for need in needs_of_routing(cast.project))
    plan = routing_plan(policy, cast.project)
    proposal = proposal_of(policy, plan, state.verdict)
    proposed = {unit.unit for unit in (*proposal.add, *proposal.change)}
    assert proposed >= of_strong - set(policy.units.values_list("item", "dimension"))
    follow_proposal(policy=policy, by=cast.admin, shown=proposal.digest)
    assert [each.judge.name for each in policy.stopped_stages.all()] == ["Strong"]
    state = routing_state(policy, cast.project)
    assert state is not None
    assert proposal_of(policy, routing_plan(policy, cast.project), state.verdict).is_empty
    assert not policy.stage_decisions.filter(judge__name="Strong").exists()


@pytest.mark.parametrize("assigned_by", ["policy", "calibration"])
def test_contradicted_stage_of_an_addition_stops_by_itself(cast: Cast, assigned_by: str) -> None:
    policy = routed(cast, is_learned=True)
    numbers, keys = numbers_of(cast), {each.pk: each.key for each in cast.dimensions}
    of_strong = set(policy.stage_decisions.filter(judge__name="Strong").values_list("item", "dimension"))
    stop_contradicted_judges()
    assert not policy.stopped_stages.exists()
    for dimension in cast.dimensions:

        def disagree(item: int, key: str = keys[dimension.pk]) -> int:
            return 5 if people_say(numbers[item], key) < 3 else 1

        rate_units(cast, policy, {unit for unit in of_strong if unit[1] == dimension.pk}, disagree)
    if assigned_by == "calibration":
        origin = Calibration.objects.latest("pk").origin
        assert Assignment.objects.filter(origin=policy.origin).update(origin=origin)
    stop_contradicted_judges()
    assert [each.judge.name for each in policy.stopped_stages.all()] == ["Strong"]
    assert not policy.stage_decisions.filter(judge__name="Strong").exists()
    sent = policy.units.filter(why="stopped")
    assert set(sent.values_list("item", "dimension")) >= of_strong
    assert set(sent.values_list("inclusion_probability", flat=True)) == {1.0}
    assert stop_contradicted(policy=policy) == 0


@pytest.mark.parametrize(
    ("stages", "says"),
    [
        (lambda first, strong: [(first[0], strong[1])], "Reasoner is an earlier stage"),
        (lambda _, strong: [(strong[0], None)], "Closeness needs a judge to compare Strong with"),
        (lambda _, strong: [(strong[0], strong[0])], "always close to itself"),
    ],
)
def test_incompatible_stages_are_rejected_with_a_message(cast: Cast, stages: object, says: str) -> None:
    spec = calibration_spec(cast)
    chosen = stages((spec.judge, spec.other), strong_judges(cast))  # type: ignore[operator]
    with pytest.raises(InvalidValueError, match=says):
        draw_calibration(project=cast.project, spec=calibration_spec(cast, stages=chosen), by=cast.admin)


def test_later_judges_may_judge_more_without_a_lapse_and_a_new_model_lapses(cast: Cast) -> None:
    calibration = certified(cast)
    everything = {(item.pk, dimension.pk) for item in cast.items for dimension in cast.dimensions}
    answer(cast, everything - sample_of(calibration))
    assert calibration_state(calibration).lapses == []
    Judge.objects.filter(project=cast.project, name="Strong").update(model="newer")
    found = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    assert calibration_state(found).lapses == ["The model of Strong was gpt-3.5-turbo-0301, and is newer."]


def test_single_judge_has_no_stages(cast: Cast) -> None:
    calibration = draw_calibration(project=cast.project, spec=calibration_spec(cast), by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    assert not CertifiedStage.objects.exists()
    spec = policy_from_certificates(calibration, name="One", raters=2)
    plan = routing_plan(draft_policy(cast.project, spec), Project.objects.get(pk=cast.project.pk))
    assert plan.decided.deciders == {}


def test_pages_ask_the_second_judge_and_show_what_each_decides(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    calibration = drawn(cast)
    rate_sample(cast, calibration)
    page = f"/projects/{cast.project.slug}/judges/certificates/{calibration.pk}/"
    shown = text_of(client.get(page))
    assert "Strong and Strong chooser must judge 120 units before you can continue." in shown
    assert "This takes 240 calls." in shown
    assert "Compute the certificates" not in shown
    client.post(f"{page}ask/")
    run = Run.objects.latest("pk")
    assert run.status == Run.Status.RUNNING
    asked = set(run.judgments.values_list("judge__name", "item", "dimension"))
    assert asked == {
        (name, *unit) for name in ("Strong", "Strong chooser") for unit in sample_of(calibration)
    }
    run.judgments.all().delete()
    answer(cast, sample_of(calibration))
    client.post(f"{page}compute/")
    assert "Strong: decides at a confidence of" in text_of(client.get(page))


def test_form_accepts_further_judges_but_no_third_without_a_second(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    strong, chooser = strong_judges(cast)
    page = f"/projects/{cast.project.slug}/judges/certificates/new/"
    sent = entered(cast, judge_2=strong.pk, other_2=chooser.pk)
    shown = client.post(page, sent, headers=HTMX)
    assert shown.status_code == 200
    client.post(page, {**sent, "shown": shown.context["plan"].digest})
    (stage,) = Calibration.objects.get().stages.all()
    assert (stage.position, stage.judge, stage.other) == (2, strong, chooser)
    third = entered(cast, name="Second", judge_3=strong.pk)
    assert "Choose the second judge before the third." in text_of(client.post(page, third, headers=HTMX))


def test_commands_take_a_route_from_the_sample_to_the_run(cast: Cast) -> None:
    ids = {judge["name"]: judge["id"] for judge in concord(cast.admin, "judges", "list", cast.project.slug)}
    strong, chooser = ids["Strong"], ids["Strong chooser"]
    judges = (
        "--judge",
        ids["Reasoner"],
        "--other",
        ids["Chooser"],
        "--judge-2",
        strong,
        "--other-2",
        chooser,
    )
    options = ("--loss", "another_point", "--size", 60)
    concord(cast.admin, "certificates", "add", cast.project.slug, *judges, *options)
    calibration = Calibration.objects.get()
    found = concord(cast.admin, "certificates", "ask", cast.project.slug, calibration.pk)
    assert found["stages"] == [
        {"judge": "Reasoner", "other": "Chooser"},
        {"judge": "Strong", "other": "Strong chooser"},
    ]
    to_ask = [(each["judge"], each["units"]) for each in found["to_ask"]]
    assert to_ask == [("Strong", 120), ("Strong chooser", 120)]
    Run.objects.latest("pk").judgments.all().delete()
    rate_sample(cast, calibration)
    answer(cast, sample_of(calibration))
    found = concord(cast.admin, "certificates", "compute", cast.project.slug, calibration.pk)
    stages = [stage for each in found["dimensions"] for stage in each["certificate"]["stages"]]
    assert any(stage["judge"] == "Strong" and stage["threshold"] is not None for stage in stages)
    follow = ("--certificates", calibration.name, "--ask")
    call_command("route", cast.project.slug, *follow, stdout=StringIO(), stderr=StringIO())
    run = Run.objects.latest("pk")
    assert set(run.judgments.values_list("judge__name", flat=True)) == {"Strong", "Strong chooser"}
    assert not RoutingPolicy.objects.exists()


def test_routes_page_compares_their_results(cast: Cast) -> None:
    rate_all_units(cast)
    answer(cast, {(item.pk, dimension.pk) for item in cast.items for dimension in cast.dimensions})
    strong, _ = strong_judges(cast)
    result = result_of(cast.project, "routes", {"then": str(strong.pk), "risk": "0.1", "wage": "20"})
    (section,) = routes_sections(cast.project, result.chosen)
    compared, curve = section.tables
    rows = {str(row[0].value): [cell.value for cell in row[1:]] for row in compared.rows}
    units = 2 * len(cast.items)
    assert rows["People alone"][:3] == [0, 0, units]
    first, second = rows["Reasoner, then people"], rows["Reasoner then Strong then people"]
    assert first[0] + first[2] == units  # type: ignore[operator]
    assert second[2] == 0, "the second judge is always right"
    assert second[1] > 0  # type: ignore[operator]
    assert "Reasoner where R is above r, then people (no guarantee)" in rows
    risks = {row[1].value for row in curve.rows}
    assert risks == set(RISKS)
    for row in curve.rows:
        shares = [cell.value for cell in row[2:5]]
        assert np.sum(np.array(shares, dtype=float)) == pytest.approx(1)
    tables = {table.key: table for table in section.tables}
    assert answer_routes(tables).startswith("Strong, then people: people rate 0 of")


def test_probability_of_the_value_is_a_confidence(cast: Cast) -> None:
    rts = Judge.objects.get(project=cast.project, name="Reasoner")
    refused = calibration_spec(cast, other=None, confidence="chosen_probability")
    with pytest.raises(CalibrationRefusedError, match="no stored probabilities on Fluency"):
        draw_calibration(project=cast.project, spec=refused, by=cast.admin)
    numbers = numbers_of(cast)
    for judgment in rts.judgments.all():
        sure = numbers[judgment.item_id] % 5 >= 2
        judgment.log_probabilities = {"3": float(np.log(0.9 if sure else 0.4)), "4": float(np.log(0.1))}
        judgment.save(update_fields=["log_probabilities"])
    calibration = draw_calibration(project=cast.project, spec=refused, by=cast.admin)
    loaded = load_calibration(
        Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    )
    expected = [0.9 if numbers[item] % 5 >= 2 else 0.4 for item in loaded.material.items.tolist()]
    assert loaded.evidence["fluency"][0].confidences == pytest.approx(np.array(expected))
    rate_sample(cast, calibration)
    found = {
        each.dimension.key: each for each in compute_certificates(calibration=calibration, by=cast.admin)
    }
    assert found["fluency"].threshold == pytest.approx(0.9)
    assert found["coherence"].threshold is None


def test_later_judge_without_an_endpoint_must_have_judged_everything(cast: Cast) -> None:
    Judge.objects.filter(project=cast.project, name__startswith="Strong").update(endpoint=None)
    with pytest.raises(CalibrationRefusedError, match="Strong has no endpoint"):
        drawn(cast)
    answer(cast, {(item.pk, dimension.pk) for item in cast.items for dimension in cast.dimensions})
    assert drawn(cast).stages.count() == 1


def test_first_judge_that_an_audit_contradicts_stops_without_asking_the_next(cast: Cast) -> None:
    policy = routed(cast)
    numbers, keys = numbers_of(cast), {each.pk: each.key for each in cast.dimensions}
    decisions = policy.stage_decisions.filter(judge__name="Reasoner").values_list("item", "dimension")
    of_first = set(decisions)
    assert of_first
    for dimension in cast.dimensions:

        def disagree(item: int, key: str = keys[dimension.pk]) -> int:
            return 5 if people_say(numbers[item], key) < 3 else 1

        rate_units(cast, policy, {unit for unit in of_first if unit[1] == dimension.pk}, disagree)
    state = routing_state(policy, cast.project)
    assert state is not None
    assert [each.judge.name for each in state.stages if each.says] == ["Reasoner"]
    plan = routing_plan(policy, cast.project)
    assert (plan.refusal, plan.decided.to_ask) == ("", [])
    proposal = proposal_of(policy, plan, state.verdict)
    follow_proposal(policy=policy, by=cast.admin, shown=proposal.digest)
    assert not policy.stage_decisions.filter(judge__name="Reasoner").exists()
    assert policy.stage_decisions.filter(judge__name="Strong").exists()


def test_lost_calls_and_rejected_judges_are_no_answers(cast: Cast) -> None:
    strong, _ = strong_judges(cast)
    unit, other = [(item.pk, cast.dimensions[0].pk) for item in cast.items[:2]]
    units = {unit, other}
    assert units_to_ask(strong, units) == units
    judgments = make_answers(strong, [(item, cast.dimensions[0], 3) for item in cast.items[:2]])
    assert units_to_ask(strong, units) == set()
    of_judge = Judgment.objects.filter(pk=judgments[0].pk)
    for problem, missing in (("", {unit}), ("rejected", {unit}), ("too_long", set())):
        of_judge.update(status="failed", value=None, reason="No answer.", problem=problem)
        assert units_to_ask(strong, units) == missing, problem


def test_asking_repeats_what_failed(cast: Cast) -> None:
    strong, _ = strong_judges(cast)
    judgments = make_answers(strong, [(item, cast.dimensions[0], 3) for item in cast.items[:2]])
    failed = Judgment.objects.filter(pk=judgments[0].pk)
    failed.update(status="failed", value=None, reason="No answer.", problem="")
    run = judgments[0].run
    assert run is not None
    waiting = [JudgeToAsk(strong, [(cast.items[0].pk, cast.dimensions[0].pk)])]
    assert ask_waiting_judges(project=cast.project, waiting=waiting, by=cast.admin) == run
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    assert failed.get().status == Judgment.Status.PLANNED
