"""The benchmark of the export in a short form: that it exports what it fills, not how fast."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.once
def test_the_benchmark_exports_every_row_that_it_filled(migrated_file: Path) -> None:
    # 2,100 ratings are 100 items of 7 dimensions and 3 raters; 8 documents of 8 parts hold them. Beside them
    # stand as many rows of history and of what places ask for, 100 items twice (also with what came of them),
    # 700 units twice (what each came to, and its soft labels), 1 project, 7 dimensions in 2 rounds, and for
    # each dispute itself, its post and its opening.
    environment = {**os.environ, "MIGRATED_FILE": str(migrated_file)}
    command = [sys.executable, str(HERE / "benchmarks" / "export.py"), "--ratings", "2100"]
    command += ["--what", "everything"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    match = re.match(r"2,100 ratings of 100 items and (\d+) disputes on (\w+)", done.stdout)
    assert match is not None
    disputes = int(match[1])
    assert disputes > 0
    everything = 2100 + 2100 + 2100 + 2 * 100 + 8 * 8 + 2 * 700 + 1 + 2 * 7 + 3 * disputes
    on_postgresql = match[2] == "PostgreSQL"
    assert rows(done.stdout) == {
        "everything, jsonl": everything,
        "everything, csv": everything,
        "everything, parquet": everything,
        "yardstick, csv": 2100,
        **({"copy, csv": 2100} if on_postgresql else {}),
    }
    assert on_postgresql == os.environ.get("DATABASE_URL", "").startswith("postgres")


def rows(printed):
    found = re.findall(r"^(\w+, \w+) +([\d,]+) ", printed, flags=re.M)
    return {what: int(number.replace(",", "")) for what, number in found}
