"""Head to head over HTTP: every verdict that a worker collects is the recorded one.

Of one dimension and three pairs of systems; the published figures come out of all 8,800 verdicts, imported.
The server finds the two texts in a prompt by searching, so it cannot answer for two that are alike or of
which one contains the other.
"""

import re
from collections import Counter

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

DIMENSION = DIMENSIONS[0]
PAIRS = [{"M10", "M20"}, {"M12", "M13"}, {"M13", "M15"}]
COLUMNS = ("dimension__key", "item__system__name", "other__system__name", "item__document__key", "value")


def test_every_verdict_collected_over_http_is_the_recorded_one(tmp_path):
    recorded = {
        (line["dimension"], line["system_1"], line["system_2"], line["id"]): value(line)
        for line in lines("h2h_gpt-3.5-turbo-0301.jsonl.gz")
        if line["dimension"] == DIMENSION and {line["system_1"], line["system_2"]} in PAIRS
    }
    with replaying() as server:
        run = planned(server.base_url, {key[1:3] for key in recorded})
        assert Judgment.objects.filter(run=run).count() == len(recorded) == 600
        assert leave_out_texts_within_each_other(run) == 16
        Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
        with worker(tmp_path, broker=broker()) as running:
            assert wait_until(lambda: ended(run), seconds=600), running.story()
    found = Judgment.objects.filter(run=run)
    assert Counter(found.values_list("status", flat=True)) == {"done": 584}
    collected = {tuple(row[:4]): row[4] for row in found.values_list(*COLUMNS)}
    assert collected == {key: recorded[key] for key in collected}


def planned(address: str, names: set[tuple[str, str]]) -> Run:
    """Import SummEval as released and plan its pairs of neighbouring systems, each in both orders."""
    project = imported_news(make_user())
    judge = make_judge(project, "h2h", endpoint=make_endpoint(project, address, calls_in_flight=16))
    systems = dict(project.systems.values_list("name", "pk"))
    pairs = {(systems[first], systems[second]) for first, second in names if first < second}
    return plan_run(project=project, scope=Scope([judge], [DIMENSION], pairs=sorted(pairs)), by=None)


def leave_out_texts_within_each_other(run: Run) -> int:
    """Take out of the plan what the server cannot tell apart; return how many judgments."""
    rows = Judgment.objects.filter(run=run).values_list("pk", "item__text", "other__text")
    within = [key for key, first, second in rows if contains(first, second) or contains(second, first)]
    return Judgment.objects.filter(pk__in=within).delete()[0]


def contains(text: str, other: str) -> bool:
    return squeezed(other) in squeezed(text)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()
