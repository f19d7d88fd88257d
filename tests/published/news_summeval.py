"""SummEval's abstractive systems as arrays: experts' scores, and recorded replies as Concord reads them."""

import csv
import gzip
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from agreement.comparison import Scores, Verdicts
from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import dimension
from tests.reference import reference_data

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
SCALES = {name: dimension(name.title()) for name in DIMENSIONS}

Item = tuple[str, str]  # system, document


def lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference_data() / "news_summeval" / name, "rt") as file:
        yield from map(json.loads, file)


def value(line: dict[str, Any]) -> float:
    """What Concord's own method reads in a recorded reply, NaN where that is nothing."""
    reading = METHODS[line["method"]].read(line["response"], SCALES[line["dimension"]])
    return reading.value if isinstance(reading, Readable) else np.nan


@cache
def values(method: str) -> dict[str, dict[Item, float]]:
    found: dict[str, dict[Item, float]] = {name: {} for name in DIMENSIONS}
    for line in lines("responses_gpt-3.5-turbo-0301.jsonl.gz"):
        if line["method"] == method:
            found[line["dimension"]][line["system"], line["id"]] = value(line)
    return found


@cache
def summaries() -> list[dict[str, Any]]:
    return list(lines("summaries.jsonl.gz"))


@cache
def scores(method: str, name: str) -> Scores:
    human = [[person[name] for person in line["expert_annotations"]] for line in summaries()]
    of_item = values(method)[name]
    return Scores(
        systems=[line["system"] for line in summaries()],
        documents=[line["id"] for line in summaries()],
        human=np.array(human).T,
        judge=[of_item[line["system"], line["id"]] for line in summaries()],
    )


@cache
def verdicts(name: str) -> Verdicts:
    asked = [line for line in lines("h2h_gpt-3.5-turbo-0301.jsonl.gz") if line["dimension"] == name]
    return Verdicts(
        first=[line["system_1"] for line in asked],
        second=[line["system_2"] for line in asked],
        documents=[line["id"] for line in asked],
        points=[value(line) for line in asked],
    )


@cache
def published() -> list[dict[str, str]]:
    path = reference_data() / "published" / "news_summeval_chatgpt.csv"
    return list(csv.DictReader(path.read_text().splitlines()))
