"""The memory of a worker after it has computed every page of results and has asked a run.

python benchmarks/worker_memory.py [--by-page]

Makes a database of its own, and starts one Celery worker as the documents say. The worker makes the finished
demonstration with its exports, computes each page of results of it, then asks a run of a judge at a server on
this machine. Prints its resident memory after each of these, and its peak.
`--by-page`: computes the pages in this process instead, and prints what each of them adds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import MEBIBYTE, own_database
from benchmarks.stopping import clean_up_when_stopped

if TYPE_CHECKING:
    from annotate.core.models import Project

MOST = 250 * MEBIBYTE
LONGEST = 900.0
FINISHED = "demonstration-twelve-articles-finished"
SETTLED_AFTER = 3.0  # seconds after the last job
HERE = Path(__file__).resolve().parent
WORKER = "-m celery --quiet -A concord worker --pool threads --concurrency 4 --loglevel WARNING"


def memory_of(pid: int | str) -> tuple[int, int]:
    told = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    return tuple(int(told[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def tell(what: str, pid: int | str = "self") -> int:
    resident, peak = memory_of(pid)
    print(f"{what:<44}{resident / MEBIBYTE:>8.0f} MB{peak / MEBIBYTE:>8.0f} MB at most", flush=True)
    return resident


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "Score: 4"}
        usage = {"prompt_tokens": 900, "completion_tokens": 5}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"model": "m", "usage": usage, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def answering() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def script(environment: Mapping[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, __file__, *arguments], env=dict(environment), check=True)


def make_demonstration() -> None:
    """Have the worker make the finished demonstration, and wait for it and its exports."""
    import django

    django.setup()

    from annotate.core.models import ComputedResult, Export, Project
    from judges.management.demonstration.tasks import load_finished_demonstration

    load_finished_demonstration.delay()
    ends = time.monotonic() + LONGEST
    wanted = Project.objects.filter(slug=FINISHED)
    pending = Export.objects.exclude(status=Export.Status.READY)
    asked = ComputedResult.objects.filter(asked_at__isnull=False)
    while (not wanted.exists() or pending.exists() or asked.exists()) and time.monotonic() < ends:
        time.sleep(1)


def enqueue_pages() -> None:
    """Ask for every page of results of the finished project, and wait until the worker has computed them."""
    import django

    django.setup()

    from annotate.core.errors import DomainError
    from annotate.core.models import ComputedResult
    from annotate.results.commands import ask_for_page
    from annotate.results.registry import PAGES, result_of

    project, ends = finished_project(), time.monotonic() + LONGEST
    ComputedResult.objects.all().delete()
    for page in PAGES.values():
        try:
            result = result_of(project, page)
        except DomainError:  # a page of something that the project lacks
            continue
        ask_for_page(project=project, result=result)
        rows = ComputedResult.objects.filter(project=project, name=result.name)
        while not (row := rows.get()).content and time.monotonic() < ends:
            if row.problem:
                break
            time.sleep(0.2)


def ask_run(url: str) -> None:
    """Plan a run of the first judge at a server, start it, and wait for its end."""
    import django

    django.setup()

    from judges.core.models import Endpoint, Judge, Judgment, Run
    from judges.core.specification import Scope
    from judges.runs.commands.runs import plan_run, start_run

    project = finished_project()
    Endpoint.objects.update(base_url=url, calls_in_flight=64)
    judge = Judge.objects.filter(project=project, endpoint__isnull=False, method="rts").earliest("pk")
    Judgment.objects.filter(judge=judge).delete()
    keys = list(project.dimensions.values_list("key", flat=True))
    run = start_run(run=plan_run(project=project, scope=Scope([judge], keys), by=None))
    ends = time.monotonic() + LONGEST
    while run.status == Run.Status.RUNNING and time.monotonic() < ends:
        time.sleep(0.2)
        run.refresh_from_db()
    print(f"The run is {run.status}: {run.reason or run.judgments.count()}")


def finished_project() -> "Project":
    from annotate.core.models import Project

    return Project.objects.get(slug=FINISHED)


def compute_here() -> None:
    """Compute each page in this process, and print what it adds."""
    import django

    django.setup()

    from annotate.core.errors import DomainError
    from annotate.results.commands import compute_page
    from annotate.results.registry import PAGES, result_of

    project = finished_project()
    tell("started")
    for page in PAGES.values():
        loaded = set(sys.modules)
        try:
            compute_page(project=project, result=result_of(project, page))
        except DomainError:
            continue
        new = sorted({name.split(".")[0] for name in set(sys.modules) - loaded})
        tell(page.name)
        print(f"    {' '.join(new)[:160]}")


def main() -> None:
    """Measure a worker; fail where it has more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by-page", action="store_true")
    parser.add_argument("--step", choices=["demonstration", "pages", "here"], help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        {"demonstration": make_demonstration, "pages": enqueue_pages, "here": compute_here}[options.step]()
        return
    if options.ask:
        ask_run(options.ask)
        return
    with tempfile.TemporaryDirectory() as folder, own_database(Path(folder), server="") as environment:
        environment["CONCORD_LOCAL_ENDPOINTS"] = "127.0.0.1:*"
        made_before = ["load_finished_demonstration"] if options.by_page else []
        for command in ("migrate", "load_demonstration", *made_before):
            manage = [sys.executable, str(HERE.parent / "manage.py"), command]
            subprocess.run(manage, env=environment, check=True, stdout=subprocess.DEVNULL)
        if options.by_page:
            script(environment, "--step", "here")
            return
        with subprocess.Popen([sys.executable, *WORKER.split()], env=environment) as worker:
            try:
                time.sleep(3 * SETTLED_AFTER)
                tell("worker started", worker.pid)
                script(environment, "--step", "demonstration")
                time.sleep(SETTLED_AFTER)
                tell("after the demonstration with its exports", worker.pid)
                script(environment, "--step", "pages")
                time.sleep(SETTLED_AFTER)
                after_pages = tell("after all pages of results", worker.pid)
                with answering() as url:
                    script(environment, "--ask", url)
                    time.sleep(SETTLED_AFTER)
                    after_run = tell("after a run", worker.pid)
            finally:
                worker.terminate()
    if max(after_pages, after_run) > MOST:
        sys.exit(f"The worker keeps more than {MOST / MEBIBYTE:.0f} MB.")


if __name__ == "__main__":
    clean_up_when_stopped()
    os.chdir(HERE.parent)
    main()
