"""The real web server: processes of its own, on the test's database, that can be killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from tests.concord.running import ROOT, Started, environment, eventually, manage
from tests.judges.workers import database_url
from tests.ports import free_port

SERVER = "concord.web --workers 1 --blocking-threads 2 --log-level warning --host 127.0.0.1 --port"


@dataclass
class WebServer:
    """A web server that is started again at the same port after it was killed."""

    environment: dict[str, str]
    log: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def url(self) -> str:
        """Return where it answers; cookies for the name "localhost" belong to it too."""
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        """Start in a process group of its own and return when it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *SERVER.split(), str(self.port)],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert eventually(Started(self.process, self.port, self.log).answers), self.log.read_text()

    def kill(self) -> None:
        """Kill everything that the server is with -9."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def web_server(folder: Path) -> Iterator[WebServer]:
    """Run the web server of an installation that has the test's database."""
    own = {"DATABASE_URL": database_url(), "CONCORD_SECRET_KEY": settings.SECRET_KEY}
    manage("collectstatic", "--no-input", data=folder, **own)
    server = WebServer(environment(folder, **own), folder / "log")
    server.start()
    try:
        yield server
    finally:
        server.kill()
