"""Rules of disputes, nudges, mails of invitations and templates over the API."""

import pytest
from django.core import mail

from annotate.core.jobs import run_job
from annotate.core.models import Invitation, Nudge, Role, SavedTemplate
from tests.api.client import ApiClient
from tests.factories import make_member, make_project
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def test_rules_of_disputes_are_read_and_changed_until_round_one_is_closed():
    cast = make_project()
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/disputes/rules/"
    assert program.get(address).json()["dimensions"][0]["would_open"] is None
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    own = {"dimension": "fluency", "threshold": 3, "tolerance": None}
    changed = program.put(address, {"threshold": 2, "tolerance": 1, "dimensions": [own]}).json()
    (rule,) = (each for each in changed["dimensions"] if each["dimension"] == "fluency")
    assert (rule["threshold"], rule["in_force"]) == (3, {"threshold": 3, "tolerance": 1})
    assert {"threshold": 3, "disputes": 1} in rule["would_open"]
    assert program.get(address).json() == changed
    wrong = program.put(address, {"threshold": 2, "tolerance": 1, "dimensions": [{**own, "threshold": 9}]})
    assert (wrong.status_code, wrong.json()["fields"].keys()) == (422, {"dimensions.0.threshold"})
    wrong = program.put(address, {"threshold": 2, "tolerance": 1, "dimensions": [{"dimension": "style"}]})
    assert (wrong.status_code, wrong.json()["fields"].keys()) == (422, {"dimensions.0.dimension"})
    back = program.put(address, {"threshold": 2, "tolerance": 1}).json()
    assert [each["threshold"] for each in back["dimensions"]] == [None] * len(back["dimensions"])


def test_admin_with_ratings_sees_no_threshold_preview():
    cast = make_project()
    opened(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    rules = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/disputes/rules/").json()
    assert {each["would_open"] for each in rules["dimensions"]} == {None}


def test_rules_stay_once_round_one_is_closed():
    cast = make_project()
    discussed(cast, 1, 3, 5)
    address = f"projects/{cast.project.slug}/disputes/rules/"
    assert ApiClient(cast.admin).put(address, {"threshold": 3, "tolerance": 1}).json()["code"] == "frozen"


def test_raters_are_nudged_once_a_day(django_capture_on_commit_callbacks):
    cast = make_project()
    program, address = ApiClient(cast.admin), f"projects/{cast.project.slug}/disputes/nudges/"
    assert program.post(address).json()["code"] == "not_ready"
    discussed(cast, 1, 3, 5)
    assert program.post(address, {"dimension": "style"}).json()["now"] == []
    with django_capture_on_commit_callbacks() as mails:
        first = program.post(address, {"dimension": "fluency"}, key="nudge-1").json()
        assert program.post(address, {"dimension": "fluency"}, key="nudge-1").json() == first
    assert {each["id"] for each in first["now"]} == {cast.annotators[0].pk, cast.annotators[2].pk}
    again = program.post(address).json()
    assert (again["now"], again["already"]) == ([], first["now"])
    assert Nudge.objects.count() == 2 == len(mails)


def test_invitation_is_mailed_no_more_than_once_a_day(django_capture_on_commit_callbacks):
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/invitations/"
    made = program.post(home, {"role": "annotator", "email": "new@example.org"}).json()
    address = f"{home}{made['id']}/mail/"
    with django_capture_on_commit_callbacks() as mails:
        assert program.post(address).json() == made
    assert len(mails) == 1
    for _ in range(2):
        run_job("invitation", made["id"])
    (sent,) = mail.outbox
    (pending,) = program.get(home).json()
    assert (sent.to, pending["invitation"]["sent_at"] is None) == (["new@example.org"], False)
    assert pending["link"].removeprefix("http") in sent.body
    assert program.post(address).json()["code"] == "not_ready"
    same = program.post(home, {"role": "researcher", "email": "New@example.org"}).json()
    run_job("invitation", same["id"])
    assert len(mail.outbox) == 1
    nobody = program.post(home, {"role": "annotator"}).json()
    assert program.post(f"{home}{nobody['id']}/mail/").json()["code"] == "invalid_value"
    program.send("DELETE", f"{home}{made['id']}/")
    assert program.post(address).json()["code"] == "invitation_unusable"
    assert Invitation.objects.get(pk=nobody["id"]).sent_at is None


def test_project_is_saved_as_a_template_for_another_project():
    cast = make_project()
    program = ApiClient(cast.admin)
    saved = program.post(f"projects/{cast.project.slug}/template/").json()
    assert program.post(f"projects/{cast.project.slug}/template/").json() == saved
    assert SavedTemplate.objects.get().key == saved["key"]
    listed = program.get("templates/").json()
    assert listed[0] == saved
    assert {"key": "opinion-summaries", "saved_at": None}.items() <= listed[1].items()
    begun = program.post("projects/", {"name": "Again", "template": saved["key"]}).json()
    dimensions = program.get(f"projects/{begun['slug']}/dimensions/").json()
    assert [each["key"] for each in dimensions] == [each.key for each in cast.dimensions]
    assert ApiClient(cast.annotators[0].user).get("templates/").json() == listed[1:]
