"""The web server: granian, with Concord loaded once and shared by all its workers.

python -m concord.web --workers 2 --blocking-threads 4        (and any other option of granian)

Workers are forks of a process that has loaded everything, so that each adds little memory.
"""

import atexit
import os
import shutil
import sys
import tempfile

from granian.cli import entrypoint

# prometheus_client stores its counts in files of this folder, so that the worker that answers `/metrics` sums
# those of all. It reads the variable when it is imported.
FOLDER_OF_COUNTS = "PROMETHEUS_MULTIPROC_DIR"


def share_counts() -> None:
    """Let all workers of this server share their counts."""
    if os.environ.get(FOLDER_OF_COUNTS):
        return
    folder, server = tempfile.mkdtemp(prefix="concord-metrics-"), os.getpid()
    os.environ[FOLDER_OF_COUNTS] = folder
    atexit.register(_remove, folder, server)


def _remove(folder: str, server: int) -> None:
    if os.getpid() == server:  # workers are forks, and end before it
        shutil.rmtree(folder, ignore_errors=True)


share_counts()

import concord.wsgi  # noqa: E402
from concord.celery import limit_arenas  # noqa: E402
from concord.schema import log_problem_at_start  # noqa: E402

# A save queues for its turn after each response of the database: .5 ms instead of 5 during a page's
# computation.
TURN_SECONDS = 0.0005

if __name__ == "__main__":
    limit_arenas()
    log_problem_at_start()
    sys.setswitchinterval(TURN_SECONDS)
    if not any(each.endswith("respawn-failed-workers") for each in sys.argv):
        # Without it granian ends all of its workers when one is killed.
        sys.argv += ["--respawn-failed-workers", "--respawn-interval", "0.5"]
    sys.argv += ["--interface", "wsgi", f"{concord.wsgi.__name__}:application"]
    entrypoint()  # type: ignore[no-untyped-call]
