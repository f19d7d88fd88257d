"""A PostgreSQL of a test's own, which it may stop and start."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.ports import free_port


@dataclass(frozen=True)
class Cluster:
    """A server with its data in a folder."""

    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", options, "start")

    def crash(self) -> None:
        """Stop it as a machine that loses power does."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def make(self) -> None:
        """Make its data."""
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if os.geteuid() == 0:  # PostgreSQL refuses to be root
            command = ["runuser", "-u", "postgres", "--", *command]
        quiet = subprocess.DEVNULL
        subprocess.run(command, cwd=self.folder, check=True, stdin=quiet, stdout=quiet, stderr=quiet)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Run a server on a free port; nothing of it is left."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    programs = found[-1] if found else shutil.which("initdb")
    if programs is None:
        pytest.skip("no PostgreSQL server programs (Debian: apt-get install postgresql)")
    folder = Path(mkdtemp(prefix="concord-cluster-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    made = Cluster(Path(programs).parent, folder, free_port())
    made.make()
    made.start()
    try:
        yield made
    finally:
        made.crash()
        shutil.rmtree(folder)
