"""Counts of all workers of a web server, summed by the worker that answers."""

import atexit
import os
import shutil
import tempfile

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share_counts() -> None:
    """Let prometheus_client store its counts in files of this server; call it before the import."""
    if os.environ.get(FOLDER):
        return
    folder, server = tempfile.mkdtemp(prefix="concord-metrics-"), os.getpid()
    os.environ[FOLDER] = folder
    atexit.register(_remove, folder, server)


def _remove(folder: str, server: int) -> None:
    if os.getpid() == server:  # workers are forks, and end before it
        shutil.rmtree(folder, ignore_errors=True)
