"""The benchmark of importing in a short form: that a worker imports what it makes, not how fast."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.once
def test_the_benchmark_imports_every_item_of_its_file(migrated_file: Path) -> None:
    vendor = "postgresql" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "sqlite"
    environment = {**os.environ, "MIGRATED_FILE": str(migrated_file)}
    command = [sys.executable, str(HERE / "benchmarks" / "importing.py"), "--items", "40", "--only", vendor]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    figures = r" +[\d.]+ s +\d+ MiB +[\d.]+ s +\d+ MiB +[\d.]+x  10 documents, 40 items$"
    assert re.search(rf"^{vendor}{figures}", done.stdout, re.M), done.stdout
