"""The OpenAPI schema as a file and as a page. Neither loads anything from another host."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator

Schema = Mapping[str, Any]
JSON = "application/json"
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Value:
    """A parameter or a field: its name, type, description, and whether it is required."""

    name: str
    kind: str
    required: bool
    says: str


@dataclass(frozen=True)
class Operation:
    """An operation as the page shows it. request: a command that sends the example. example: the response."""

    id: str
    method: str
    path: str
    summary: str
    says: str
    parameters: list[Value]
    fields: list[Value]
    answer: str
    answer_fields: list[Value]
    request: str
    example: str


@cache
def schema() -> Schema:
    """Return the OpenAPI description of every operation. It changes only with the version of Concord."""
    found: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@require_GET
def openapi(_request: HttpRequest) -> JsonResponse:
    """Return the schema, for programs."""
    return JsonResponse(schema())


@require_GET
def documentation(request: HttpRequest) -> HttpResponse:
    """Show the operations of the API, grouped by subject."""
    groups: dict[str, list[Operation]] = {}
    site = request.build_absolute_uri("/").rstrip("/")
    for path, operations in schema()["paths"].items():
        for method in METHODS:
            if method in operations:
                found = operations[method]
                # The body of the request, and the response that means success.
                sent = found.get("requestBody", {}).get("content", {}).get(JSON, {})
                status, answer = next(
                    (status, answer) for status, answer in found["responses"].items() if status < "300"
                )
                shown = answer.get("content", {})
                groups.setdefault(operations[method]["tags"][0], []).append(
                    Operation(
                        id=found["operationId"],
                        method=method.upper(),
                        path=path,
                        summary=found["summary"],
                        says=found["description"],
                        parameters=[
                            Value(
                                each["name"],
                                f"{_kind(each['schema'])}, in the {each['in']}",
                                each.get("required", False),
                                each.get("description", ""),
                            )
                            for each in found.get("parameters", [])
                        ],
                        fields=list(_fields(sent.get("schema", {}))),
                        answer=status,
                        answer_fields=list(_fields(shown.get(JSON, {}).get("schema", {}))),
                        request=_command(f"{site}{path}", method, found, _example(sent)),
                        example="\n".join(
                            each if isinstance(each, str) else json.dumps(each, indent=2, ensure_ascii=False)
                            for each in map(_example, shown.values())
                            if each is not None
                        ),
                    )
                )
    return render(request, "api/documentation.html", {"groups": groups})


@csrf_exempt
def not_there(_request: HttpRequest, rest: str) -> JsonResponse:
    """Answer 404 in JSON for an unknown URL of the API."""
    message = f"The API has no {rest!r}; its addresses end in a slash and are listed at /api/v1/."
    return JsonResponse({"code": "not_found", "message": message, "fields": {}}, status=404)


def _command(url: str, method: str, found: Schema, body: Any) -> str:
    """Return a command that sends the example of a request."""
    for each in found.get("parameters", []):
        if each["in"] == "path":
            url = url.replace(f"{{{each['name']}}}", str(each["example"]))
    words = ["curl", *(["-X", method.upper()] if method != "get" else [])]
    words += ["-H", '"Authorization: Bearer $TOKEN"']
    if body is not None:
        words += ["-H", '"Content-Type: application/json"', "\\\n  -d", shlex.quote(json.dumps(body))]
    return " ".join([*words, "\\\n ", url])


def _example(content: Schema) -> Any:
    for each in content.get("examples", {}).values():
        return schema()["components"]["examples"][each["$ref"].rsplit("/", 1)[1]]["value"]
    return None


def _fields(shape: Schema) -> Iterator[Value]:
    found = _resolve_reference(shape)
    required = found.get("required", [])
    for name, field in found.get("properties", {}).items():
        yield Value(name, _kind(field), name in required, field.get("description", ""))


def _resolve_reference(shape: Schema) -> Schema:
    while reference := shape.get("$ref") or shape.get("items", {}).get("$ref"):
        shape = schema()["components"]["schemas"][reference.rsplit("/", 1)[1]]
    return shape


def _kind(shape: Schema) -> str:
    if "enum" in shape:
        return " or ".join(str(each) for each in shape["enum"])
    for several in ("oneOf", "anyOf", "allOf"):
        if several in shape:
            return " or ".join(_kind(each) for each in shape[several])
    if "$ref" in shape:
        found = _resolve_reference(shape)
        return _kind(found) if "enum" in found else shape["$ref"].rsplit("/", 1)[1]
    kind = shape.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(shape['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
