"""The least that serves annotators, for benchmarks/annotators.py: the driver, no sessions, no history.

A GET reads one item's texts, a POST inserts its body as a row and commits. Same server, same database.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import psycopg

ITEM = """
    SELECT document.parts, item.text FROM annotate_item item
    JOIN annotate_document document ON document.id = item.document_id ORDER BY item.id LIMIT 1 OFFSET {}
"""
INSERT = "INSERT INTO yardstick VALUES ({0}, {0}, {0})"
ITEMS, DIMENSIONS = 416, 7
url = os.environ.get("DATABASE_URL", "")
mark = "%s" if url else "?"
local = threading.local()


def connection() -> Any:
    if not hasattr(local, "connection"):
        if url:
            local.connection = psycopg.connect(url)
        else:
            file = Path(os.environ["CONCORD_DATA"]) / "concord.sqlite3"
            local.connection = sqlite3.connect(file, timeout=20, isolation_level="IMMEDIATE")
    return local.connection


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    address, database = environ["PATH_INFO"], connection()
    if environ["REQUEST_METHOD"] == "POST":
        body = environ["wsgi.input"].read().decode()
        answers = json.loads(parse_qs(body).get("answers", ["[]"])[0])  # seven in one request, or one
        for answer in [json.dumps(each) for each in answers] or [body]:
            database.execute(INSERT.format(mark), (environ["HTTP_COOKIE"], address, answer))
        saved = {"revision": 1}
        content = json.dumps({"answers": [saved for _ in answers]} if answers else saved).encode()
    else:
        content = page(database, address).encode()
    database.commit()
    start("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(content)))])
    return [content]


def page(database: Any, address: str) -> str:
    position = int(address.rstrip("/").rpartition("/")[2])
    parts, text = database.execute(ITEM.format(mark), (position % ITEMS,)).fetchone()
    rows = "".join(f'<p data-url="{address}d{n}/" data-key="d{n}">' for n in range(DIMENSIONS))
    go_on = f'<a id="next" href="/rate/{position + 1}/">'
    form = f'<form data-annotator="1" data-assignment="1" data-together="{address}">'
    return f"{form}<p>{parts}<p>{text}{rows}{go_on}"
