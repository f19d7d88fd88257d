"""The tutorial for Python, run against a server with the demonstration."""

import json
import os
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Document
from annotate.management.demonstration.load import load_demonstration
from tests.documentation.tutorials import blocks

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db(transaction=True)
def test_every_block_of_the_tutorial_runs(live_server: LiveServer, tmp_path: Path) -> None:
    load_demonstration()
    (command,) = [
        line for block in blocks("from-python", "sh") for line in block.splitlines() if "token" in line
    ]
    out = StringIO()
    call_command(*shlex.split(command)[2:], "--json", stdout=out)
    (made,) = json.loads(out.getvalue())
    program = "\n".join(blocks("from-python", "python")).replace("http://127.0.0.1:8000", live_server.url)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "CONCORD_TOKEN": made["token"]}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "round_1_alpha" in ran.stdout
    assert "unknown" in ran.stdout, "the message about the unknown document"
    assert Document.objects.filter(key="radio").count() == 1
