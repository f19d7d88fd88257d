from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from annotate.core.outbound import host_of
from judges.core.models import Endpoint
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_permit, make_priced_endpoint
from tests.judges.pages import HTMX, address, html_of, text_of

pytestmark = pytest.mark.django_db

ENTERED = {
    "name": "OpenAI",
    "base_url": "https://api.openai.com/v1",
    "key_variable": "OPENAI_API_KEY",
    "input_price": "0.15",
    "output_price": "0.6",
    "requests_per_minute": "500",
    "tokens_per_minute": "",
    "calls_in_flight": "16",
    "timeout_seconds": "60",
}


@pytest.fixture
def cast(client, settings):
    settings.ENVIRONMENT_KEYS = (make_permit("OPENAI_API_KEY", "https://api.openai.com/v1"),)
    cast = make_project()
    client.force_login(cast.admin)
    return cast


def add(client, cast, **changes):
    return client.post(address(cast, "endpoints/new/"), {**ENTERED, **changes})


def try_out(client, cast, endpoint, **headers):
    sent = {"model": "gpt-x", "message": "Reply with the word: ready"}
    return client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), sent, **headers)


def test_an_admin_adds_an_endpoint_and_finds_it_in_the_list(client, cast):
    reply = add(client, cast)
    made = Endpoint.objects.get()
    assert reply.url == address(cast, f"endpoints/{made.pk}/")
    assert (made.project, made.key_variable, made.input_price) == (
        cast.project,
        "OPENAI_API_KEY",
        Decimal("0.15"),
    )
    assert made.tokens_per_minute is None
    listed = text_of(client.get(address(cast, "endpoints/")))
    assert "0.15 USD in, 0.6 USD out for a million tokens · 16 calls at a time" in listed


def test_endpoint_without_prices_shows_them_as_unknown(client, cast):
    make_endpoint(cast.project)
    assert "prices by model" in text_of(client.get(address(cast, "endpoints/")))


def test_an_admin_changes_an_endpoint(client, cast):
    endpoint = make_endpoint(cast.project)
    client.post(address(cast, f"endpoints/{endpoint.pk}/"), {**ENTERED, "name": "Azure"})
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.requests_per_minute) == ("Azure", 500)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": ""}, "This field is required."),
        ({"base_url": "api.openai.com"}, "Enter a valid URL"),
        ({"base_url": "ftp://example.org/v1"}, "Enter a valid URL"),
        ({"base_url": "http://[1/v1"}, "Enter a valid URL"),
        ({"base_url": "https://someone:secret@example.org/v1"}, "Leave user name, password and query out"),
        ({"base_url": "https://example.org/v1?key=secret"}, "Leave user name, password and query out"),
        ({"key_variable": "CONCORD_SECRET_KEY"}, "must be that of a variable and end in _API_KEY"),
        ({"key_variable": "DATABASE_URL"}, "must be that of a variable and end in _API_KEY"),
        ({"key_variable": "sk-1234567890"}, "must be that of a variable and end in _API_KEY"),
        ({"input_price": "-1"}, "greater than or equal to 0"),
        ({"calls_in_flight": "0"}, "greater than or equal to 1"),
    ],
)
def test_invalid_value_is_rejected_at_its_field(client, cast, changes, says):
    reply = add(client, cast, **changes)
    assert reply.status_code == 422
    assert says in text_of(reply)
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("url", ["http://localhost:8090/v1", "http://vllm:8000/v1", "http://[::1]:8000/v1"])
def test_local_servers_have_urls_too(client, cast, url, settings):
    settings.LOCAL_ENDPOINTS = (host_of(url),)
    assert add(client, cast, base_url=f"{url}/", key_variable="").status_code == 302
    assert Endpoint.objects.get().base_url == url


def test_call_url_is_cut_to_the_base_of_the_interface(client, cast):
    add(client, cast, base_url="https://api.openai.com/v1/chat/completions")
    assert Endpoint.objects.get().base_url == "https://api.openai.com/v1"


def test_two_endpoints_of_a_project_have_different_names(client, cast):
    make_endpoint(cast.project, name="OpenAI")
    reply = add(client, cast)
    assert reply.status_code == 422
    assert "The project has an endpoint OpenAI already; choose another name." in text_of(reply)


def test_the_database_holds_no_other_variables_either(cast):
    with pytest.raises(IntegrityError), transaction.atomic():
        make_endpoint(cast.project, key_variable="DATABASE_URL")


# The test


def test_a_test_shows_reply_time_tokens_and_cost(client, cast, provider):
    provider.reply = "ready"
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    shown = text_of(try_out(client, cast, endpoint))
    assert "100 tokens in, 50 out, cost 0.00060 USD." in shown
    assert "USD. ready" in shown
    assert len(provider.asked) == 1
    assert provider.asked[0]["messages"][0]["content"] == "Reply with the word: ready"


def test_the_cost_of_a_test_without_prices_is_unknown(client, cast, provider):
    endpoint = make_endpoint(cast.project, provider.base_url)
    assert "cost unknown." in text_of(try_out(client, cast, endpoint))


def test_the_key_comes_from_the_variable(client, cast, provider, monkeypatch, settings):
    settings.ENVIRONMENT_KEYS = (make_permit("SOME_API_KEY", provider.base_url),)
    monkeypatch.setenv("SOME_API_KEY", "the key")
    try_out(client, cast, make_endpoint(cast.project, provider.base_url, key_variable="SOME_API_KEY"))
    assert provider.keys == ["the key"]


def test_error_names_the_unset_variable(client, cast, provider, settings):
    settings.ENVIRONMENT_KEYS = (make_permit("MISSING_API_KEY", provider.base_url),)
    endpoint = make_endpoint(cast.project, provider.base_url, key_variable="MISSING_API_KEY")
    assert "The environment variable MISSING_API_KEY is not set" in text_of(try_out(client, cast, endpoint))
    assert not provider.asked


def test_provider_error_is_visible(client, cast, provider):
    provider.status, provider.error = 404, "The model gpt-x does not exist"
    endpoint = make_endpoint(cast.project, provider.base_url)
    shown = text_of(try_out(client, cast, endpoint))
    assert "The server does not know the model or address: The model gpt-x does not exist" in shown


def test_missing_server_is_reported(client, cast):
    endpoint = make_endpoint(cast.project, "http://127.0.0.1:9/v1")
    assert "No OpenAI-compatible server answers at http://127.0.0.1:9/v1" in text_of(
        try_out(client, cast, endpoint)
    )


def test_test_without_a_model_sends_no_request(client, cast, provider):
    endpoint = make_endpoint(cast.project, provider.base_url)
    reply = client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), {"model": "", "message": "Hm"})
    assert reply.status_code == 422
    assert "This field is required." in text_of(reply)
    assert not provider.asked


def test_the_models_of_a_server_are_suggested(client, cast, provider):
    provider.models = ["small", "large"]
    endpoint = make_endpoint(cast.project, provider.base_url)
    sent = {"model": "", "message": "Say yes.", "list": "1"}
    shown = client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), sent)
    assert shown.status_code == 200
    html = html_of(shown)
    found = [html.index(f'<option value="{name}">') for name in ("large", "small")]
    assert found == sorted(found)
    assert 'list="found-models"' in html
    assert "Say yes." in html
    assert "The server has 2 models." in text_of(shown)
    assert not provider.asked


@pytest.mark.parametrize("body", ["<html>", "[]", '{"data": 1}', '{"models": []}'])
def test_another_server_lists_no_models(client, cast, provider, body):
    provider.body = body
    endpoint = make_endpoint(cast.project, provider.base_url)
    shown = client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), {"list": "1"})
    assert f"No OpenAI-compatible server answers at {provider.base_url}" in text_of(shown)


def test_server_without_models_is_reported(client, cast, provider):
    endpoint = make_endpoint(cast.project, provider.base_url)
    shown = client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), {"list": "1"})
    assert "The server lists no models. Enter the name of one yourself." in text_of(shown)


def test_urls_of_usual_servers_are_suggested(client, cast):
    html = html_of(client.get(address(cast, "endpoints/new/")))
    assert 'list="known-servers"' in html
    assert '<option value="http://127.0.0.1:11434/v1">Ollama</option>' in html


def test_the_fragment_of_a_test_is_its_part_of_the_page(client, cast, provider):
    provider.status, provider.error = 404, "No such model"
    endpoint = make_endpoint(cast.project, provider.base_url)
    fragment = html_of(try_out(client, cast, endpoint, headers=HTMX))
    assert fragment.startswith("<form")
    assert fragment in html_of(try_out(client, cast, endpoint))


# Access and queries


def test_a_researcher_reads_the_list_and_changes_nothing(client, cast):
    endpoint = make_endpoint(cast.project)
    client.force_login(cast.researcher)
    listed = client.get(address(cast, "endpoints/")).content.decode()
    assert endpoint.name in listed
    assert "Add an endpoint" not in listed
    for path in ("new/", f"{endpoint.pk}/"):
        assert client.get(address(cast, f"endpoints/{path}")).status_code == 404
    assert try_out(client, cast, endpoint).status_code == 404


def test_an_endpoint_of_another_project_is_not_there(client, cast):
    other = make_endpoint(make_project().project)
    assert client.get(address(cast, f"endpoints/{other.pk}/")).status_code == 404
    assert try_out(client, cast, other).status_code == 404


def test_more_endpoints_need_no_more_queries(client, cast, django_assert_max_num_queries):
    def queries():
        with django_assert_max_num_queries(20) as counted:
            client.get(address(cast, "endpoints/"))
        return len(counted)

    make_judge(cast.project)
    one = queries()
    for _ in range(3):
        make_judge(cast.project)
    assert queries() == one


# Interfaces


@pytest.mark.parametrize(
    ("dialect", "url"),
    [
        ("anthropic", "https://api.anthropic.com/v1"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
    ],
)
def test_an_interface_brings_its_usual_url(client, cast, dialect, url):
    form = html_of(client.get(address(cast, "endpoints/new/")))
    assert url in form
    assert add(client, cast, dialect=dialect, base_url="", key_variable="").status_code == 302
    made = Endpoint.objects.get()
    assert (made.dialect, made.base_url) == (dialect, url)


def test_an_endpoint_without_an_interface_is_openai_compatible_and_needs_a_url(client, cast):
    add(client, cast)
    assert Endpoint.objects.get().dialect == "openai"
    refused = add(client, cast, name="Other", base_url="")
    assert refused.status_code == 422
    assert "This field is required." in text_of(refused)


def test_anthropic_gives_no_samples_in_one_call(client, cast):
    changes = {"dialect": "anthropic", "base_url": "", "key_variable": "", "samples_in_one_call": "on"}
    refused = add(client, cast, **changes)
    assert refused.status_code == 422
    assert "Anthropic Messages gives one reply a call." in text_of(refused)
    assert not Endpoint.objects.exists()


def test_the_api_takes_and_shows_the_interface(cast):
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/endpoints/"
    made = program.post(home, {"name": "Lab", "dialect": "gemini", "base_url": "http://127.0.0.1:9/v1beta"})
    assert (made.status_code, made.json()["dialect"]) == (201, "gemini")
    wrong = program.post(home, {"name": "Other", "dialect": "latin", "base_url": "http://127.0.0.1:9/v1"})
    assert wrong.status_code == 422
    assert wrong.json()["fields"].keys() == {"dialect"}
