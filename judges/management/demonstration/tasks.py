"""Task by which a worker creates the finished demonstration."""

import subprocess
import sys
from threading import Event
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

COMMAND = (sys.executable, "-m", "django", "load_finished_demonstration")
_loading: set["subprocess.Popen[bytes]"] = set()
_stopping = Event()


@shared_task(name="judges.management.demonstration.tasks.load_finished_demonstration")
def load_finished_demonstration() -> None:
    """Create the finished demonstration in a separate process.

    A worker would keep its 90 MB and could not stop it. The process belongs to the process group of the
    worker: a signal to that group ends both. If it fails, the worker deletes the unfinished project.
    """
    with subprocess.Popen(COMMAND, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as loading:
        _loading.add(loading)
        try:
            # The worker may have stopped after the start of the process and before `_loading` had it.
            if _stopping.is_set():
                loading.kill()
            code = loading.wait()
        finally:
            _loading.discard(loading)
    if code:
        from judges.management.demonstration.finished import delete_half_made  # which loads a lot

        delete_half_made()
    if code and not _stopping.is_set():
        raise RuntimeError(f"The finished demonstration was not made (exit code {code}).")


@worker_shutting_down.connect
def stop_loading(**_options: Any) -> None:
    """Stop the process when this worker stops; the next start creates the demonstration."""
    _stopping.set()
    # A copy, because the task's thread may remove the process at any time.
    for loading in list(_loading):
        loading.kill()
