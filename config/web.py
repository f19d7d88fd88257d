"""The web server: granian, with Concord loaded once and shared by all its workers.

python -m config.web --workers 2 --blocking-threads 4        (and any other option of granian)

Workers are forks of a process that has loaded everything, so that each adds little memory.
"""

import sys

from granian.cli import entrypoint

from config.metrics.sharing import share_counts

share_counts()  # before anything counts

import config.wsgi  # noqa: E402

if __name__ == "__main__":
    if not any(each.endswith("respawn-failed-workers") for each in sys.argv):
        # Without it granian ends all of its workers when one is killed.
        sys.argv += ["--respawn-failed-workers", "--respawn-interval", "0.5"]
    sys.argv += ["--interface", "wsgi", f"{config.wsgi.__name__}:application"]
    entrypoint()  # type: ignore[no-untyped-call]
