"""A project from its beginning to its end over the API: by an admin, and by raters that are programs."""

import pytest
from django.core import mail

from annotate.core.jobs import run_job
from annotate.core.models import AuditEntry, Dispute, Invitation, Item, Membership, Project, Rating, Role
from tests.api.client import ApiClient
from tests.factories import make_member, make_project, make_user
from tests.rating.rounds import discussed, opened

pytestmark = pytest.mark.django_db

FLUENCY = {
    "name": "Fluency",
    "definition": "How well it reads.",
    "scale_minimum": 1,
    "scale_maximum": 5,
    "measurement_level": "interval",
    "points": [{"value": 1, "label": "bad"}, {"value": 5, "label": "good", "description": "No error."}],
}


def test_programs_make_a_project_rate_discuss_and_settle_it():
    user = make_user()
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    admin = ApiClient(user, "read", "write")
    slug = admin.post("projects/", {"name": "Boots", "template": ""}).json()["slug"]
    home = f"projects/{slug}/"
    admin.patch(home, {"raters_per_item": 2})
    made = admin.post(f"{home}dimensions/", FLUENCY).json()
    assert (made["key"], made["points"][1]["description"]) == ("fluency", "No error.")
    parts = [{"label": "Review 1", "text": "Great boots."}, {"label": "Review 2", "text": "Too small."}]
    twice = [parts[0], {**parts[1], "label": "Review 1"}]
    rejected = admin.post(f"{home}documents/", {"documents": [{"document": "boots", "parts": twice}]})
    assert (rejected.status_code, "Two parts have the label “Review 1”" in rejected.content.decode()) == (
        422,
        True,
    )
    admin.post(f"{home}documents/", {"documents": [{"document": "boots", "parts": parts}]})
    items = [{"document": "boots", "system": name, "text": f"By {name}."} for name in ("a", "b")]
    made = admin.post(f"{home}items/", {"items": items}).json()["made"]
    assert (made["systems"], made["items"]) == (2, 2)

    project = Project.objects.get(slug=slug)
    assert [part["label"] for part in project.documents.get().parts] == ["Review 1", "Review 2"]
    raters = [ApiClient(make_member(project).user, "rate") for _ in range(2)]
    assert admin.post(f"{home}rounds/open-1/").json()["status"] == "open"
    for rater, value in zip(raters, (1, 5), strict=True):
        assert rater.post(f"{home}work/").json() == {"taken": 2}
        for row in rater.get(f"{home}work/").json()["results"]:
            item = rater.get(f"{home}work/{row['position']}/").json()
            assert item["parts"] == parts
            saved = rater.put(
                f"{home}work/{row['position']}/fluency/", {"value": value, "comment": "So."}
            ).json()
            assert saved == {"revision": 1, "assignment_complete": True}
    admin.post(f"{home}rounds/close-1/")
    admin.post(f"{home}rounds/open-2/")

    rater, other = raters
    first, second = (row["number"] for row in rater.get(f"{home}disputes/").json()["results"])
    rater.post(f"{home}disputes/{first}/thread/", {"text": "I see no error."})
    answered = rater.post(
        f"{home}disputes/{first}/answer/", {"value": 5, "comment": "You are right.", "revision": 0}
    ).json()
    assert (answered["status"], answered["thread"][0]["text"]) == ("settled", "I see no error.")
    decided = admin.post(f"{home}disputes/{second}/decision/", {"value": 3, "note": "Between."}).json()
    assert (decided["status"], decided["adjudicated_value"]) == ("adjudicated", 3)
    assert other.post(f"{home}disputes/{second}/answer/", {"value": 3, "revision": 0}).status_code == 409
    assert admin.post(f"{home}rounds/close-2/").json()["status"] == "closed"
    acted = AuditEntry.objects.filter(project=project).values_list("actor", flat=True)
    assert set(acted) >= {user.pk}


def test_one_rejected_row_imports_nothing_and_is_listed():
    cast = make_project()
    items = [
        {"document": "product-1", "system": "new", "text": "Fine."},
        {"document": "nowhere", "system": "new", "text": "Fine."},
    ]
    refused = ApiClient(cast.admin).post(f"projects/{cast.project.slug}/items/", {"items": items})
    assert (refused.status_code, refused.json()["code"]) == (422, "import_refused")
    assert [field.split(".")[:2] for field in refused.json()["fields"]] == [["items", "1"]]
    assert Item.objects.filter(document__project=cast.project).count() == 4
    assert not cast.project.imports.exists()


def test_frozen_settings_are_rejected_and_wording_needs_a_note():
    cast = make_project()
    opened(cast)
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    assert program.patch(home, {"raters_per_item": 2}).json()["code"] == "frozen"
    assert program.patch(home, {"guidelines": "Read twice."}).status_code == 422
    changed = program.patch(home, {"guidelines": "Read twice.", "note": "It was missed."})
    assert changed.json()["guidelines"] == "Read twice."
    assert program.post(f"{home}dimensions/", FLUENCY).json()["code"] == "frozen"


def test_a_dimension_is_changed_and_removed():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/dimensions/"
    changed = program.put(f"{home}fluency/", {**FLUENCY, "name": "Style"}).json()
    assert changed["key"] == "style"
    refused = program.put(f"{home}style/", {**FLUENCY, "scale_maximum": 1})
    assert refused.json()["fields"] == {"scale_maximum": "The highest value must be above the lowest."}
    assert program.send("DELETE", f"{home}style/").status_code == 204
    assert not cast.project.dimensions.exists()


def test_several_people_are_invited_at_once_and_members_left_alone(django_capture_on_commit_callbacks):
    cast = make_project()
    program, member = ApiClient(cast.admin), cast.annotators[0].user
    assert member is not None
    path = f"projects/{cast.project.slug}/invitations/several/"
    sent = {"role": "annotator", "addresses": ["ann@example.org", member.email], "note": "Fifty texts."}
    with django_capture_on_commit_callbacks() as mails:
        answer = program.post(path, {**sent, "send": True})
    assert (answer.status_code, len(mails)) == (201, 1)
    found = answer.json()
    assert [each["email"] for each in found["made"]] == ["ann@example.org"]
    assert (found["members"], found["waiting"]) == ([member.email], [])
    run_job("invitation", found["made"][0]["id"])
    assert [message.to for message in mail.outbox] == [["ann@example.org"]]
    assert program.post(path, sent).json()["waiting"] == ["ann@example.org"]
    refused = program.post(path, {**sent, "addresses": ["nobody"]})
    assert refused.status_code == 422
    assert "nobody" in str(refused.json())


def test_email_mailed_within_a_day_does_not_stop_other_invitations():
    cast = make_project()
    program, path = ApiClient(cast.admin), f"projects/{cast.project.slug}/invitations/several/"
    sent = {"role": "annotator", "addresses": ["ann@example.org"], "send": True}
    assert program.post(path, sent).json()["unmailed"] == []
    both = ["ann@example.org", "bo@example.org"]
    answer = program.post(path, {**sent, "role": "researcher", "addresses": both})
    found = answer.json()
    assert (answer.status_code, found["unmailed"]) == (201, ["ann@example.org"])
    assert [each["email"] for each in found["made"]] == both
    offers = Invitation.objects.filter(project=cast.project, role=Role.RESEARCHER)
    assert [offer.email for offer in offers.exclude(mail_due_at=None)] == ["bo@example.org"]


def test_invitation_is_created_and_withdrawn_and_a_membership_closed():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    made = program.post(f"{home}invitations/", {"role": "annotator", "email": "new@example.org"}).json()
    (pending,) = program.get(f"{home}invitations/").json()
    assert pending["link"].startswith("http://testserver/invitations/")
    assert program.send("DELETE", f"{home}invitations/{made['id']}/").status_code == 204
    assert program.get(f"{home}invitations/").json() == []
    membership = Membership.objects.filter(project=cast.project, role=Role.ANNOTATOR)[0]
    assert program.patch(f"{home}people/{membership.pk}/", {"active": False}).json()["active"] is False


def test_own_work_comes_in_pages_by_position():
    cast = make_project()
    opened(cast)
    rater, home = ApiClient(cast.annotators[0].user), f"projects/{cast.project.slug}/work/"
    assert rater.get(home).json()["results"] == []
    rater.post(home)
    first = rater.get(f"{home}?limit=3").json()
    assert [row["position"] for row in first["results"]] == [1, 2, 3]
    last = rater.get(first["next"].partition("/api/v1/")[2]).json()
    assert ([row["position"] for row in last["results"]], last["next"]) == ([4], None)


def test_rating_off_its_scale_and_a_contradiction_are_rejected():
    cast = make_project()
    opened(cast)
    rater, home = ApiClient(cast.annotators[0].user), f"projects/{cast.project.slug}/work/"
    rater.post(home)
    assert rater.put(f"{home}1/fluency/", {"value": 9}).json()["code"] == "invalid_value"
    assert rater.put(f"{home}1/fluency/", {"value": 3, "cannot_rate": True}).status_code == 422
    evidence = [{"part": 0, "start": 0, "end": 4}]
    assert rater.put(f"{home}1/fluency/", {"value": 3, "evidence": evidence}).status_code == 200
    assert Rating.objects.get().evidence == evidence
    assert rater.put(f"{home}1/fluency/", {"cannot_rate": True, "comment": "Cut off."}).status_code == 200
    assert rater.put(f"{home}99/fluency/", {"value": 3}).status_code == 404


def test_answer_to_an_outdated_state_is_rejected():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    rater = ApiClient(cast.annotators[0].user)
    address = f"projects/{cast.project.slug}/disputes/{dispute.number}/answer/"
    assert rater.post(address, {"value": 2, "revision": 0}).status_code == 200
    assert rater.post(address, {"value": 4, "revision": 0}).json()["code"] == "changed_elsewhere"
    assert Dispute.objects.get().status == "open"
    last = ApiClient(cast.annotators[2].user)
    assert (
        last.post(address, {"value": 3, "revision": 0, "seen_status": "open"}).json()["status"] == "settled"
    )
    refused = rater.post(address, {"value": 1, "revision": 1, "seen_status": "open"})
    assert refused.json()["code"] == "changed_elsewhere"
    assert (
        rater.post(address, {"value": 1, "revision": 1, "seen_status": "settled"}).json()["status"] == "open"
    )
