"""Celery's application: tasks of annotate and judges over the broker that the settings name."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, celeryd_init, task_postrun, worker_shutdown

from concord.memory import give_back_memory, limit_arenas

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
# Django's checks are about code, and checking every URL would load every view: a third of a second and 30 MB
# for each worker. `manage.py` runs them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["judges.management.demonstration"])


@celeryd_init.connect
def share_arenas(**_options: Any) -> None:
    """Limit the memory that threads keep, before there are threads."""
    limit_arenas()


@task_postrun.connect
def give_back(**_options: Any) -> None:
    give_back_memory()


@celeryd_after_setup.connect
def look_at_the_schema(**_options: Any) -> None:
    """Log the reason if a worker that starts cannot work with the database."""
    from concord.schema.comparison import log_problem_at_start

    log_problem_at_start()


@worker_shutdown.connect
def end_without_last_collections(**_options: Any) -> None:
    """Skip Python's last collections of garbage: they take a second, and the process ends anyway."""
    gc.freeze()
