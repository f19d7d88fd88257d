"""Benchmarks in short forms, and that one which is stopped leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.concord.running import LONGEST, ROOT, alive, descendants, eventually

BENCHMARKS = ROOT / "benchmarks"
MAKES_SOMETHING = re.compile(r"own_database\(|TemporaryDirectory\(|run_on_own_database\(")


def programs() -> list[str]:
    """Return the benchmarks that make databases or folders and are started by people."""
    texts = {path.stem: path.read_text() for path in BENCHMARKS.glob("*.py")}
    return sorted(
        name for name, text in texts.items() if "def main() -> None" in text and MAKES_SOMETHING.search(text)
    )


@pytest.mark.once
@pytest.mark.parametrize("name", programs())
def test_benchmark_that_makes_something_cleans_up_when_stopped(name: str) -> None:
    main = (BENCHMARKS / f"{name}.py").read_text().partition("def main() -> None:")[2]
    assert "    clean_up_when_stopped()\n" in main


def test_stopped_benchmark_leaves_no_process_folder_or_database(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, str(BENCHMARKS / "export.py"), "--ratings", "21000"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
    )
    family: set[int] = set()
    try:
        assert eventually(lambda: any(tmp_path.glob("concord-export-*")))
        assert eventually(lambda: bool(descendants(started.pid)))
        family = descendants(started.pid)
    finally:
        started.send_signal(signal.SIGTERM)
        code = started.wait(LONGEST)
    assert code == 128 + signal.SIGTERM
    assert alive(family) == set()
    assert list(tmp_path.iterdir()) == []
    if (url := os.environ.get("DATABASE_URL", "")).startswith("postgres"):
        with psycopg.connect(url) as connection:
            kept = connection.execute("SELECT datname FROM pg_database").fetchall()
        assert (f"concord_export_{started.pid}",) not in kept


@pytest.mark.once
@pytest.mark.long
def test_annotators_of_the_peers_rate_at_both_paces(migrated_file: Path) -> None:
    environment = {**os.environ, "MIGRATED_FILE": str(migrated_file)}
    command = [sys.executable, str(BENCHMARKS / "peers.py"), "--only", "concord"]
    command += ["--annotators", "2", "--rounds", "1", "--seconds", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    for pace in ("person", "robot"):
        assert re.search(rf"^{pace} +Concord, SQLite +[\d.]+ ", done.stdout, flags=re.M), done.stdout
