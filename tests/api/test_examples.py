"""Examples of the API: every operation is sent to a project, and its answer is recorded or compared."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotate.api.documentation import schema
from annotate.api.examples import JSON, RECORDED
from tests.access_table import API
from tests.factories import make_project
from tests.test_access_table import Scene, rows, scene

__all__ = ["scene"]
pytestmark = pytest.mark.once
KEYS_ARE_DATA = {"counts", "parameters", "rows", "tables", "steps", "controls", "bound", "data", "weights"}
# Their names and values are of no project, or differ from one recording to the next.
FIXED = {
    "seed": 1723,
    "digest": "0" * 20,
    "content_hash": "0" * 64,
    "secret": "the-secret-that-is-shown-once",
    "link": "https://concord.example/invitations/token/",
}
PATTERNS = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^ \"]*": "2026-11-20T10:00:00Z",
    r"http://testserver": "https://concord.example",
    r"\bperson\d+@": "ann@",
    r"\bPerson \d+\b": "Ann",
    r"\bproject-\d+\b": "reviews-of-boots",
    r"\bProject \d+\b": "Reviews of boots",
    r"\bR-[0-9A-Z]{8}\b": "R-7KQ2M9XA",
}


def test_recorded_examples_have_the_fields_of_the_answers(transactional_db: None, scene: Scene) -> None:
    recorded = json.loads(RECORDED.read_text())
    found = {name: tidied(answer) for name, answer in send_all(scene, recorded["operations"])}
    if os.environ.get("RECORD_EXAMPLES"):
        for name, answer in found.items():
            recorded["operations"][name] |= answer
        text = json.dumps(recorded, indent=1, ensure_ascii=False, sort_keys=True)
        RECORDED.write_text(f"{text}\n")
    untrue = {
        name: fields
        for name, answer in found.items()
        if (fields := differs(recorded["operations"][name].get("answer"), answer.get("answer")))
    }
    assert untrue == {}, "make api-examples"
    assert recorded["operations"].keys() - found.keys() == NOT_SENT


NOT_SENT: set[str] = set()


def send_all(scene: Scene, examples: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each operation with its answers by kind, from the first project that it succeeds in."""
    fresh = make_project()
    fresh.project.memberships.filter(user=fresh.admin).update(user=scene.people["a"])
    known = {
        (method.upper(), re.compile(re.sub(r"{\w+}", "[^/]+", path))): operation["operationId"]
        for path, methods in sorted(schema()["paths"].items())
        for method, operation in methods.items()
    }
    homes = (scene.names["home"], f"projects/{fresh.project.slug}/")
    failed = {}
    for home in homes:
        for who, method, path in rows(API, {**scene.names, "home": home}):
            address = f"/api/v1/{path}"
            name = next(
                each
                for (verb, pattern), each in known.items()
                if verb == method and pattern.fullmatch(address)
            )
            answer = send(scene, who, method, address, examples[name].get("request"))
            if answer.status_code < 300:
                failed.pop(name, None)
                kind = answer.get("Content-Type", "").partition(";")[0]
                if kind == JSON:
                    yield name, {"answer": answer.json()}
                elif kind.startswith("text/"):
                    yield name, {"texts": {kind: answer.getvalue().decode()[:200]}}
                else:
                    yield name, {}
            else:
                failed.setdefault(name, (answer.status_code, answer.content[:150]))
    for name, why in failed.items():
        print("FAIL", name, why)


def send(scene: Scene, who: str, method: str, address: str, body: Any) -> Any:
    """Send a request with the token of the first who may, and undo what it did."""
    letter = next((each for each in who if each in scene.secrets), "a")
    headers = {"Authorization": f"Bearer {scene.secrets[letter]}"}
    with transaction.atomic():
        answer = Client().generic(
            method, address, json.dumps(body) if body is not None else b"", content_type=JSON, headers=headers
        )
        if answer.streaming:
            answer.getvalue()
        transaction.set_rollback(True)
    return answer


def tidied(found: Any, name: str = "") -> Any:
    """Return an answer without what differs from one recording to the next, and the first of many rows."""
    if name in FIXED and found is not None:
        return FIXED[name]
    if isinstance(found, dict):
        return {key: tidied(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return [tidied(each) for each in found[: 1 if found and isinstance(found[0], dict | list) else 3]]
    if isinstance(found, float):
        return round(found, 4)
    if isinstance(found, str):
        for pattern, text in PATTERNS.items():
            found = re.sub(pattern, text, found)
    return found


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
