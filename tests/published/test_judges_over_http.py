"""SummEval judged over HTTP by real workers: the published figures, and workers that are killed.

The server answers with the replies that a real model gave; everything else is the product: import, plan,
Celery, the OpenAI client, parsing, the database, the queries.
"""

import csv
import json
import os
import random
import time
from collections import Counter
from functools import partial
from io import StringIO

import pytest
import redis
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from judges.commands.runs import plan_run
from judges.models import Judgment, Run
from judges.specification import Scope
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.news import DIMENSIONS, imported_news
from tests.judges.replay import replaying
from tests.judges.workers import wait_until, worker
from tests.published.reliability_figures import (
    compare_estimates,
    compare_reliability,
    the_constant_judge_passes_where_nobody_has_a_verdict,
)
from tests.reference import reference_data

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

IN_FLIGHT = 16
HELD = IN_FLIGHT + 32  # asked, or answered and not stored yet
KILLS = 10
LEASE = 3  # seconds; a new worker takes as long to start
NAMES = {"kendall": "kendall_tau_b"}


@pytest.fixture
def server():
    with replaying() as running:
        yield running


@pytest.mark.once
def test_every_published_figure_comes_out_of_what_a_worker_collected(server, tmp_path):
    project, run = begun(server)
    with worker(tmp_path, broker=broker()) as running:
        assert wait_until(lambda: ended(run), seconds=600), running.log.read_text()[-3000:]
    assert statuses(run) == {"done": 9600}
    out = StringIO()
    call_command("compare_judges", project.slug, "--round", "1", "--json", stdout=out)
    compare(json.loads(out.getvalue()))
    compare_reliability(project)
    judges = {"rts": "rts", "mcq": "mcq"}
    compare_estimates(project, judges)
    the_constant_judge_passes_where_nobody_has_a_verdict(project, judges)


def test_ten_workers_that_die_and_a_lost_broker_cost_no_judgment_and_few_calls(server, tmp_path):
    """Without figures: for texts that are alike the server takes turns, which repeated calls turn around."""
    _, run = begun(server)
    collect_while_killing(run, tmp_path)
    assert statuses(run) == {"done": 9600}
    stats = server.stats()
    assert stats["different"] == 9600
    assert stats["repeated"] <= KILLS * HELD


def begun(server):
    """Import SummEval as released and let a run over all of it go on, with nobody told of it."""
    project = imported_news(make_user())
    endpoint = make_endpoint(project, server.base_url, calls_in_flight=IN_FLIGHT)
    judges = [make_judge(project, method, endpoint=endpoint, name=method) for method in ("rts", "mcq")]
    run = plan_run(project=project, scope=Scope(judges, DIMENSIONS), by=None)
    assert statuses(run) == {"planned": 9600}
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return project, run


def statuses(run):
    return Counter(Judgment.objects.filter(run=run).values_list("status", flat=True))


def broker():
    """Return nothing for a folder on SQLite, else a Redis database that only this process of tests uses."""
    if connection.vendor == "sqlite":
        return ""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return f"redis://127.0.0.1:6379/{9 - number % 9}"


def collect_while_killing(run, folder):
    chance = random.Random(7)
    with worker(folder, broker=broker(), lease=LEASE) as running:
        for number in range(KILLS):
            before = answered(run)
            assert wait_until(partial(more_answered, run, before), seconds=90), running.log.read_text()
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


def empty_broker(folder, address):
    if not address:
        for message in (folder / "broker" / "queue").glob("*.msg"):
            message.unlink(missing_ok=True)
        return
    redis.Redis.from_url(address).flushdb()


def compare(report):
    """Hold every published figure of these tables against the report."""
    figures = {each["judge"]: {at["dimension"]: at for at in each["dimensions"]} for each in report["judges"]}
    path = reference_data() / "published" / "news_summeval_chatgpt.csv"
    compared: Counter[str] = Counter()
    for row in csv.DictReader(path.read_text().splitlines()):
        if row["quantity"] in READ and row["method"] != "h2h":
            at = figures[row["method"] or "rts"][row["dimension"]]
            value = READ[row["quantity"]](at, row)
            assert value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            compared[row["paper_table"]] += 1
    assert compared == {"4": 24, "5": 16, "6": 24, "21": 48, "23": 144, "24": 144, "25": 96}


def measure(row):
    return NAMES.get(row["coefficient"], row["coefficient"])


def named(rows, system):
    return next(row for row in rows if row["system"] == system)


def preferences(at, row):
    return right(at["all_pairs" if row["subset"] == "full" else "neighbours"])


def right(preferences):
    """Count the pairs in which the judge prefers as people do; half of the points is no preference."""
    return sum(side(pair, "judge_points") == side(pair, "human_points") != 0 for pair in preferences["pairs"])


def side(pair, points):
    return (pair[points] > pair["documents"] / 2) - (pair[points] < pair["documents"] / 2)


READ = {
    "correlation_with_humans": lambda at, row: at["correlations"]["dataset"][measure(row)]["value"],
    "correct_preferences": preferences,
    "meta_correlation": lambda at, row: at["meta_correlations"][measure(row)]["value"],
    "mean_human_score": lambda at, row: named(at["systems"], row["system"])["human_mean"]["value"],
    "per_system_correlation": lambda at, row: named(at["by_system"][measure(row)], row["system"])[
        "coefficient"
    ]["value"],
    "mean_judge_score": lambda at, row: named(at["systems"], row["system"])["judge_mean"]["value"],
}
