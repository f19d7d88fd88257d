"""A RabbitMQ of a test's own, with settings of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from tempfile import mkdtemp

import pytest

from tests.ports import free_port

PROGRAMS = Path("/usr/lib/rabbitmq/bin")


@dataclass(frozen=True)
class Rabbit:
    """A broker with its data in a folder."""

    folder: Path
    port: int
    environment: dict[str, str]

    @property
    def url(self) -> str:
        """Its address for workers."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def ask(self, *command: str) -> str:
        """Return what its command-line tool says."""
        done = subprocess.run(
            [str(PROGRAMS / "rabbitmqctl"), "--silent", *command],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done.stdout

    def log(self) -> str:
        """Return what it has logged."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("log/*.log")))


@contextmanager
def rabbit(*, consumer_timeout: float) -> Iterator[Rabbit]:
    """Run a broker that ends a consumer which keeps a message unacknowledged for so many seconds."""
    if not (PROGRAMS / "rabbitmq-server").exists():
        pytest.skip("no RabbitMQ server programs (Debian: apt-get install rabbitmq-server)")
    folder, port = Path(mkdtemp(prefix="concord-rabbit-")), free_port()
    limits = f"{{consumer_timeout, {int(1000 * consumer_timeout)}}}, {{channel_tick_interval, 500}}"
    (folder / "advanced.config").write_text(f"[{{rabbit, [{limits}]}}].")
    (folder / "rabbit.conf").write_text(f"listeners.tcp.default = 127.0.0.1:{port}\n")
    (folder / "plugins").write_text("[].")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RABBITMQ_")},
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"concord{port}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbit.conf"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
    }
    running = Rabbit(folder, port, environment)
    server = subprocess.Popen(
        [str(PROGRAMS / "rabbitmq-server")],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        running.ask("wait", str(folder / "pid"), "--timeout", "60")
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, SIGKILL)
        server.wait()
        shutil.rmtree(folder)
