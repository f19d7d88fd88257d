"""What an admin prepares and does about people over the API: gold, plans, roles, hand-over, the audit log."""

import pytest

from annotate.core.models import AssignmentPlan, GoldItem, Project
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


def test_gold_is_marked_described_and_unmarked_until_round_one_opens():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/gold/"
    marked = {"document": "product-1", "system": "system-1", "use": "practice"}
    made = program.post(home, marked).json()
    own = f"{home}{made['id']}/"
    right = {
        "values": [{"dimension": "fluency", "value": 4, "explanation": "No error."}],
        "explanation": "All.",
    }
    described = program.put(own, right).json()
    assert described == {**marked, "id": made["id"], **right}
    assert program.get(home).json()["results"] == [described]
    assert (
        program.put(own, {"values": [{"dimension": "fluency", "value": 9}]}).json()["code"] == "invalid_value"
    )
    assert program.put(own, {"values": [{"dimension": "style", "value": 3}]}).status_code == 404
    assert program.post(home, {**marked, "system": "nobody"}).json()["fields"].keys() == {"document"}
    assert program.put(f"{home}bar/", {"practice_bar": 80}).json() == {"practice_bar": 80}
    assert Project.objects.get(pk=cast.project.pk).practice_bar == 80
    opened(cast)
    assert program.send("DELETE", own).json()["code"] == "frozen"
    other = make_project()
    gold = GoldItem.objects.create(item=other.items[0], use=GoldItem.Use.HIDDEN)
    assert program.put(f"{home}{gold.pk}/", right).status_code == 404
    theirs = ApiClient(other.admin)
    assert theirs.send("DELETE", f"projects/{other.project.slug}/gold/{gold.pk}/").status_code == 204
    assert not GoldItem.objects.filter(pk=gold.pk).exists()


def test_a_plan_is_chosen_and_shown():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/plan/"
    assert program.get(home).json()["kind"] == "queue"
    chosen = {"kind": "sharing", "share": 20, "gold_every": 0, "repeat_every": 30}
    shown = {
        **chosen,
        "dealt_by": "documents",
        "work_order": "by_document",
        "dimension_order": "fixed",
    }
    assert program.put(home, chosen).json() == shown == program.get(home).json()
    mixed = program.put(home, {**chosen, "work_order": "mixed"})
    assert mixed.json()["work_order"] == "mixed"
    refused = program.put(home, {**chosen, "work_order": "backwards"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")
    assert program.put(home, {"kind": "listed"}).json()["fields"].keys() == {"kind"}
    assert AssignmentPlan.objects.get().kind == "sharing"


def test_a_role_changes_and_unfinished_work_is_handed_over():
    cast = make_project(raters_per_item=1)
    opened(cast)
    first, second = cast.annotators[:2]
    ApiClient(first.user).post(f"projects/{cast.project.slug}/work/")
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/people/"
    wrong = program.post(f"{home}{first.pk}/hand-over/", {"to": "nobody"})
    assert (wrong.status_code, wrong.json()["fields"].keys()) == (422, {"to"})
    handed = program.post(f"{home}{first.pk}/hand-over/", {"to": str(second.pk)}).json()
    assert handed == {"given": 4, "freed": 0, "begun": 0}
    changed = program.put(f"{home}{cast.annotators[2].pk}/role/", {"role": "researcher"}).json()
    assert changed["role"] == "researcher"
    assert program.put(f"{home}{first.pk}/role/", {"role": "king"}).status_code == 422


def test_the_audit_log_says_who_did_what():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    program.patch(home, {"raters_per_item": 2})
    acts = program.get(f"{home}audit/").json()["results"]
    (act,) = (act for act in acts if "raters_per_item" in (act["before"] or {}))
    assert (act["actor"], act["before"]["raters_per_item"]) == (cast.admin.email, 3)
    assert act["after"] == {"raters_per_item": 2}
