"""Long work writes in short transactions on SQLite, because one writer blocks all others.

PostgreSQL locks rows, so a long write is one transaction there. The same applies inside another transaction.
On SQLite each step commits, and a pause after it lets others write. After a crash, some steps are written:
each long write documents the way in which the next worker finishes or removes them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from time import monotonic, sleep
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import QuerySet

T = TypeVar("T")

MOST_ROWS, ROWS_AT_ONCE = 1000, 5000
TARGET_SECONDS = 0.1
LEAST_PAUSE, LONGEST_PAUSE = 0.03, 0.25  # SQLite lets a waiting writer look every 25 ms at first


def writes_in_steps() -> bool:
    """Return True if each step commits: on SQLite, outside any transaction."""
    return connection.vendor == "sqlite" and not connection.in_atomic_block


def lock_rows(rows: QuerySet[Any]) -> None:
    """Lock rows in the order of their keys until the transaction ends, where the database locks rows."""
    if connection.features.has_select_for_update:
        for _ in rows.select_for_update(of=("self",)).order_by("pk").values_list("pk").iterator():
            pass


@contextmanager
def long_write() -> Iterator[None]:
    """Join the steps to one transaction, unless they commit individually."""
    if writes_in_steps():
        yield
    else:
        with transaction.atomic():
            yield


@contextmanager
def step() -> Iterator[None]:
    """Write one step of a long write. A pause follows if it commits."""
    commits = writes_in_steps()
    with transaction.atomic():
        begun = monotonic()
        yield
    if commits:
        sleep(min(max((monotonic() - begun) / 2, LEAST_PAUSE), LONGEST_PAUSE))


def write_in_steps(
    rows: Iterable[T], write: Callable[[Sequence[T]], object], *, most: int = MOST_ROWS
) -> None:
    """Write rows in batches, each in its own step. A slow step makes the next batch smaller."""
    left = iter(rows)
    in_steps = writes_in_steps()
    size = max(most // 10, 1) if in_steps else ROWS_AT_ONCE
    while batch := list(islice(left, size)):
        with step():
            begun = monotonic()
            write(batch)
            seconds = monotonic() - begun
        if in_steps and seconds > TARGET_SECONDS:
            size = max(size // 2, 1)
        elif in_steps and seconds < TARGET_SECONDS / 2:
            size = min(size * 2, most)
