"""Runs several programs as one: when one ends or a signal arrives, all of them end."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

PATIENCE = 10.0  # seconds that the programs have to finish what they are doing
PR_SET_PDEATHSIG = 1


def run_together(commands: dict[str, list[str]], *, environment: dict[str, str]) -> int:
    """Run the commands until one ends or a signal arrives, stop them all, return the exit code."""
    stopping = _stopping()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping | {signal.SIGCHLD})
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in commands.items():
            running[name] = _start(command, environment)
        ended = _wait_for_the_first(running, stopping)
    finally:
        _stop(list(running.values()))
        while signal.sigpending() & stopping:  # an impatient second Ctrl-C
            signal.sigwait(stopping)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if ended is None:
        return 0
    sys.stderr.write(
        f"The {ended} process ended by itself, so everything was stopped; the reason is above.\n"
    )
    return 1


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # In a session of its own, a program does not get the terminal's Ctrl-C: it is asked to stop once, by us.
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_as_a_child
    )


def _as_a_child() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if sys.platform == "linux":  # even when we are killed outright, no program stays behind
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _stopping() -> set[signal.Signals]:
    # Under nohup a closed terminal is no reason to stop; awaited, the signal would come through all the same.
    hangup = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else set()
    return {signal.SIGINT, signal.SIGTERM} | hangup


def _wait_for_the_first(
    running: dict[str, subprocess.Popen[bytes]], stopping: set[signal.Signals]
) -> str | None:
    """Return the name of the program that ended, or None when a signal asks to stop."""
    while True:
        if signal.sigwait(stopping | {signal.SIGCHLD}) in stopping:
            return None
        for name, process in running.items():
            if process.poll() is not None:
                return name


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    until = time.monotonic() + PATIENCE
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    for process in processes:
        with suppress(ProcessLookupError):  # whatever is left of its session
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
