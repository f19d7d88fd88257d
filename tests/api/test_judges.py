"""Judges are set up, runs planned and steered, judgments imported, and units routed over the API."""

import pytest

from judges.core.models import Judgment, Run
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgments, make_priced_endpoint
from tests.judges.provider import providing
from tests.judges.routing.project import judges_of, routing_project

pytestmark = pytest.mark.django_db

ENDPOINT = {
    "name": "Lab",
    "base_url": "http://127.0.0.1:9/v1",
    "timeout_seconds": 5,
    "calls_in_flight": 2,
    "input_price": 2,
    "output_price": 8,
}


def test_a_run_is_planned_started_paused_and_cancelled(django_capture_on_commit_callbacks):
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    endpoint = program.post(f"{home}endpoints/", ENDPOINT).json()
    judge = {
        "name": "J",
        "endpoint": endpoint["id"],
        "model": "m",
        "template": "shipped:rts",
        "score_from": "text",
        "samples": 1,
        "temperature": 0,
        "stop": ["END", "\n "],
        "extra_body": {"top_k": 20},
    }
    judge = program.post(f"{home}judges/", judge).json()
    assert (judge["method"], judge["endpoint"]) == ("rts", endpoint["id"])
    assert (judge["stop"], judge["extra_body"], judge["top_p"]) == (["END", "\n "], {"top_k": 20}, None)
    scope = {"judges": [judge["id"]], "dimensions": ["fluency"], "budget": 1.5}
    preview = program.post(f"{home}runs/preview/", scope).json()
    assert (preview["judgments"], preview["calls"]) == (4, 4)
    assert not Run.objects.exists()
    planned = program.post(f"{home}runs/", scope).json()
    assert (planned["run"]["status"], planned["planned"]) == ("planned", 4)
    address = f"{home}runs/{planned['run']['id']}/"
    statuses = [program.post(f"{address}{step}/").json()["run"]["status"] for step in ("start", "pause")]
    assert statuses == ["running", "paused"]
    assert program.put(f"{address}budget/", {"budget": None}).json()["run"]["budget"] is None
    assert program.post(f"{address}cancel/").json()["run"]["status"] == "cancelled"
    assert program.post(f"{address}start/").json()["code"] == "run_state"
    assert program.post(f"{address}fly/").status_code == 404
    assert [row["id"] for row in program.get(f"{home}runs/").json()["results"]] == [planned["run"]["id"]]


def test_returned_prices_and_budgets_are_accepted_as_input():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    endpoint = program.post(f"{home}endpoints/", {**ENDPOINT, "input_price": 0.15}).json()
    prices = {name: endpoint[name] for name in ("input_price", "output_price", "cached_price")}
    assert prices == {"input_price": "0.150000", "output_price": "8.000000", "cached_price": None}
    again = program.put(f"{home}endpoints/{endpoint['id']}/", {**ENDPOINT, **prices})
    assert again.json() == endpoint
    made = {"name": "J", "endpoint": endpoint["id"], "model": "m", "template": "shipped:rts", "samples": 1}
    judge = program.post(f"{home}judges/", {**made, "score_from": "text", "temperature": 0}).json()
    scope = {"judges": [judge["id"]], "dimensions": ["fluency"], "budget": 1.5}
    run = program.post(f"{home}runs/", scope).json()["run"]
    again = program.put(f"{home}runs/{run['id']}/budget/", {"budget": run["budget"]})
    assert (again.status_code, again.json()["run"]["budget"]) == (200, run["budget"])


def test_key_is_never_accepted_as_its_variable_name():
    cast = make_project()
    refused = ApiClient(cast.admin).post(
        f"projects/{cast.project.slug}/endpoints/", {**ENDPOINT, "key_variable": "sk-secret"}
    )
    assert refused.json()["fields"].keys() == {"key_variable"}


@pytest.fixture
def provider():
    with providing() as provider:
        yield provider


def test_an_endpoint_is_tested_with_one_call(provider):
    cast = make_project()
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/endpoints/{endpoint.pk}/test/"
    asks = {"model": "gpt-x", "message": "Reply with the word: ready"}
    trial = program.post(address, asks).json()
    assert (trial["text"], trial["problem"], trial["cost"]) == ("Score: 4", "", "0.00060000")
    assert trial["seconds"] > 0
    assert [each["model"] for each in provider.asked] == ["gpt-x"]
    provider.status, provider.error = 404, "The model gpt-x does not exist"
    told = program.post(address, asks).json()
    assert told["problem"].endswith("The model gpt-x does not exist")
    assert (told["text"], told["seconds"], told["cost"]) == ("", None, None)
    assert program.post(address, {"model": "", "message": ""}).json()["fields"].keys() == {"model", "message"}


def test_judgments_made_elsewhere_are_imported_all_or_none():
    cast = make_project()
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/judgments/"
    row = {"judge": "Elsewhere", "method": "rts", "system": "system-1", "dimension": "fluency", "value": 4}
    rows = [{**row, "document": f"product-{n}"} for n in (1, 2)]
    made = program.post(address, {"judgments": rows})
    assert made.json()["made"] == {"judges": 1, "judgments": 2}
    assert program.post(address, {"judgments": rows}).json()["already_there"]["judgments"] == 2
    refused = program.post(address, {"judgments": [{**rows[0], "sample": 1}, {**row, "document": "no"}]})
    assert (refused.status_code, refused.json()["code"]) == (422, "import_refused")
    assert [field.split(".")[:2] for field in refused.json()["fields"]] == [["judgments", "1"]]
    listed = ApiClient(cast.researcher).get(f"{address}?status=done&judge=Elsewhere").json()["results"]
    assert [(each["document"], each["value"]) for each in listed] == [("product-1", 4), ("product-2", 4)]
    assert Judgment.objects.count() == 2


def test_policy_routes_only_its_preview():
    cast = routing_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    rts, mcq = judges_of(cast)
    shown = program.get(f"{home}results/reliability/?rts={rts.pk}&mcq={mcq.pk}").json()
    assert [column["key"] for column in shown["sections"][0]["tables"][0]["columns"][1:]] == [
        dimension.key for dimension in cast.dimensions
    ]
    policy = {
        "name": "By R",
        "rts": rts.pk,
        "mcq": mcq.pk,
        "threshold": 0.4,
        "decided_by": "estimate",
        "audit_share": 0.5,
        "audit_least": 4,
        "audit": "random",
        "raters": 1,
        "coefficient": "spearman",
        "confidence_level": 0.95,
        "risk": 0.2,
    }
    made = program.post(f"{home}policies/", policy).json()
    address = f"{home}policies/{made['policy']['id']}/"
    stale = program.post(f"{address}route/", {"shown": "something else"})
    assert stale.json()["code"] == "routing_changed"
    routed = program.post(f"{address}route/", {"shown": made["digest"]}).json()
    assert routed["policy"]["status"] == "routed"
    assert program.get(f"{home}assignments/").json()["results"]
    assert program.post(f"{address}withdraw/", {"shown": "-"}).json()["policy"]["status"] == "withdrawn"


def test_judges_without_a_pair_have_no_indicator():
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgments(judge, cast, lambda *_unit: 3)
    refused = ApiClient(cast.researcher).get(f"projects/{cast.project.slug}/results/reliability/")
    assert (refused.status_code, refused.json()["code"]) == (422, "no_judges")
