"""The operations of the API, read from the OpenAPI description that is part of this package."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

METHODS = ("get", "post", "put", "patch", "delete")
ROOT = "/api/v1/"
JSON = "application/json"
KEY = "Idempotency-Key"
# In a wheel; in the repository.
HERE = Path(__file__).resolve().parent
DESCRIPTIONS = (HERE / "openapi.json", HERE.parents[1] / "docs" / "api" / "openapi.json")

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """An operation: its method and path, where its parameters go, and the schemas of body and answer."""

    id: str
    method: str
    path: str
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    takes_choices: bool  # further names in the query, as results do
    takes_key: bool  # the same request twice is one write
    body: Schema
    answer: Schema
    sends_file: bool
    summary: str
    parameters: Sequence[Schema]

    @property
    def fields(self) -> Mapping[str, Schema]:
        found: Mapping[str, Schema] = resolve(self.body).get("properties", {})
        return found

    def place(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return path, query and body for parameters. Raises TypeError for a missing or unknown one."""
        if missing := [name for name in self.in_path if name not in given]:
            raise TypeError(f"{self.id} needs {' and '.join(missing)}.")
        path = self.path
        for name in self.in_path:
            # A slash in a value would otherwise add a part to the path.
            path = path.replace(f"{{{name}}}", quote(str(given[name]), safe=""))
        rest = {name: value for name, value in given.items() if name not in self.in_path}
        query = {name: rest.pop(name) for name in self.in_query if name in rest}
        if self.takes_choices:
            query, rest = {**query, **rest}, {}
        if rest and not self.body:
            takes = ", ".join((*self.in_path, *self.in_query)) or "nothing"
            raise TypeError(f"{self.id} takes no {', '.join(rest)}; it takes {takes}.")
        # httpx sends None as an empty string, which a filter would compare with.
        return path, {name: value for name, value in query.items() if value is not None}, rest


@cache
def load_description() -> Schema:
    file = next(each for each in DESCRIPTIONS if each.exists())
    found: Schema = json.loads(file.read_bytes())
    return found


@cache
def load_operations() -> Mapping[str, Operation]:
    return {each.id: each for each in _read_operations()}


def find_operation(name: str) -> Operation:
    """Return the operation with this id. Raises ValueError, which names similar ones."""
    operations = load_operations()
    if name not in operations:
        similar = get_close_matches(name, operations, n=5, cutoff=0.5)
        hint = f"; similar: {', '.join(similar)}" if similar else ""
        raise ValueError(f"The API has no operation {name!r}{hint}.")
    return operations[name]


def resolve(schema: Schema) -> Schema:
    """Return a schema, following references."""
    while reference := schema.get("$ref"):
        schema = load_description()["components"]["schemas"][reference.rpartition("/")[2]]
    return schema


def read_dates(value: Any, schema: Schema) -> Any:
    """Return a value with strings of these formats converted to datetime and date."""
    schema = resolve(schema)
    # A branch that does not fit leaves the value as it is.
    for several in ("allOf", "oneOf", "anyOf"):
        for each in schema.get(several, ()):
            value = read_dates(value, each)
    if isinstance(value, str):
        reads = {"date-time": datetime.fromisoformat, "date": date.fromisoformat}
        return reads[schema["format"]](value) if schema.get("format") in reads else value
    if isinstance(value, list) and "items" in schema:
        return [read_dates(each, schema["items"]) for each in value]
    if isinstance(value, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        other = others if isinstance(others, Mapping) else {}
        return {name: read_dates(each, fields.get(name, other)) for name, each in value.items()}
    return value


def write_json(body: Any) -> bytes:
    """Return a body as JSON; dates, decimals, numbers of numpy and items of iterables are plain."""
    # Python would write NaN, which is no JSON; a missing value of pandas must not pass unnoticed.
    return json.dumps(body, default=_to_plain, allow_nan=False).encode()


def _to_plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "item"):  # a number of numpy
        return value.item()
    if isinstance(value, Iterator | set | frozenset | tuple):
        return list(value)
    return str(value)


def _read_operations() -> Iterator[Operation]:
    for path, methods in load_description()["paths"].items():
        for method in METHODS:
            if method not in methods:
                continue
            found = methods[method]
            parameters = found.get("parameters", ())
            query = [each for each in parameters if each["in"] == "query"]
            # An object in the query means any further names.
            free = [each["name"] for each in query if each["schema"].get("type") == "object"]
            # Codes are strings: those below 300 are answers of success.
            answer = next(each for status, each in found["responses"].items() if status < "300")
            yield Operation(
                id=found["operationId"],
                method=method.upper(),
                path=path.removeprefix(ROOT),
                in_path=tuple(re.findall(r"{(\w+)}", path)),
                in_query=tuple(each["name"] for each in query if each["name"] not in free),
                takes_choices=bool(free),
                takes_key=any(each["name"] == KEY for each in parameters),
                body=found.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {}),
                answer=answer.get("content", {}).get(JSON, {}).get("schema", {}),
                sends_file=bool(answer.get("content")) and JSON not in answer["content"],
                summary=found["summary"],
                parameters=parameters,
            )
