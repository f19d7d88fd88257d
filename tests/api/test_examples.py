"""Examples of the API: every operation is sent to a project, and its answer is recorded or compared."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.db import transaction
from django.test import Client

from annotate.api.documentation import schema
from annotate.api.schema import JSON, RECORDED
from annotate.core.jobs import run_job
from annotate.core.models import GoldItem, GoldValue, Role
from annotate.rating.commands.rounds import open_round_one
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge
from tests.test_access_table import Scene, api_rows, scene

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
    r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b": "7a0f3a3e-5d0c-4b6f-9a2b-0c1d2e3f4a5b",
    r"http://testserver": "https://concord.example",
    r"\bperson\d+@": "ann@",
    r"\bPerson \d+\b": "Ann",
    r"\bproject-\d+\b": "reviews-of-boots",
    r"\bProject \d+\b": "Reviews of boots",
    r"\bR-[0-9A-Z]{8}\b": "R-7KQ2M9XA",
}


def test_recorded_examples_have_the_fields_of_the_answers(
    django_db_reset_sequences: None, scene: Scene
) -> None:
    recorded = json.loads(RECORDED.read_text())
    run_job("rereading", scene.names["rereading"])
    answers, refusals = send_all(scene, recorded["operations"])
    found = {name: tidied(answer) for name, answer in answers.items()}
    errors = {str(answer.status_code): tidied(answer.json()) for answer in send_mistakes(scene)}
    if os.environ.get("RECORD_EXAMPLES"):
        for name, answer in found.items():
            example = recorded["operations"][name]
            texts = {**example.get("texts", {}), **answer.get("texts", {})}
            recorded["operations"][name] = {**example, **answer, **({"texts": texts} if texts else {})}
        recorded["errors"] |= errors
        RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    operations = recorded["operations"]
    untrue = {
        name: fields
        for name, answer in found.items()
        if (fields := differs(operations[name].get("answer"), answer.get("answer")))
    }
    assert untrue == {}, "make api-examples"
    assert {status: recorded["errors"][status]["code"] for status in errors} == {
        status: error["code"] for status, error in errors.items()
    }, "make api-examples"
    unsent = {name for name, each in operations.items() if each} - found.keys()
    assert unsent == NOT_SENT, {name: refusals.get(name) for name in unsent ^ NOT_SENT}


# The scene cannot answer them: they need other people, a file, or a server that a test does not have.
NOT_SENT = {
    *("postBenchmarkSubmissions", "postDraftingStep", "postDraftings", "postJoinedPlace"),
    *(
        "postMailOfInvitation",
        "postPromptSearches",
        "postProposedExamples",
        "postPushes",
    ),
}
# Requests that come first, in the same transaction.
BEFORE: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "postVersions": (("POST", "rounds/close-2/", None),),
    "postCertificates": (("POST", "certificates/{calibration}/withdraw/", None),),
    "postPolicyOfCalibration": (("POST", "certificates/{calibration}/compute/", None),),
    "getContentUnits": (
        ("PUT", "content-units/", {"documents": [{"document": "product-1", "units": ["Boots run small."]}]}),
    ),
    "getExperiments": (("POST", "experiments/", {"base": 1, "documents": 20, "temperatures": [0.7]}),),
    "putOwnRating": (("POST", "work/", None),),
    "getAssignment": (("POST", "work/", None),),
    "postHandOver": (("POST", "work/", None),),
}


def send_all(
    scene: Scene, examples: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, list[bytes]]]:
    """Return the answers of operations, from the first project with more than an empty list, and refusals."""
    known = [
        (method.upper(), re.compile(re.sub(r"{\w+}", "[^/]+", path)), operation["operationId"])
        for path, methods in sorted(schema()["paths"].items())
        for method, operation in methods.items()
    ]
    found: dict[str, dict[str, Any]] = {}
    refusals: dict[str, list[bytes]] = {}
    for names in (scene.names, new_project(scene), open_project(scene)):
        for who, method, path in api_rows(names):
            address = f"/api/v1/{path}"
            name = next(
                each for verb, pattern, each in known if verb == method and pattern.fullmatch(address)
            )
            if not is_empty(found.get(name)):
                continue
            with transaction.atomic():
                for verb, first, body in BEFORE.get(name, ()):
                    send(scene, who, verb, f"/api/v1/{names['home']}{first.format(**names)}", body)
                answer = send(scene, who, method, address, examples[name].get("request"))
                transaction.set_rollback(True)
            if answer.status_code >= 300:
                refusals.setdefault(name, []).append(answer.content)
                continue
            kind = answer.get("Content-Type", "").partition(";")[0]
            text = {kind: answer.getvalue().decode()[:200]} if kind.startswith("text/") else {}
            found[name] = {"answer": answer.json()} if kind == JSON else {"texts": text} if text else {}
    return found, refusals


def send_mistakes(scene: Scene) -> Iterator[Any]:
    """Yield the answers to requests with one mistake each."""
    home = f"/api/v1/{scene.names['home']}"
    token = {"Authorization": f"Bearer {scene.secrets['a']}"}
    client = Client()
    how: dict[str, Any] = {"content_type": JSON, "headers": token}
    caches["process"].clear()
    yield client.post(f"{home}dimensions/", "{", **how)
    yield client.get(f"{home}dimensions/")
    yield client.get("/api/v1/projects/unknown/", **how)
    yield client.get(f"{home}dimensions/", headers={**token, "Accept": "text/csv"})
    yield client.post(f"{home}rounds/open-1/", "", **how)
    yield client.post(f"{home}dimensions/", "", headers=token, content_type="text/plain")
    yield client.post(f"{home}dimensions/", '{"name": 3}', **how)


def is_empty(found: dict[str, Any] | None) -> bool:
    """Return True without an answer, and for a list or a page without rows."""
    answer = (found or {}).get("answer")
    return found is None or answer == [] or (isinstance(answer, dict) and answer.get("results") == [])


def new_project(scene: Scene) -> dict[str, Any]:
    """Return the names of a project before Round I, with a judge that nothing uses."""
    cast = make_project()
    make_member(cast.project, Role.ADMIN, user=scene.people["a"])
    judge = make_judge(cast.project, "rts", name="Reasoner")
    gold = GoldItem.objects.create(item=cast.items[-1], use=GoldItem.Use.PRACTICE)
    GoldValue.objects.create(gold=gold, dimension=cast.dimensions[0], value=3)
    rows = [{"document": "product-1", "system": "system-9", "text": "Boots that run small."}]
    home = f"projects/{cast.project.slug}/"
    send(scene, "a", "POST", f"/api/v1/{home}items/", {"items": rows})
    upload = cast.project.imports.get()
    own = {"home": home, "judge": judge.pk, "gold": gold.pk, "upload": upload.pk}
    return {**scene.names, **own, "endpoint": judge.endpoint_id}


def open_project(scene: Scene) -> dict[str, Any]:
    """Return the names of a project in Round I, which the rater of the scene rates."""
    cast = make_project(annotators=2, raters_per_item=2)
    make_member(cast.project, Role.ADMIN, user=scene.people["a"])
    rater = make_member(cast.project, Role.ANNOTATOR, user=scene.people["n"])
    open_round_one(project=cast.project, by=cast.admin)
    return {**scene.names, "home": f"projects/{cast.project.slug}/", "rater": rater.pk}


def send(scene: Scene, who: str, method: str, address: str, body: Any) -> Any:
    """Send a request with the token of the first who may."""
    letter = next((each for each in who if each in scene.secrets), "a")
    headers = {"Authorization": f"Bearer {scene.secrets[letter]}"}
    caches["process"].clear()  # or the rate of the token is used up
    sent = b"" if body is None else json.dumps(body).encode()
    return Client().generic(method, address, sent, content_type=JSON, headers=headers)


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
