"""The ratings of benchmarks/export.py as CSV without Concord: export_yardstick.py FILE yardstick|copy ...

yardstick: from the driver's own cursor, the least that one would write to get the same columns in the same
order; standard library and psycopg only. copy: by PostgreSQL itself, which is the least there can be.
"""

import csv
import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

AT_ONCE = 2000
QUERY = """
    SELECT document.key, system.name, dimension.key, rater.pseudonym, round.number, rating.value,
           rating.unsure, rating.cannot_rate, rating.not_applicable, rater.counted,
           rating.comment, rating.evidence, rating.active_seconds, rating.revision, guideline.version,
           rating.created_at, rating.updated_at, assignment.position, assignment.plan, assignment.origin,
           assignment.seed, COALESCE(unit.inclusion_probability, assignment.inclusion_probability)
    FROM annotate_rating rating
    JOIN annotate_assignment assignment ON assignment.id = rating.assignment_id
    JOIN annotate_round round ON round.id = assignment.round_id
    JOIN annotate_item item ON item.id = assignment.item_id
    JOIN annotate_document document ON document.id = item.document_id
    JOIN annotate_system system ON system.id = item.system_id
    JOIN annotate_dimension dimension ON dimension.id = rating.dimension_id
    JOIN annotate_membership rater ON rater.id = assignment.annotator_id
    LEFT JOIN annotate_guideline guideline ON guideline.id = rating.guideline_id
    LEFT JOIN annotate_assignedunit unit
      ON unit.assignment_id = assignment.id AND unit.dimension_id = rating.dimension_id
    ORDER BY round.number, assignment.item_id, dimension.position, rating.id
"""
COLUMNS = ["document", "system", "dimension", "rater", "round", "value", "unsure"]
COLUMNS += ["cannot_rate", "not_applicable", "counted", "comment", "evidence", "active_seconds", "revision"]
COLUMNS += ["guideline_version", "first_saved_at", "last_saved_at", "position"]
COLUMNS += ["plan", "plan_origin", "plan_seed", "inclusion_probability"]


@contextmanager
def rows() -> Iterator[Iterable[tuple[Any, ...]]]:
    """A cursor over the ratings, read in chunks on either database."""
    if url := os.environ.get("DATABASE_URL"):
        with psycopg.connect(url) as connection, connection.cursor(name="ratings") as cursor:
            cursor.itersize = AT_ONCE
            yield cursor.execute(QUERY)
        return
    connected = sqlite3.connect(Path(os.environ["CONCORD_DATA"]) / "concord.sqlite3")
    try:
        yield connected.execute(QUERY)
    finally:
        connected.close()


def write_by_cursor(target: Path) -> None:
    with rows() as found, target.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(found)


def write_by_copy(target: Path) -> None:
    statement = f"COPY ({QUERY}) TO STDOUT WITH (FORMAT csv, HEADER)"
    with (
        psycopg.connect(os.environ["DATABASE_URL"]) as connection,
        connection.cursor().copy(statement) as found,
        target.open("wb") as file,
    ):
        file.writelines(found)


write = {"yardstick": write_by_cursor, "copy": write_by_copy}[sys.argv[2]]
begun = time.perf_counter()
write(Path(sys.argv[1]))
seconds = time.perf_counter() - begun
print(
    json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})
)  # Linux reports KiB
