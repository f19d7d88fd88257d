"""The description of the API is the one that is checked in, and both its page and the API keep to it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from annotate.api.documentation import schema

CHECKED_IN = Path(__file__).resolve().parents[2] / "docs" / "api" / "openapi.json"
FORMATS = Draft202012Validator.FORMAT_CHECKER

LIMITS = {2**15 - 1, -(2**15), 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)}


def without_limits(found: Any) -> Any:
    """Leave out how large the integers of the database in use can be; the checked-in ones are SQLite's."""
    if isinstance(found, list):
        return [without_limits(each) for each in found]
    if not isinstance(found, dict):
        return found
    kept = {name: each for name, each in found.items() if not (type(each) is int and each in LIMITS)}
    if kept.get("format") == "int64":
        del kept["format"]
    return {name: without_limits(each) for name, each in kept.items()}


def test_committed_schema_matches_the_code():
    described = json.loads(json.dumps(schema()))
    assert without_limits(json.loads(CHECKED_IN.read_text())) == without_limits(described), (
        "The API changed: run `make openapi` and look at what it changes."
    )


def test_every_operation_describes_its_effect_and_its_needs():
    operations = [each for path in schema()["paths"].values() for each in path.values()]
    assert len(operations) == len({each["operationId"] for each in operations}) > 3
    for each in operations:
        assert each["summary"].endswith(".")
        assert re.search("Needs (the scope|no token)", each["description"])


@pytest.mark.django_db
def test_the_page_lists_every_operation_and_asks_no_other_host(client):
    page = client.get("/api/v1/").content.decode()
    for path, operations in schema()["paths"].items():
        assert f"<code>{path}</code>" in page
        for each in operations.values():
            assert f'id="{each["operationId"]}"' in page
    assert not re.search(r'(src|href|action)="https?://', page)
    assert client.get("/api/v1/openapi.json").json()["openapi"] == "3.1.1"


BINARY = "application/octet-stream"


def described_operations() -> Iterator[dict[str, Any]]:
    """Yield every operation."""
    for path in schema()["paths"].values():
        yield from path.values()


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what every operation takes and answers, with the operation's name; a ZIP has no text."""
    for operation in described_operations():
        for each in (operation.get("requestBody", {}), *operation["responses"].values()):
            for kind, content in each.get("content", {}).items():
                if kind != BINARY:
                    yield operation["operationId"], content


def test_each_url_part_has_an_example_and_steps_are_listed():
    for operation in described_operations():
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                assert "example" in parameter, operation["operationId"]
                assert ("enum" in parameter["schema"]) == (parameter["name"] == "step")


@pytest.mark.django_db
def test_page_shows_a_command_and_an_answer_for_every_operation(client):
    page = client.get("/api/v1/").content.decode()
    operations = list(described_operations())
    assert page.count("curl ") == len(operations)
    assert "curl -X POST" in page
    without = {each["operationId"] for each in operations if "204" in each["responses"]}
    assert page.count("<pre") == 2 * len(operations) - len(without | {"getExportFile"})


def test_every_request_and_response_has_an_example():
    without = {
        (name, str(content["schema"]).rpartition("/")[2].rstrip("'}"))
        for name, content in contents()
        if "examples" not in content
    }
    assert without == set()


def test_every_example_keeps_to_its_schema():
    described = json.loads(json.dumps(schema()))
    checked = set()
    for operation, content in contents():
        for name in content.get("examples", {}):
            root = {"components": described["components"], **content["schema"]}
            example = described["components"]["examples"][name]["value"]
            problems = Draft202012Validator(root, format_checker=FORMATS).iter_errors(example)
            assert [f"{operation} {name}: {each.message}" for each in problems] == []
            checked.add(name)
    assert checked == described["components"]["examples"].keys()


def test_examples_contain_only_existing_fields():
    described = schema()["components"]
    for operation, content in contents():
        shape = described["schemas"].get(content["schema"].get("$ref", "").rpartition("/")[2], {})
        for name in content.get("examples", {}):
            example = described["examples"][name]["value"]
            if shape.get("properties"):
                assert example.keys() <= shape["properties"].keys(), operation
