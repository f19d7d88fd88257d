"""The commands of the tutorial, in temporary folders; packages and Caddy are left to its readers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.documentation.tutorials import blocks
from tests.ports import free_port

pytestmark = [pytest.mark.once, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300


def test_every_command_works(tmp_path: Path, migrated_file: Path) -> None:
    port = free_port()
    settings, prepare, web, worker, check, backup = (
        block.replace(".venv/bin/python", sys.executable)
        .replace("/var/lib/concord", str(tmp_path / "data"))
        .replace("/etc/concord.env", str(tmp_path / "concord.env"))
        .replace("/srv/backups", str(tmp_path))
        .replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        for block in blocks("deploy-for-a-lab", "sh")
    )
    (tmp_path / "data").mkdir()
    if migrated_file.exists():  # a first start, which another test makes, would migrate for seven seconds
        migrated_file.rename(tmp_path / "data" / "concord.sqlite3")
    (tmp_path / "concord.env").write_text(settings)
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DJANGO_SUPERUSER_PASSWORD": "correct horse"}
    load = f"set -eu -a; . {tmp_path}/concord.env; set +a\n"

    def run(script: str) -> str:
        ran = subprocess.run(
            ["bash", "-c", load + script], cwd=ROOT, env=kept, capture_output=True, text=True, timeout=600
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout + ran.stderr

    def start(script: str, *options: str) -> "subprocess.Popen[bytes]":
        command = f"{load}exec {script.strip()} {' '.join(options)}"
        return subprocess.Popen(["bash", "-c", command], cwd=ROOT, env=kept, stderr=subprocess.DEVNULL)

    assert "System check identified no issues" in run(prepare.replace("--email", "--no-input --email"))
    processes = [start(web, "--port", str(port)), start(worker)]
    try:
        until = time.monotonic() + PATIENCE
        while subprocess.run(["bash", "-c", check], env=kept, capture_output=True).returncode:
            assert time.monotonic() < until, "the web server is not ready"
            time.sleep(0.5)
        assert '"database": "ok"' in run(check)
        run(backup)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)
    assert (tmp_path / "concord-first.backup").stat().st_size > 0
