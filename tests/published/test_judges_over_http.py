"""SummEval judged over HTTP by real workers that are killed: every value is the recorded one.

The server answers with the replies that a real model gave; everything else is the product: import, plan,
Celery, the OpenAI client, parsing, the database. Of one dimension by multiple choice, as the bad day is of
another by reasons first; the published figures come out of all replies, imported.
"""

import random
import time
from collections import Counter, defaultdict
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
from tests.published.news_summeval import lines, value

# On PostgreSQL, workers and a broker die in tests/judges/storm.py, whichever database the run has.
pytestmark = [pytest.mark.long, pytest.mark.once, pytest.mark.django_db(transaction=True)]

IN_FLIGHT = 16
HELD = IN_FLIGHT + 32  # asked, or answered and not stored yet
KILLS = 3
DIMENSION = DIMENSIONS[1]
METHOD = "mcq"
LEASE = 3  # seconds; a new worker takes as long to start


@pytest.fixture
def server():
    """Answer slowly enough for the last worker to be killed before all is answered, however fast it is."""
    with replaying(latency=150) as running:
        yield running


def test_workers_that_die_and_a_lost_broker_cost_no_judgment_and_few_calls(server, tmp_path):
    run = begun(server)
    collect_while_killing(run, tmp_path)
    assert statuses(run) == {"done": 1200}
    stats = server.stats()
    assert stats["different"] == 1200
    assert stats["repeated"] <= KILLS * HELD
    check_values(run)


def check_values(run):
    """Hold every value against the recorded replies about the same text.

    For texts that are alike the server takes turns, which repeated calls turn around.
    """
    texts = {(line["system"], line["id"]): line["summary"] for line in lines("summaries.jsonl.gz")}
    recorded = defaultdict(set)
    for line in lines("responses_gpt-3.5-turbo-0301.jsonl.gz"):
        if (line["dimension"], line["method"]) == (DIMENSION, METHOD):
            recorded[texts[line["system"], line["id"]]].add(value(line))
    found = Judgment.objects.filter(run=run).values_list("item__text", "value")
    assert [row for row in found if row[1] not in recorded[row[0]]] == []


def begun(server):
    """Import SummEval as released and let a run over one dimension go on, with nobody told of it."""
    project = imported_news(make_user())
    endpoint = make_endpoint(project, server.base_url, calls_in_flight=IN_FLIGHT, timeout_seconds=300)
    judge = make_judge(project, METHOD, endpoint=endpoint)
    run = plan_run(project=project, scope=Scope([judge], [DIMENSION]), by=None)
    assert statuses(run) == {"planned": 1200}
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return run


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
            assert wait_until(partial(more_answered, run, before)), running.story()
            time.sleep(chance.uniform(0, 2))
            running.kill()
            if number == KILLS // 2:
                empty_broker(folder, broker())
            running.start()
        assert wait_until(lambda: ended(run), seconds=600), running.story()


def answered(run):
    return Judgment.objects.filter(run=run, status="done").count()


def more_answered(run, before):
    return answered(run) > before


def ended(run):
    run.refresh_from_db()
    return run.status == "finished"
