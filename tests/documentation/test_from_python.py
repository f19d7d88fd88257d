"""Runs the tutorial for Python against a server with the demonstration and a fake model."""

import json
import os
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Export, Project, Rating
from annotate.management.demonstration import load_demonstration
from concord.celery import app
from judges.core.models import Judgment
from judges.runs.commands.collecting import collect
from tests.documentation.tutorials import blocks
from tests.judges.provider import providing

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the worker: a task runs inside the server, which sends it."""
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setitem(app.conf, "task_eager_propagates", True)
    monkeypatch.setattr("judges.tasks.start_collecting", collect)


def reply(request: dict[str, Any]) -> str:
    asked = request["messages"][-1]["content"]
    value = len(asked) % 5 + 1
    return f"It reads well.\nScore: {value}" if "Score:" in asked else "ABCDE"[value - 1]


@pytest.mark.django_db(transaction=True)
def test_every_block_of_the_tutorial_runs_twice(live_server: LiveServer, tmp_path: Path) -> None:
    load_demonstration()
    (command,) = [
        line for block in blocks("from-python", "sh") for line in block.splitlines() if "token" in line
    ]
    out = StringIO()
    call_command(*shlex.split(command)[2:], "--json", stdout=out)
    (made,) = json.loads(out.getvalue())
    program = "\n".join(blocks("from-python", "python")).replace("http://127.0.0.1:8000", live_server.url)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "CONCORD_TOKEN": made["token"]}
    said, calls = [], []
    with providing(reply_to=reply) as provider:
        program = program.replace("http://127.0.0.1:8090/v1", provider.base_url)
        for _ in range(2):
            python = [sys.executable, "-W", "error", "-c", program]
            ran = subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
            said.append(ran.stdout)
            calls.append(len(provider.asked))
    first, second = said
    assert "round_1_alpha" in first
    assert "unknown" in first, "the message about the unknown document"
    assert "{'sent': 48, 'made': 48}" in first
    assert "{'sent': 48, 'made': 0}" in second
    assert Judgment.objects.count() == 48
    assert calls[1] == calls[0] + 1, "the second time makes only the call that tests the endpoint"
    project = Project.objects.get(slug="tutorial-benchmark")
    assert Rating.objects.filter(assignment__round__project=project).count() == 48
    assert Export.objects.filter(project=project).count() == 1
    assert (tmp_path / "benchmark.zip").stat().st_size > 1000
