"""What processes used, as Linux tells it, for benchmarks/annotators.py."""

import os
from contextlib import suppress
from pathlib import Path

import psycopg

TICK = os.sysconf("SC_CLK_TCK")
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in family(int(child)))]


def cpu_seconds(pids: list[int]) -> float:
    """Return the CPU time that processes used so far, in seconds; that of ended ones is not counted."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICK


def database_cpu(url: str) -> float | None:
    """Return the CPU time of the connections that a PostgreSQL database serves; None for SQLite."""
    if not url:
        return None
    with psycopg.connect(url) as connection:
        return cpu_seconds([pid for (pid,) in connection.execute(BACKENDS).fetchall()])


def memory(pids: list[int]) -> int:
    """Return the memory that processes hold together in bytes, what they share counted once."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024
