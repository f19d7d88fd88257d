"""SummEval judged over HTTP by real workers: the published figures, and workers that are killed.

The server answers with the replies that a real model gave; everything else is the product: import, plan,
Celery, the OpenAI client, parsing, the database, the queries.
"""

import random
import time
from collections import Counter
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from judges.core.models import Judgment, Run
from judges.core.specification import Scope
from judges.runs.commands.runs import plan_run
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.news import DIMENSIONS, imported_news
from tests.judges.replay import replaying
from tests.judges.workers import empty_broker, wait_until, worker
from tests.published.judges_page import compared_with_published
from tests.published.reliability_figures import (
    compare_estimates,
    compare_reliability,
    the_constant_judge_passes_where_no_judge_does,
)

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

IN_FLIGHT = 16
HELD = IN_FLIGHT + 32  # asked, or answered and not stored yet
KILLS = 10
LEASE = 3  # seconds; a new worker takes as long to start


@pytest.fixture
def server():
    with replaying() as running:
        yield running


@pytest.mark.once
def test_every_published_figure_comes_out_of_what_a_worker_collected(server, tmp_path):
    project, run = begun(server)
    # Nothing is asked twice, however long the worker is held up: a lease outlasts that.
    with worker(tmp_path, broker=broker(), lease=600) as running:
        assert wait_until(lambda: ended(run), seconds=600), running.log.read_text()[-3000:]
    assert statuses(run) == {"done": 9600}
    judges = {"rts": "rts", "mcq": "mcq"}
    assert compared_with_published(project, judges) == {}
    compare_reliability(project)
    compare_estimates(project, judges)
    the_constant_judge_passes_where_no_judge_does(project, judges)


def test_ten_workers_that_die_and_a_lost_broker_cost_no_judgment_and_few_calls(server, tmp_path):
    """Without figures: for texts that are alike the server takes turns, which repeated calls turn around."""
    _, run = begun(server, DIMENSIONS[:2])
    collect_while_killing(run, tmp_path)
    assert statuses(run) == {"done": 4800}
    stats = server.stats()
    assert stats["different"] == 4800
    assert stats["repeated"] <= KILLS * HELD


def begun(server, dimensions=DIMENSIONS):
    """Import SummEval as released and let a run over all of it go on, with nobody told of it."""
    project = imported_news(make_user())
    endpoint = make_endpoint(project, server.base_url, calls_in_flight=IN_FLIGHT, timeout_seconds=300)
    judges = [make_judge(project, method, endpoint=endpoint, name=method) for method in ("rts", "mcq")]
    run = plan_run(project=project, scope=Scope(judges, dimensions), by=None)
    assert statuses(run) == {"planned": 2400 * len(dimensions)}
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return project, run


def statuses(run):
    return Counter(Judgment.objects.filter(run=run).values_list("status", flat=True))


def broker():
    """Return nothing for a folder on SQLite, else a Redis."""
    return "" if connection.vendor == "sqlite" else "redis://127.0.0.1:6379/9"


def collect_while_killing(run, folder):
    chance = random.Random(7)
    with worker(folder, broker=broker(), lease=LEASE) as running:
        for number in range(KILLS):
            before = answered(run)
            assert wait_until(partial(more_answered, run, before)), running.log.read_text()
            time.sleep(chance.uniform(0, 2))
            running.kill()
            if number == KILLS // 2:
                empty_broker(folder, broker())
            running.start()
        assert wait_until(lambda: ended(run), seconds=600), running.log.read_text()[-3000:]


def answered(run):
    return Judgment.objects.filter(run=run, status="done").count()


def more_answered(run, before):
    return answered(run) > before


def ended(run):
    run.refresh_from_db()
    return run.status == "finished"
