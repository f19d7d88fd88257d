"""Annotators rating over HTTP at the same time: items a second, how long a save takes, CPU an item, bytes.

python benchmarks/annotators.py [--annotators 1 8 32 64] [--seconds 15] [--repeats 3] [--bursts] [--check]
    [--paths libpq cursor off]

Each annotator loads an item, saves its seven ratings one after the other as they are given, and goes on,
without a pause. With `--bursts` the seven are given so quickly that the page sends them in one request; the
yardstick then inserts them in one request too. Items are of the size of SummEval-OP's: 416 texts about 32
documents of eight reviews, three raters an item. The server starts as in docs/how-to/deployment.md, and a
worker beside it. The yardstick is a bare program under the same server: it reads an item and inserts each
answer through the driver, without sessions, rights or history. `--paths libpq cursor off` measures several
values of CONCORD_FAST_PATH beside each other. All take turns, each turn with a project of its own. Then the
server is killed with -9 while eight annotators rate, and started again. After every turn what was
acknowledged is looked for in the database. `--check` does only this last turn, with few items.

Makes a database of its own: SQLite in a temporary folder, or where DATABASE_URL names a PostgreSQL server a
new one there. Clients, web server and database share this machine's cores. Linux only.
"""

import argparse
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotators_client import Annotator, Told
from benchmarks.annotators_process import begin, cpu_seconds, database_cpu, end, family, memory, resident
from benchmarks.export import own_database
from benchmarks.judges import run, working
from benchmarks.stopping import clean_up_when_stopped
from tests.ports import free_port

HERE = Path(__file__).resolve().parent
CONCORD = "concord.web"
BARE_NAME = "bare"
BARE = "granian --interface wsgi benchmarks.annotators_yardstick:application"
SERVER = "--workers {} --blocking-threads 4 --log-level warning --host 127.0.0.1 --port {}"
ITEMS = 416
WARM_UP, WARM_UP_ITEMS = 3.0, 3  # seconds and items of each annotator, until every thread has served some
LONGEST = 600.0
MEGABYTE = 10**6
LEAST_ITEMS = {8: 50.0, 32: 45.0}  # a second, on PostgreSQL
LEAST_IN_BURSTS, MOST_CPU_IN_BURSTS = {8: 150.0}, 0.010
MOST_CPU, MOST_SAVE, MOST_MEMORY = 0.020, 0.040, 300 * MEGABYTE


@dataclass(frozen=True)
class Turn:
    """What one turn gave; CPU in seconds an item."""

    told: Told
    seconds: float
    web: float
    database: float | None
    client: float

    @property
    def pace(self) -> float:
        """Items a second."""
        return self.told.items / self.seconds


def start(
    environment: Mapping[str, str], application: str, port: int, workers: int = 2
) -> subprocess.Popen[bytes]:
    """Start a web server and wait until it can be reached."""
    options = f"{application} {SERVER.format(workers, port)}"
    command = [sys.executable, "-m", *options.split()]
    server = begin(command, environment)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return server
        time.sleep(0.05)
    end(server)
    raise RuntimeError("The web server did not start.")


@contextmanager
def serving(
    environment: Mapping[str, str], application: str, workers: int = 2, port: int | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = port or free_port()
    server = start(environment, application, port, workers)
    try:
        yield server, port
    finally:
        end(server)


def crowd(port: int, sessions: list[str], *, bursts: bool = False) -> list[Annotator]:
    return [Annotator(port, session, number, bursts=bursts) for number, session in enumerate(sessions)]


def rate(annotators: list[Annotator], address: str, seconds: float, least: int = 0) -> Told:
    """Let everybody rate at the same time, so many items at least; return what they did together."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(len(annotators)) as threads:
        try:
            list(threads.map(lambda each: each.rate(address, until, least), annotators))
        except BaseException:
            stop(annotators)
            raise
    told = Told()
    for each in annotators:
        told.add(each.told)
        each.close()
    return told


def stop(annotators: list[Annotator]) -> None:
    """Let everybody stop before the time, so that an interrupted benchmark ends."""
    for each in annotators:
        each.stopped = True


def turn(
    environment: Mapping[str, str], application: str, annotators: int, seconds: float, *, bursts: bool = False
) -> Turn:
    """Measure one turn of so many annotators, after a short one that warms the server up."""
    made = run("annotators_fill.py", environment, annotators, ITEMS)
    address = f"/projects/{made['slug']}/rate/" if application == CONCORD else "/rate/1/"
    with serving(environment, application) as (server, port):
        warm = rate(crowd(port, made["sessions"], bursts=bursts), address, WARM_UP, WARM_UP_ITEMS)
        processes, url = family(server.pid), environment.get("DATABASE_URL", "")
        web, stored, client = cpu_seconds(processes), database_cpu(url), time.process_time()
        begun = time.perf_counter()
        told = rate(crowd(port, made["sessions"], bursts=bursts), address, seconds)
        took = time.perf_counter() - begun
        client = time.process_time() - client
        web, after = cpu_seconds(processes) - web, database_cpu(url)
    if application == CONCORD:
        check(environment, made["slug"], warm.answers + told.answers)
    database = None if after is None or stored is None else (after - stored) / told.items
    return Turn(told, took, web / told.items, database, client / told.items)


def check(environment: Mapping[str, str], slug: str, answers: list[Any]) -> dict[str, int]:
    """Look for what was acknowledged; stop where anything of it is missing or doubled."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(answers, file)
        file.flush()
        found: dict[str, int] = run("annotators_check.py", environment, slug, file.name)
    if not answers or found["missing"] or found["doubled"]:
        sys.exit(f"No answers, or some lost or doubled: {found}")
    return found


def killed(environment: Mapping[str, str], items: int, workers: int) -> None:
    """Kill the server with -9 while eight rate, start it again, and look for every answer."""
    made = run("annotators_fill.py", environment, 8, items)
    with serving(environment, CONCORD, workers) as (server, port), ThreadPoolExecutor(1) as beside:
        people = crowd(port, made["sessions"])
        rating = beside.submit(rate, people, f"/projects/{made['slug']}/rate/", LONGEST)
        try:
            while sum(len(each.told.answers) for each in people) < items * 7 and not rating.done():
                time.sleep(0.01)
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            with serving(environment, CONCORD, workers, port):
                told = rating.result()
        finally:
            stop(people)
    found = check(environment, made["slug"], told.answers)
    print(
        f"Server killed with -9 in the middle: {found['acknowledged']:,} answers acknowledged, "
        f"{found['missing']} missing, {found['doubled']} doubled; {len(told.sent_again)} requests sent again."
    )


def report(annotators: int, turns: Mapping[str, list[Turn]], *, bursts: bool = False) -> bool:
    good = []
    for name, each in turns.items():
        shown = figures(each)
        print(
            f"{annotators:>10}  {name:<8}{shown.pace:>9.1f}{shown.save[50] * 1000:>8.1f}"
            f"{shown.save[95] * 1000:>8.1f}{shown.save[99] * 1000:>8.1f}{shown.load * 1000:>9.1f}"
            f"{shown.web * 1000:>9.1f}{f'{shown.database * 1000:.1f}' if shown.database else '-':>9}"
            f"{shown.client * 1000:>9.1f}{shown.received / 1000:>9.1f}",
            flush=True,
        )
        if name != BARE_NAME:
            bare = figures(turns[BARE_NAME])
            print(f"{'':>12}to bare {shown.pace / bare.pace:>9.2f}{'':>33}{shown.web / bare.web:>9.1f}")
            least, most = (LEAST_IN_BURSTS, MOST_CPU_IN_BURSTS) if bursts else (LEAST_ITEMS, MOST_CPU)
            fast = annotators != 8 or shown.save[95] < MOST_SAVE
            good.append(shown.pace >= least.get(annotators, 0) and shown.web <= most and fast)
    return good[0]


@dataclass(frozen=True)
class Figures:
    """Medians of turns: items a second, seconds of a save by percentile, CPU seconds and bytes an item."""

    pace: float
    save: dict[int, float]
    load: float
    web: float
    database: float
    client: float
    received: float


def figures(turns: list[Turn]) -> Figures:
    cuts = [quantiles(each.told.saves, n=100) for each in turns]
    return Figures(
        pace=median(each.pace for each in turns),
        save={share: median(cut[share - 1] for cut in cuts) for share in (50, 95, 99)},
        load=median(quantiles(each.told.loads)[1] for each in turns),
        web=median(each.web for each in turns),
        database=median(each.database or 0.0 for each in turns),
        client=median(each.client for each in turns),
        received=median(each.told.received / each.told.items for each in turns),
    )


def measure(
    environment: Mapping[str, str],
    numbers: list[int],
    seconds: float,
    repeats: int,
    *,
    bursts: bool,
    paths: list[str],
) -> bool:
    """Print a line for each number of annotators and each path; return whether all is good."""
    print(
        f"{'annotators':>10}  {'':<8}{'items/s':>9}{'save':>8}{'p95':>8}{'p99':>8}{'load':>9}"
        f"{'web CPU':>9}{'db CPU':>9}{'client':>9}{'KB':>9}"
    )
    good = True
    for annotators in numbers:
        turns: dict[str, list[Turn]] = {name: [] for name in (BARE_NAME, *paths)}
        for _ in range(repeats):
            for name, done in turns.items():
                program = BARE if name == BARE_NAME else CONCORD
                there = {**environment, **({} if name == BARE_NAME else {"CONCORD_FAST_PATH": name})}
                done.append(turn(there, program, annotators, seconds, bursts=bursts))
        good = report(annotators, turns, bursts=bursts) and good
    return good


def report_memory(environment: Mapping[str, str], seconds: float) -> bool:
    made = run("annotators_fill.py", environment, 8, ITEMS)
    with ExitStack() as stack:
        worker = stack.enter_context(working(environment, 0))
        server, port = stack.enter_context(serving(environment, CONCORD))
        rate(crowd(port, made["sessions"]), f"/projects/{made['slug']}/rate/", seconds)
        found = [(memory(family(pid)), resident(family(pid))) for pid in (server.pid, worker)]
    (web, web_resident), (beside, beside_resident) = found
    print(
        f"Memory after a turn of 8, what processes share counted once: web server {web / MEGABYTE:.0f} MB, "
        f"worker {beside / MEGABYTE:.0f} MB; counted in each process: {web_resident / MEGABYTE:.0f} and "
        f"{beside_resident / MEGABYTE:.0f} MB."
    )
    return web + beside <= MOST_MEMORY


def main() -> None:
    """Rate, kill, report; the exit code is 1 where a figure is not as it should be."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--annotators", type=int, nargs="+", default=[1, 8, 32, 64])
    parser.add_argument("--seconds", type=float, default=15.0, help="how long a turn takes")
    parser.add_argument("--repeats", type=int, default=3, help="turns, of which the median is shown")
    parser.add_argument("--bursts", action="store_true", help="seven ratings in one request")
    parser.add_argument("--paths", nargs="+", default=["libpq"], help="values of CONCORD_FAST_PATH")
    parser.add_argument("--check", action="store_true", help="only the turn in which the server is killed")
    asked, good = parser.parse_args(), True
    with tempfile.TemporaryDirectory(prefix="concord-annotators-") as name, own_database(Path(name)) as there:
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        if not asked.check:
            where = "PostgreSQL" if "DATABASE_URL" in environment else "SQLite"
            print(f"{where}; Python {platform.python_version()}, {os.cpu_count()} cores; CPU and save in ms.")
            good = measure(
                environment,
                asked.annotators,
                asked.seconds,
                asked.repeats,
                bursts=asked.bursts,
                paths=asked.paths,
            )
            good = report_memory(environment, asked.seconds) and good
        killed(environment, 8 if asked.check else ITEMS, 1 if asked.check else 2)
    sys.exit(not good)


if __name__ == "__main__":
    main()
