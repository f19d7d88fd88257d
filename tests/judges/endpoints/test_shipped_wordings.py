"""Judges by further wordings as shipped, by the settings of a paper, and with a reference text."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Item, System
from judges.core.models import Judge, Judgment, PromptTemplate
from judges.core.specification import Scope
from judges.methods.variants import VARIANTS
from judges.runs.commands.runs import start_run
from judges.runs.queries.plans import plan_of
from tests.factories import Cast, make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, make_run, make_template
from tests.judges.pages import address, text_of
from tests.judges.provider import providing
from tests.judges.running import worked

pytestmark = pytest.mark.django_db


def entered(cast: Cast, **changes: object) -> dict[str, object]:
    endpoint = cast.project.endpoints.first() or make_endpoint(cast.project)
    usual = {"name": "J", "endpoint": endpoint.pk, "model": "m", "score_from": "text", "samples": 1}
    return {**usual, "temperature": 0, **changes}


def test_judge_with_a_further_wording_turns_it_into_a_project_prompt(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    variant = VARIANTS["rts-second"]
    assert client.post(address(cast, "new/"), entered(cast, template="shipped:rts-second")).status_code == 302
    prompt = PromptTemplate.objects.get()
    assert (prompt.method, prompt.name, prompt.text) == ("rts", variant.label, variant.text)
    begun = client.get(reverse("template_new", args=[cast.project.slug, "rts-second"]))
    assert begun.context["form"]["text"].value() == variant.text


def test_the_form_starts_with_the_settings_of_a_paper(client: Client) -> None:
    cast = make_project()
    make_endpoint(cast.project)
    client.force_login(cast.admin)
    form = client.get(address(cast, "new/"), {"like": "recipe"}).context["form"]
    names = ("template", "temperature", "scale_minimum", "scale_maximum", "samples")
    assert [form[name].value() for name in names] == ["shipped:recipe", 0, 1, 10, 1]
    assert client.get(address(cast, "new/"), {"like": "nothing"}).context["form"]["samples"].value() == 1


@pytest.mark.django_db(transaction=True)
def test_reference_is_the_output_of_a_system_for_the_same_document() -> None:
    cast = make_project(documents=2, systems=2)
    system = System.objects.get(name=cast.items[1].system.name)
    template = make_template(cast.project, "direct", text="{{ reference }}|{{ text }}")
    with providing(reply="4") as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, "direct", endpoint=endpoint, template=template, reference=system)
        run = make_run(cast.project, judge, dimensions=[cast.dimensions[0].key])
        start_run(run=run)
        worked(run)
    references = dict(Item.objects.filter(system=system).values_list("document", "text"))
    expected = sorted(f"{references[item.document_id]}|{item.text}" for item in cast.items)
    assert sorted(asked["messages"][0]["content"] for asked in provider.asked) == expected
    assert Judgment.objects.filter(status="done").count() == len(cast.items)


def test_judge_without_the_reference_of_its_prompt_is_rejected(client: Client) -> None:
    cast = make_project(documents=2, systems=2)
    client.force_login(cast.admin)
    name = cast.items[0].system.name
    answer = client.post(address(cast, "new/"), entered(cast, template="shipped:direct-reference"))
    assert (answer.status_code, "choose the system" in text_of(answer)) == (422, True)
    answer = client.post(address(cast, "new/"), entered(cast, template="shipped:direct", reference=name))
    assert (answer.status_code, "shows no reference" in text_of(answer)) == (422, True)
    made = entered(cast, template="shipped:direct-reference", reference=name)
    assert client.post(address(cast, "new/"), made).status_code == 302
    judge = Judge.objects.get()
    Item.objects.filter(system=judge.reference, document=cast.items[0].document).delete()
    plan = plan_of(cast.project, Scope([judge], [cast.dimensions[0].key]))
    assert plan.problems == ["J: 1 documents have no text of the system that it shows as reference."]


def test_pairwise_without_a_dimension_covers_one_dimension() -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=2)
    template = make_template(cast.project, "pairwise", text=VARIANTS["pairwise-gao"].text)
    overall = make_judge(cast.project, "pairwise", template=template, name="Overall")
    by_dimension = make_judge(cast.project, "pairwise", name="By dimension")
    both = Scope([overall, by_dimension], ["fluency", "coherence"])
    assert plan_of(cast.project, both).problems == [
        "Overall: Its prompt names no dimension; choose one dimension for its answers."
    ]
    assert plan_of(cast.project, Scope([overall], ["fluency"])).problems == []


@pytest.mark.django_db(transaction=True)
def test_judge_system_message_precedes_the_prompt_system_message() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(reply="7") as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        scale = {"scale_minimum": 1, "scale_maximum": 10}
        judge = make_judge(cast.project, "recipe", endpoint=endpoint, system_message="Be brief.", **scale)
        run = make_run(cast.project, judge, dimensions=[cast.dimensions[0].key])
        start_run(run=run)
        worked(run)
    system, user = provider.asked[0]["messages"]
    assert [system["role"], user["role"]] == ["system", "user"]
    assert system["content"].startswith("Be brief.\n\nYou are an expert")
    assert Judgment.objects.get().value == 7
