"""Two web servers and two workers without a shared disk are restarted one by one, and nobody notices."""

import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from benchmarks.annotators import check, crowd, rate, stop
from benchmarks.annotators_process import begin, end
from benchmarks.export import own_database
from benchmarks.judges import run
from tests.concord.running import LONGEST, ROOT, eventually
from tests.concord.serving import make_bucket, nginx, s3_server
from tests.ports import free_port

PEOPLE, ITEMS = 4, 300  # more than they can rate until the last restart
THINKS = 0.25  # seconds before each answer
WEB = "concord.web --workers 2 --blocking-threads 4 --host 127.0.0.1 --log-level warning --port {port}"
WORKER = "celery -A concord worker --pool threads --concurrency 4 --loglevel WARNING"
ASK_FOR_EXPORT = """
from annotate.core.models import Project, User
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
for _ in range(4):
    start_export(project=Project.objects.get(slug="{slug}"), choice=ExportChoice(Format.JSONL), by=None)
"""
EXPORTS_READY = """
from annotate.core.models import Export
from django.core.files.storage import default_storage
ready = [each for each in Export.objects.all() if each.status == "ready"]
kept = sum(default_storage.size(each.file.name) == each.size for each in ready)
print(kept, Export.objects.count(), len(default_storage.listdir("exports")[1]))
"""


@pytest.fixture
def bucket() -> Iterator[str]:
    with s3_server() as server:
        yield make_bucket(server, "hosts")


class Host:
    """A host: a folder of its own, and a program that can be restarted as systemd does it."""

    def __init__(self, folder: Path, shared: dict[str, str], command: str, port: int = 0) -> None:
        shutil.copytree(Path(shared["CONCORD_DATA"], "static"), folder / "static")
        self.environment = shared | {"CONCORD_DATA": str(folder)}
        self.command, self.port = command.format(port=port).split(), port
        self.start()

    def start(self) -> None:
        self.process = begin([sys.executable, "-m", *self.command], self.environment)
        assert self.port == 0 or eventually(lambda: answers(self.port))

    def restart(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LONGEST)
        self.start()

    def end(self) -> None:
        end(self.process)

    def run_lines(self, code: str) -> str:
        """Run some lines; return what they printed."""
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        return subprocess.check_output(command, cwd=ROOT, env=self.environment, text=True, timeout=LONGEST)


def answers(port: int) -> bool:
    ready = f"http://127.0.0.1:{port}/health/ready"
    with suppress(OSError), urllib.request.urlopen(ready, timeout=5) as reply:
        return bool(reply.status == 200)
    return False


def site_of(port: int, web_servers: list[int]) -> str:
    """Return the site of deploy/ with these web servers, without TLS, which who rates here does not speak."""
    listed = " ".join(f"server 127.0.0.1:{each} max_fails=0;" for each in web_servers)
    site = (ROOT / "deploy/nginx.conf").read_text().replace("server 127.0.0.1:8000 max_fails=0;", listed)
    upstream, _, secure = site.split("server {")  # the first server only leads to HTTPS
    secure = re.sub(r"^ *ssl_.*\n", "", secure, flags=re.M)
    secure = secure.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace(
        "concord.example.org", "127.0.0.1"
    )
    return f"{upstream}server {{{secure}"


@pytest.mark.postgresql
def test_every_program_is_restarted_and_no_save_fails(
    tmp_path: Path, bucket: str, migrated_database: None
) -> None:
    with own_database(tmp_path) as there, ExitStack() as stack:
        shared = there | {
            "CONCORD_FILES_URL": bucket,
            "CONCORD_SECRET_KEY": "one key for all hosts " * 3,
            "DATABASE_URL": there.get("DATABASE_URL", f"sqlite:///{tmp_path}/concord.sqlite3"),
            "PYTHONPATH": str(ROOT),
            "CONCORD_LOG_LEVEL": "ERROR",
        }
        made = run("annotators_fill.py", shared, PEOPLE, ITEMS)
        ports = [free_port(), free_port()]
        hosts = [Host(tmp_path / f"web{port}", shared, WEB, port) for port in ports]
        hosts += [Host(tmp_path / f"worker{number}", shared, WORKER) for number in range(2)]
        for host in hosts:
            stack.callback(host.end)
        port = free_port()
        stack.enter_context(nginx(tmp_path, site_of(port, ports)))
        assert eventually(lambda: answers(port))
        people = crowd(port, made["sessions"])
        for each in people:
            each.pause = THINKS
        with ThreadPoolExecutor(1) as beside:
            rating = beside.submit(rate, people, f"/projects/{made['slug']}/rate/", 10 * LONGEST)
            try:
                for host in hosts:
                    host.run_lines(ASK_FOR_EXPORT.format(slug=made["slug"]))
                    host.restart()
                assert not rating.done()  # people rated all the time
            finally:
                stop(people)
            told = rating.result()
        found = check(shared, made["slug"], told.answers)
        assert (found["missing"], found["doubled"]) == (0, 0)
        # A server that stops may break a connection. Pages send such a request again, and so do these people.
        assert len(told.sent_again) <= 2, (told.sent_again, (tmp_path / "errors").read_text())
        assert eventually(lambda: hosts[0].run_lines(EXPORTS_READY).split() == ["16", "16", "16"])
    assert not list(tmp_path.glob("w*/uploads/*/*"))
