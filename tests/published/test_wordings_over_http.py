"""Second wordings and stars over HTTP: every value is that of the release's reply, read as it stands.

Of three documents; `benchmarks/wordings.py` asks for all 14,400 replies and holds the figures of tables 17
and 18 against those of the imported release.
"""

from collections import defaultdict

import pytest

from judges.core.models import Judgment
from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.news import lines, news_project
from tests.published.test_judge_readings import SCALES
from tests.published.wordings_over_http import WORDINGS, judge_over_http

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]

COLUMNS = ("judge__model", "judge__method", "dimension__key", "item__document__key", "item__text", "value")


def test_values_over_http_match_the_release() -> None:
    project = news_project(documents=3)
    assert [run.status for run in judge_over_http(project, calls_in_flight=16)] == ["finished", "finished"]
    found = list(Judgment.objects.filter(status="done").values_list(*COLUMNS))
    assert len(found) == 3 * 4 * 36
    release = read_release()
    assert [row for row in found if row[-1] not in release[row[:-1]]] == []


def read_release() -> dict[tuple[str, ...], set[float]]:
    """Return what Concord reads in the release about each text; texts that are alike share their values."""
    texts = {(line["system"], line["id"]): line["summary"] for line in lines("summaries.jsonl.gz")}
    read: dict[tuple[str, ...], set[float]] = defaultdict(set)
    for name, model, methods in WORDINGS:
        for line in lines(f"responses_{name}.jsonl.gz"):
            method = "stars" if "stars" in methods else line["method"]
            reading = METHODS[method].read(line["response"], SCALES[line["dimension"]])
            assert isinstance(reading, Readable)
            text = texts[line["system"], line["id"]]
            read[model, method, line["dimension"], line["id"], text].add(reading.value)
    return read
