"""Lets a worker that includes this serve the recorded replies: another process would take 26 MB."""

from typing import Any

from celery.signals import worker_ready

from judges.management.demonstration.recorded_server import serve_recorded_replies


@worker_ready.connect
def serve(**_signal: Any) -> None:
    """Start the server of recorded replies."""
    serve_recorded_replies()
