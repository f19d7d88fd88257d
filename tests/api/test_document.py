"""The requests of docs/reference/api.md, in their order, do what the document says."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from tests.api.client import ApiClient
from tests.factories import make_user

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"


def requests():
    """Yield method, path, body and key of each curl command."""
    blocks = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    for words in (shlex.split(line) for line in lines if line.startswith("curl ")):
        given = dict(pairwise(words))
        headers = [words[n + 1] for n, word in enumerate(words) if word == "-H"]
        assert "Authorization: Bearer $TOKEN" in headers
        key = next((each.partition(": ")[2] for each in headers if each.startswith("Idempotency")), "")
        body = json.loads(given["-d"]) if "-d" in given else None
        yield given.get("-X", "GET"), words[-1].partition("/api/v1/")[2], body, key


@pytest.mark.django_db
def test_every_request_of_the_document_succeeds():
    user = make_user(name="Admin")
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    program = ApiClient(user)
    answers = [(path, program.send(method, path, body, key=key)) for method, path, body, key in requests()]
    assert len(answers) >= 4
    assert [(path, answer.json()) for path, answer in answers if answer.status_code >= 300] == []
