"""In CI a run fails when a test was skipped or expected to fail, and says which and why.

What says nothing of the database is played on SQLite, and everything else on both.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.running import LONGEST, ROOT

TOLD = """#!/bin/sh
echo "${DATABASE_URL:-SQLite}: $@" >>"$TOLD"
"""


def play(monkeypatch: pytest.MonkeyPatch, ci: str, *options: str) -> subprocess.CompletedProcess[str]:
    monkeypatch.setenv("CI", ci)
    command = [sys.executable, "-m", "pytest", "tests/config/left_out.py", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)


def test_ci_fails_and_lists_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = play(monkeypatch, "true")
    assert ended.returncode == 1
    assert "tests/config/left_out.py::test_that_is_skipped: no rabbit" in ended.stdout
    assert "tests/config/left_out.py::test_that_may_fail: known to fail" in ended.stdout


def test_ci_passes_when_nothing_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(monkeypatch, "true", "-k", "passes").returncode == 0


def test_elsewhere_a_skipped_test_is_only_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = play(monkeypatch, "")
    assert ended.returncode == 0
    assert "no rabbit" in ended.stdout


def test_ci_plays_everything_on_sqlite_and_what_is_not_marked_on_postgresql_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    programs = [
        tmp_path / ".venv" / "bin" / "python",
        *(tmp_path / "bin" / name for name in ("make", "chromium")),
    ]
    for program in programs:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(TOLD if program.name == "make" else "#!/bin/sh\n")
        program.chmod(0o755)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    told = tmp_path / "told"
    settings = {"CI": "1", "DATABASE_URL": "postgres://one", "CONCORD_REFERENCE_DATA": str(tmp_path / "data")}
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, **settings, "PATH": path, "TOLD": str(told)}
    subprocess.run(["bash", str(tmp_path / ".ci" / "run")], env=environment, check=True, timeout=LONGEST)
    tests = [line for line in told.read_text().splitlines() if ": test" in line]
    assert tests == ["SQLite: test ARGS=", "postgres://one: test ARGS=-m 'not once'"]


@pytest.mark.django_db
def test_what_asks_a_database_is_not_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("once") is None
