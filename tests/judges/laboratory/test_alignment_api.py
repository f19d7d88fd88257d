"""All steps of learning, by a program."""

import pytest

from annotate.core.jobs import run_job
from judges.core.models import Drafting
from tests.api.client import ApiClient
from tests.judges.laboratory.rumours import CLARIFICATION, judge_all

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_program_takes_every_step(cast, judge):
    judge_all(cast, judge)
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}"
    none = program.get(f"{home}/development/").json()
    assert (none["teach"], none["select"], none["most"], none["advised"]) == (0, 0, 19, 5)
    parts = {"teach": 8, "select": 4}
    assert program.post(f"{home}/development/", parts).json()["held_out"] == 8
    assert program.post(f"{home}/development/", parts).json()["code"] == "not_ready"
    assert program.send("DELETE", f"{home}/development/").status_code == 204
    assert program.post(f"{home}/development/", parts).json()["in_use"] == ""
    whose = {"judge": judge.pk, "dimension": "fluency"}
    examples = program.post(f"{home}/proposals/examples/", {**whose, "count": 2}).json()
    assert (examples["kind"], len(examples["units"])) == ("examples", 2)
    pool = program.post(f"{home}/proposals/examples/", {**whose, "count": 2, "nearest": True}).json()
    assert pool["text"].startswith("{{ nearest_examples: 2 }}\n--- ")

    drafting = program.post(
        f"{home}/draftings/", {**whose, "draft": "clarification", "count": 3, "drafter": judge.pk}
    ).json()
    assert (drafting["drafting"]["status"], drafting["calls_left"]) == ("planned", 1)
    assert float(drafting["cost_left"]) > 0
    address = f"{home}/draftings/{drafting['drafting']['id']}/"
    assert program.post(f"{address}start/", {"budget": 0.5}).json()["drafting"]["budget"] == "0.5000"
    run_job("drafting", Drafting.objects.get().pk)
    assert program.get(address).json()["done"] == 1
    (number,) = program.get(address).json()["proposals"]

    one = f"{home}/proposals/{number}/"
    assert program.get(one).json()["text"] == CLARIFICATION
    assert program.patch(one, {"text": f"{CLARIFICATION} Always."}).json()["text"].endswith("Always.")
    own = {**whose, "kind": "wording", "text": "Rate it."}
    assert program.post(f"{home}/proposals/", own).json()["code"] == "invalid_value"
    own = program.post(f"{home}/proposals/", {**own, "kind": "clarification", "text": "Be fair."}).json()

    wanted = {"proposals": [number, own["id"]], "most_candidates": 2, "budget": 1}
    search = program.post(f"{home}/searches/", wanted).json()
    assert search["search"]["stages"] == [[2, 4]]
    assert [each["parts"] for each in search["candidates"]] == [[number], [own["id"]]]
    address = f"{home}/searches/{search['search']['id']}/"
    started = program.post(f"{address}start/").json()
    assert (started["search"]["status"], started["search"]["budget"]) == ("running", "1.0000")
    assert all(each["judge"] for each in started["candidates"])
    assert program.post(f"{address}cancel/").json()["search"]["status"] == "cancelled"
    assert program.get(f"{home}/searches/").json()["results"][0]["status"] == "cancelled"

    accepted = program.post(f"{one}accept/", {"text": CLARIFICATION}).json()
    assert (accepted["status"], accepted["text"]) == ("accepted", CLARIFICATION)
    assert accepted["candidate"]
    assert accepted["decided_at"]
    assert program.post(f"{one}send/", {"note": "From disputes."}).json()["guideline_version"] == 2
    dismissed = program.post(f"{home}/proposals/{own['id']}/dismiss/").json()
    assert dismissed["status"] == "dismissed"
    assert program.post(f"{one}burn/").status_code == 404
    assert len(program.get(f"{home}/proposals/").json()["results"]) == 4


def test_readers_read_and_change_nothing(cast, judge):
    reader, home = ApiClient(cast.researcher), f"projects/{cast.project.slug}"
    assert reader.get(f"{home}/proposals/").json()["results"] == []
    assert reader.post(f"{home}/development/", {"teach": 1, "select": 1}).status_code in (403, 404)
    assert ApiClient(cast.outsider).get(f"{home}/searches/").status_code == 404
