"""How a benchmark ends when it is told to: as by Ctrl-C, so that nothing of it stays behind."""

import signal
import sys
from types import FrameType

STOPPING = (signal.SIGTERM, signal.SIGHUP)


def clean_up_when_stopped() -> None:
    """Have SIGTERM and a closed terminal end this process by an exception: `finally` and `with` clean up."""
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _exit)


def _exit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleaning
    sys.exit(128 + number)
