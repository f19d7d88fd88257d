"""An addition scored by the route of its benchmark, from copied judges to an audit that contradicts them."""

from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.additions.commands import add_systems
from annotate.additions.queries import bridging_items, load_severity
from annotate.core.models import Addition, AssignedUnit, Assignment, AuditEntry, Item, Rating, Round
from annotate.rating.commands.plans import choose_dimensions
from annotate.rating.commands.rounds import close_round_one
from judges.additions.commands import copy_judges, follow_route
from judges.additions.queries import addition_route, find_outside, route_of
from judges.core.errors import CalibrationRefusedError, RoutingRefusedError
from judges.core.models import (
    DevelopmentDocument,
    DriftWatch,
    Endpoint,
    EndpointKey,
    Judge,
    Judgment,
    RoutedUnit,
    RoutingPolicy,
)
from judges.endpoints.commands import enter_key
from judges.endpoints.keys import key_of
from judges.routing.commands.certificates import (
    compute_certificates,
    draw_calibration,
    stop_contradicted,
    stop_contradicted_judges,
)
from judges.routing.commands.policies import route, withdraw_policy
from judges.routing.queries.preview import needs_of_routing, proposal_of, routing_plan
from judges.routing.queries.state import contradictions_of, routing_state
from tests.additions.scenes import make_new_raters, rate_all
from tests.factories import Cast
from tests.judges.certified import (
    calibrated_project,
    calibration_spec,
    first_says,
    people_say,
    rate_sample,
    second_says,
)
from tests.judges.factories import make_answers, make_template

pytestmark = pytest.mark.django_db
DOCUMENTS = 30
PLANS = ("routed", "gold")


def finished_benchmark(documents: int = 60) -> Cast:
    """Make a finished benchmark with a certificate on fluency and none on coherence."""
    cast = calibrated_project(documents=documents)
    calibration = draw_calibration(project=cast.project, spec=calibration_spec(cast), by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    return cast


@pytest.fixture
def cast() -> Cast:
    return finished_benchmark()


def added(cast: Cast, *, documents: int = DOCUMENTS, words: int = 6) -> Addition:
    keys = list(cast.project.documents.order_by("pk").values_list("key", flat=True)[:documents])
    outputs = {"newcomer": {key: f"{key} " + "word " * (words - 1) for key in keys}}
    return add_systems(project=cast.project, outputs=outputs, bridging=6, by=cast.admin)


def number_of(item: Item) -> int:
    """Return the number of an item's document, from 0, as the benchmark's judges count them."""
    return int(item.document.key.rpartition("-")[2]) - 1


def answer(addition: Addition) -> None:
    """Let the copied judges say of the new system what they said of the old ones."""
    items = Item.objects.filter(document__project=addition.project, gold__isnull=True)
    units = [
        (item, dimension)
        for item in items.select_related("document")
        for dimension in addition.project.dimensions.all()
    ]
    for name, says in (("Reasoner", first_says), ("Chooser", second_says)):
        judge = Judge.objects.get(project=addition.project, name=name)
        make_answers(judge, ((item, one, says(number_of(item), "", one.key)) for item, one in units))


def routed(cast: Cast, *, documents: int = DOCUMENTS) -> tuple[Addition, RoutingPolicy]:
    addition = added(cast, documents=documents)
    copy_judges(addition=addition, by=cast.admin)
    answer(addition)
    policy = follow_route(addition=addition, by=cast.admin)
    return addition, route(policy=policy, by=cast.admin)


def test_judges_are_copied_with_prompts_keys_and_prices(cast: Cast) -> None:
    endpoint = Endpoint.objects.filter(project=cast.project).order_by("pk")[0]
    enter_key(endpoint=endpoint, key="secret-of-the-benchmark", by=cast.admin)
    learned = cast.project.documents.order_by("pk")[0]
    DevelopmentDocument.objects.create(document=learned)
    addition = added(cast)
    assert [judge.name for judge in copy_judges(addition=addition, by=cast.admin)] == ["Reasoner", "Chooser"]
    copy_judges(addition=addition, by=cast.admin)
    assert Judge.objects.filter(project=addition.project).count() == 2
    own = DevelopmentDocument.objects.filter(document__project=addition.project)
    assert list(own.values_list("document__key", "part")) == [(learned.key, "teach")]
    copied = EndpointKey.objects.get(endpoint__project=addition.project)
    assert copied.encrypted != endpoint.entered_key.encrypted
    assert key_of(copied.endpoint) == "secret-of-the-benchmark"
    Judge.objects.filter(project=addition.project, name="Chooser").update(temperature=1)
    with pytest.raises(CalibrationRefusedError, match="Chooser has other settings"):
        copy_judges(addition=addition, by=cast.admin)


def test_judges_that_name_a_removed_dimension_are_copied(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.additions.queries.refusal_where_learned", lambda _: "")
    fluency = cast.project.dimensions.get(key="fluency")
    Judge.objects.filter(project=cast.project, name="Reasoner").update(
        method="several", template=make_template(cast.project, "several"), asked_together=[fluency.pk, 0]
    )
    copy, _ = copy_judges(addition=added(cast), by=cast.admin)
    assert copy.asked_together == [copy.project.dimensions.get(key="fluency").pk]


def test_certified_units_stay_and_people_get_the_rest_and_an_audit(cast: Cast) -> None:
    addition, policy = routed(cast)
    learned, own = route_of(cast.project).calibration, policy.calibration
    assert learned
    assert own
    assert own.learned_in == learned
    keys = {each.pk: each.key for each in addition.project.dimensions.all()}
    found = {keys[each.dimension_id]: each for each in own.certificates.all()}
    original = {each.dimension.key: each for each in learned.certificates.select_related("dimension")}
    assert found["fluency"].threshold == original["fluency"].threshold
    assert (found["fluency"].units, found["fluency"].kept, found["fluency"].rated) == (30, 18, 0)
    assert found["coherence"].threshold is None
    # On fluency 12 unsure units and all 18 others as the audit, all on coherence, and no bridging item.
    whys = list(policy.units.values_list("dimension__key", "why"))
    assert whys.count(("fluency", "audit")) == 18
    assert whys.count(("fluency", "unsure")) == 12
    assert whys.count(("coherence", "abstained")) == 30
    assert not RoutedUnit.objects.filter(policy=policy, item__gold__isnull=False).exists()
    assert routing_plan(policy, addition.project).verdict is None
    assert follow_route(addition=addition, by=cast.admin) == policy


@pytest.mark.parametrize(("shift", "contradicts"), [(0, False), (2, True)])
def test_the_audit_of_the_addition_tests_the_certificate(
    cast: Cast, shift: int, *, contradicts: bool
) -> None:
    addition, policy = routed(cast)
    round = Round.objects.get(project=addition.project, number=1)
    for rater in make_new_raters(addition):
        met = rate_all(round, rater, lambda each, key: min(people_say(number_of(each.item), key) + shift, 5))
    plans = [each.plan for each in met]
    assert plans.count(Assignment.Plan.GOLD) == bridging_items(addition).count() == 6
    assert Assignment.Plan.GOLD in plans[:2]
    state = routing_state(policy, addition.project)
    assert state
    (fluency, _) = state.audit_by_dimension
    assert (fluency.rated, fluency.contradicts) == (18, contradicts)
    assert bool(state.verdict.refusal) is contradicts


def rate_with_shift(cast: Cast, addition: Addition, shift: int, raters: int = 2) -> None:
    """Let new raters give `shift` more than the people of the benchmark, to everything that they get."""
    round = Round.objects.get(project=addition.project, number=1)
    for rater in make_new_raters(addition, raters):
        rate_all(round, rater, lambda each, key: min(people_say(number_of(each.item), key) + shift, 5))


def chances_of(policy: RoutingPolicy, key: str) -> list[tuple[str, float]]:
    units = policy.units.filter(dimension__key=key).order_by("item")
    return list(units.values_list("why", "inclusion_probability"))


def test_a_contradicted_judge_stops_and_gets_nothing_back(client: Client) -> None:
    cast = finished_benchmark(documents=120)
    addition, policy = routed(cast, documents=90)
    before = chances_of(policy, "fluency")
    drawn = [each for each in before if each[0] == "audit"]
    assert len(before) < 90  # some units stay with the judge
    assert 20 <= len(drawn) < 54
    rate_with_shift(cast, addition, 2, raters=1)
    assert contradictions_of(policy, addition.project)[0] == {}  # the second rater is missing
    rate_with_shift(cast, addition, 2, raters=1)
    state = routing_state(policy, addition.project)
    assert state
    assert state.audit_by_dimension[0].stops
    stop_contradicted_judges()
    stop_contradicted_judges()
    assert stop_contradicted(policy=policy) == 0
    (stopped,) = policy.stopped_dimensions.all()
    assert (stopped.dimension.key, "This contradicts" in stopped.reason) == ("fluency", True)
    after = chances_of(policy, "fluency")
    assert len(after) == 90
    assert {each for each in after if each[0] == "stopped"} == {("stopped", 1.0)}
    assert [each[0] for each in after].count("stopped") == 54
    asked = AssignedUnit.objects.filter(assignment__origin=policy.origin, dimension__key="fluency")
    assert set(asked.values_list("inclusion_probability", flat=True)) == {1.0}
    assert asked.count() == 2 * 90
    assert AuditEntry.objects.filter(project=addition.project, act="routing.stopped").count() == 1

    state = routing_state(policy, addition.project)
    assert state
    assert proposal_of(policy, routing_plan(policy, addition.project), state.verdict).is_empty
    with pytest.raises(RoutingRefusedError, match="can no longer withdraw"):
        withdraw_policy(policy=policy, by=cast.admin)
    assert follow_route(addition=addition, by=cast.admin) == policy
    says = "On Fluency the judges stopped, and people rate all units."
    assert any(says in need.sentence for need in needs_of_routing(addition.project))
    client.force_login(cast.admin)
    assert says in client.get(reverse("addition", args=[cast.project.slug, 1])).content.decode()
    page = reverse("routing_policy", args=[addition.project.slug, policy.pk])
    assert says in client.get(page).content.decode()


def test_bridging_items_ask_what_new_items_ask(cast: Cast) -> None:
    addition, _ = routed(cast, documents=60)
    rate_with_shift(cast, addition, 0, raters=1)
    asked: dict[tuple[str, int], list[str]] = {}
    units = AssignedUnit.objects.filter(assignment__round__project=addition.project).order_by("dimension")
    rows = units.values_list("assignment__plan", "assignment", "dimension__key", "assignment__annotator")
    for plan, assignment, key, annotator in rows:
        if annotator:
            asked.setdefault((plan, assignment), []).append(key)
    new, old = (Counter(tuple(keys) for (each, _), keys in asked.items() if each == plan) for plan in PLANS)
    assert set(new) == {("coherence",), ("fluency", "coherence")}
    assert set(old) <= set(new)
    assert sum(old.values()) == 6
    assert not Assignment.objects.filter(round__project=addition.project, partial=False).exists()
    given = Rating.objects.filter(assignment__plan="gold", assignment__round__project=addition.project)
    for each in load_severity(addition):
        ((_, offset),) = each.raters
        assert (offset.items if offset else 0) == given.filter(dimension__key=each.dimension.key).count()
    # Over many items, the dimensions come as often as among the rater's own.
    round = Round.objects.get(project=addition.project, number=1)
    rater = addition.project.memberships.get(role="annotator")
    chosen = Counter(map(len, choose_dimensions(round, rater, range(4_000)).values()))
    assert chosen[1] / 4_000 == pytest.approx(new["coherence",] / 60, abs=0.03)


def test_a_judge_that_the_audit_confirms_goes_on(cast: Cast) -> None:
    addition, policy = routed(cast)
    rate_with_shift(cast, addition, 0)
    stop_contradicted_judges()
    assert not policy.stopped_dimensions.exists()
    assert stop_contradicted(policy=policy) == 0


def test_lapsed_benchmark_certificates_are_rejected(cast: Cast) -> None:
    addition = added(cast)
    copy_judges(addition=addition, by=cast.admin)
    Judge.objects.filter(project=cast.project, name="Reasoner").update(temperature=1)
    assert "have lapsed" in addition_route(addition).route.refusal
    with pytest.raises(CalibrationRefusedError, match="have lapsed"):
        follow_route(addition=addition, by=cast.admin)


def alarm(judge: Judge) -> DriftWatch:
    now = timezone.now()
    return DriftWatch.objects.create(
        judge=judge, units={}, days=7, next_at=now, is_active=False, alarmed_at=now
    )


def test_a_judge_that_changed_lends_no_certificate(cast: Cast) -> None:
    addition = added(cast)
    copy_judges(addition=addition, by=cast.admin)
    answer(addition)
    watch = alarm(Judge.objects.get(project=cast.project, name="Chooser"))
    with pytest.raises(CalibrationRefusedError, match="shows that Chooser has changed"):
        follow_route(addition=addition, by=cast.admin)
    DriftWatch.objects.filter(pk=watch.pk).update(confirmed_at=timezone.now())
    with pytest.raises(CalibrationRefusedError, match=r"have lapsed\. Chooser has changed"):
        follow_route(addition=addition, by=cast.admin)


def test_alarm_of_the_compared_judge_rejects_the_policy(cast: Cast) -> None:
    addition, policy = routed(cast)
    before = routing_state(policy, addition.project)
    alarm(Judge.objects.get(project=addition.project, name="Chooser"))
    after = routing_state(policy, addition.project)
    assert before
    assert after
    assert not before.verdict.refusal
    assert "its watch shows that it has changed" in after.verdict.message


def test_certificates_are_learned_again_where_the_copies_lapsed(cast: Cast) -> None:
    addition = added(cast)
    copy_judges(addition=addition, by=cast.admin)
    answer(addition)
    copies = Judgment.objects.filter(judge__project=addition.project)
    Judgment.objects.filter(judge__project=cast.project).update(returned_model="m", system_fingerprint="f")
    copies.update(returned_model="m", system_fingerprint="g")
    says = r"answered as m \(fingerprint g\) here and as m \(fingerprint f\)"
    with pytest.raises(CalibrationRefusedError, match=says):
        follow_route(addition=addition, by=cast.admin)
    copies.update(system_fingerprint="")
    first = follow_route(addition=addition, by=cast.admin)
    RoutingPolicy.objects.filter(pk=first.pk).delete()
    changed = copies.filter(judge__name="Reasoner", dimension__key="fluency").order_by("pk")[0]
    copies.filter(pk=changed.pk).update(value=2 if changed.value == 1 else 1)
    second = follow_route(addition=addition, by=cast.admin)
    assert second.calibration
    assert first.calibration
    assert str(second.calibration) == f"{first.calibration} (2)"


def test_systems_outside_the_calibrated_ones_are_listed(cast: Cast) -> None:
    calibration = route_of(cast.project).calibration
    assert calibration
    for number in range(3):  # two systems do not show how systems differ
        first = Item.objects.filter(document__project=cast.project).order_by("pk")[number]
        system = cast.project.systems.create(name=f"further-{number}")
        Item.objects.create(
            document=first.document, system=system, text="word " * (5 + number), digest=str(number)
        )
    short, long = added(cast), None
    keys = list(cast.project.documents.values_list("key", flat=True))
    outputs = {"wordy": dict.fromkeys(keys, "word " * 90)}
    long = add_systems(project=cast.project, outputs=outputs, bridging=0, by=cast.admin)
    (found,) = find_outside(long, calibration)
    assert found.sentence == (
        "wordy: its mean of characters is 450; those of the calibrated systems are 25 to 37. 100 % of its "
        "outputs lie beyond all calibrated outputs. The certificate does not speak of such texts."
    )
    assert not find_outside(short, calibration)[0].found.is_outside


def test_an_admin_goes_from_page_to_page(client: Client, cast: Cast) -> None:
    addition = added(cast)
    client.force_login(cast.admin)
    page, slug = reverse("addition", args=[cast.project.slug, 1]), addition.project.slug
    assert "These were learned on" in client.get(page).content.decode()
    copied = client.post(reverse("addition_step", args=[slug, "copy"]), follow=True).content.decode()
    assert "must judge 30 units before you can continue" in copied
    answer(addition)
    assert "The judges have answered." in client.get(page).content.decode()
    done = client.post(reverse("addition_step", args=[slug, "follow"]), follow=True).content.decode()
    assert "Route of the benchmark 1" in done
    assert "Open the route" in client.get(page).content.decode()
