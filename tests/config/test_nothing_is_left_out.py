"""In CI a run fails when a test was skipped or expected to fail, and says which and why."""

import subprocess
import sys

import pytest

from tests.config.running import LONGEST, ROOT


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
