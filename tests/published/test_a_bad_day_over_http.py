"""A provider on a bad day: 1,200 judgments end done or explained, with the values of a good day."""

from collections import Counter, defaultdict

import pytest
from django.utils import timezone

from judges.core.models import Judgment, Run
from judges.core.specification import Scope
from judges.runs.commands.runs import plan_run
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.news import DIMENSIONS, imported_news
from tests.judges.replay import replaying
from tests.judges.workers import wait_until, worker
from tests.published.news_summeval import lines, value
from tests.published.test_judges_over_http import broker, ended

pytestmark = [pytest.mark.long, pytest.mark.once, pytest.mark.django_db(transaction=True)]

BAD_DAY = {"error": 0.05, "drop": 0.02, "hang": 0.01, "garbage": 0.02, "rate_limit": 50}
COLUMNS = ("dimension__key", "item__system__name", "item__document__key", "item__text", "value")


def test_1200_judgments_of_a_bad_day_match_a_good_one(tmp_path):
    with replaying(**BAD_DAY) as server:
        project = imported_news(make_user())
        endpoint = make_endpoint(project, server.base_url, calls_in_flight=64, timeout_seconds=5)
        judge = make_judge(project, "rts", endpoint=endpoint, temperature=0.7)
        run = plan_run(project=project, scope=Scope([judge], DIMENSIONS[:1]), by=None)
        Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
        with worker(tmp_path, broker=broker()) as running:
            assert wait_until(lambda: ended(run), seconds=600), running.story()
        stats = server.stats()
    found = Judgment.objects.filter(run=run)
    statuses = Counter(found.values_list("status", flat=True))
    assert statuses.total() == 1200
    assert statuses.keys() <= {"done", "unreadable", "failed"}
    assert statuses["done"] >= 1190, "two replies of nonsense in a row are rare, and eight failures"
    assert not found.exclude(status="done").filter(reason="").exists()
    assert stats["status"]["429"] <= stats["answered"] / 10, "everyone waits as long as the server asks"
    assert stats["status"]["500"] > 25
    assert different_values(run) <= 1


def different_values(run: Run) -> int:
    """Count the values that no recorded reply about the same text has; nonsense is asked for again."""
    recorded = defaultdict(set)
    texts = {(line["system"], line["id"]): line["summary"] for line in lines("summaries.jsonl.gz")}
    for line in lines("responses_gpt-3.5-turbo-0301.jsonl.gz"):
        if line["method"] == "rts":
            recorded[line["dimension"], line["id"], texts[line["system"], line["id"]]].add(value(line))
    done = Judgment.objects.filter(run=run, status="done").values_list(*COLUMNS)
    return sum(number not in recorded[name, key, text] for name, _, key, text, number in done)
