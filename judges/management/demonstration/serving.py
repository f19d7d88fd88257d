"""Serves the recorded replies in a worker that includes this: another process would take 26 MB."""

from typing import Any

from celery.signals import worker_ready

from judges.management.demonstration.recorded_server import serve_recorded_replies


@worker_ready.connect
def serve(**_signal: Any) -> None:
    serve_recorded_replies()
