"""The web server: granian, with Concord loaded once and shared by all its workers.

python -m concord.web --workers 2 --blocking-threads 4        (and any other option of granian)

Workers are forks of a process that has loaded everything, so that each adds little memory.
"""

import ctypes
import sys
from contextlib import suppress

from granian.cli import entrypoint

from concord.metrics.sharing import share_counts

share_counts()  # before anything counts

import concord.wsgi  # noqa: E402
from concord.schema.comparison import log_problem_at_start  # noqa: E402

M_ARENA_MAX, ARENAS = -8, 2


def keep_few_arenas() -> None:
    """Let threads share the memory that pages have freed; separate arenas take a third of the process's.

    Only the GNU C library has arenas.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


# A save queues for its turn after each response of the database: .5 ms instead of 5 during a page's
# computation.
TURN_SECONDS = 0.0005

if __name__ == "__main__":
    keep_few_arenas()
    log_problem_at_start()
    sys.setswitchinterval(TURN_SECONDS)
    if not any(each.endswith("respawn-failed-workers") for each in sys.argv):
        # Without it granian ends all of its workers when one is killed.
        sys.argv += ["--respawn-failed-workers", "--respawn-interval", "0.5"]
    sys.argv += ["--interface", "wsgi", f"{concord.wsgi.__name__}:application"]
    entrypoint()  # type: ignore[no-untyped-call]
