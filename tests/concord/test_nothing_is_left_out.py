"""In CI a run fails when a test was skipped or expected to fail, and says which and why.

What says nothing of the database, and what pages show, is played on SQLite, and everything else on both.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.concord.running import LONGEST, ROOT
from tests.once import ONCE

TOLD = """#!/bin/sh
echo "${DATABASE_URL:-SQLite}: $@" >>"$TOLD"
case "${DATABASE_URL:-SQLite}: $*" in ${FAILS:-nothing}) exit 1 ;; esac
"""


def play(monkeypatch: pytest.MonkeyPatch, ci: str, *options: str) -> subprocess.CompletedProcess[str]:
    monkeypatch.setenv("CI", ci)
    command = [sys.executable, "-m", "pytest", "tests/concord/left_out.py", "-p", "no:cacheprovider"]
    return subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)


def test_ci_fails_and_lists_the_omitted_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = play(monkeypatch, "true")
    assert ended.returncode == 1
    assert "tests/concord/left_out.py::test_that_is_skipped: no rabbit" in ended.stdout
    assert "tests/concord/left_out.py::test_that_may_fail: known to fail" in ended.stdout


def test_ci_passes_when_nothing_is_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(monkeypatch, "true", "-k", "passes").returncode == 0


def test_elsewhere_a_skipped_test_is_only_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = play(monkeypatch, "")
    assert ended.returncode == 0
    assert "no rabbit" in ended.stdout


def run_ci(folder: Path, **variables: str) -> tuple[int, list[str]]:
    """Run CI with a stand-in for make; return its exit code and the tests that it asked for."""
    (folder / "data").mkdir()
    programs = [
        folder / ".venv" / "bin" / "python",
        *(folder / "bin" / name for name in ("make", "chromium", "nginx", "pdflatex")),
    ]
    for program in programs:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(TOLD if program.name == "make" else "#!/bin/sh\n")
        program.chmod(0o755)
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    told = folder / "told"
    settings = {"CI": "1", "DATABASE_URL": "postgres://one", "CONCORD_REFERENCE_DATA": str(folder / "data")}
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, **settings, **variables, "PATH": path, "TOLD": str(told)}
    script = ["bash", str(folder / ".ci" / "run")]
    ended = subprocess.run(script, env=environment, check=False, timeout=LONGEST)
    return ended.returncode, [line for line in told.read_text().splitlines() if ": test" in line]


def test_ci_runs_all_on_sqlite_and_unmarked_tests_also_on_postgresql(tmp_path: Path) -> None:
    code, tests = run_ci(tmp_path)
    assert code == 0
    assert sorted(tests) == [
        "SQLite: test ARGS=-n 0 --collect-only -q",
        "SQLite: test ARGS=-n 3 tests/browser",
        "SQLite: test ARGS=-n 4 --ignore tests/browser --ignore tests/agreement",
        "SQLite: test-agreement",
        "postgres://one: test ARGS=-n 2 -m 'not once'",
    ]


@pytest.mark.parametrize(
    "part",
    [
        *("SQLite: test*ignore*", "SQLite: test*3 tests/browser", "SQLite: test-agreement"),
        *("postgres*: test*", "SQLite: check", "SQLite: test*collect-only*"),
    ],
)
def test_ci_fails_with_each_part_and_plays_nothing_again(tmp_path: Path, part: str) -> None:
    code, tests = run_ci(tmp_path, FAILS=part.replace(" ", r"\ "))
    assert code != 0
    assert len(tests) == len(set(tests))


def test_ci_installs_with_the_python_that_is_named(tmp_path: Path) -> None:
    run_ci(tmp_path, PYTHON="python-of-choice")
    assert "install PYTHON=python-of-choice" in (tmp_path / "told").read_text()


@pytest.mark.django_db
def test_database_test_is_not_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("once") is None


def test_files_that_are_played_once_exist() -> None:
    assert [path for path in ONCE if not list((ROOT / "tests").glob(f"{path}*"))] == []


def chosen(*arguments: str) -> set[str]:
    """Return the files with tests that pytest would play."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    return {line.partition("::")[0] for line in ended.stdout.splitlines() if "::" in line}


def test_statistics_are_played_with_one_database() -> None:
    assert chosen("-m", "not once", "tests/agreement/test_drift.py") == set()


def test_fast_tests_need_no_browser_process_or_connection() -> None:
    files = {
        "tests/agreement/test_intervals.py": True,
        "tests/disputes/test_digests.py": True,
        "tests/people/test_joining_at_once.py": False,
        "tests/browser/test_sign_in.py": False,
        "tests/concord/test_brokers.py": False,
        "tests/judges/runs/test_collecting.py": False,
        "tests/judges/runs/test_small_model.py": False,
    }
    assert chosen("-m", "fast", *files) == {name for name, is_fast in files.items() if is_fast}
