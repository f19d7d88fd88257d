"""Prompts made and changed by a program, as on their pages."""

import pytest

from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgment

pytestmark = pytest.mark.django_db
TEXT = "Rate the {{ dimension }} of: {{ text }}"


def test_a_program_makes_a_prompt_and_its_next_version() -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/prompts/"
    wanted = {"method": "rts", "name": "Ours", "text": TEXT, "wordings": {"fluency": f"Read. {TEXT}"}}
    made = program.post(home, wanted).json()
    assert (made["name"], made["version"], made["text"]) == ("Ours", 1, TEXT)
    assert made["wordings"] == {"fluency": f"Read. {TEXT}"}
    one = f"{home}{made['id']}/"
    assert program.get(one).json() == made
    changed = program.put(one, {"text": f"Please: {TEXT}", "pattern": r"(\d)"}).json()
    assert (changed["id"], changed["version"], changed["pattern"]) == (made["id"], 1, r"(\d)")
    judge = make_judge(cast.project, template=cast.project.prompt_templates.get(pk=made["id"]))
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    following = program.put(one, {"text": TEXT, "wordings": {"fluency": TEXT, "coherence": f"So: {TEXT}"}})
    assert following.json()["version"] == 2
    assert following.json()["pattern"] == r"(\d)"
    assert following.json()["wordings"] == {"coherence": f"So: {TEXT}"}
    assert program.get(one).json()["text"] == f"Please: {TEXT}", "what was asked with stays as it is"


def test_invalid_prompt_is_rejected_and_nothing_is_written() -> None:
    cast = make_project(dimensions=("fluency",))
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/prompts/"
    wanted = {"method": "rts", "name": "Ours", "text": TEXT}
    for change, field in (
        ({"text": "Rate {{ mood }} of {{ text }}"}, "text"),
        ({"pattern": "("}, "pattern"),
        ({"method": "guessing"}, "method"),
        ({"wordings": {"fluency": "{{ mood }}"}}, "text"),
    ):
        refused = program.post(home, {**wanted, **change})
        assert refused.status_code in (400, 422), change
        assert field in refused.json()["fields"], change
    assert program.post(home, {**wanted, "wordings": {"taste": TEXT}}).status_code == 404
    assert program.get(home).json()["results"] == []
    assert program.post(home, wanted).status_code == 201
    assert "has a prompt Ours already" in program.post(home, wanted).json()["message"]
