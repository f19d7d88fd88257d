"""A program sends the requests of all examples to one project; none of them has an invalid field."""

from collections.abc import Iterator
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
# Whose example names rows by ids that no row of this project has.
OF_OTHER_ROWS = {"postHandOver", "postJoinedPlace", "postPromptSearches"}


def example_requests() -> Iterator[tuple[str, str, str, Any]]:
    """Yield id, method, path and body of every operation that takes one."""
    described = schema()
    for address, methods in described["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
            path = address.removeprefix("/api/v1/")
            for each in operation.get("parameters", ()):
                path = path.replace(f"{{{each['name']}}}", str(each.get("example")))
            for name in content.get("examples", {}):
                body = described["components"]["examples"][name]["value"]
                yield operation["operationId"], method.upper(), path, body


def is_wrong(answer: Any) -> bool:
    """Return whether the request itself is at fault, and not the state of the project."""
    refused = answer.json() if answer.status_code >= 400 else {}
    return answer.status_code == 400 or bool(refused.get("fields"))


@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_no_request_of_an_example_is_wrong() -> None:
    user = make_user(name="Admin")
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    program = ApiClient(user)
    known = {name: rest for name, *rest in example_requests()}
    order = [*FIRST, *(name for name in known if name not in (*FIRST, *LAST)), *LAST]
    answers = {}
    for name in order:
        answers[name] = program.send(*known[name])
        if name == "postJudges":
            second = {"name": "Second judge", "model": "m", "template": "shipped:mcq"}
            assert program.post("projects/reviews-of-boots/judges/", second).status_code == 201
    wrong = {name: answer.json() for name, answer in answers.items() if is_wrong(answer)}
    assert wrong.keys() == OF_OTHER_ROWS, wrong
    done = [name for name, answer in answers.items() if answer.status_code < 300]
    assert len(done) >= 35, sorted(answers.keys() - set(done))
