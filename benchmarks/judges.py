"""Judgments a second, planned, parsed and stored, beside a bare loop over the same client; and memory.

python benchmarks/judges.py [--only throughput|memory]

A server on this machine answers with recorded replies after 50 or 400 ms. The yardstick asks the same
questions, as many at a time, with the same openai client in one process and forgets the answers. Concord
plans a run, and one or two Celery workers collect it. They take turns, each with a fresh server. Then 100,800
judgments are planned, and a worker's memory is read while it collects them for a while.

Makes a database of its own: SQLite in a temporary folder with the folder broker, or where DATABASE_URL names
a PostgreSQL server a new database there, with the broker that CONCORD_BROKER_URL names. The server and its
replies are the reference data's (CONCORD_REFERENCE_DATA, else ../shared/data).
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import MEBIBYTE, own_database

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("CONCORD_REFERENCE_DATA") or HERE.parents[1] / "shared" / "data")
IN_FLIGHT = 64
DIMENSIONS = {50: 4, 400: 2}  # by latency: 4,800 or 2,400 calls
REPEATS = 3
LONGEST = 600.0
MEMORY_SECONDS = 60.0
WANTED = {50: 0.80, 400: 0.85}
LONGEST_PLANNING = 4.0  # seconds, for the 100,800 judgments
MOST_MEMORY = 400 * MEBIBYTE


def run(script: str, environment: Mapping[str, str], *arguments: object) -> dict[str, Any]:
    """Run a script beside this one in a process of its own; return what it printed."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    told: dict[str, Any] = json.loads(printed or "null")
    return told


@contextmanager
def replaying(latency: int) -> Iterator[str]:
    """Run the server that answers after so many milliseconds in the mean; give its address."""
    script = DATA.parent / "tools" / "replay" / "server.py"
    command = [sys.executable, str(script), "--port", "0", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.kill()


@contextmanager
def working(environment: Mapping[str, str], number: int) -> Iterator[int]:
    """Run a Celery worker as the documents say; give its process."""
    options = f"--pool threads --concurrency 2 --loglevel WARNING --hostname judges{number}@%h"
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", *options.split()]
    with subprocess.Popen(
        command, cwd=HERE.parent, env=dict(environment), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            time.sleep(6)  # until it listens
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def peak_memory(pid: int) -> int:
    """Return the most memory that a process had, in bytes (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def throughput(environment: Mapping[str, str], prompts: Path, latency: int, workers: int) -> list[float]:
    """Return Concord's share of the yardstick's pace, and both paces, each the median of some turns."""
    dimensions = DIMENSIONS[latency]
    bare, ours, calls = [], [], IN_FLIGHT * workers
    with ExitStack() as stack:
        for number in range(workers):
            stack.enter_context(working(environment, number))
        for _ in range(REPEATS):
            # Each turn has a server of its own, so that neither finds the other's traces in it.
            with replaying(latency) as url:
                told = run("judges_yardstick.py", environment, url, prompts, 1200 * dimensions, IN_FLIGHT)
                bare.append(told["calls"] / told["seconds"])
            with replaying(latency) as url:
                told = run("judges_run.py", environment, url, calls, "once", dimensions, LONGEST)
                ours.append(told["answered"] / told["seconds"])
    shares = [our / other for our, other in zip(ours, bare, strict=True)]
    return [median(shares), median(ours), median(bare)]


def report_throughput(environment: Mapping[str, str], prompts: Path) -> bool:
    """Print a line for each latency and number of workers; return whether all is as it should be."""
    print(f"{'latency':>8}{'workers':>9}{'concord/s':>11}{'bare loop/s':>13}{'share':>8}{'wanted':>8}")
    good = True
    for latency, workers in ((50, 1), (400, 1), (400, 2)):
        share, ours, bare = throughput(environment, prompts, latency, workers)
        wanted = WANTED[latency] if workers == 1 else None
        good = good and (wanted is None or share >= wanted)
        told = f"{wanted:.0%}" if wanted else ""
        print(f"{latency:>5} ms{workers:>9}{ours:>11.0f}{bare:>13.0f}{share:>8.0%}{told:>8}", flush=True)
    return good


def report_memory(environment: Mapping[str, str]) -> bool:
    """Print what planning a large run takes, and the memory of collecting it; return whether all is small."""
    with working(environment, 0) as pid, replaying(0) as url:
        told = run("judges_run.py", environment, url, IN_FLIGHT, "often", 4, MEMORY_SECONDS)
        worker = peak_memory(pid)
    print(
        f"{told['planned']:,} judgments planned in {told['planning']:.1f} s with "
        f"{told['peak'] / MEBIBYTE:.0f} MiB at the most; a worker that collected {told['answered']:,} of "
        f"them had {worker / MEBIBYTE:.0f} MiB."
    )
    return bool(max(told["peak"], worker) <= MOST_MEMORY and told["planning"] <= LONGEST_PLANNING)


def main() -> None:
    """Fill, measure, report; the exit code is 1 where a figure is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["throughput", "memory"])
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory(prefix="concord-judges-") as name:
        folder, broker = Path(name), os.environ.get("CONCORD_BROKER_URL", "")
        with own_database(folder) as environment:
            environment |= {"CONCORD_BROKER_URL": broker} if broker else {}
            environment["CONCORD_LOCAL_ENDPOINTS"] = "127.0.0.1:*"  # where the server answers
            prompts = folder / "prompts.jsonl"
            run("judges_fill.py", environment, DATA / "news_summeval", prompts)
            where = "PostgreSQL" if "DATABASE_URL" in environment else "SQLite"
            machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
            print(f"{where}; {IN_FLIGHT} calls at a time for a worker; {machine}")
            good = only == "memory" or report_throughput(environment, prompts)
            good = (only == "throughput" or report_memory(environment)) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
