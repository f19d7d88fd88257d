"""Counts of all workers of a web server, added up by whichever is asked."""

import atexit
import os
import shutil
import tempfile

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share_counts() -> None:
    """Let prometheus_client keep its counts in files of this server; before it is imported."""
    if os.environ.get(FOLDER):
        return
    folder, server = tempfile.mkdtemp(prefix="concord-metrics-"), os.getpid()
    os.environ[FOLDER] = folder
    atexit.register(_remove, folder, server)


def _remove(folder: str, server: int) -> None:
    if os.getpid() == server:  # workers are forks, and end before it
        shutil.rmtree(folder, ignore_errors=True)
