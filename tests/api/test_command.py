"""The command `concord`: every operation of the API has a name, and runs on the local server."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
import pytest
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import ApiToken, Project, User
from concord import commands as server_commands
from concord_client import commands, server
from concord_client.commands import list_commands
from concord_client.operations import load_operations
from tests.factories import make_project

COMMANDS = list_commands()
RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run a command and return its exit code, output and error messages."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = commands.run(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        out, complaints = capsys.readouterr()
        own = [line for line in complaints.splitlines(keepends=True) if not re.match(r"\d{4}-\d\d-", line)]
        return code, out, "".join(own)  # the server logs in this process, too

    return run


@pytest.fixture
def project(
    transactional_db: None, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Project:
    """Give a project of one person on a server with a state file, like the one of `manage.py start`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in (server.ADDRESS, server.TOKEN):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "concord").mkdir()
    data = tmp_path / "data"
    data.mkdir()
    state = {"address": f"{live_server.url}/", "data": str(data), "pid": os.getpid()}
    server.state_file().write_text(json.dumps(state))
    monkeypatch.setattr(server, "entry_points", lambda **_: [MakeToken()])
    # Django is set up already. Doing it again closes the handler of absl, and with it pytest's output.
    monkeypatch.setattr(django, "setup", lambda: None)
    monkeypatch.setenv("CONCORD_DATA", str(data))  # as it is set for the token, and unset afterwards
    return make_project().project


class MakeToken:
    """The entry point of the installed server."""

    def load(self) -> Callable[[str], str]:
        return server_commands.make_local_token


def test_every_operation_has_a_unique_name_and_a_description(run_command: RunCommand) -> None:
    names = [(each.resource, each.name) for each in COMMANDS]
    assert len(names) == len(set(names))
    assert {each.operation.id for each in COMMANDS} == set(load_operations())
    for resource in sorted({resource for resource, _ in names}):
        code, out, _ = run_command(resource, "--help")
        assert code == 0
        own = [name for of, name in names if of == resource]
        assert all(name in out for name in own), resource


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: f"{each.resource} {each.name}")
def test_help_names_every_field(command: commands.ApiCommand, run_command: RunCommand) -> None:
    code, out, _ = run_command(command.resource, command.name, "--help")
    assert code == 0
    assert command.operation.summary[:20] in out.replace("\n", " ")
    assert all(f"--{name.replace('_', '-')}" in out for name in command.operation.fields)


def test_local_command_needs_no_settings(project: Project, run_command: RunCommand) -> None:
    code, out, _ = run_command("projects", "list")
    assert code == 0
    assert [each["slug"] for each in json.loads(out)] == [project.slug]
    (kept,) = (Path(json.loads(server.state_file().read_text())["data"])).glob("command_token")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    run_command("me", "show")
    assert ApiToken.objects.count() == 1, "the second call reuses the token"


def test_fields_are_options_or_a_file(project: Project, run_command: RunCommand, tmp_path: Path) -> None:
    fields = {
        "measurement_level": "interval",
        "name": "Fluency",
        "definition": "How well it reads.",
        "guidelines": "Read it.",
    }
    file = tmp_path / "fields.json"
    file.write_text(json.dumps(fields | {"scale_minimum": 1, "scale_maximum": 5}))
    code, out, complaints = run_command(
        "dimensions", "add", project.slug, "--json", str(file), "--name", "Language"
    )
    assert (code, complaints) == (0, "")
    assert json.loads(out)["name"] == "Language", "an option counts before the file"
    code, out, _ = run_command("dimensions", "list", project.slug, "--output", str(tmp_path / "rows"))
    assert (code, out) == (0, "")
    assert [each["key"] for each in json.loads((tmp_path / "rows").read_text())] == ["fluency", "language"]


def test_rejection_prints_the_server_message(project: Project, run_command: RunCommand) -> None:
    code, out, complaints = run_command("rounds", "open-1", "unknown")
    assert (code, out) == (1, "")
    assert complaints == "There is no such project, or it is not yours.\n"
    code, _, complaints = run_command("dimensions", "add", project.slug, "--scale-minimum", "1")
    assert code == 1
    assert "name" in complaints
    code, _, complaints = run_command("dimensions", "add", project.slug, "--json", "no-such-file")
    assert code == 1
    assert complaints.startswith("no-such-file cannot be read as JSON")


def test_unwritable_output_is_reported(project: Project, run_command: RunCommand, tmp_path: Path) -> None:
    code, out, complaints = run_command("me", "show", "--output", str(tmp_path / "missing" / "me.json"))
    assert (code, out) == (1, "")
    assert complaints.startswith("The answer cannot be written: ")


def test_a_revoked_token_is_replaced(project: Project, run_command: RunCommand) -> None:
    assert run_command("me", "show")[0] == 0
    ApiToken.objects.all().delete()
    assert run_command("me", "show")[0] == 0
    assert ApiToken.objects.count() == 1


def test_revoked_environment_token_keeps_the_stored_one(
    project: Project, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command("me", "show")[0] == 0
    monkeypatch.setenv(server.TOKEN, "revoked")
    assert run_command("me", "show")[0] == 1
    monkeypatch.delenv(server.TOKEN)
    assert run_command("me", "show")[0] == 0
    assert ApiToken.objects.count() == 1


def test_kept_token_does_not_follow_a_link(project: Project, run_command: RunCommand, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "data" / server.TOKEN_FILE).symlink_to(elsewhere)
    assert run_command("me", "show")[0] == 0
    assert not elsewhere.exists()
    assert [path.name for path in (tmp_path / "data").glob("command_token*")] == [server.TOKEN_FILE]


@pytest.mark.parametrize(("people", "sentence"), [(0, "No one has an account"), (2, "Several accounts")])
def test_command_reports_the_reason_for_a_missing_token(
    project: Project, run_command: RunCommand, people: int, sentence: str
) -> None:
    if people:
        make_project()
    else:
        User.objects.update(is_active=False)
    code, _, complaints = run_command("me", "show")
    assert code == 1
    assert complaints.startswith(sentence)


def test_command_reports_a_missing_server(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv(server.ADDRESS, raising=False)
    assert run_command("me", "show") == (1, "", f"{server.NO_SERVER}\n")


def test_file_of_a_killed_server_is_ignored(project: Project, run_command: RunCommand) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    state = json.loads(server.state_file().read_text())
    server.state_file().write_text(json.dumps({**state, "pid": ended.pid}))
    assert run_command("me", "show") == (1, "", f"{server.NO_SERVER}\n")
    assert not ApiToken.objects.exists()


def test_the_command_imports_neither_django_nor_pandas() -> None:
    program = "import sys, concord_client.commands; print({'django', 'pandas', 'numpy'} & set(sys.modules))"
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": "client"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ran.stdout == "set()\n", ran.stderr
