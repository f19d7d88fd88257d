"""The database goes away in the middle of a run, and the run completes by itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.judges.cluster import cluster
from tests.judges.replay import replaying
from tests.judges.workers import ROOT, wait_until, worker

CALLS_IN_FLIGHT = 8
MEANWHILE = 4  # seconds without a database
PLAN = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.utils import timezone
from judges.core.models import Run
from tests.judges.factories import make_endpoint, make_judge, make_run
from tests.judges.news import news_project
project = news_project(documents=12)
judge = make_judge(project, endpoint=make_endpoint(project, sys.argv[1], calls_in_flight=8))
run = make_run(project, judge)
Run.objects.filter(pk=run.pk).update(status="running", started_at=timezone.now())
"""


@pytest.mark.long
@pytest.mark.once  # the database that crashes is a PostgreSQL of its own
def test_a_database_that_crashes_costs_no_judgment(tmp_path):
    with replaying(latency=30) as server, cluster() as database:
        plan(database.url, server.base_url, tmp_path)
        with worker(tmp_path, database=database.url) as running:
            assert wait_until(lambda: counted(database.url, "done") > 200), running.story()
            database.crash()
            time.sleep(MEANWHILE)
            database.start()
            assert wait_until(lambda: status(database.url) == "finished"), running.story()
        assert counted(database.url, "done") == 576
        stats = server.stats()
        assert stats["different"] == 576
        assert stats["repeated"] <= CALLS_IN_FLIGHT + 32


def plan(database: str, server: str, folder: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": database, "CONCORD_DATA": str(folder)}
    environment |= {"DJANGO_SETTINGS_MODULE": "concord.settings", "CONCORD_BROKER_URL": ""}
    subprocess.run([sys.executable, "-c", PLAN, server], cwd=ROOT, env=environment, check=True)


def counted(database: str, state: str) -> int:
    return int(asked(database, "SELECT count(*) FROM judges_judgment WHERE status = %s", state))


def status(database: str) -> str:
    return asked(database, "SELECT status FROM judges_run WHERE %s > ''", "any")


def asked(database: str, query: str, value: str) -> str:
    with psycopg.connect(database) as connection:
        row = connection.execute(query, [value]).fetchone()
    assert row is not None
    return str(row[0])
