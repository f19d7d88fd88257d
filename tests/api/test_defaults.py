"""Missing fields get the initial values of the page, and errors list the choices."""

import pytest

from judges.core.policy_settings import POLICY_SETTING
from judges.routing.commands.certificates import draw_calibration
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.certified import calibrated_project, calibration_spec, rate_all_units
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.routing.project import routing_project

pytestmark = pytest.mark.django_db


def test_dimension_endpoint_judge_and_run_need_only_required_fields():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    made = program.post(f"{home}dimensions/", {"name": "Style", "definition": "How it reads."}).json()
    assert (made["scale_minimum"], made["scale_maximum"], made["measurement_level"]) == (1, 5, "interval")
    endpoint = program.post(f"{home}endpoints/", {"name": "Lab", "base_url": "http://127.0.0.1:9/v1"}).json()
    assert (endpoint["calls_in_flight"], endpoint["patience_minutes"], endpoint["has_key"]) == (16, 15, False)
    judge = program.post(f"{home}judges/", {"name": "J", "model": "m"}).json()
    assert (judge["endpoint"], judge["method"], judge["temperature"]) == (endpoint["id"], "rts", 0)
    several = program.post(f"{home}judges/", {"name": "G", "model": "m", "template": "shipped:g_eval"}).json()
    assert (several["method"], several["samples"]) == ("g_eval", 20)
    planned = program.post(f"{home}runs/", {}).json()
    assert planned["planned"] > 0
    assert program.post(f"{home}invitations/", {}).json()["role"] == "annotator"
    assert program.post(f"{home}exports/", {}).json()["format"] == "jsonl"


def test_a_policy_needs_nothing():
    cast = routing_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    made = program.post(f"{home}policies/", {})
    assert made.status_code == 201, made.json()
    policy = made.json()["policy"]
    usual = {name: setting.default for name, setting in POLICY_SETTING.items() if name != "raters"}
    assert {name: policy[name] for name in usual} == usual
    assert (policy["name"], policy["raters"]) == ("Policy 1", cast.project.raters_per_item)


def test_errors_list_the_choices():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    prompt = program.post(f"{home}prompts/", {"method": "likert", "name": "P", "text": "Rate."}).json()
    assert prompt["message"].startswith("method: choose one of analyse_rate, ")
    assert program.post(f"{home}prompts/", {}).json()["fields"]["method"] == prompt["fields"]["method"]
    template = program.post("projects/", {"name": "N", "template": "none"}).json()
    assert template["message"].startswith("template: choose one of opinion-summaries, ")
    judges = [make_judge(cast.project, endpoint=make_endpoint(cast.project)) for _ in range(2)]
    several = program.post(f"{home}judges/", {"name": "J", "model": "m"}).json()["message"]
    assert several.startswith(f"endpoint: choose one of {judges[0].endpoint_id} (")
    unknown = program.post(f"{home}runs/", {"judges": [judges[0].pk], "dimensions": ["fluncy"]}).json()
    assert unknown["message"] == "dimensions: choose one of fluency."


RATING = {"document": "product-1", "system": "system-1", "rater": "Ann", "dimension": "fluency", "value": 4}


def test_recorded_ratings_are_imported_once_all_or_none():
    cast = make_project(raters_per_item=2)
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/ratings/recorded/"
    rows = [RATING, {**RATING, "rater": "Ben", "value": 2}]
    refused = program.post(address, {"ratings": [*rows, {**RATING, "document": "product-2", "value": 9}]})
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["ratings.2.value"])
    made = program.post(address, {"ratings": rows}).json()
    assert made["made"] == {"raters": 2, "ratings": 2}
    assert made["opens_round_one"]
    again = program.post(address, {"ratings": rows}).json()
    assert (again["made"]["ratings"], again["already_there"]["ratings"]) == (0, 2)
    listed = program.get(f"projects/{cast.project.slug}/ratings/").json()["results"]
    assert sorted(each["value"] for each in listed) == [2, 4]
    other = program.post(address, {"ratings": [{**RATING, "value": 5}]}).json()
    assert "never overwritten" in other["message"]


def test_sample_is_created_certified_and_followed():
    cast = calibrated_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    plan = program.post(f"{home}certificates/preview/", {"risk": 0.3}).json()
    assert plan["refusal"] == ""
    assert program.post(f"{home}certificates/", {"shown": "older"}).json()["code"] == "calibration_changed"
    drawn = program.post(f"{home}certificates/", {"risk": 0.3, "shown": plan["digest"]}).json()
    assert drawn["calibration"]["name"] == "Calibration 1"
    assert sum(each["drawn"] for each in drawn["dimensions"]) > 0
    own = f"{home}certificates/{drawn['calibration']['id']}/"
    assert program.post(f"{own}fly/").status_code == 404
    assert program.post(f"{own}withdraw/").json()["calibration"]["status"] == "withdrawn"


def test_a_policy_follows_certificates():
    cast = calibrated_project()
    rate_all_units(cast)
    calibration = draw_calibration(project=cast.project, spec=calibration_spec(cast), by=cast.admin)
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    own = f"{home}certificates/{calibration.pk}/"
    assert program.post(f"{own}compute/").json()["calibration"]["status"] == "certified"
    assert program.post(f"{own}compute/").json()["calibration"]["status"] == "certified"
    made = program.post(f"{own}policy/", {"name": "Certified"}).json()
    assert (made["policy"]["name"], made["policy"]["rule"]) == ("Certified", "certificate")
    other = make_project()
    assert ApiClient(other.admin).post(f"{own}policy/", {}).status_code == 404


def test_omitted_dispute_rules_stay():
    cast = make_project()
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/disputes/rules/"
    standing = program.get(address).json()
    changed = program.put(address, {"threshold": 3}).json()
    assert (changed["threshold"], changed["tolerance"]) == (3, standing["tolerance"])


def test_update_keeps_omitted_fields_that_have_a_default():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    style = {"name": "Style", "definition": "How it reads."}
    program.post(f"{home}dimensions/", {**style, "scale_maximum": 7, "measurement_level": "ordinal"})
    changed = program.put(f"{home}dimensions/style/", {**style, "definition": "Otherwise."}).json()
    assert (changed["scale_maximum"], changed["measurement_level"]) == (7, "ordinal")
    lab = {"name": "Lab", "base_url": "http://127.0.0.1:9/v1"}
    endpoint = program.post(f"{home}endpoints/", {**lab, "timeout_seconds": 5, "resume_hours": 3}).json()
    changed = program.put(f"{home}endpoints/{endpoint['id']}/", {**lab, "name": "Laboratory"}).json()
    assert (changed["timeout_seconds"], changed["resume_hours"]) == (5, 3)
    own = {"name": "J", "model": "m", "template": "shipped:mcq", "temperature": 0.5}
    judge = program.post(f"{home}judges/", own).json()
    changed = program.put(f"{home}judges/{judge['id']}/", {"name": "K", "model": "m"}).json()
    assert {**changed, "name": "J"} == judge
