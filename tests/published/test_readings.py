"""Recorded replies are read as they were one by one, before and apart from what Concord makes of them.

`readings.jsonl` has a line for each reply: method, dimension, the beginning of the SHA-256 of its text, and
its value, null where it states none; no value comes from code. Where a method has fewer than 500 different
replies, these are all of them (h2h, mcq, mcq2, geval, geval_no_auto_cot, llm_eval_no_cot); else they are 300
drawn at random, without repeats.
"""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import dimension
from tests.published.test_judge_readings import SCALES
from tests.reference import reference_data

SAMPLE = [json.loads(line) for line in (Path(__file__).parent / "readings.jsonl").read_text().splitlines()]
NEWS = {
    "responses_gpt-3.5-turbo-0301": {"rts": "rts", "mcq": "mcq"},
    "h2h_gpt-3.5-turbo-0301": {"h2h": "h2h"},
    "responses_gpt-3.5-alt": {"rts": "rts2", "mcq": "mcq2"},
    "responses_gpt-3.5-stareval": {"rts": "stareval"},
}
"""The files of replies about news: what each calls a method, and its name here."""
READ_AS = {"rts": "rts", "rts2": "rts", "mcq": "mcq", "mcq2": "mcq", "h2h": "h2h", "stareval": "stars"}
"""The method whose reader reads them; replies about dialogues are read as reasons with a score."""
DIALOGUE_SCALES = {
    "naturalness": dimension("Naturalness", 1, 3, labels=("bad", "ok", "good")),
    "coherence": dimension("Coherence", 1, 3, labels=("no", "somewhat", "yes")),
    "engagingness": dimension("Engagingness", 1, 3, labels=("dull", "somewhat interesting", "interesting")),
    "groundedness": dimension("Groundedness", 0, 1, labels=("no", "yes")),
}
"""The points of each scale are named as in the prompts."""

Key = tuple[str, str, str]  # method, dimension, hash


def lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference_data() / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def replies() -> Iterator[tuple[str, str, str]]:
    """All recorded replies: method, dimension, text."""
    for name, methods in NEWS.items():
        for line in lines(f"news_summeval/{name}.jsonl.gz"):
            yield methods[line["method"]], line["dimension"], line["response"]
    for line in lines("topical_chat/dialogue_replies_gpt-3.5.jsonl.gz"):
        for text in line["samples"]:
            yield line["mode"], line["dimension"], text


@cache
def texts() -> dict[Key, str]:
    return {
        (method, name, hashlib.sha256(text.encode()).hexdigest()[:16]): text
        for method, name, text in replies()
    }


def key(line: dict[str, Any]) -> Key:
    return line["method"], line["dimension"], line["sha256"]


def reading(method: str, name: str, text: str) -> float | None:
    scale = SCALES[name] if method in READ_AS else DIALOGUE_SCALES[name]
    read = METHODS[READ_AS.get(method, "rts")].read(text, scale)
    return read.value if isinstance(read, Readable) else None


@pytest.mark.parametrize("method", sorted({line["method"] for line in SAMPLE}))
def test_replies_read_like_the_recorded_readings(method: str) -> None:
    one_by_one = {key(line): line["value"] for line in SAMPLE if line["method"] == method}
    unknown = one_by_one.keys() - texts().keys()
    assert not unknown
    concord = {key: reading(method, key[1], texts()[key]) for key in one_by_one}
    differ = {key: value for key, value in concord.items() if value != one_by_one[key]}
    assert differ == {}


def test_each_method_has_300_replies_or_all_that_are_different() -> None:
    different = Counter(method for method, _, _ in texts())
    assert len(different) == 13
    read = Counter(line["method"] for line in SAMPLE)
    assert read == {method: 300 if count >= 500 else count for method, count in different.items()}
    assert len({key(line) for line in SAMPLE}) == len(SAMPLE)
