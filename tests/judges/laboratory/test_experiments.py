"""An experiment: factors, variants of a judge, a sample of documents, calls and cost, one run, effects."""

import csv
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.models import Item, Role
from judges.core.models import (
    CallOrder,
    DevelopmentDocument,
    Experiment,
    Judge,
    Judgment,
    PromptTemplate,
    Run,
)
from judges.core.specification import Scope
from judges.endpoints.archiving import archive
from judges.endpoints.commands import shipped_template
from judges.laboratory.commands.experiments import start_experiment
from judges.laboratory.factors import Factors, design_of, spec_of
from judges.methods import METHODS
from judges.runs.commands.runs import cancel_run, plan_run
from judges.runs.queries.plans import plan_of
from judges.runs.queries.samples import drawable_documents
from tests.api.client import ApiClient
from tests.factories import make_member, make_project
from tests.judges.factories import (
    make_endpoint,
    make_judge,
    make_judgment,
    make_priced_endpoint,
    make_template,
)
from tests.judges.measured import MCQ, RTS, measured_project, rated_at_once
from tests.judges.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    cast = make_project(documents=6, systems=2)
    client.force_login(cast.admin)
    return cast


@pytest.fixture
def base(cast):
    endpoint = make_priced_endpoint(cast.project)
    return make_judge(cast.project, name="Base", endpoint=endpoint, scale_minimum=None)


def page(cast):
    return reverse("experiment_new", args=[cast.project.slug])


def design(base, **factors):
    return design_of(spec_of(base, list(base.project.dimensions.all())), Factors(**factors))


def start(cast, base, *, documents=2, **factors):
    return start_experiment(
        project=cast.project,
        design=design(base, **factors),
        dimensions=["fluency"],
        documents=documents,
        budget=None,
        by=cast.admin,
    )


def test_factors_are_crossed_and_the_base_is_the_first_variant(base):
    made = design(base, temperatures=[0.7, 1], scales=["1-10"])
    assert [(each["key"], each["levels"]) for each in made.factors] == [
        ("temperature", ["0", "0.7", "1"]),
        ("scale", ["the dimension’s", "1 to 10"]),
    ]
    assert [each.name for each in made.variants] == [
        "Base",
        "Base · 1 to 10",
        "Base · temperature 0.7",
        "Base · temperature 0.7 · 1 to 10",
        "Base · temperature 1",
        "Base · temperature 1 · 1 to 10",
    ]
    variant = made.variants[3]
    assert (variant.temperature, variant.scale_minimum, variant.scale_maximum) == (0.7, 1, 10)


def test_base_value_is_no_level_and_an_empty_design_is_rejected(base):
    own = {"scales": ["own"], "orders": [CallOrder.FIXED]}
    made = design(base, temperatures=[base.temperature, 1], **own)
    assert [each["key"] for each in made.factors] == ["temperature"]
    with pytest.raises(InvalidValueError, match="at least one value"):
        design(base, temperatures=[base.temperature], **own)


def test_long_names_of_variants_stay_different(base):
    base.name = "A" * 80
    assert len({each.name for each in design(base, temperatures=[0.5, 1]).variants}) == 3


def test_too_many_variants_are_rejected(base):
    with pytest.raises(InvalidValueError, match="up to 24"):
        design(base, temperatures=[0.1, 0.2, 0.3, 0.4], samples=[2, 3, 4, 5, 6])


def test_an_experiment_is_started_once_with_its_judges_factors_and_run(cast, base):
    alike = {"endpoint": base.endpoint, "template": base.template, "scale_minimum": None}
    twin = make_judge(cast.project, name="Twin", model="other", **alike)
    factors = {"prompts": {"Multiple choice": "mcq"}, "models": ["other"]}
    started = start(cast, base, **factors)
    assert start(cast, base, **factors) == started, "a second press starts nothing"
    assert Run.objects.get(project=cast.project).status == Run.Status.RUNNING
    variants = [each.judge for each in started.variants.all()]
    assert [each.name for each in variants] == [
        *("Base", "Base · Multiple choice", "Twin", "Base · other · Multiple choice")
    ]
    assert variants[2] == twin, "a judge with the same settings is used again"
    assert started.factors[0] == {"key": "model", "levels": [base.model, "other"]}
    assert started.run.judgments.count() == 4 * 2 * 2
    larger = start(cast, base, documents=4, **factors)
    assert larger != started
    assert larger.run.judgments.count() == 4 * 2 * 2, "only what is missing"


def test_an_experiment_of_judges_that_have_answered_makes_no_call(client, cast, base):
    first = start(cast, base, temperatures=[0.5, 1])
    second = start(cast, base, temperatures=[1])
    assert second != first
    assert not second.run.judgments.exists()
    assert Run.objects.get(pk=second.run_id).status == Run.Status.FINISHED
    run = text_of(client.get(reverse("run", args=[cast.project.slug, second.run_id])))
    assert "Effects of its factors" in run


def test_rejected_experiment_creates_nothing(cast, base):
    with pytest.raises(InvalidValueError):
        start(cast, base, orders=[CallOrder.ROTATED])
    assert Judge.objects.filter(project=cast.project).count() == 1
    assert not Run.objects.exists()


def test_samples_hold_only_documents_that_results_use(cast, base):
    dimension = cast.dimensions[0].key
    everything = drawable_documents(cast.project, [dimension])
    assert len(everything) == 6, "before the first rating every document"
    values = [None if item.document_id == everything[1] else 3 for item in cast.items]
    rated_at_once(cast, [values] * 3)
    DevelopmentDocument.objects.create(document_id=everything[3])
    left = [everything[each] for each in (0, 2, 4, 5)]
    assert drawable_documents(cast.project, [dimension]) == left, "in one order, so samples are nested"
    scope = Scope([base], [dimension], documents=2)
    run = plan_run(project=cast.project, scope=scope, by=None)
    assert set(run.judgments.values_list("item__document", flat=True)) == set(left[:2])
    in_development = list(Item.objects.filter(document=everything[3]).values_list("pk", flat=True))
    assert drawable_documents(cast.project, [dimension], in_development) == [everything[3]]


def test_a_run_of_a_sample_asks_about_its_documents_and_later_about_the_others(cast, base):
    scope = Scope([base], ["fluency"], documents=2)
    plan = plan_of(cast.project, scope)
    assert (plan.judgments, plan.calls) == (4, 4)
    run = plan_run(project=cast.project, scope=scope, by=None)
    asked = set(Judgment.objects.filter(run=run).values_list("item__document", flat=True))
    assert asked == set(drawable_documents(cast.project, ["fluency"])[:2])
    assert plan_of(cast.project, scope).calls == 0
    larger = plan_of(cast.project, Scope([base], ["fluency"], documents=5))
    assert (larger.judgments, larger.there, larger.calls) == (10, 4, 6)
    whole = plan_of(cast.project, Scope([base], ["fluency"]))
    assert (whole.judgments, whole.calls) == (12, 8)


def test_calls_and_cost_appear_before_anything_is_created(client, cast, base):
    entered = {"base": base.pk, "prompts": ["shipped:mcq"], "temperatures": "0.7", "documents": 2}
    shown = client.post(page(cast), {**entered, "show": "plan"})
    assert shown.context["plan"].calls == 4 * 2 * 2
    assert shown.context["plan"].cost > 0
    made = (Judge, PromptTemplate, Run, Experiment)
    assert [each.objects.count() for each in made] == [1, 1, 0, 0]
    answer = client.post(page(cast), entered)
    run = Run.objects.get(project=cast.project)
    assert answer.url == reverse("run", args=[cast.project.slug, run.pk])
    assert run.judgments.count() == 4 * 2 * 2
    assert [each.objects.count() for each in made] == [4, 2, 1, 1]


def test_the_page_of_experiments_has_the_form(client, cast, base):
    results = reverse("results_page", args=[cast.project.slug, "experiments"])
    assert client.get(page(cast)).url == results
    first = client.get(results)
    assert '<details class="experiment-new" id="new-experiment" open>' in first.content.decode()
    assert "the 6 documents that results use, of 6" in text_of(first)
    start(cast, base, temperatures=[1])
    assert '<details class="experiment-new" id="new-experiment">' in client.get(results).content.decode()


def test_invalid_temperature_is_reported_and_nothing_is_created(client, cast, base):
    answer = client.post(page(cast), {"base": base.pk, "temperatures": "warm"})
    assert answer.status_code == 422
    assert "numbers from 0 to 2" in text_of(answer)
    assert Judge.objects.filter(project=cast.project).count() == 1


def test_project_without_judges_gets_a_message(client, cast):
    assert client.post(page(cast), {"documents": 2}).status_code == 422
    results = text_of(client.get(reverse("results_page", args=[cast.project.slug, "experiments"])))
    assert "No judge has an endpoint yet" in results
    assert "No two judges have values yet" in results


def test_only_admins_start_experiments(client, cast, base):
    results = reverse("results_page", args=[cast.project.slug, "experiments"])
    client.force_login(make_member(cast.project, Role.RESEARCHER).user)
    assert "New experiment" not in text_of(client.get(results))
    assert client.post(page(cast), {"base": base.pk}).status_code == 404
    client.force_login(cast.annotators[0].user)
    assert client.get(page(cast)).status_code == 404


def test_the_command_takes_a_sample(cast, base, capsys):
    call_command("judge", cast.project.slug, "--judge", "Base", "--documents", "3", "--dry-run", "--json")
    assert '"judgments": 6' in capsys.readouterr().out


def rows(client, cast, key, **chosen):
    path = reverse("result_file", args=[cast.project.slug, "experiments", key, "csv"])
    answer = client.get(path, chosen)
    assert answer.status_code == 200
    return list(csv.DictReader(StringIO(answer.content.decode())))


@pytest.fixture
def measured(client):
    """Two judges of one run as an experiment; Chooser lacks one item, and a third judge is in no run."""
    cast = measured_project()
    client.force_login(cast.admin)
    make_judge(cast.project, name="Third")
    run = Run.objects.create(project=cast.project, guideline=cast.project.guideline_versions.get())
    experiment = Experiment.objects.create(run=run, factors=[{"key": "prompt", "levels": ["RTS", "MCQ"]}])
    for position, name in enumerate(["Reasoner", "Chooser"]):
        judge = Judge.objects.get(name=name)
        experiment.variants.create(judge=judge, position=position)
        judge.judgments.update(run=run)
    chooser = Judge.objects.get(name="Chooser").judgments
    chooser.filter(item=cast.items[0]).delete()
    chooser.update(cost="0.002", seconds=1.5)
    return cast


def test_last_experiment_appears_first_on_its_common_items(client, measured):
    found = {row["judge"]: row for row in rows(client, measured, "experiment")}
    assert [found[name]["items"] for name in ("Reasoner", "Chooser")] == ["11", "11"]
    assert float(found["Chooser"]["cost"]) == pytest.approx(11 * 0.002)
    assert float(found["Chooser"]["seconds"]) == 1.5
    assert found["Reasoner"]["cost_reason"] == "The prices of its endpoint are unknown."
    address = reverse("results_page", args=[measured.project.slug, "experiments"])
    page = text_of(client.get(address))
    assert f"run {Experiment.objects.get().run_id}: Prompt, 2 judges" in page
    variants = text_of(client.get(address, {"table": "experiment"}))
    assert "11 of 12 units" in variants
    assert "Chooser limits them most, with values of 11" in variants
    effects = text_of(client.get(address, {"table": "effects"}))
    assert "on the items that people and all variants of this effect have values for" in effects
    assert "and only these are compared" not in effects


def test_all_judges_have_their_own_items_and_pairs_common_ones(client, measured):
    found = {row["judge"]: row for row in rows(client, measured, "experiment", run="all")}
    assert [found[name]["items"] for name in ("Reasoner", "Chooser")] == ["12", "11"]
    (pair,) = rows(client, measured, "pairs-of-judges", run="all")
    assert pair["items"] == "11"


def test_the_effect_of_one_factor_is_the_difference_of_its_judges(client, measured):
    (effect,) = rows(client, measured, "effects")
    (pair,) = rows(client, measured, "pairs-of-judges")
    assert (effect["effect"], effect["items"]) == ("Prompt RTS → MCQ", "11")
    sign = 1 if pair["judge"] == "Chooser" else -1
    assert float(effect["alpha"]) == pytest.approx(sign * float(pair["alpha"]))
    assert float(effect["alpha_p"]) == pytest.approx(float(pair["alpha_p"]))
    assert effect["cost_reason"] == "A price is unknown, or a variant has no answers."
    answer = client.get(reverse("results_page", args=[measured.project.slug, "experiments"]))
    assert "No effect on agreement with people is significant (1 tested)." in text_of(answer)


def test_without_an_experiment_there_are_no_effects(client, measured):
    path = reverse("result_file", args=[measured.project.slug, "experiments", "effects", "csv"])
    assert client.get(path, {"run": "all"}).status_code == 404


def test_temperatures_are_curves_with_and_without_reasoning(client):
    cast = measured_project()
    client.force_login(cast.admin)
    endpoint = make_endpoint(cast.project)
    reasons, direct = make_template(cast.project, "rts"), make_template(cast.project, "direct")
    for template, name in ((reasons, "With"), (direct, "Without")):
        for temperature in (0, 0.5, 1):
            judge = make_judge(
                cast.project,
                template.method,
                name=f"{name} · temperature {temperature:g}",
                template=template,
                endpoint=endpoint,
                temperature=temperature,
                samples=10 if temperature else 1,
            )
            for item, value in zip(cast.items, MCQ if temperature == 1 else RTS, strict=True):
                make_judgment(judge, item, cast.dimensions[0], value=value)
    Judge.objects.filter(name="Without · temperature 0.5").update(samples=3)
    found = rows(client, cast, "temperatures")
    assert [float(row["temperature"]) for row in found] == [0, 0.5, 1]
    said = {row["judge"]: float(row["correlation"]) for row in rows(client, cast, "experiment")}
    with_reasons = Judge.objects.get(name="With · temperature 0.5").pk
    assert [float(row[f"judge-{with_reasons}"]) for row in found] == pytest.approx(
        [said[f"With · temperature {each}"] for each in ("0", "0.5", "1")]
    )
    # Another number of samples is another curve, which begins with the same judge at temperature 0.
    few, many = (Judge.objects.get(name=f"Without · temperature {each}").pk for each in ("0.5", "1"))
    assert [bool(row[f"judge-{few}"]) for row in found] == [True, True, False]
    assert [bool(row[f"judge-{many}"]) for row in found] == [True, False, True]


def test_judges_at_one_temperature_have_no_curve(client):
    cast = measured_project()
    client.force_login(cast.admin)
    path = reverse("result_file", args=[cast.project.slug, "experiments", "temperatures", "csv"])
    assert client.get(path).status_code == 404


def test_a_program_previews_and_starts_an_experiment() -> None:
    cast = make_project(documents=3)
    judge = make_judge(cast.project, name="Base")
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}"
    factors = {"prompts": ["shipped:direct"], "temperatures": [0.7], "samples": [2]}
    wanted = {"base": judge.pk, **factors, "dimensions": ["fluency"], "documents": 2}
    calls = (4 * 1 + 4 * 2) * 2 * 2  # samples, documents, systems
    assert program.post(f"{home}/experiments/preview/", wanted).json()["calls"] == calls
    assert not Run.objects.exists()
    started = program.post(f"{home}/experiments/", wanted).json()
    assert started["judges"][0] == {"id": judge.pk, "name": "Base"}
    assert len(started["judges"]) == 2 * 2 * 2
    assert started["factors"][1] == {"key": "temperature", "levels": ["0", "0.7"]}
    assert program.post(f"{home}/experiments/", wanted).json() == started, "nothing is started twice"
    assert program.get(f"{home}/experiments/").json()["results"] == [started]
    refused = program.post(f"{home}/experiments/", {**wanted, "temperatures": [3]})
    assert "temperatures.0" in refused.json()["fields"]
    assert program.post(f"{home}/experiments/", {**wanted, "prompts": ["shipped:guess"]}).status_code == 422


def test_shipped_prompt_equal_to_the_base_prompt_is_rejected(cast, base):
    """The form offers all shipped texts; two variants would be one judge."""
    own = shipped_template(project=cast.project, key="direct", by=cast.admin)
    Judge.objects.filter(pk=base.pk).update(
        template=own, method="direct", max_tokens=METHODS["direct"].max_tokens
    )
    base = Judge.objects.select_related("template", "endpoint").get(pk=base.pk)
    with pytest.raises(InvalidValueError, match="Two variants have the prompt and settings of Base"):
        start(cast, base, prompts={"Score without reasons": "direct"})
    assert Judge.objects.get() == base
    assert not Run.objects.exists()


def test_archived_variant_is_recreated_under_a_free_name(cast, base):
    first = start(cast, base, temperatures=[1])
    variant = first.variants.get(position=1).judge
    cancel_run(run=first.run)
    archive(kept=variant, by=cast.admin)
    again = start(cast, base, temperatures=[1]).variants.get(position=1).judge
    assert (again.name, again.temperature) == (f"{variant.name} 2", 1)
