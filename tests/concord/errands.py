"""Tasks that a real worker does for the tests of the brokers."""

import os
from pathlib import Path

from celery import shared_task


@shared_task
def leave_a_note(path: str) -> None:
    """Write to a file who did this."""
    Path(path).write_text(str(os.getpid()))
