"""Webhooks over the API: a secret is answered once, and nowhere kept."""

import pytest

from annotate.core.models import KeptAnswer, Webhook
from tests.api.client import ApiClient
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_a_program_adds_changes_tries_and_removes_a_webhook():
    cast = make_project()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/webhooks/"
    wanted = {"url": "https://example.org/concord", "events": ["export.ready"]}
    made = program.post(home, wanted, key="once").json()
    assert made["secret"].startswith("whsec_")
    again = program.post(home, wanted, key="once").json()
    assert again == {**made, "secret": ""}
    assert made["secret"] not in KeptAnswer.objects.get().content
    (listed,) = program.get(home).json()["results"]
    assert "secret" not in listed
    own = f"{home}{made['id']}/"
    changed = program.put(own, {**wanted, "events": ["round.closed", "run.finished"]}).json()
    assert changed["events"] == ["round.closed", "run.finished"]
    assert program.put(own, {**wanted, "events": ["nothing"]}).json()["fields"].keys() == {"events"}
    refused = program.put(own, {**wanted, "url": "http://10.0.0.1/"})
    assert (refused.status_code, refused.json()["fields"].keys()) == (422, {"url"})
    assert program.post(f"{own}secret/").json()["secret"] not in ("", made["secret"])
    tried = program.post(f"{own}deliveries/").json()
    (delivery,) = program.get(f"{own}deliveries/").json()["results"]
    assert (delivery["event"], delivery["status"], delivery["key"]) == ("test", "waiting", tried["key"])
    assert program.post(f"{own}deliveries/{tried['id']}/again/").json()["status"] == "waiting"
    assert program.post(f"{own}enabled/").json()["disabled_at"] is None
    assert program.send("DELETE", own).status_code == 204
    assert not Webhook.objects.exists()
