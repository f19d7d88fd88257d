"""What Prometheus is told, and who may ask."""

import re
import signal
import subprocess
import sys
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotate.core.models import Export, WorkerHeartbeat
from concord.environment import metrics_token
from concord.metrics import queues
from tests.concord.running import LONGEST, ROOT, environment, eventually, manage
from tests.factories import make_project
from tests.ports import free_port

TOKEN = "a token of the tests, long enough to count"
SHOWN = {"Authorization": f"Bearer {TOKEN}"}


def value(text: str, name: str) -> float:
    """Return what a metric says, such as `concord_queue_depth{queue="exports"}`."""
    (found,) = re.findall(rf"^{re.escape(name)} (\S+)$", text, flags=re.M)
    return float(found)


@pytest.fixture
def text(client: Client, settings: Any, db: None) -> str:
    settings.METRICS_TOKEN = TOKEN
    cast = make_project()
    waiting = timezone.now() - timedelta(minutes=2)
    Export.objects.create(project=cast.project, touched_at=waiting)
    WorkerHeartbeat.objects.create(name="one", seen_at=timezone.now())
    WorkerHeartbeat.objects.create(name="dead", seen_at=waiting)
    client.get("/accounts/login/")
    answer = client.get("/metrics", headers={**SHOWN, "Host": "10.0.0.7:8000"})
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_database_tells_queues_jobs_and_workers(text: str) -> None:
    assert value(text, 'concord_queue_depth{queue="exports"}') == 1
    assert 120 <= value(text, 'concord_queue_age_seconds{queue="exports"}') < 240
    assert value(text, 'concord_jobs{kind="export",status="waiting"}') == 1
    assert value(text, "concord_workers") == 1
    assert value(text, "concord_cost") == 0
    assert value(text, "concord_database_up") == 1
    assert {each for each in queues() if f'concord_queue_depth{{queue="{each}"}}' in text} == set(queues())


def test_request_metrics_have_kinds(text: str) -> None:
    assert value(text, 'concord_request_seconds_count{kind="page",status="2xx"}') >= 1


def test_only_the_token_opens_the_metrics(client: Client, settings: Any, db: None) -> None:
    assert client.get("/metrics", headers=SHOWN).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    refused = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}x"})
    assert (refused.status_code, b"concord_" in refused.content) == (401, False)


def test_a_token_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_METRICS_TOKEN", "guess me")
    with pytest.raises(Exception, match="CONCORD_METRICS_TOKEN has fewer than 32 characters"):
        metrics_token("CONCORD_METRICS_TOKEN")


def test_server_worker_counts_are_summed(tmp_path: Path, migrated_file: Path) -> None:
    if migrated_file.exists():
        migrated_file.rename(tmp_path / "concord.sqlite3")
    assert manage("migrate", data=tmp_path).returncode == 0
    assert manage("collectstatic", "--no-input", data=tmp_path).returncode == 0
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "concord.web",
        "--workers",
        "2",
        "--blocking-threads",
        "1",
        "--port",
        str(port),
    ]
    own = environment(tmp_path, CONCORD_METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path))
    server = subprocess.Popen(
        command, cwd=ROOT, env=own, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )

    def get(path: str) -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=SHOWN)
        with urllib.request.urlopen(request, timeout=LONGEST) as reply:
            return str(reply.read().decode())

    def answers() -> bool:
        try:
            return get("/health/live") == "live\n"
        except OSError:
            return False

    try:
        assert eventually(answers)
        for _ in range(20):
            get("/accounts/login/")
        told = {
            value(get("/metrics"), 'concord_request_seconds_count{kind="page",status="2xx"}')
            for _ in range(8)
        }
        assert told == {20}
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(LONGEST)
    assert not list(tmp_path.glob("concord-metrics-*"))
