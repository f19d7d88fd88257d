"""What gpt-3.5-turbo-0301 replied about news summaries, read by Concord's own methods, gives the figures of
Shen et al. (2023), tables 4, 22 and 25.
"""

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import dimension
from tests.reference import reference_data

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
SCALES = {name: dimension(name.title()) for name in DIMENSIONS}
REPLIES = ("responses_gpt-3.5-turbo-0301.jsonl.gz", "h2h_gpt-3.5-turbo-0301.jsonl.gz")
COEFFICIENTS: dict[str, Any] = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall": stats.kendalltau,
}


def lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference_data() / "news_summeval" / name, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def published(quantity: str) -> list[dict[str, str]]:
    path = reference_data() / "published" / "news_summeval_chatgpt.csv"
    with path.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["quantity"] == quantity]


@cache
def judgments() -> tuple[list[dict[str, Any]], list[str]]:
    """The recorded replies with their values, and the replies that have none."""
    read, unread = [], []
    for name in REPLIES:
        for line in lines(name):
            reading = METHODS[line["method"]].read(line["response"], SCALES[line["dimension"]])
            if isinstance(reading, Readable):
                read.append({**line, "value": reading.value})
            else:
                unread.append(line["response"])
    return read, unread


@cache
def scores(method: str, name: str) -> dict[tuple[str, str], float]:
    """A judge's value by system and document."""
    return {
        (line["system"], line["id"]): line["value"]
        for line in judgments()[0]
        if (line["method"], line["dimension"]) == (method, name)
    }


@cache
def human_means(name: str) -> dict[tuple[str, str], float]:
    return {
        (line["system"], line["id"]): float(np.mean([expert[name] for expert in line["expert_annotations"]]))
        for line in lines("summaries.jsonl.gz")
    }


def test_every_recorded_reply_is_read() -> None:
    read, unread = judgments()
    assert len(read) == 4_800 + 4_800 + 8_800
    assert unread == []


@pytest.mark.parametrize("method", ["rts", "mcq"])
@pytest.mark.parametrize("name", DIMENSIONS)
def test_mean_scores_of_the_systems(method: str, name: str) -> None:
    by_system = defaultdict(list)
    for (system, _), value in scores(method, name).items():
        by_system[system].append(value)
    expected = {
        row["system"]: float(row["recomputed"])
        for row in published("mean_judge_score")
        if (row["method"], row["dimension"]) == (method, name)
    }
    assert len(expected) == 12
    assert {system: np.mean(values) for system, values in by_system.items()} == pytest.approx(
        expected, abs=1e-6
    )


@pytest.mark.parametrize("method", ["rts", "mcq"])
@pytest.mark.parametrize("name", DIMENSIONS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_correlations_with_humans(method: str, name: str, coefficient: str) -> None:
    human = human_means(name)
    judge = scores(method, name)
    keys = sorted(human)
    computed = COEFFICIENTS[coefficient]([judge[key] for key in keys], [human[key] for key in keys])
    expected = [
        float(row["recomputed"])
        for row in published("correlation_with_humans")
        if (row["method"], row["dimension"], row["coefficient"]) == (method, name, coefficient)
    ]
    assert expected == [pytest.approx(computed[0], abs=1e-6)]


def test_points_of_neighbouring_systems() -> None:
    """A system has its value in one order and the rest in the other; both orders count half."""
    points: dict[tuple[str, str], float] = defaultdict(float)
    for line in judgments()[0]:
        if line["method"] == "h2h":
            first, second = line["system_1"], line["system_2"]
            points[line["dimension"], f"{first}-{second}"] += line["value"] / 2
            points[line["dimension"], f"{second}-{first}"] += (1 - line["value"]) / 2
    expected = {
        (row["dimension"], row["system"]): float(row["recomputed"])
        for row in published("h2h_points_of_system_1")
        if row["coefficient"] == "llm"
    }
    assert len(expected) == 44
    assert {pair: points[pair] for pair in expected} == pytest.approx(expected, abs=1e-6)
