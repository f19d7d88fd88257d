"""Celery's application: tasks of annotate and judges over the broker that the settings name."""

import ctypes
import gc
import os
from contextlib import suppress
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, celeryd_init, task_postrun, worker_shutdown

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
# Django's checks are about code, and checking every URL would load every view: a third of a second and 30 MB
# for each worker. `manage.py` runs them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["judges.management.demonstration"])


# glibc keeps an arena of freed memory for each thread, and returns only the end of each: after pages of
# results a worker of four threads kept more than twice its used memory. Other C libraries have neither.
M_ARENA_MAX, MOST_ARENAS = -8, 2  # mallopt(3)


@celeryd_init.connect
def limit_arenas(**_options: Any) -> None:
    """Let all threads share two arenas; called before there are threads."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MOST_ARENAS)


@task_postrun.connect
def give_back_memory(**_options: Any) -> None:
    """Return the memory of a job that ended to the system."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@celeryd_after_setup.connect
def look_at_the_schema(**_options: Any) -> None:
    """Log the reason if a worker that starts cannot work with the database."""
    from concord.schema import log_problem_at_start

    log_problem_at_start()


@worker_shutdown.connect
def end_without_last_collections(**_options: Any) -> None:
    """Skip Python's last collections of garbage: they take a second, and the process ends anyway."""
    gc.freeze()
