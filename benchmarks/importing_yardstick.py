"""A bare load for benchmarks/importing.py, by the driver alone: importing_yardstick.py FILE URL|PATH."""

import json
import resource
import sqlite3
import sys
import time
from collections.abc import Iterator

import psycopg

BATCH = 2000
DOCUMENTS = "CREATE TABLE bare_document (number bigint PRIMARY KEY, key text UNIQUE, text text)"
ITEMS = "CREATE TABLE bare_item (document bigint, system text, text text, UNIQUE (document, system))"
Row = tuple[int | str, ...]


def rows(path: str) -> Iterator[tuple[list[Row], list[Row]]]:
    known: dict[str, int] = {}
    new_documents: list[Row] = []
    items: list[Row] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            key = record["document_id"]
            if key not in known:
                known[key] = len(known)
                new_documents.append((known[key], key, record["article"]))
            items.append((known[key], record["system"], record["text"]))
            if len(items) >= BATCH:
                yield new_documents, items
                new_documents, items = [], []
    yield new_documents, items


def load_sqlite(path: str, target: str) -> None:
    with sqlite3.connect(target) as database:
        database.execute(DOCUMENTS)
        database.execute(ITEMS)
        for new_documents, items in rows(path):
            database.executemany("INSERT INTO bare_document VALUES (?, ?, ?)", new_documents)
            database.executemany("INSERT INTO bare_item VALUES (?, ?, ?)", items)


def load_postgresql(path: str, url: str) -> None:
    with psycopg.connect(url) as database:
        database.execute(DOCUMENTS)
        database.execute(ITEMS)
        for batch in rows(path):
            for table, written in zip(("bare_document", "bare_item"), batch, strict=True):
                with database.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                    for row in written:
                        copy.write_row(row)


begun = time.perf_counter()
load = load_postgresql if sys.argv[2].startswith("postgres") else load_sqlite
load(sys.argv[1], sys.argv[2])
seconds = time.perf_counter() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux reports KiB
print(json.dumps({"seconds": seconds, "peak": peak}))
