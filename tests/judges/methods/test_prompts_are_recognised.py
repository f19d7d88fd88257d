"""A server that knows the recorded judgments only by their content recognises what default prompts ask."""

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest

from annotate.core.guideline import DimensionSpec, FrozenDimension, FrozenPoint
from annotate.setup.presets import TEMPLATES
from judges.methods import METHODS
from judges.methods.base import Subject
from tests.judges.replay import Replay, replaying
from tests.reference import reference_data

MODEL = "gpt-3.5-turbo-0301"


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(reference_data() / "news_summeval" / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def frozen(spec: DimensionSpec) -> FrozenDimension:
    points = tuple(FrozenPoint(point.value, point.label, point.description) for point in spec.points)
    key = spec.name.lower()
    return FrozenDimension(1, key, spec.name, spec.definition, spec.guidelines, 1, 5, "interval", points)


DIMENSIONS = {dimension.key: dimension for dimension in map(frozen, TEMPLATES["news-summaries"].dimensions)}


@pytest.fixture(scope="module")
def server() -> Iterator[Replay]:
    with replaying() as running:
        yield running


@pytest.fixture(scope="module")
def articles() -> dict[str, str]:
    return {line["id"]: line["source"] for line in lines("documents.jsonl.gz")}


@pytest.fixture(scope="module")
def summaries() -> dict[tuple[str, str], str]:
    return {(line["system"], line["id"]): line["summary"] for line in lines("summaries.jsonl.gz")}


def answer(server: Replay, method: str, subject: Subject, dimension: FrozenDimension) -> str:
    """What the server replies; it refuses a prompt that it does not recognise."""
    messages = METHODS[method].messages(METHODS[method].default_template, subject, dimension)
    chat = [{"role": message.role, "content": message.content} for message in messages]
    body = json.dumps({"model": MODEL, "messages": chat}).encode()
    request = Request(f"{server.base_url}/chat/completions", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=30) as response:
        content: str = json.load(response)["choices"][0]["message"]["content"]
    return content


@pytest.mark.parametrize("method", ["rts", "mcq"])
@pytest.mark.parametrize("key", DIMENSIONS)
def test_one_output(server, articles, summaries, method, key):
    """Summaries that several systems wrote word for word are left out: their replies come in turn."""
    texts = list(summaries.values())
    recorded = [
        line
        for line in lines(f"responses_{MODEL}.jsonl.gz")
        if (line["method"], line["dimension"]) == (method, key)
        and texts.count(summaries[line["system"], line["id"]]) == 1
    ][::11]
    assert len(recorded) > 90
    for line in recorded:
        subject = Subject((("", articles[line["id"]]),), summaries[line["system"], line["id"]])
        assert answer(server, method, subject, DIMENSIONS[key]) == line["response"]


@pytest.mark.parametrize("key", DIMENSIONS)
def test_two_outputs_in_both_orders(server, articles, summaries, key):
    recorded = [line for line in lines(f"h2h_{MODEL}.jsonl.gz") if line["dimension"] == key]
    by_order = {(line["system_1"], line["system_2"], line["id"]): line["response"] for line in recorded}
    asked = 0
    for first, second, document in list(by_order)[::23]:
        one, other = summaries[first, document], summaries[second, document]
        if one in other or other in one:
            continue
        subject = Subject((("Article", articles[document]),), one, other)
        assert answer(server, "h2h", subject, DIMENSIONS[key]) == by_order[first, second, document]
        asked += 1
    assert asked > 85
