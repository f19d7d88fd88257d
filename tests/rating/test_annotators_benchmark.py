"""The benchmark of annotators in a short form: that nothing acknowledged is lost, not how fast."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.once
def test_no_answer_is_lost_or_doubled_when_the_server_is_killed(migrated_file: Path) -> None:
    # 8 items of 7 dimensions have 3 raters each, of 8 who rate at the same time.
    environment = {**os.environ, "MIGRATED_FILE": str(migrated_file)}
    command = [sys.executable, str(HERE / "benchmarks" / "annotators.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "168 answers acknowledged, 0 missing, 0 doubled" in done.stdout
    assert int(re.findall(r"(\d+) requests sent again", done.stdout)[0]) >= 8
