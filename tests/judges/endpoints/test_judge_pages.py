import re

import pytest

from judges.core.models import Judge, Judgment, PromptTemplate
from judges.methods import METHODS
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_judgment, make_run, make_template
from tests.judges.pages import address, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    cast = make_project()
    client.force_login(cast.admin)
    return cast


def entered(cast, **changes):
    endpoint = cast.project.endpoints.first() or make_endpoint(cast.project)
    usual = {
        "name": "GPT by RTS",
        "endpoint": endpoint.pk,
        "model": "gpt-x",
        "template": "shipped:rts",
        "score_from": "text",
        "samples": 1,
        "temperature": 0,
        "max_tokens": "",
    }
    return {**usual, **changes}


def add(client, cast, **changes):
    return client.post(address(cast, "new/"), entered(cast, **changes))


@pytest.mark.parametrize("method", METHODS)
def test_judge_is_created_with_a_shipped_prompt(client, cast, method):
    assert add(client, cast, template=f"shipped:{method}").status_code == 302
    judge = Judge.objects.get()
    assert (judge.method, judge.max_tokens) == (method, METHODS[method].max_tokens)
    template = PromptTemplate.objects.get()
    assert (template.text, template.version) == (METHODS[method].default_template, 1)
    assert (judge.template, template.created_by) == (template, cast.admin)


def test_two_judges_as_shipped_share_their_prompt(client, cast):
    add(client, cast)
    add(client, cast, name="Another")
    assert PromptTemplate.objects.count() == 1
    assert Judge.objects.filter(template=PromptTemplate.objects.get()).count() == 2


def test_one_choice_makes_both_judges_of_the_indicator_and_leads_to_their_run(client, cast):
    response = add(client, cast, name="GPT", template="pair", temperature=0.5)
    rts, mcq = Judge.objects.order_by("pk")
    assert [(each.name, each.method) for each in (rts, mcq)] == [("GPT RTS", "rts"), ("GPT MCQ", "mcq")]
    assert (rts.temperature, rts.model, rts.endpoint) == (mcq.temperature, mcq.model, mcq.endpoint)
    assert response["Location"] == address(cast, f"runs/new/?judges={rts.pk}&judges={mcq.pk}")
    plan = client.get(response["Location"]).content.decode()
    assert "GPT RTS and GPT MCQ are saved. Check the cost, then start their run." in plan
    assert len(re.findall(r'name="judges"[^>]*checked', plan)) == 2


def test_existing_pair_is_reused_under_any_name(client, cast):
    add(client, cast, name="Reasoner")
    add(client, cast, name="GPT", template="pair")
    again = add(client, cast, name="Other", template="pair")
    assert sorted(Judge.objects.values_list("name", flat=True)) == ["GPT MCQ", "Reasoner"]
    assert again.status_code == 302
    add(client, cast, name="GPT 1", template="pair", temperature=1)
    assert Judge.objects.count() == 4


def test_pair_is_rejected_as_a_whole(client, cast):
    make_judge(cast.project, name="GPT MCQ")
    assert "already; choose another name" in add(client, cast, name="GPT", template="pair").content.decode()
    assert "use at most 76 characters" in add(client, cast, name="x" * 77, template="pair").content.decode()
    assert Judge.objects.count() == 1


def test_prompts_are_searchable_by_paper_names(client, cast):
    make_endpoint(cast.project)
    page = client.get(address(cast, "new/")).content.decode()
    for title in ("RTS – Reason, then score", "MCQ – Multiple choice", "H2H – Head to head", "G-Eval"):
        assert f"{title}, as shipped" in page
    assert "H2H – Pairwise" not in page
    judge = make_judge(cast.project)
    assert 'value="pair"' not in client.get(address(cast, f"{judge.pk}/")).content.decode()


def test_judge_is_created_with_a_project_prompt_and_gets_its_method(client, cast):
    template = make_template(cast.project, "mcq")
    add(client, cast, template=str(template.pk), samples=5, temperature=0.7, max_tokens=20)
    judge = Judge.objects.get()
    assert (judge.method, judge.template, judge.samples) == ("mcq", template, 5)
    assert (judge.temperature, judge.max_tokens) == (0.7, 20)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "Taken"}, "The project has a judge Taken already; choose another name."),
        ({"template": "shipped:oracle"}, "Select a valid choice."),
        ({"template": "0"}, "Select a valid choice."),
        ({"temperature": 3}, "less than or equal to 2"),
        ({"samples": 0}, "greater than or equal to 1"),
        ({"samples": 2, "temperature": 0}, "At temperature 0 all samples are alike"),
        ({"structured": "on", "score_from": "probabilities"}, "choose one of both"),
    ],
)
def test_invalid_value_is_rejected_at_its_field(client, cast, changes, says):
    make_judge(cast.project, name="Taken")
    reply = add(client, cast, **changes)
    assert reply.status_code == 422
    assert says in text_of(reply)
    assert Judge.objects.count() == 1


def test_endpoints_and_prompts_of_another_project_cannot_be_chosen(client, cast):
    other = make_project().project
    for changes in ({"endpoint": make_endpoint(other).pk}, {"template": str(make_template(other).pk)}):
        assert add(client, cast, **changes).status_code == 422
    assert not Judge.objects.exists()


def test_a_judge_without_judgments_can_be_changed(client, cast):
    judge = make_judge(cast.project)
    client.post(address(cast, f"{judge.pk}/"), entered(cast, name="Other", model="gpt-y"))
    judge.refresh_from_db()
    assert (judge.name, judge.model) == ("Other", "gpt-y")


def test_judge_with_judgments_stays_unchanged(client, cast):
    judge = make_judge(cast.project)
    page = client.get(address(cast, f"{judge.pk}/"))
    assert "Save the judge" in page.content.decode()
    make_run(cast.project, judge)
    reply = client.post(address(cast, f"{judge.pk}/"), entered(cast, name="Other"))
    assert reply.status_code == 409
    assert f"{judge.name} has judgments, so you cannot change it; create a new judge." in text_of(reply)
    assert "Save the judge" not in client.get(address(cast, f"{judge.pk}/")).content.decode()
    judge.refresh_from_db()
    assert judge.name != "Other"


def test_judge_with_judgments_links_to_its_results_and_missing_values(client, cast):
    judge = make_judge(cast.project)
    unreadable = {"status": Judgment.Status.UNREADABLE, "value": None, "reason": "No score."}
    make_judgment(judge, cast.items[0], cast.dimensions[0], **unreadable)
    page = client.get(address(cast, f"{judge.pk}/")).content.decode()
    assert f'href="{address(cast, f"{judge.pk}/beside-people/")}"' in page
    assert f'href="{address(cast, f"{judge.pk}/judgments/unreadable/")}"' in page
    assert "judgments/failed/" not in page
    assert 'name="temperature" value="0"' in page


def test_list_shows_type_and_state_of_each_judge(client, cast):
    judge = make_judge(cast.project, samples=3, temperature=1)
    unreadable = {"status": Judgment.Status.UNREADABLE, "value": None, "reason": "No score."}
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    make_judgment(judge, cast.items[1], cast.dimensions[0], **unreadable)
    listed = text_of(client.get(address(cast)))
    assert "gpt-3.5-turbo-0301" in listed
    assert "Reason, then score" in listed
    assert "3 at 1 1 1" in listed


def test_without_an_endpoint_the_first_step_is_to_add_one(client, cast):
    assert "Add an endpoint first" in text_of(client.get(address(cast)))
    assert client.get(address(cast, "new/")).url == address(cast, "endpoints/new/")


def test_a_researcher_reads_judges_and_makes_none(client, cast):
    judge = make_judge(cast.project)
    client.force_login(cast.researcher)
    for path in ("", f"{judge.pk}/"):
        page = client.get(address(cast, path)).content.decode()
        assert judge.name in page
        assert "Add a judge" not in page
        assert "Save the judge" not in page
    assert client.get(address(cast, "new/")).status_code == 404
    assert client.post(address(cast, f"{judge.pk}/"), entered(cast)).status_code == 404


@pytest.mark.parametrize("who", ["outsider", "annotator"])
@pytest.mark.parametrize("path", ["", "new/", "endpoints/", "prompts/", "runs/", "runs/new/"])
def test_other_users_see_none_of_it(client, cast, who, path):
    make_endpoint(cast.project)
    client.force_login(cast.outsider if who == "outsider" else cast.annotators[0].user)
    assert client.get(address(cast, path)).status_code == 404


def test_a_judge_of_another_project_is_not_there(client, cast):
    other = make_judge(make_project().project)
    assert client.get(address(cast, f"{other.pk}/")).status_code == 404


def test_more_judges_need_no_more_queries(client, cast, django_assert_max_num_queries):
    def queries():
        with django_assert_max_num_queries(20) as counted:
            client.get(address(cast))
        return len(counted)

    make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[0])
    one = queries()
    for _ in range(3):
        make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[0])
    assert queries() == one


# More parameters


MORE = {
    "temperature": "",
    "top_p": 0.9,
    "seed": 7,
    "reasoning_effort": "low",
    "stop": "END\n\n\\n##",
    "system_message": "You are strict.",
    "extra_body": '{"top_k": 20}',
}


def test_all_parameters_are_stored_and_redisplayed(client, cast):
    add(client, cast, **MORE)
    judge = Judge.objects.get()
    assert (judge.temperature, judge.top_p, judge.seed, judge.reasoning_effort) == (None, 0.9, 7, "low")
    assert (judge.stop, judge.system_message, judge.extra_body) == (
        ["END", "\n##"],
        "You are strict.",
        {"top_k": 20},
    )
    page = client.get(address(cast, f"{judge.pk}/")).content.decode()
    assert "END\n\\n##" in page
    assert "{&quot;top_k&quot;: 20}" in page
    assert "at 0" not in text_of(client.get(address(cast, "")))


def test_empty_request_fields_stay_empty(client, cast):
    make_endpoint(cast.project)
    pages = [client.get(address(cast, "new/")), add(client, cast, name="")]
    add(client, cast)
    pages.append(client.get(address(cast, f"{Judge.objects.get().pk}/")))
    for page in pages:
        (typed,) = re.findall(r'(?s)<textarea name="extra_body"[^>]*>(.*?)</textarea>', page.content.decode())
        assert typed.strip() == ""
        assert "<details>" in page.content.decode()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"top_p": 0}, "greater than or equal to"),
        ({"top_p": 1.1}, "less than or equal to 1"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"stop": "1\n2\n3\n4\n5"}, "You can enter up to four stop sequences."),
        ({"extra_body": "[1]"}, "Enter a JSON object, in braces."),
        ({"extra_body": "{"}, "Enter a valid JSON."),
        ({"extra_body": '{"stream": true}'}, "Concord sends stream itself; leave it out here."),
    ],
)
def test_unsendable_parameters_are_rejected_at_their_field(client, cast, fields, says):
    refused = add(client, cast, **fields)
    assert refused.status_code == 422
    assert says in text_of(refused)
    assert "<details open>" in refused.content.decode()
    assert not Judge.objects.exists()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"temperature": 0}, "Anthropic takes neither temperature nor top p nor seed"),
        ({"temperature": "", "score_from": "probabilities"}, "Anthropic gives no log-probabilities"),
        ({"temperature": "", "extra_body": '{"thinking": {}}'}, "Concord sends thinking itself"),
    ],
)
def test_judge_with_options_unsupported_by_its_interface_is_rejected(client, cast, fields, says):
    endpoint = make_endpoint(cast.project, dialect="anthropic")
    refused = add(client, cast, endpoint=endpoint.pk, **fields)
    assert refused.status_code == 422
    assert says in text_of(refused)
    assert not Judge.objects.exists()
    assert add(client, cast, endpoint=endpoint.pk, temperature="").status_code == 302


def test_dimensions_of_one_call_appear_in_order_and_are_redisplayed(client):
    cast = make_project(dimensions=("fluency", "coherence", "style"))
    client.force_login(cast.admin)
    several = {
        "template": "shipped:several",
        "asked_together": "Style, fluency",
        "call_order": "rotated",
    }
    assert add(client, cast, **several).status_code == 302
    judge = Judge.objects.get()
    assert judge.asked_together == [cast.dimensions[2].pk, cast.dimensions[0].pk]
    assert judge.call_order == "rotated"
    form = client.get(address(cast, f"{judge.pk}/")).context["form"]
    assert form["asked_together"].value() == "Style, Fluency"
    assert form.open_sections == {"several"}
    row = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/judges/{judge.pk}/").json()
    assert (row["asked_together"], row["call_order"]) == (["style", "fluency"], "rotated")
    changed = {**{name: row[name] for name in ("name", "endpoint", "model", "samples", "score_from")}}
    changed |= {"template": str(row["template"]), "temperature": 0, "asked_together": ["coherence", "style"]}
    row = ApiClient(cast.admin).put(f"projects/{cast.project.slug}/judges/{judge.pk}/", changed).json()
    assert (row["asked_together"], row["call_order"]) == (["coherence", "style"], "fixed")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"template": "shipped:several", "asked_together": "Mood"}, "There is no dimension “Mood”."),
        (
            {"template": "shipped:several", "asked_together": "fluency, Fluency"},
            "Name each dimension once.",
        ),
        ({"asked_together": "Fluency"}, "This prompt asks about one dimension a call"),
        ({"call_order": "rotated"}, "This prompt asks about one dimension a call"),
        (
            {"template": "shipped:several", "score_from": "probabilities"},
            "A reply gives several scores; read them from the reply’s text.",
        ),
    ],
)
def test_dimensions_that_cannot_share_a_call_are_rejected(client, cast, fields, says):
    reply = add(client, cast, **fields)
    assert reply.status_code == 422
    assert says in text_of(reply)
    assert not Judge.objects.exists()


@pytest.mark.parametrize(
    ("url", "has_answered", "expected"),
    [
        ("https://api.openai.com/v1", False, True),
        ("http://127.0.0.1:9/v1", False, False),
        ("http://127.0.0.1:9/v1", True, True),
    ],
)
def test_new_judge_starts_with_structured_output(client, cast, url, has_answered, expected):
    endpoint = make_endpoint(cast.project, url)
    if has_answered:
        judge = make_judge(cast.project, name="Earlier", endpoint=endpoint, structured=True)
        make_judgment(judge, cast.items[0], cast.dimensions[0])
    form = client.get(address(cast, "new/")).context["form"]
    assert (form["structured"].value(), form["asks_again"].value()) == (expected, True)
    values = {"name": "By API", "endpoint": endpoint.pk, "model": "m", "template": "shipped:rts"}
    api = ApiClient(cast.admin)
    assert api.post(f"projects/{cast.project.slug}/judges/", values).status_code == 201
    made = Judge.objects.get(name="By API")
    assert (made.structured, made.asks_again) == (expected, True)
    values |= {"name": "By probabilities", "score_from": "probabilities"}
    assert api.post(f"projects/{cast.project.slug}/judges/", values).status_code == 201
