"""The command `concord`: every operation of the API, and the commands of an installed server."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from math import isfinite
from pathlib import Path
from typing import Any, cast

from concord_client.operations import Operation, load_operations, resolve, write_json
from concord_client.server import RefusedError, Server, find_access, forget_token

JsonObject = dict[str, Any]
SERVER_COMMANDS = {
    "backup": "writes a backup of the installation, or checks one",
    "demo": "serves the demonstration from a temporary folder",
    "manage": "runs a management command of the server",
    "paper": "writes a report in LaTeX from a project",
    "restore": "restores a backup into an empty installation",
    "serve": "serves Concord on this machine",
}
VERBS = {"POST": "add", "PUT": "set", "PATCH": "change", "DELETE": "remove"}
FIELD = "field:"  # prefix of options in the request
# Names of operations whose path has no verb.
NAMES = {
    "getExportFile": "download",
    "getResultFile": "download",
    "postComputedPanel": "compute",
    "postDecisionOnDispute": "adjudicate",
    "postDeliveries": "send-test",
    "postDeliveryAgain": "deliver-again",
    "postEnabledWebhook": "enable",
    "postNudges": "nudge",
    "postRereading": "apply-reading-again",
    "postPolicyOfCalibration": "make-policy",
    "postProposedExamples": "propose-examples",
    "postPushes": "push",
    "postRecordedRatings": "import",
    "postRereadings": "read-again",
    "postSecretOfWebhook": "renew-secret",
    "postSelectedJudgments": "count-selected",
    "postSeveralInvitations": "add-several",
    "postTemplateOfProject": "save",
    "postThreadOfDispute": "discuss",
    "postUndoneImport": "undo",
    "postWork": "take",
    "putDimensions": "set-several",
    "putOwnRating": "rate",
}


@dataclass(frozen=True)
class ApiCommand:
    """An operation of the API, as `concord RESOURCE NAME`. step: what {step} in the path is."""

    resource: str
    name: str
    operation: Operation
    step: str = ""

    @property
    def arguments(self) -> list[str]:
        """The variable parts of the path, in order."""
        return [each for each in self.operation.in_path if not (each == "step" and self.step)]


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    own = find_server_commands()
    if arguments and (command := own.get(arguments[0])):
        command.load()(list(arguments[1:]))
        return 0
    try:
        return ask(parse(arguments, own))
    except RefusedError as error:
        sys.stderr.write(f"{error}\n")
        for field, problem in error.fields.items():
            if f"{field}: {problem}" != str(error):
                sys.stderr.write(f"  {field}: {problem}\n")
        return 1
    except OSError as error:  # of a file to write, or a pipe whose reader has ended
        sys.stderr.write(f"The answer cannot be written: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def find_server_commands() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group="concord.commands")}


def list_commands() -> list[ApiCommand]:
    return [command for each in load_operations().values() for command in _commands_of(each)]


def _commands_of(operation: Operation) -> Iterator[ApiCommand]:
    parts = operation.path.strip("/").split("/")
    # Most resources belong to a project, so the command omits it.
    if parts[:2] == ["projects", "{slug}"] and len(parts) > 2:
        parts = parts[2:]
    resource, *rest = parts
    words = [part for part in rest if not part.startswith("{")]
    if rest[-1:] == ["{step}"]:
        for step in _steps(operation):
            yield ApiCommand(resource, step, operation, step)
    elif name := NAMES.get(operation.id):
        yield ApiCommand(resource, name, operation)
    elif operation.method == "POST" and words:
        yield ApiCommand(resource, "-".join(words), operation)
    else:
        verb = VERBS.get(operation.method) or ("list" if operation.summary.startswith("List ") else "show")
        yield ApiCommand(resource, "-".join([verb, *words]), operation)


def _steps(operation: Operation) -> list[str]:
    (step,) = (each for each in operation.parameters if each["name"] == "step")
    return cast("list[str]", step["schema"]["enum"])


def parse(arguments: Sequence[str], own: Mapping[str, EntryPoint]) -> argparse.Namespace:
    """Read the command line. To start fast, declare only the commands of the resource it names."""
    parser = argparse.ArgumentParser("concord", description=__doc__)
    parser.add_argument("--version", action="version", version=_read_version())
    resources = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted(own):
        resources.add_parser(name, help=SERVER_COMMANDS.get(name, "of the server on this machine"))
    commands = list_commands()
    for name in sorted({each.resource for each in commands}):
        of_resource = [each for each in commands if each.resource == name]
        about = ", ".join(each.name for each in of_resource)
        resource = resources.add_parser(name, help=about, description=f"Operations on {name}.")
        if arguments and arguments[0] == name:
            operations = resource.add_subparsers(metavar="OPERATION", required=True)
            for command in of_resource:
                summary = command.operation.summary
                _declare(operations.add_parser(command.name, help=summary, description=summary), command)
    return parser.parse_args(arguments)


def _read_version() -> str:
    for package in ("concord-eval", "concord-client"):
        with suppress(PackageNotFoundError):
            return f"{package} {version(package)}"
    return "concord, not installed"


def _declare(parser: argparse.ArgumentParser, command: ApiCommand) -> None:
    parser.set_defaults(command=command)
    for name in command.arguments:
        parser.add_argument(name, metavar={"slug": "PROJECT"}.get(name, name.upper()))
    for each in command.operation.parameters:
        if each["in"] == "query":
            _add_option(parser, each["name"], each["schema"], each.get("description", ""))
    if command.operation.body:
        parser.add_argument(
            "--json", metavar="FILE", help="read the fields, or the list of rows, from JSON; - is stdin"
        )
        for name, field in command.operation.fields.items():
            _add_option(parser, name, field)
    needed = command.operation.sends_file
    parser.add_argument("--output", metavar="FILE", required=needed, help="write the answer to a file")


def _add_option(
    parser: argparse.ArgumentParser, name: str, schema: Mapping[str, Any], text: str = ""
) -> None:
    field = _resolve(schema)
    about = (field.get("description") or text).replace("%", "%%")
    options: JsonObject = {"dest": f"{FIELD}{name}", "default": argparse.SUPPRESS, "help": about}
    flag = f"--{name.replace('_', '-')}"
    kind = field.get("type")
    if kind == "boolean":
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, **options)
        return
    if kind == "array" and (inner := _resolve(field["items"])).get("type") in {
        "string",
        "integer",
    }:
        # Several words after one option; other lists and objects are JSON.
        options["nargs"], field = "*", inner
    elif kind in {"array", "object"} or kind is None:
        options |= {"type": _read_json, "metavar": "JSON"}
        options["help"] = f"{about} (JSON)".strip()
    if field.get("enum"):
        options["choices"] = field["enum"]
    if "choices" not in options:
        options.setdefault("metavar", name.rpartition("_")[2].upper())
    options.setdefault("type", {"integer": int, "number": _read_number}.get(str(field.get("type")), str))
    parser.add_argument(flag, **options)


def _resolve(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without references, and of several the first that is not null."""
    schema = resolve(schema)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            found = [_resolve(each) for each in schema[several]]
            first = next((each for each in found if each.get("type") != "null"), {})
            return {**first, **{name: value for name, value in schema.items() if name != several}}
    if isinstance(schema.get("type"), list):
        return {**schema, "type": next(each for each in schema["type"] if each != "null")}
    return schema


def _read_number(text: str) -> float:
    with suppress(ValueError):
        if isfinite(number := float(text)):
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is no number")


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is not JSON: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it has no {name}")


def ask(chosen: argparse.Namespace) -> int:
    """Send the request and write the answer. Raises RefusedError."""
    try:
        _send(chosen)
    except RefusedError as error:
        if error.code != "token_unusable" or not forget_token():
            raise
        _send(chosen)  # the token that this machine kept was revoked, or is too old
    return 0


def _send(chosen: argparse.Namespace) -> None:
    command: ApiCommand = chosen.command
    operation = command.operation
    given = _read_fields(getattr(chosen, "json", None), operation)
    given |= {name.removeprefix(FIELD): v for name, v in vars(chosen).items() if name.startswith(FIELD)}
    given |= {name: getattr(chosen, name) for name in command.arguments}
    given |= {"step": command.step} if command.step else {}
    with Server(*find_access()) as server:
        if operation.sends_file:
            server.download(operation.id, chosen.output, **given)
        # Without a limit of the user's own, a list is read page by page.
        elif {"cursor", "limit"} & set(operation.in_query) and "limit" not in given:
            _write(list(server.list_rows(operation.id, **given)), chosen.output)
        else:
            _write(server.call(operation.id, **given), chosen.output)


def _read_fields(file: str | None, operation: Operation) -> JsonObject:
    """Return the fields in a file. A list is the only field that takes one, such as the rows of an import."""
    if file is None:
        return {}
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        found = json.loads(text, parse_constant=_refuse_constant)
    except (OSError, ValueError) as error:
        raise RefusedError(f"{file} cannot be read as JSON: {error}") from error
    lists = [name for name, field in operation.fields.items() if _resolve(field).get("type") == "array"]
    if isinstance(found, list) and len(lists) == 1:
        return {lists[0]: found}
    if not isinstance(found, dict):
        raise RefusedError(f"{file} is no JSON object with the fields of the request.")
    return found


def _write(answer: Any, file: str | None) -> None:
    text = json.dumps(json.loads(write_json(answer)), indent=2, ensure_ascii=False) + "\n"
    if file:
        Path(file).write_text(text)
    elif answer is not None:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
