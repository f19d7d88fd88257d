"""Recorded replies read by Concord: how many have no value, and a sample to check by eye.

python benchmarks/replies.py [--half test] [--sample 300 --method rts]

Documents are split in two halves by a hash of their names. Rules are written while looking at the development
half alone, and measured on the other one. Without --sample it prints for each method how many replies are
not read, and each of them; with it, replies drawn at random, each behind its value. --values writes all
values to a file, so that two versions can be compared.
"""

import argparse
import gzip
import hashlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judges.methods import METHODS
from judges.methods.base import Readable, Reading
from tests.published.test_judge_readings import SCALES
from tests.published.test_readings import DIALOGUE_SCALES, NEWS, READ_AS
from tests.reference import reference_data

HALVES = ("development", "test")
SEED = 36


def half_of(document: str) -> str:
    """Return the half that a document belongs to, the same on every machine."""
    return HALVES[hashlib.sha256(document.encode()).digest()[0] % 2]


def replies(half: str) -> Iterator[tuple[str, str, str]]:
    """Yield method, dimension and text of each recorded reply about the documents of a half."""
    for name, methods in NEWS.items():
        for line in _lines(f"news_summeval/{name}.jsonl.gz"):
            if half_of(line["id"]) == half:
                yield methods[line["method"]], line["dimension"], line["response"]
    for line in _lines("topical_chat/dialogue_replies_gpt-3.5.jsonl.gz"):
        if half_of(line["document"]) == half:
            yield from ((line["mode"], line["dimension"], text) for text in line["samples"])


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference_data() / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache  # many replies are the same
def read(method: str, dimension: str, text: str) -> Reading:
    scale = SCALES[dimension] if method in READ_AS else DIALOGUE_SCALES[dimension]
    return METHODS[READ_AS.get(method, "rts")].read(text, scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--half", choices=HALVES, default=HALVES[0])
    parser.add_argument("--method", help="only replies of this method")
    parser.add_argument("--sample", type=int, help="print so many replies with their values")
    parser.add_argument("--values", type=Path, help="write all values to this file")
    asked = parser.parse_args()
    of_method: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for method, dimension, text in replies(asked.half):
        if asked.method in (None, method):
            of_method[method].append((dimension, text))
    if asked.sample:
        for method, drawn in of_method.items():
            random.Random(SEED).shuffle(drawn)
            for dimension, text in drawn[: asked.sample]:
                print(json.dumps([method, dimension, _outcome(read(method, dimension, text)), text]))
        return
    rows, unread = [], []
    for method, found in of_method.items():
        for dimension, text in found:
            outcome = _outcome(read(method, dimension, text))
            rows.append(json.dumps([method, dimension, outcome, text]))
            if isinstance(outcome, str):
                unread.append(rows[-1])
        count = sum(json.loads(row)[0] == method for row in unread)
        print(f"{method:<26}{len(found):>8} replies{count:>6} unread ({count / len(found):.2%})")
    print(*unread, sep="\n")
    if asked.values:
        asked.values.write_text("\n".join(rows))


def _outcome(reading: Reading) -> float | str:
    return reading.value if isinstance(reading, Readable) else reading.reason


if __name__ == "__main__":
    main()
