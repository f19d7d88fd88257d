"""Judgments a second, planned, parsed and stored, beside a bare loop over the same client; and memory.

python benchmarks/judges.py [--only throughput|memory|run-page] [--latency 50|400]

A server on this machine answers with recorded replies after 50 or 400 ms. The yardstick asks the same
questions, as many at a time, with the same openai client in one process and forgets the answers. Concord
plans a run, and one or two Celery workers collect it. They take turns, each with a fresh server. Beside the
paces stands the processor time of a call, which other work on the machine changes less. Then 100,800
judgments are planned, and a worker's memory is read while it collects them for a while. Last, the pages of a
run of 1,000,000 judgments are opened, nine tenths of them answered: processor time of the thread and of its
connection to the database.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import MEBIBYTE, own_database
from benchmarks.stopping import clean_up_when_stopped

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
LARGE_RUN = 1_000_000  # judgments
LONGEST_PAGE = 500.0  # milliseconds, of each of its pages


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
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "concord", "worker", *options.split()]
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


def processor_time(pid: int) -> float:
    """Return the processor time that a process has used so far, in seconds (Linux)."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Pace:
    """Calls a second of a turn, and the milliseconds of processor time that one of them took."""

    calls: float
    milliseconds: float


def throughput(
    environment: Mapping[str, str], prompts: Path, latency: int, workers: int
) -> tuple[list[Pace], list[Pace]]:
    """Return the paces of Concord and of the yardstick, turn by turn."""
    dimensions = DIMENSIONS[latency]
    bare, ours, calls = [], [], IN_FLIGHT * workers
    with ExitStack() as stack:
        pids = [stack.enter_context(working(environment, number)) for number in range(workers)]
        for _ in range(REPEATS):
            # Each turn has a server of its own, so that neither finds the other's traces in it.
            with replaying(latency) as url:
                told = run("judges_yardstick.py", environment, url, prompts, 1200 * dimensions, IN_FLIGHT)
                bare.append(Pace(told["calls"] / told["seconds"], 1000 * told["processor"] / told["calls"]))
            with replaying(latency) as url:
                before = sum(map(processor_time, pids))
                told = run("judges_run.py", environment, url, calls, "once", dimensions, LONGEST)
                used = sum(map(processor_time, pids)) - before
                ours.append(Pace(told["answered"] / told["seconds"], 1000 * used / told["answered"]))
    return ours, bare


def report_throughput(environment: Mapping[str, str], prompts: Path, only: int | None) -> bool:
    head = f"{'latency':>8}{'workers':>9}{'concord/s':>11}{'bare loop/s':>13}{'share':>8}{'wanted':>8}"
    print(f"{head}{'concord ms':>12}{'bare loop ms':>14}   shares of turns")
    good = True
    for latency, workers in ((50, 1), (400, 1), (400, 2)):
        if only not in (None, latency):
            continue
        ours, bare = throughput(environment, prompts, latency, workers)
        shares = [our.calls / other.calls for our, other in zip(ours, bare, strict=True)]
        share, wanted = median(shares), WANTED[latency] if workers == 1 else None
        good = good and (wanted is None or share >= wanted)
        line = f"{latency:>5} ms{workers:>9}{_calls(ours):>11.0f}{_calls(bare):>13.0f}{share:>8.0%}"
        line += (
            f"{f'{wanted:.0%}' if wanted else '':>8}{_milliseconds(ours):>12.2f}{_milliseconds(bare):>14.2f}"
        )
        print(line, " ", *(f"{each:.2f}" for each in shares), flush=True)
    return good


def _calls(paces: Sequence[Pace]) -> float:
    return median(each.calls for each in paces)


def _milliseconds(paces: Sequence[Pace]) -> float:
    return median(each.milliseconds for each in paces)


def report_memory(environment: Mapping[str, str]) -> bool:
    with working(environment, 0) as pid, replaying(0) as url:
        told = run("judges_run.py", environment, url, IN_FLIGHT, "often", 4, MEMORY_SECONDS)
        worker = peak_memory(pid)
    print(
        f"{told['planned']:,} judgments planned in {told['planning']:.1f} s with "
        f"{told['peak'] / MEBIBYTE:.0f} MiB at the most; a worker that collected {told['answered']:,} of "
        f"them had {worker / MEBIBYTE:.0f} MiB."
    )
    return bool(max(told["peak"], worker) <= MOST_MEMORY and told["planning"] <= LONGEST_PLANNING)


def report_pages(environment: Mapping[str, str]) -> bool:
    told = run("judges_page.py", environment, LARGE_RUN)
    print(f"a run of {told['judgments']:,} judgments; milliseconds of three turns")
    for name, times in told["pages"].items():
        print(f"{name:<26}", *(f"{each:>8.0f}" for each in times))
    return bool(max(max(times) for times in told["pages"].values()) <= LONGEST_PAGE)


def main() -> None:
    """Fill, measure, report; the exit code is 1 where a figure is not as it should be."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["throughput", "memory", "run-page"])
    parser.add_argument("--latency", type=int, choices=DIMENSIONS, help="of throughput: this one alone")
    asked = parser.parse_args()
    only = asked.only
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
            parts: dict[str, Callable[[], bool]] = {
                "throughput": partial(report_throughput, environment, prompts, asked.latency),
                "memory": partial(report_memory, environment),
                "run-page": partial(report_pages, environment),
            }
            told = {name: report() for name, report in parts.items() if only in (None, name)}
    good = all(told.values())
    sys.exit(not good)


if __name__ == "__main__":
    main()
