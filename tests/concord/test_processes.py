"""Programs that run together and restart."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from concord import processes
from tests.concord.running import LONGEST, ROOT, eventually

KEEP = """
import sys
from concord import processes
processes.FIRST_BACKOFF = 0.05
processes.LONGEST_BACKOFF = 0.2
command = [sys.executable, "-c", "import sys; sys.exit(3)"]
processes.run_together({"worker": command}, environment={})
"""


@pytest.mark.parametrize("is_replaced", [False, True])
def test_process_reports_its_state_until_it_ends_or_is_replaced(tmp_path: Path, is_replaced: bool) -> None:
    state = tmp_path / "states" / "server.json"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    plan = processes.Plan(
        {"sleeper": [sys.executable, "-c", "import time; time.sleep(600)"]},
        state_file=str(state),
        state="here",
        temporary=str(temporary),
    )
    command = [sys.executable, "-I", processes.__file__, json.dumps(asdict(plan))]
    with subprocess.Popen(command) as supervisor:
        assert eventually(lambda: state.exists() and state.read_text() == "here")
        if is_replaced:
            state.write_text("there")
        supervisor.send_signal(signal.SIGTERM)
    assert supervisor.returncode == 0
    assert state.exists() == is_replaced
    assert not temporary.exists()


def test_what_dies_again_and_again_is_started_more_and_more_rarely(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as output:
        kept = subprocess.Popen([sys.executable, "-c", KEEP], cwd=ROOT, stderr=output, env={**os.environ})
    try:
        assert eventually(lambda: len(log.read_text().splitlines()) >= 5)
    finally:
        kept.send_signal(signal.SIGTERM)
        assert kept.wait(LONGEST) == 0
    lines = log.read_text().splitlines()
    assert all(line.startswith("The worker process ended by itself (exit code 3); ") for line in lines)
    waits = [float(re.findall(r"again in ([\d.]+) s\.$", line)[0]) for line in lines[:5]]
    assert waits == [0.05, 0.1, 0.2, 0.2, 0.2]
