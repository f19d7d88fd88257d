"""Measures raters' saves on SQLite during each kind of job, and the same saves without a job.

python benchmarks/saves_beside_jobs.py [--documents 32] [--check]

Makes a project of SummEval-OP's size (13 systems, 7 dimensions, 3 raters), starts a web server as
`manage.py start` does, and two raters in another project who save over HTTP, one answer after the other.
A process does one job after the other meanwhile: imports, rounds, exports, results, runs, metrics, routing,
undoing an import and deleting a project.
Prints p50, p99 and the longest save of each job, and the ratio of its p99 to that of saves without a job.
Ends with 1 if a p99 is a second or more.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotators_client import Annotator
from benchmarks.export import own_database
from benchmarks.importing import printed_by
from benchmarks.stopping import clean_up_when_stopped
from tests.ports import free_port

HERE = Path(__file__).resolve().parent
RATERS, ITEMS, MOST_SECONDS = 2, 2000, 1.0
WITHOUT = 8.0  # seconds of saves without a job


@contextmanager
def serving(environment: dict[str, str], port: int) -> Iterator[None]:
    options = f"-m concord.web --workers 1 --blocking-threads 4 --log-level warning --port {port}"
    command = [sys.executable, *options.split()]
    with subprocess.Popen(command, cwd=HERE.parent, env=environment, stdin=subprocess.DEVNULL) as process:
        try:
            time.sleep(8)  # until it listens
            yield
        finally:
            process.terminate()


def percentile(seconds: list[float], share: float) -> float:
    """Return the value that so large a share of saves did not exceed."""
    ordered = sorted(seconds)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def main() -> None:
    """Measure saves during each job; exit with 1 at a p99 of a second."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=32)
    asked = parser.parse_args()
    os.environ.pop("DATABASE_URL", None)
    with tempfile.TemporaryDirectory(prefix="concord-saves-") as name, own_database(Path(name)) as own:
        own |= {"CONCORD_DEBUG": "1", "CONCORD_ALLOWED_HOSTS": "127.0.0.1"}
        filled = json.loads(printed_by(own, HERE / "annotators_fill.py", RATERS, ITEMS))
        port = free_port()
        with serving(own, port):
            kept = report(own, filled, port, asked.documents)
    sys.exit(not kept)


def report(environment: dict[str, str], filled: dict[str, object], port: int, documents: int) -> bool:
    sessions = filled["sessions"]
    assert isinstance(sessions, list)
    annotators = [Annotator(port, session, number) for number, session in enumerate(sessions)]
    start = f"/projects/{filled['slug']}/rate/"
    threads = [
        threading.Thread(target=each.rate, args=(start, time.monotonic() + 3600), daemon=True)
        for each in annotators
    ]
    for thread in threads:
        thread.start()

    def saves() -> tuple[int, list[float]]:
        told = [each.told for each in annotators]
        return sum(len(each.sent_again) for each in told), [second for each in told for second in each.saves]

    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {documents * 13} items.")
    print(f"{'job':<28}{'took':>8}{'saves':>8}{'p50':>8}{'p99':>9}{'longest':>9}{'ratio':>7}{'again':>7}")
    time.sleep(2)
    alone, kept = 0.0, True
    command = [sys.executable, str(HERE / "saves_beside_jobs_run.py"), str(documents)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as jobs:
        assert jobs.stdin is not None
        assert jobs.stdout is not None
        names = ["none", *json.loads(jobs.stdout.readline())]
        for job in names:
            counts = [len(each.told.saves) for each in annotators]
            again, _ = saves()
            begun = time.perf_counter()
            if job == "none":
                time.sleep(WITHOUT)
            else:
                jobs.stdin.write("\n")
                jobs.stdin.flush()
                if jobs.stdout.readline().strip() != job:
                    raise SystemExit(f"{job} failed")
            took = time.perf_counter() - begun
            time.sleep(0.3)  # saves that began beside the job
            found = [
                s for each, count in zip(annotators, counts, strict=True) for s in each.told.saves[count:]
            ]
            if not found:
                raise SystemExit(f"No save was answered beside {job}")
            high = percentile(found, 0.99)
            alone = alone or high
            kept = kept and high < MOST_SECONDS and max(found) < 5
            print(
                f"{job:<28}{took:>6.1f} s{len(found):>8,}{percentile(found, 0.5) * 1000:>5.0f} ms"
                f"{high * 1000:>6.0f} ms{max(found) * 1000:>6.0f} ms{high / alone:>6.1f}x"
                f"{saves()[0] - again:>7}",
                flush=True,
            )
        jobs.stdin.close()
    for each in annotators:
        each.stopped = True
    for thread in threads:
        thread.join(30)
    return kept


if __name__ == "__main__":
    main()
