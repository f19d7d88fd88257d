"""A program sends the requests of all examples to one project; none of them has an invalid field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from annotate.api.documentation import schema
from tests.api.client import ApiClient
from tests.factories import make_user

pytestmark = pytest.mark.once
JSON = "application/json"
FIRST = (
    *("postProjects", "postDimensions", "postDocuments", "postItems"),
    *("postEndpoints", "postPrompts", "postJudges", "postGold"),
)
LAST = ("postRecordedRatings",)  # Round I opens, and freezes what others change
KEYS_ARE_DATA = {"counts", "parameters", "rows", "tables"}
# Whose example names rows by ids that no row of this project has.
OF_OTHER_ROWS = {"postHandOver", "postJoinedPlace", "postPromptSearches"}


@dataclass(frozen=True)
class Example:
    """A request of the description, and the answer that it shows for it."""

    method: str
    path: str
    body: Any
    answer: Any


def read_examples() -> dict[str, Example]:
    """Return the example of every operation by its id."""
    found = {}
    for address, methods in schema()["paths"].items():
        for method, operation in methods.items():
            path = address.removeprefix("/api/v1/")
            for each in operation.get("parameters", ()):
                path = path.replace(f"{{{each['name']}}}", str(each.get("example")))
            answer = next(each for status, each in operation["responses"].items() if status < "300")
            sent, answered = (value_of(each) for each in (operation.get("requestBody", {}), answer))
            found[operation["operationId"]] = Example(method.upper(), path, sent, answered)
    return found


def value_of(described: Mapping[str, Any]) -> Any:
    """Return the example in JSON of a request or an answer, if it has one."""
    for name in described.get("content", {}).get(JSON, {}).get("examples", {}):
        return schema()["components"]["examples"][name]["value"]
    return None


def differs(shown: Any, found: Any, path: str = "") -> list[str]:
    """Return the paths where the fields of an example and an answer differ; skips empty lists and nulls."""
    if path.rpartition(".")[2] in KEYS_ARE_DATA:
        return []
    if isinstance(shown, dict) and isinstance(found, dict):
        own = [f"{path}.{name}" for name in shown.keys() ^ found.keys()]
        return own + [
            each
            for name in shown.keys() & found.keys()
            for each in differs(shown[name], found[name], f"{path}.{name}")
        ]
    if isinstance(shown, list) and isinstance(found, list) and shown and found:
        return differs(shown[0], found[0], f"{path}.0")
    return []


def is_wrong(answer: Any) -> bool:
    """Return True if the request itself is invalid, whatever the state of the project."""
    refused = answer.json() if answer.status_code >= 400 else {}
    return answer.status_code == 400 or bool(refused.get("fields"))


@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_examples_can_be_sent_and_look_like_real_answers() -> None:
    user = make_user(name="Admin")
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    program = ApiClient(user)
    known = read_examples()
    writes = [name for name, each in known.items() if each.body is not None]
    reads = [name for name, each in known.items() if each.method == "GET" and each.answer is not None]
    order = [*FIRST, *(name for name in writes if name not in (*FIRST, *LAST)), *LAST, *reads]
    answers = {}
    for name in order:
        example = known[name]
        answers[name] = program.send(example.method, example.path, example.body)
        if name == "postJudges":
            second = {"name": "Second judge", "model": "m", "template": "shipped:mcq"}
            assert program.post("projects/reviews-of-boots/judges/", second).status_code == 201
    wrong = {name: answer.json() for name, answer in answers.items() if is_wrong(answer)}
    assert wrong.keys() == OF_OTHER_ROWS, wrong
    done = {name: answer.json() for name, answer in answers.items() if answer.status_code < 300}
    assert len(done) >= 70, sorted(answers.keys() - done.keys())
    untrue = {name: differs(known[name].answer, answer) for name, answer in done.items()}
    assert {name: fields for name, fields in untrue.items() if fields} == {}
