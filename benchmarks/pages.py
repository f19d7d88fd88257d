"""The time of every page and list of the API in a project of 1,000,000 ratings.

python benchmarks/pages.py [--ratings 1000000] [--kept] [--only disputes] [--judges]
    [--served] [--watched] [--round-one]

Makes a database of its own as benchmarks/export.py does, with Round II open, or Round I with --round-one;
--kept fills DATABASE_URL's instead, and finds it filled the next time. Opens each address of
tests/access_table.py that the project has something for, and each of `MORE`, as admin, researcher and
annotator, twice, and counts the processor time of the request's thread and of its connection to the database:
these are the same beside other work as alone.
--served opens them at a web server of its own instead, one after the other, and prints its memory.
--watched lets four annotators of another project rate at a web server while three admins open page after
page there, and look at each for a second.
Fails where they are together above the aim. Figures of results pages are computed before, as a worker does.
--judges adds three judges with an answer about each unit, on PostgreSQL. Yardsticks: a page about nobody's
data, and counting the ratings.
"""

import argparse
import http.client
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from random import Random
from statistics import median, quantiles
from threading import Event, get_ident
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotators_process import family, memory
from benchmarks.export import own_database, run_script
from benchmarks.stopping import clean_up_when_stopped
from tests.access_table import API, PAGES

MEGABYTE, MOST_MEMORY = 10**6, 250.0
RATERS, ADMINS, SECONDS, THINKS, LOOKS, MOST_SAVE = 4, 3, 30.0, 0.5, 1.0, 0.060
AIM = 0.3  # seconds of the thread and of the database together
ROLES = {"a": "admin", "r": "researcher", "n": "annotator"}
# Lists with filters, in other orders and far from their beginning.
MORE = """
ar    GET  {home}disputes/?all=1&page=500
ar    GET  {home}disputes/?all=1&status=open&silent=3
ar    GET  {home}disputes/?all=1&rater={alias}
ar    GET  {home}disputes/?all=1&dimension=fluency
n     GET  {home}disputes/?waits=me
n     GET  {home}disputes/?is_new=1
ar    GET  {home}items/?order=apart&page=50
ar    GET  {home}items/?marked=disputed
ar    GET  {home}results/disagreements/?page=50
ar    GET  {home}results/so-far/
ar    GET  {home}results/systems/
ar    GET  {home}results/agreement/?part=severity
ar    GET  {home}results/agreement/?part=passages
ar    GET  {home}results/study/
"""


@dataclass(frozen=True)
class Spent:
    """What an answer took: seconds of the thread and of the database, statements, bytes."""

    thread: float
    database: float
    statements: int
    size: int

    @property
    def seconds(self) -> float:
        return self.thread + self.database


@dataclass(frozen=True)
class Page:
    who: str
    address: str
    open: Callable[[], Any]


class Meter:
    def __init__(self) -> None:
        """Find the process that serves the connection; SQLite's work is the thread's own."""
        from django.db import connection

        self.connection, self.statements = connection, 0
        self.backend: Path | None = None
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self.backend = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

    def spent(self, act: Callable[[], Any]) -> tuple[Any, Spent]:
        self.statements = 0
        thread, database = time.thread_time(), self._database()
        with self.connection.execute_wrapper(self._count):
            answer = act()
            size = len(b"".join(answer.streaming_content) if answer.streaming else answer.content)
        thread, database = time.thread_time() - thread, self._database() - database
        return answer, Spent(thread, database, self.statements, size)

    def _database(self) -> float:
        # The first field is the time on a processor in nanoseconds.
        return int(self.backend.read_text().split()[0]) / 1e9 if self.backend else 0.0

    def _count(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.statements += 1
        return execute(*statement)


def measure(aim: float = AIM, only: str = "") -> bool:
    """Open the pages of the one project; print what each takes; return whether all are within the aim."""
    import django

    django.setup()

    from django.conf import settings

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    people, names = prepare()
    compute(names["project"])
    meter, late = Meter(), []
    next(pages(people, names)).open()  # what a process does once
    print(f"counting all ratings: {1000 * counting(meter):,.0f} ms")
    print(f"{'milliseconds':<12}{'first':>9}{'again':>9}{'database':>9}{'queries':>8}{'kB':>9}  page")
    for page in (each for each in pages(people, names) if re.search(only, f"{each.who}: {each.address}")):
        answer, first = meter.spent(page.open)
        if answer.status_code == 404:
            print(f"{'-':>55}  {page.who}: {page.address} (nothing there)")
            continue
        assert answer.status_code < 400, (page.address, answer.status_code)
        # How long a download takes depends on all that is in it: once, and held to no aim.
        again = first if answer.streaming else meter.spent(page.open)[1]
        is_late = max(first.seconds, again.seconds) > aim and not answer.streaming
        late += [page] if is_late else []
        print(
            f"{'over' if is_late else '':<12}{1000 * first.seconds:>9,.0f}{1000 * again.seconds:>9,.0f}"
            f"{1000 * again.database:>9,.0f}{again.statements:>8}{again.size / 1000:>9,.0f}"
            f"  {page.who}: {page.address}",
            flush=True,
        )
    print(f"{len(late)} above {1000 * aim:,.0f} ms; {resident() / 2**20:,.0f} MiB of memory at most")
    return not late


class Reader:
    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._port, self._headers = port, headers

    def get(self, path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        connection.request("GET", path, headers={"Host": "localhost"} | self._headers)
        answer = connection.getresponse()
        while answer.read(2**16):
            pass
        connection.close()
        return answer.status


def measure_memory(environment: dict[str, str]) -> bool:
    """Open all pages at a web server; print what it has in memory then, and return whether that is little."""
    import django

    django.setup()

    from benchmarks.annotators import CONCORD, serving
    from concord.management.commands.start import collect_static_files

    collect_static_files()
    people, names = prepare()
    compute(names["project"])
    with serving(environment, CONCORD, workers=1) as (server, port):
        before = memory(family(server.pid))
        opened = [page.open() for page in pages(people, names, port)]
        processes = {pid: memory([pid]) / MEGABYTE for pid in family(server.pid)}
    print(f"{len(opened)} pages opened, of which {sum(status >= 500 for status in opened)} failed;")
    print(f"the web server had {before / MEGABYTE:.0f} MB before, and then, by process:")
    print(", ".join(f"{size:.0f} MB" for size in processes.values()))
    return max(processes.values()) <= MOST_MEMORY and max(opened) < 500


def measure_saves(environment: dict[str, str]) -> bool:
    """Let people rate alone and beside three admins; print how long saves take, return if it is short."""
    import django

    django.setup()

    from benchmarks.annotators import CONCORD, crowd, rate, serving
    from benchmarks.judges import run

    made = run("annotators_fill.py", environment, RATERS, 1000)
    people, names = prepare()
    compute(names["project"])
    with serving(environment, CONCORD) as (_, port):
        watched = [each for each in pages(people, names, port) if each.who == ROLES["a"]]
        late = {}
        for admins in (0, ADMINS):
            over, opened = Event(), [0]
            raters = crowd(port, made["sessions"])
            for each in raters:
                each.pause = THINKS
            with ThreadPoolExecutor(ADMINS) as threads:
                for _ in range(admins):
                    threads.submit(watch, watched, over, opened)
                told = rate(raters, f"/projects/{made['slug']}/rate/", SECONDS)
                over.set()
            late[admins] = quantiles(told.saves, n=20)[-1]
            print(
                f"{RATERS} annotators beside {admins} admins ({opened[0]} pages): {len(told.saves):,} saves, "
                f"half of them in {1000 * median(told.saves):.0f} ms, 95 % in {1000 * late[admins]:.0f} ms"
            )
    return late[ADMINS] <= MOST_SAVE


def watch(watched: list[Page], over: Event, opened: list[int]) -> None:
    """Open page after page in an order of one's own until it is over."""
    order = Random(get_ident()).sample(watched, len(watched))
    for page in chain.from_iterable(repeat(order)):
        if over.is_set():
            return
        page.open()
        opened[0] += 1
        over.wait(LOOKS)


def resident() -> int:
    """Return the most bytes that this process, which opened all pages, has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux reports KiB


def counting(meter: Meter) -> float:
    """Return how long the ratings take to be counted: a yardstick."""
    from django.http import HttpResponse

    from annotate.core.models import Rating

    _, spent = meter.spent(lambda: HttpResponse(str(Rating.objects.count())))
    return spent.seconds


def prepare() -> tuple[dict[str, Any], dict[str, Any]]:
    """Give an annotator of the filled project an account, and add a researcher; return people and names."""
    from annotate.core.models import Dispute, Item, Membership, Project, Role, User
    from annotate.people.commands import add_member

    project = Project.objects.order_by("pk")[0]
    rater = Membership.objects.filter(project=project, role=Role.ANNOTATOR).order_by("pk")[0]
    if rater.user is None:
        rater.user = User.objects.create_user("annotator@example.org")
        rater.save(update_fields=["user"])
        user = User.objects.create_user("researcher@example.org")
        add_member(project=project, role=Role.RESEARCHER, user=user)
    item = Item.objects.order_by("pk")[0]
    names = {
        "project": project,
        "home": f"projects/{project.slug}/",
        "rater": rater.pk,
        "alias": rater.alias,
        "item": item.pk,
        "document": item.document_id,
        "dispute": Dispute.objects.order_by("pk").values_list("number", flat=True).first() or 1,
        **names_of_judges(),
    }
    return {who: User.objects.get(email=f"{role}@example.org") for who, role in ROLES.items()}, names


def names_of_judges() -> dict[str, Any]:
    """Return the first judge, run and so on of the filled project, nothing where it has none."""
    from judges.core.models import Endpoint, Judge, Judgment, PromptTemplate, Run

    named = {"judge": Judge, "run": Run, "judgment": Judgment, "endpoint": Endpoint, "prompt": PromptTemplate}
    found = {name: model._default_manager.order_by("pk").first() for name, model in named.items()}
    return {name: row.pk for name, row in found.items() if row}


def compute(project: Any) -> None:
    """Have every page of results computed that the project has figures for."""
    from annotate.core.errors import DomainError
    from annotate.results.commands import current_page
    from annotate.results.registry import PAGES as RESULTS
    from annotate.results.registry import PARTS, result_of

    for name in (*RESULTS, *PARTS):
        begun = time.process_time()
        try:
            current_page(project=project, result=result_of(project, name))
        except DomainError:  # a page of judges, of which this project has none
            continue
        print(f"{name} computed in {time.process_time() - begun:.1f} s", flush=True)


def pages(people: dict[str, Any], names: dict[str, Any], port: int | None = None) -> Iterator[Page]:
    """Yield every address with what the project has, as each who may open it: here, or at a server's port."""
    from django.test import Client

    from annotate.api.tokens import SCOPES, make_token

    for who, user in people.items():
        client: Any = Client()
        client.force_login(user)
        _, secret = make_token(user=user, name="pages", scopes=SCOPES, lasts=timedelta(days=1))
        shown = {"Authorization": f"Bearer {secret}"}
        program: Any = Client(headers=shown)
        if port:
            cookie = f"sessionid={client.cookies['sessionid'].value}"
            client, program = Reader(port, {"Cookie": cookie}), Reader(port, shown)
        for table, before, reader in ((PAGES + MORE, "/", client), (API, "/api/v1/", program)):
            for address in addresses(table, who, names):
                path = before + address
                yield Page(ROLES[who], path, partial(reader.get, path))


def addresses(table: str, who: str, names: dict[str, Any]) -> Iterator[str]:
    for line in filter(None, table.splitlines()):
        allowed, *methods = line.split()
        address = methods.pop() if methods[-1] not in ("GET", "POST") else ""
        if who in allowed and "GET" in methods:
            try:
                yield address.format(**names)
            except KeyError:
                continue


@contextmanager
def kept_database(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of DATABASE_URL's database, which is kept for the next run."""
    yield os.environ | {"CONCORD_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "concord.settings"}


def main() -> None:
    """Fill, open, print; fail where a page takes longer than the aim."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ratings", type=int, default=1_000_000, help="how many ratings Round I has")
    parser.add_argument("--aim", type=float, default=AIM, help="how many seconds a page may take")
    parser.add_argument("--only", default="", help="only what this expression finds, as `admin: /`")
    parser.add_argument("--kept", action="store_true", help="fill DATABASE_URL's, or take it as it is")
    parser.add_argument("--served", action="store_true", help="the memory of a web server, not times")
    parser.add_argument("--judges", action="store_true", help="with 1,000,000 judgments besides")
    parser.add_argument("--round-one", action="store_true", help="while Round I is open")
    parser.add_argument("--watched", action="store_true", help="saves beside three admins")
    asked = parser.parse_args()
    database = kept_database if asked.kept else own_database
    with tempfile.TemporaryDirectory() as folder, database(Path(folder)) as environment:
        state = ["open"] if asked.round_one else []
        print(run_script("export_fill.py", environment, str(asked.ratings), *state), end="", flush=True)
        if asked.judges:
            print(run_script("pages_judges.py", environment), end="", flush=True)
        os.environ.clear()
        # Several processes for one statement would hide what it takes.
        os.environ.update(environment | {"PGOPTIONS": "-c max_parallel_workers_per_gather=0"})
        if asked.watched:
            sys.exit(0 if measure_saves(environment) else "Saves take longer than the aim.")
        if asked.served:
            sys.exit(0 if measure_memory(environment) else "A process takes more memory than the aim.")
        sys.exit(0 if measure(asked.aim, asked.only) else "A page takes longer than the aim.")


if __name__ == "__main__":
    main()
