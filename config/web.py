"""The web server: granian, with Concord loaded once and shared by all its workers.

python -m config.web --workers 2 --blocking-threads 4        (and any other option of granian)

Workers are forks of a process that has loaded everything, so that each adds little memory.
"""

import sys

from granian.cli import entrypoint

import config.wsgi

if __name__ == "__main__":
    sys.argv += ["--interface", "wsgi", f"{config.wsgi.__name__}:application"]
    entrypoint()  # type: ignore[no-untyped-call]
