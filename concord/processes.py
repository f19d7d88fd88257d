"""Runs several programs as one: one that dies is started again, and a signal ends all of them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

PATIENCE = 10.0  # seconds that the programs have to finish what they are doing
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 60.0  # seconds before a program that died is started again
RECOVERED_AFTER = 60.0  # seconds that a program must have run for its next backoff to be the first one again
PR_SET_PDEATHSIG = 1


@dataclass
class Program:
    """A program that is kept running. `due`: when to start it again, None while it runs."""

    name: str
    command: list[str]
    backoff: float = field(default_factory=lambda: FIRST_BACKOFF)
    due: float | None = None
    started: float = 0.0
    process: "subprocess.Popen[bytes] | None" = None


def run_together(commands: dict[str, list[str]], *, environment: dict[str, str]) -> None:
    """Run the commands until a signal arrives, then stop them all; one that ends before is started again."""
    stopping = _stopping()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping | {signal.SIGCHLD})
    programs = [Program(name, command) for name, command in commands.items()]
    try:
        for program in programs:
            _start(program, environment)
        _keep_running(programs, environment, stopping)
    finally:
        _stop([program.process for program in programs if program.process])
        while signal.sigpending() & stopping:  # an impatient second Ctrl-C
            signal.sigwait(stopping)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(program: Program, environment: dict[str, str]) -> None:
    # In a session of its own, a program does not get the terminal's Ctrl-C: it is asked to stop once, by us.
    program.process = subprocess.Popen(
        program.command,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_as_a_child,
    )
    program.started, program.due = time.monotonic(), None


def _as_a_child() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if sys.platform == "linux":  # even when we are killed outright, no program stays behind
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _stopping() -> set[signal.Signals]:
    # Under nohup a closed terminal is no reason to stop; awaited, the signal would come through all the same.
    hangup = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else set()
    return {signal.SIGINT, signal.SIGTERM} | hangup


def _keep_running(
    programs: list[Program], environment: dict[str, str], stopping: set[signal.Signals]
) -> None:
    """Start what ends again, each time after a longer backoff, until a signal asks to stop."""
    while not _wait_for_signal(programs, stopping):
        for program in programs:
            if program.due is not None and time.monotonic() >= program.due:
                _start(program, environment)
            elif program.due is None and program.process and program.process.poll() is not None:
                _plan_restart(program)


def _wait_for_signal(programs: list[Program], stopping: set[signal.Signals]) -> bool:
    """Wait until a program has ended or is to be started; return whether a signal asks to stop instead."""
    awaited = stopping | {signal.SIGCHLD}
    dues = [program.due for program in programs if program.due is not None]
    if not dues:
        return signal.sigwait(awaited) in stopping
    received = signal.sigtimedwait(awaited, max(0.0, min(dues) - time.monotonic()))
    return received is not None and received.si_signo in stopping


def _plan_restart(program: Program) -> None:
    """Say in one line that a program has ended, and when it is started again."""
    assert program.process is not None
    with suppress(ProcessLookupError):  # children left behind would keep the port
        os.killpg(program.process.pid, signal.SIGKILL)
    now = time.monotonic()
    if now - program.started >= RECOVERED_AFTER:
        program.backoff = FIRST_BACKOFF
    how = _how_it_ended(program.process.returncode)
    sys.stderr.write(
        f"The {program.name} process ended by itself ({how}); it starts again in {program.backoff:g} s.\n"
    )
    sys.stderr.flush()
    program.due = now + program.backoff
    program.backoff = min(2 * program.backoff, LONGEST_BACKOFF)


def _how_it_ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


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
