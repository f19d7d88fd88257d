"""Wiring: settings, routes, the web entry point and Celery."""

import gc
import os

# Nothing that is imported is ever garbage, and looking for garbage takes a fifth of the time of a start:
# ConcordConfig lets Python look again once all is loaded.
COLLECTED_GARBAGE = gc.isenabled()
gc.disable()

# Statistics multiply many small matrices: with a thread for each core these block each other, and take twice
# the processor time. It counts only if set before the import of numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from concord.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
