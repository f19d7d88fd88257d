"""A run by calls and one by batches while everything breaks: provider, broker, database, worker.

The servers are a test's own: a PostgreSQL, a RabbitMQ with a short consumer timeout, and the replay server on
a bad day. Blows fall one after the other, each when the run has gone on since the one before.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from tests.judges.cluster import Cluster, cluster
from tests.judges.rabbit import Rabbit, rabbit
from tests.judges.replay import replaying
from tests.judges.workers import ROOT, Worker, wait_until, worker

BAD_DAY = {"error": 0.05, "drop": 0.02, "hang": 0.01, "garbage": 0.02, "rate_limit": 10, "batch_seconds": 2}
CALLS_IN_FLIGHT = 16
HELD = CALLS_IN_FLIGHT + 32  # asked, or answered and not stored yet
LEASE = 3  # seconds
BETWEEN = 10  # answers that are stored between two blows
PLAN = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.utils import timezone
from judges.core.models import Run
from judges.core.specification import Scope
from judges.runs.commands.runs import plan_run
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.news import news_project
url, documents, *dimensions = sys.argv[1:]
project = news_project(documents=int(documents))
endpoint = make_priced_endpoint(project, url, calls_in_flight=16, timeout_seconds=3)
for method, via in (("rts", Run.Via.CALLS), ("mcq", Run.Via.BATCH)):
    judge = make_judge(project, method, endpoint=endpoint)
    plan_run(project=project, scope=Scope([judge], dimensions), by=None, via=via)
# Garbage of a bad day shall not pause them: that is looked at elsewhere.
Run.objects.update(status="running", started_at=timezone.now(), accepts_unreadable=True)
"""


@dataclass(frozen=True)
class Aftermath:
    """What is there when both runs are over. spent, cost: of all runs, and of all stored judgments."""

    runs: list[str]
    statuses: dict[str, int]
    without_reason: int
    held: int
    spent: float
    cost: float
    stats: dict[str, Any]
    blows: int  # that fell while there was something left to ask
    kills: int


def storm(folder: Path, *, documents: int, dimensions: tuple[str, ...], rounds: int) -> Aftermath:
    """Let both runs go through so many rounds of blows, wait until they are over, and look."""
    with cluster() as database, rabbit(consumer_timeout=5) as broker, replaying(**BAD_DAY) as server:
        plan(database.url, [server.base_url, str(documents), *dimensions], folder)
        with worker(folder, broker=broker.url, database=database.url, lease=LEASE) as running:
            struck = 0
            for blow in rounds * blows(running, broker, database):
                before = done(database.url)
                assert wait_until(partial(has_gone_on, database.url, before)), running.story()
                struck += not is_over(database.url)
                blow()
            assert wait_until(lambda: is_over(database.url)), running.story()
            assert running.process is not None
            assert running.process.poll() is None, running.story()
        return Aftermath(
            runs=[row[0] for row in ask(database.url, "SELECT status FROM judges_run")],
            statuses=dict(ask(database.url, "SELECT status, count(*) FROM judges_judgment GROUP BY 1")),
            without_reason=number(
                database.url, "SELECT count(*) FROM judges_judgment WHERE value IS NULL AND reason = ''"
            ),
            held=number(database.url, "SELECT count(*) FROM judges_judgment WHERE lease IS NOT NULL"),
            spent=number(database.url, "SELECT sum(spent) FROM judges_run"),
            cost=number(database.url, "SELECT sum(cost) FROM judges_judgment"),
            stats=server.stats(),
            blows=struck,
            kills=rounds,
        )


def blows(running: Worker, broker: Rabbit, database: Cluster) -> list[Callable[[], None]]:
    """What happens in a round: lost connections and restarts of broker and database, a killed worker."""

    def kill_worker() -> None:
        running.kill()
        running.start()

    def restart_broker() -> None:
        broker.ask("stop_app")
        broker.ask("start_app")

    def restart_database() -> None:
        database.crash()
        database.start()

    return [
        kill_worker,
        lambda: end_backends(database.url),
        lambda: close_connections(broker),
        restart_broker,
        restart_database,
    ]


def close_connections(broker: Rabbit) -> None:
    broker.ask("close_all_connections", "closed by a test")


def end_backends(url: str) -> None:
    """End every connection to a database but this one, whatever it is doing."""
    ask(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


def plan(database: str, arguments: list[str], folder: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": database, "CONCORD_DATA": str(folder)}
    environment |= {"DJANGO_SETTINGS_MODULE": "concord.settings", "CONCORD_BROKER_URL": ""}
    subprocess.run([sys.executable, "-c", PLAN, *arguments], cwd=ROOT, env=environment, check=True)


def done(url: str) -> int:
    return int(number(url, "SELECT count(*) FROM judges_judgment WHERE answered_at IS NOT NULL"))


def has_gone_on(url: str, before: int) -> bool:
    return is_over(url) or done(url) >= before + BETWEEN


def is_over(url: str) -> bool:
    return not number(url, "SELECT count(*) FROM judges_run WHERE status = 'running'")


def number(url: str, query: str) -> Any:
    return ask(url, query)[0][0]


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()
