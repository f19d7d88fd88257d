"""Second wordings and stars of Shen et al. (2023), and free words of Chiang and Lee (2023), as read here."""

import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import dimension
from tests.published.test_judge_readings import COEFFICIENTS, DIMENSIONS, SCALES, human_means
from tests.reference import reference_data

Scores = dict[tuple[str, str], dict[tuple[str, str], float]]
# The file of replies, the method that asked for them, how they are read, and their name in the tables.
WORDINGS = [
    ("responses_gpt-3.5-alt.jsonl.gz", "rts", "rts", "rts2"),
    ("responses_gpt-3.5-alt.jsonl.gz", "mcq", "mcq", "mcq2"),
    ("responses_gpt-3.5-stareval.jsonl.gz", "rts", "stars", "stareval"),
]
AS_THE_AUTHORS = re.compile(r"; \d out of 5\.\Z")
"""Six replies whose score the authors' extraction reads as 5, which is the end of the scale."""


def lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference_data() / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def wordings() -> tuple[Scores, list[str], int]:
    """Values by wording and dimension, replies without one, and how many are taken as the authors did."""
    scores: Scores = defaultdict(dict)
    unread, theirs = [], 0
    for file, asked, method, name in WORDINGS:
        for line in lines(f"news_summeval/{file}"):
            if line["method"] != asked:
                continue
            reading = METHODS[method].read(line["response"], SCALES[line["dimension"]])
            if not isinstance(reading, Readable):
                unread.append(line["response"])
                continue
            differs = name == "rts2" and AS_THE_AUTHORS.search(line["response"]) is not None
            theirs += differs
            key = line["system"], line["id"]
            scores[name, line["dimension"]][key] = 5.0 if differs else reading.value
    return scores, unread, theirs


def test_every_reply_is_read() -> None:
    scores, unread, theirs = wordings()
    assert unread == []
    assert {len(values) for values in scores.values()} == {1_200}
    assert theirs == 6


@pytest.mark.parametrize("wording", ["rts2", "mcq2", "stareval"])
@pytest.mark.parametrize("name", DIMENSIONS)
def test_correlations_with_humans_of_table_18(wording: str, name: str) -> None:
    human, judge = human_means(name), wordings()[0][wording, name]
    path = reference_data() / "published" / "news_summeval_wordings.csv"
    with path.open(newline="") as file:
        expected = {
            row["coefficient"]: float(row["authors_parser"])
            for row in csv.DictReader(file)
            if (row["method"], row["dimension"]) == (wording, name)
            and row["quantity"] == "human correlation, data set"
        }
    keys = sorted(human)
    sides = [judge[key] for key in keys], [human[key] for key in keys]
    assert set(expected) == set(COEFFICIENTS)
    computed = {key: float(correlation(*sides)[0]) for key, correlation in COEFFICIENTS.items()}
    assert computed == pytest.approx(expected, abs=1e-6)


def test_replies_about_dialogues_in_free_words_are_read() -> None:
    """A twentieth of 200,000; those without a value were looked at: they state none, or several."""
    scales = {
        name: dimension(name.title(), *((0, 1) if name == "groundedness" else (1, 3)))
        for name in ("naturalness", "coherence", "engagingness", "groundedness")
    }
    read = total = 0
    for line in lines("topical_chat/dialogue_replies_gpt-3.5.jsonl.gz"):
        reading = METHODS["rts"].read(line["samples"][0], scales[line["dimension"]])
        read += isinstance(reading, Readable)
        total += 1
    assert total > 9_000
    assert read >= 0.997 * total
