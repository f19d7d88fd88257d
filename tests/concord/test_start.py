"""`manage.py start`, which `make run` calls: it answers, keeps the data, and leaves nothing running."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from concord.management.commands.start import demonstration, local_models, state_file
from judges.management.demonstration.finished import NAME as FINISHED
from tests.concord.running import Started, alive, descendants, eventually, manage, parents, start
from tests.databases import copy_migrated_file
from tests.factories import make_project
from tests.made_once import make_once
from tests.ports import free_port

pytestmark = pytest.mark.skipif(
    os.uname().sysname != "Linux", reason="processes are watched in Linux's /proc"
)


def rows(data: Path) -> list[tuple[object, ...]]:
    """Return every account and project of an installation."""
    with closing(sqlite3.connect(data / "concord.sqlite3", timeout=60)) as database:
        users = database.execute("SELECT id, email, password FROM annotate_user ORDER BY id").fetchall()
    return [*users, *projects(data)]


def projects(data: Path) -> list[tuple[int, str]]:
    """Return key and name of every project of an installation."""
    with closing(sqlite3.connect(data / "concord.sqlite3", timeout=60)) as database:
        return database.execute("SELECT id, name FROM annotate_project ORDER BY id").fetchall()


def end(started: Started, how: signal.Signals, *, times: int = 1) -> set[int]:
    """Stop with a signal, sent so many times, and return the processes that it should not have left."""
    family = descendants(started.process.pid)
    assert len(family) >= 3, "the web server, its worker process, and Celery"
    for _ in range(times - 1):
        started.process.send_signal(how)
        time.sleep(0.2)
    assert started.stop(how) == 0, started.log.read_text()
    return alive(family)


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
    django_db_modify_db_settings: None,
    django_db_blocker: Any,
) -> Path:
    """Return a private copy of an installation that was started once, with a migrated database.

    tests/browser/test_package.py starts without data.
    """

    def start_once(folder: Path) -> None:
        with django_db_blocker.unblock():
            copy_migrated_file(folder / "concord.sqlite3")
        start(folder).stop(signal.SIGINT)

    first = make_once(pytestconfig, tmp_path_factory, "first-installation", start_once)
    return shutil.copytree(first, tmp_path_factory.mktemp("installation"), dirs_exist_ok=True)


def test_server_prints_its_url_and_answers_until_repeated_interrupts(data: Path) -> None:
    started = start(data)
    page = started.get("/accounts/login/")
    assert all(started.get(path) for path in re.findall(r'"(/static/[^"]+\.(?:css|js))"', page))
    said = started.log.read_text()
    assert f"http://127.0.0.1:{started.port}/" in said
    assert "/first-account/" in said
    assert "Make the first account" in started.get(re.findall(r"(/first-account/\S+)", said)[0])
    assert end(started, signal.SIGINT, times=3) == set()
    assert "Traceback" not in started.log.read_text()


def test_a_second_start_keeps_the_data_and_does_not_gather_the_static_files_again(data: Path) -> None:
    manage("load_demonstration", data=data)
    assert end(start(data), signal.SIGHUP) == set(), "as when the terminal is closed"
    before, gathered = rows(data), (data / "static" / "staticfiles.json").stat().st_mtime_ns
    again = start(data)
    family = descendants(again.process.pid)
    again.stop(signal.SIGKILL)
    assert eventually(lambda: alive(family) == set()), "killed outright, it leaves no process"
    assert before
    assert rows(data) == before
    assert (data / "static" / "staticfiles.json").stat().st_mtime_ns == gathered


def test_stopping_while_the_demonstration_loads_leaves_no_half(data: Path) -> None:
    started = start(data, empty=False)
    assert eventually(lambda: FINISHED in dict(projects(data)).values()), started.log.read_text()
    assert end(started, signal.SIGINT) == set()
    assert "Traceback" not in started.log.read_text()
    assert FINISHED not in dict(projects(data)).values()
    again = start(data, empty=False)
    assert "A finished project with judges and results is being made" in again.log.read_text()
    assert eventually(lambda: FINISHED in dict(projects(data)).values()), again.log.read_text()
    assert end(again, signal.SIGTERM) == set()


def test_a_process_that_dies_is_started_again_and_the_others_stay(data: Path) -> None:
    started = start(data)
    family = descendants(started.process.pid)
    worker, web = (running(command, started.process.pid) for command in (b"celery", b"concord.web"))
    os.kill(worker, signal.SIGKILL)
    assert eventually(lambda: started.log.read_text().count("ready.") == 2), started.log.read_text()
    assert "The worker process ended by itself (SIGKILL); it starts again in 1 s." in started.log.read_text()
    assert web in alive({web})
    for child in descendants(web):
        os.kill(child, signal.SIGKILL)
    assert eventually(lambda: bool(descendants(web) - family)), "the server replaces its worker process"
    assert eventually(started.answers), started.log.read_text()
    family |= descendants(web)
    os.kill(web, signal.SIGKILL)
    assert eventually(lambda: "The web process ended by itself (SIGKILL)" in started.log.read_text())
    assert eventually(lambda: alive(family) == {started.process.pid} & family), "its children hold the port"
    assert eventually(started.answers), started.log.read_text()
    assert end(started, signal.SIGTERM) == set()


def running(command: bytes, parent: int) -> int:
    """Return the child of a process that runs a command."""
    children = (pid for pid, of in parents().items() if of == parent)
    return next(pid for pid in children if command in Path(f"/proc/{pid}/cmdline").read_bytes())


def test_port_in_use_is_reported_in_one_line_before_any_change(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = manage("start", "--port", str(port), data=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        f"CommandError: Port {port} cannot be used (Address already in use): try --port 9000."
    )
    assert not (tmp_path / "concord.sqlite3").exists()


def test_only_the_demonstration_removes_its_data_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    ended = manage("start", "--temporary", "--port", str(free_port()), data=data)
    assert ended.returncode == 1
    assert ended.stderr.strip() == "CommandError: Only `concord demo` removes its folder of data at the end."
    assert data.exists()


@pytest.mark.django_db
def test_an_empty_database_gets_the_demonstration_with_its_accounts() -> None:
    assert "@" in demonstration()
    assert demonstration() == demonstration()


@pytest.mark.django_db
def test_a_deleted_demonstration_does_not_come_back() -> None:
    make_project()
    assert demonstration() == ""


def test_port_out_of_range_is_rejected(tmp_path: Path) -> None:
    ended = manage("start", "--port", "70000", data=tmp_path)
    assert "a port is a number from 1 to 65535" in ended.stderr


@pytest.mark.parametrize(
    ("hosts", "https", "given", "opens"),
    [
        (["localhost", "127.0.0.1"], False, "", True),
        (["localhost", "concord.example.org"], False, "", False),
        (["localhost"], True, "", False),
        (["localhost"], False, "vllm:8000", False),
    ],
)
def test_models_of_this_machine_are_open_to_its_own_user_alone(
    hosts: list[str],
    https: bool,
    given: str,
    opens: bool,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    settings.ALLOWED_HOSTS, settings.HTTPS = hosts, https
    monkeypatch.setenv("CONCORD_LOCAL_ENDPOINTS", given)
    settings.DATA_DIR = Path("/data")
    found = local_models(8080)
    said = found.get("CONCORD_LOCAL_ENDPOINTS", "")
    assert ("127.0.0.1:8090" in said) is opens
    is_shared = https or "concord.example.org" in hosts
    assert found.get("CONCORD_LOCAL_ENDPOINTS_FILE") == (None if is_shared else "/data/local-endpoints")
    assert ":8080" not in said, "Concord itself answers there"


def test_start_for_other_hosts_opens_no_local_models_or_token(settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.HTTPS = ["localhost"], False
    assert local_models(8080, "0.0.0.0") == {}
    assert state_file("0.0.0.0") is None
