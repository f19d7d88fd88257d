"""Processes that end with the benchmark, and what they used by /proc: for benchmarks/annotators.py."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import psycopg

ROOT = Path(__file__).resolve().parents[1]
TICK = os.sysconf("SC_CLK_TCK")
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PATIENCE = 20.0  # seconds that a process has to end


def begin(
    command: list[str],
    environment: Mapping[str, str],
    *,
    folder: Path = ROOT,
    output: IO[bytes] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a process in a folder, in a group of its own; it ends when the benchmark does."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        start_new_session=True,
        preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
    )


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and whatever is left of its group."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
    """Return the memory that processes hold together in bytes, what they share counted once (PSS)."""
    return sum(_kibibytes(pid, "Pss:") for pid in pids) * 1024


def resident(pids: list[int]) -> int:
    """Return the memory of processes in bytes, what they share counted in each (RSS)."""
    return sum(_kibibytes(pid, "Rss:") for pid in pids) * 1024


def _kibibytes(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
