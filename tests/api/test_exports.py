"""An export is asked for, followed and taken away over the API."""

import pytest

from annotate.core.jobs import run_job
from tests.api.client import ApiClient
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_a_researcher_takes_a_snapshot_away():
    cast = make_project()
    program, address = ApiClient(cast.researcher, "read", "write"), f"projects/{cast.project.slug}/exports/"
    asked = program.post(address, {"format": "jsonl", "parts": ["comments"]}).json()
    assert asked["status"] == "waiting"
    assert "comments" not in asked["left_out"]
    assert program.get(f"{address}{asked['id']}/file/").json()["message"] == "This export is not ready."
    run_job("export", asked["id"])
    ready = program.get(f"{address}{asked['id']}/").json()
    assert (ready["status"], ready["tables"]["items"]) == ("ready", 4)
    file = program.get(f"{address}{asked['id']}/file/")
    assert len(file.getvalue()) == ready["size"]
    assert ApiClient(cast.annotators[0].user).get(f"{address}{asked['id']}/file/").status_code == 404
    assert program.send("DELETE", f"{address}{asked['id']}/").status_code == 204
    assert program.get(address).json()["results"] == []
