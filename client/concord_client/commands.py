"""The command `concord`: every operation of the API, and the commands of an installed server."""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from concord_client.local import find_access, forget_token
from concord_client.server import RefusedError, Server

if TYPE_CHECKING:
    import httpx2

JsonObject = dict[str, Any]
HERE = Path(__file__).resolve().parent
# In a package; in the repository.
DESCRIPTIONS = (HERE / "openapi.json", HERE.parents[1] / "docs" / "api" / "openapi.json")
VERBS = {"post": "add", "put": "set", "patch": "change", "delete": "remove"}
# Names of operations whose path has no verb.
NAMES = {
    "getExportFile": "download",
    "getResultFile": "download",
    "postDecisionOnDispute": "adjudicate",
    "postDeliveries": "send-test",
    "postDeliveryAgain": "deliver-again",
    "postEnabledWebhook": "enable",
    "postNudges": "nudge",
    "postOneRereading": "apply-reading-again",
    "postProposedExamples": "propose-examples",
    "postPushes": "push",
    "postRereadings": "read-again",
    "postSecretOfWebhook": "renew-secret",
    "postSelectedJudgments": "count-selected",
    "postSeveralInvitations": "add-several",
    "postTemplateOfProject": "save",
    "postThreadOfDispute": "discuss",
    "postWork": "take",
    "putOwnRating": "rate",
    "putOwnRevision": "revise",
}
TYPES = {"integer": int, "number": float}


@dataclass(frozen=True)
class Operation:
    """An operation of the API, as `concord RESOURCE NAME`. step: what {step} in the path is."""

    resource: str
    name: str
    method: str
    path: str
    says: JsonObject
    step: str = ""

    @property
    def arguments(self) -> list[str]:
        """The variable parts of the path, in their order."""
        return [each for each in re.findall(r"\{(\w+)\}", self.path) if not (each == "step" and self.step)]


def main() -> None:
    """Run the command and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code."""
    own = find_server_commands()
    if arguments and (command := own.get(arguments[0])):
        command.load()(list(arguments[1:]))
        return 0
    description = read_description()
    operations = list_operations(description)
    try:
        chosen = parse(arguments, operations, description, own)
        return ask(chosen)
    except RefusedError as error:
        sys.stderr.write(f"{error}\n")
        for field, problem in error.fields.items():
            sys.stderr.write(f"  {field}: {problem}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def find_server_commands() -> dict[str, EntryPoint]:
    """Return the commands of an installed server by their names."""
    return {each.name: each for each in entry_points(group="concord.commands")}


def read_description() -> JsonObject:
    """Return the description of the API that this version was made for."""
    file = next(each for each in DESCRIPTIONS if each.exists())
    return cast("JsonObject", json.loads(file.read_text()))


def list_operations(description: JsonObject) -> list[Operation]:
    """Return every operation under a name of its own."""
    return [
        operation
        for path, methods in description["paths"].items()
        for method, says in methods.items()
        for operation in _operations_at(path, method, says)
    ]


def _operations_at(path: str, method: str, says: JsonObject) -> Iterator[Operation]:
    parts = path.removeprefix("/api/v1/").strip("/").split("/")
    if parts[:2] == ["projects", "{slug}"] and len(parts) > 2:
        parts = parts[2:]
    resource, *rest = parts
    words = [part for part in rest if not part.startswith("{")]
    if rest[-1:] == ["{step}"]:
        for step in _steps(says):
            yield Operation(resource, step, method, path, says, step)
    elif name := NAMES.get(says["operationId"]):
        yield Operation(resource, name, method, path, says)
    elif method == "post" and words:
        yield Operation(resource, "-".join(words), method, path, says)
    else:
        verb = VERBS.get(method) or ("list" if says["summary"].startswith("List ") else "show")
        yield Operation(resource, "-".join([verb, *words]), method, path, says)


def _steps(says: JsonObject) -> list[str]:
    (step,) = (each for each in says["parameters"] if each["name"] == "step")
    return cast("list[str]", step["schema"]["enum"])


def parse(
    arguments: Sequence[str],
    operations: Sequence[Operation],
    description: JsonObject,
    own: dict[str, EntryPoint],
) -> argparse.Namespace:
    """Read the command line. To start fast, declare only the commands of the resource it names."""
    parser = argparse.ArgumentParser("concord", description=__doc__)
    resources = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted(own):
        resources.add_parser(name, help="of the server on this machine")
    for name in sorted({each.resource for each in operations}):
        of_resource = [each for each in operations if each.resource == name]
        about = ", ".join(each.name for each in of_resource)
        resource = resources.add_parser(name, help=about, description=f"Operations on {name}.")
        if arguments and arguments[0] == name:
            commands = resource.add_subparsers(metavar="OPERATION", required=True)
            for operation in of_resource:
                summary = operation.says["summary"]
                command = commands.add_parser(operation.name, help=summary, description=summary)
                _declare(command, operation, description)
    return parser.parse_args(arguments)


def _declare(command: argparse.ArgumentParser, operation: Operation, description: JsonObject) -> None:
    command.set_defaults(operation=operation)
    for name in operation.arguments:
        command.add_argument(name, metavar={"slug": "PROJECT"}.get(name, name.upper()))
    for each in operation.says.get("parameters", ()):
        if each["in"] == "query":
            _add_option(
                command, "query", each["name"], each["schema"], each.get("description", ""), description
            )
    body = operation.says.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        schema = _resolve(body["schema"], description)
        command.add_argument("--json", metavar="FILE", help="read the fields from a file of JSON, - is stdin")
        for name, field in schema.get("properties", {}).items():
            _add_option(command, "body", name, field, "", description)
    command.add_argument("--output", metavar="FILE", help="write the answer to a file")


def _add_option(
    command: argparse.ArgumentParser,
    place: str,
    name: str,
    schema: JsonObject,
    text: str,
    description: JsonObject,
) -> None:
    field = _resolve(schema, description)
    about = (field.get("description") or text).replace("%", "%%")
    options: JsonObject = {"dest": f"{place}:{name}", "default": argparse.SUPPRESS, "help": about}
    flag = f"--{name.replace('_', '-')}"
    kind = field.get("type")
    if kind == "boolean":
        command.add_argument(flag, action=argparse.BooleanOptionalAction, **options)
        return
    if kind == "array" and (inner := _resolve(field["items"], description)).get("type") in {
        "string",
        "integer",
    }:
        options["nargs"], field = "*", inner
    elif kind in {"array", "object"} or kind is None:
        options |= {"type": _read_json, "metavar": "JSON"}
        options["help"] = f"{about} (JSON)".strip()
    if field.get("enum"):
        options["choices"] = field["enum"]
    if "choices" not in options:
        options.setdefault("metavar", name.rpartition("_")[2].upper())
    options.setdefault("type", TYPES.get(str(field.get("type")), str))
    command.add_argument(flag, **options)


def _resolve(schema: JsonObject, description: JsonObject) -> JsonObject:
    """Return a schema without references, and of several the first that is not null."""
    if "$ref" in schema:
        named = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return _resolve(named, description)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            found = [_resolve(each, description) for each in schema[several]]
            return next((each for each in found if each.get("type") != "null"), {}) | _without(
                schema, several
            )
    if isinstance(schema.get("type"), list):
        return {**schema, "type": next(each for each in schema["type"] if each != "null")}
    return schema


def _without(schema: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in schema.items() if name != key}


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is not JSON: {error}") from error


def ask(chosen: argparse.Namespace) -> int:
    """Send the request and write the answer. Raises RefusedError."""
    try:
        answer = _send(chosen)
    except RefusedError as error:
        if error.code != "token_unusable" or not forget_token():
            raise
        answer = _send(chosen)  # the token that this machine kept was revoked, or is too old
    if chosen.output:
        Path(chosen.output).write_bytes(answer)
    else:
        sys.stdout.buffer.write(answer)
    return 0


def _send(chosen: argparse.Namespace) -> bytes:
    """Return the answer as it is to be written; of a list, the rows of all pages."""
    operation: Operation = chosen.operation
    named = {name: getattr(chosen, name) for name in operation.arguments} | {"step": operation.step}
    path = operation.path.removeprefix("/api/v1/").format_map(named)
    query, body = _given(chosen, "query"), _given(chosen, "body")
    server = Server(*find_access())
    try:
        if operation.method == "get":
            return _read(server, path, query)
        options: JsonObject = {"params": query}
        if operation.method == "post":
            options["headers"] = {"Idempotency-Key": str(uuid4())}
        if "requestBody" in operation.says:
            options["json"] = {**_read_fields(getattr(chosen, "json", None)), **body}
        return _as_text(server.request(operation.method.upper(), path, **options))
    finally:
        server.close()


def _given(chosen: argparse.Namespace, place: str) -> JsonObject:
    """Return the options of the query or the body that were named."""
    start = f"{place}:"
    return {name.removeprefix(start): v for name, v in vars(chosen).items() if name.startswith(start)}


def _read_fields(file: str | None) -> JsonObject:
    if file is None:
        return {}
    try:
        found = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text())
    except (OSError, ValueError) as error:
        raise RefusedError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(found, dict):
        raise RefusedError(f"{file} is no JSON object with the fields of the request.")
    return found


def _read(server: Server, path: str, query: JsonObject) -> bytes:
    answer = server.request("GET", path, params=query)
    if not _is_json(answer):
        return answer.content
    found = answer.json()
    if not (isinstance(found, dict) and {"results", "next"} <= found.keys()) or "limit" in query:
        return _as_text(answer)
    rows = list(found["results"])
    while found["next"]:
        found = server.request("GET", found["next"]).json()
        rows += found["results"]
    return _indented(rows)


def _as_text(answer: "httpx2.Response") -> bytes:
    return _indented(answer.json()) if _is_json(answer) else answer.content


def _is_json(answer: "httpx2.Response") -> bool:
    return str(answer.headers.get("content-type", "")).startswith("application/json")


def _indented(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    main()
