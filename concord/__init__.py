"""Wiring: settings, routes, the web entry point and Celery."""

import os

# Figures multiply many small matrices: with a thread for each core these wait for one another, and take twice
# the processor time. It counts only if said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from concord.celery import app as celery_app

__all__ = ["celery_app"]
