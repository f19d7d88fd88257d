"""An experiment: variants of a judge, a sample of documents, calls and cost, one run, and what it says."""

import csv
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.models import Item, Role
from judges.core.models import CallOrder, DevelopmentDocument, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.laboratory.commands.experiments import make_variants
from judges.laboratory.factors import Factors, spec_of, variants_of
from judges.runs.commands.runs import plan_run
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


def spec(judge):
    return spec_of(judge, list(judge.project.dimensions.all()))


def test_factors_are_crossed_and_the_base_is_one_variant(base):
    made = variants_of(spec(base), Factors(temperatures=[0.7, 1], scales=["1-10"]))
    assert [each.name for each in made] == [
        "Base",
        "Base · 1 to 10",
        "Base · temperature 0.7",
        "Base · temperature 0.7 · 1 to 10",
        "Base · temperature 1",
        "Base · temperature 1 · 1 to 10",
    ]
    assert (made[3].temperature, made[3].scale_minimum, made[3].scale_maximum) == (0.7, 1, 10)


def test_the_base_s_own_value_again_is_no_variant(base):
    own = Factors(temperatures=[base.temperature], scales=["own"], orders=[CallOrder.FIXED])
    assert [each.name for each in variants_of(spec(base), own)] == ["Base"]


def test_variants_are_judges_that_are_made_once(cast, base):
    variants = variants_of(spec(base), Factors(prompts={"Multiple choice": "mcq"}, models=["other"]))
    made = make_variants(project=cast.project, variants=variants, by=cast.admin)
    assert {judge.method for judge in made} == {"rts", "mcq"}
    assert {judge.model for judge in made} == {base.model, "other"}
    assert make_variants(project=cast.project, variants=variants, by=cast.admin) == made
    assert Judge.objects.filter(project=cast.project).count() == 4


def test_too_many_variants_make_no_judge(cast, base):
    many = Factors(temperatures=[0.1, 0.2, 0.3, 0.4], samples=[2, 3, 4, 5, 6])
    with pytest.raises(InvalidValueError, match="up to 24"):
        make_variants(project=cast.project, variants=variants_of(spec(base), many), by=None)
    assert Judge.objects.filter(project=cast.project).count() == 1


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


def test_the_page_makes_variants_and_leads_to_the_plan_of_one_run(client, cast, base):
    entered = {"base": base.pk, "temperatures": "0.7", "documents": 2}
    answer = client.post(page(cast), entered, follow=True)
    other = Judge.objects.get(name="Base · temperature 0.7")
    assert answer.redirect_chain == [
        (
            f"{reverse('run_plan', args=[cast.project.slug])}?judges={base.pk}&judges={other.pk}&documents=2",
            302,
        )
    ]
    form = answer.context["form"]
    assert {str(each) for each in form["judges"].value()} == {str(base.pk), str(other.pk)}
    planned = {"judges": [base.pk, other.pk], "dimensions": "fluency", "documents": 2, "via": "calls"}
    plan = client.post(reverse("run_plan", args=[cast.project.slug]), {**planned, "show": "plan"})
    assert plan.context["plan"].calls == 8
    assert plan.context["plan"].cost > 0
    client.post(reverse("run_plan", args=[cast.project.slug]), planned)
    assert Run.objects.get(project=cast.project).judgments.count() == 8


def test_what_is_no_temperature_is_said_and_nothing_is_made(client, cast, base):
    answer = client.post(page(cast), {"base": base.pk, "temperatures": "warm"})
    assert answer.status_code == 422
    assert "numbers from 0 to 2" in text_of(answer)
    assert Judge.objects.filter(project=cast.project).count() == 1


def test_a_project_without_judges_gets_a_sentence_on_both_pages(client, cast):
    assert "No judge has an endpoint yet" in text_of(client.get(page(cast)))
    answer = client.post(page(cast), {"documents": 2})
    assert answer.status_code == 422
    results = client.get(reverse("results_page", args=[cast.project.slug, "experiments"]))
    assert results.status_code == 200
    assert "No two judges have values yet" in text_of(results)


def test_only_admins_begin_experiments(client, cast, base):
    client.force_login(make_member(cast.project, Role.RESEARCHER).user)
    assert "An admin of the project starts experiments" in text_of(client.get(page(cast)))
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


def test_variants_stand_beside_each_other_on_the_same_items(client):
    cast = measured_project()
    client.force_login(cast.admin)
    chooser = Judge.objects.get(name="Chooser")
    chooser.judgments.filter(item=cast.items[0]).delete()
    chooser.judgments.update(cost="0.002", seconds=1.5)
    found = {row["judge"]: row for row in rows(client, cast, "experiment")}
    assert [found[name]["items"] for name in ("Chooser", "Reasoner")] == ["11", "11"]
    assert float(found["Chooser"]["cost"]) == pytest.approx(11 * 0.002)
    assert float(found["Chooser"]["seconds"]) == 1.5
    assert found["Reasoner"]["cost"] == ""
    assert found["Reasoner"]["cost_reason"] == "The prices of its endpoint are unknown."
    (pair,) = rows(client, cast, "pairs-of-judges")
    correlation = {name: float(row["correlation"]) for name, row in found.items()}
    assert float(pair["spearman"]) == pytest.approx(correlation["Chooser"] - correlation["Reasoner"])


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


def test_a_run_of_several_judges_is_an_experiment_of_its_own(client):
    cast = measured_project()
    client.force_login(cast.admin)
    make_judge(cast.project, name="Third")
    run = Run.objects.filter(project=cast.project).earliest("pk")
    Judgment.objects.filter(judge__name__in=["Chooser", "Reasoner"]).update(run=run)
    found = rows(client, cast, "experiment", run=str(run.pk))
    assert [row["judge"] for row in found] == ["Chooser", "Reasoner"]


def test_a_program_makes_the_variants_and_plans_their_run() -> None:
    cast = make_project(documents=3)
    judge = make_judge(cast.project, name="Base")
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}"
    wanted = {"base": judge.pk, "prompts": ["shipped:direct"], "temperatures": [0.7], "samples": [2]}
    made = program.post(f"{home}/experiments/", wanted).json()["judges"]
    assert made[0] == {"id": judge.pk, "name": "Base"}
    assert len(made) == 2 * 2 * 2
    assert program.post(f"{home}/experiments/", wanted).json()["judges"] == made, "none is made twice"
    run = {"judges": [each["id"] for each in made], "dimensions": ["fluency"], "documents": 2}
    assert (
        program.post(f"{home}/runs/preview/", run).json()["judgments"] == (4 * 1 + 4 * 2) * 2 * 2
    )  # samples, documents, systems
    refused = program.post(f"{home}/experiments/", {**wanted, "temperatures": [3]})
    assert "temperatures.0" in refused.json()["fields"]
    assert program.post(f"{home}/experiments/", {**wanted, "prompts": ["shipped:guess"]}).status_code == 422
