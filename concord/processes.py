"""Runs several programs as one: a program that ends is restarted, and a signal ends all of them.

python -I concord/processes.py PLAN (`manage.py start` turns into this)

As a script it imports little, so that it takes 8 MB instead of 110.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

# Others come in through a proxy with HTTPS, and not to the demonstration, whose passwords everyone knows.
HOST = "127.0.0.1"
TEMPORARY = "concord-demo-"  # prefix of a data folder that is removed at the end
PATIENCE = 10.0  # seconds for the programs to finish their work
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 60.0  # seconds before a program that died is started again
RECOVERED_AFTER = 60.0  # seconds that a program must have run for its next backoff to be the first one again
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Plan:
    """The programs to run.

    commands: by the names used in messages. opened: a URL that a browser opens once it answers. state_file:
    contains `state` during the run. temporary: a folder removed at the end.
    """

    commands: dict[str, list[str]]
    state_file: str | None = None
    state: str = ""
    opened: str | None = None
    temporary: str | None = None


@dataclass
class Program:
    """A program and its process. `due`: the time of its next start, None while it runs."""

    name: str
    command: list[str]
    backoff: float = field(default_factory=lambda: FIRST_BACKOFF)
    due: float | None = None
    started: float = 0.0
    process: "subprocess.Popen[bytes] | None" = None


def find_port(port: int = 0, host: str = HOST) -> int:
    """Return the port if it is free here, or any free one for 0. Raises OSError, OverflowError."""
    with socket.socket() as probe:
        # Without this, a port counts as used for a while after its server ended.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        found: int = probe.getsockname()[1]
        return found


def become_supervisor(plan: Plan, environment: dict[str, str]) -> NoReturn:
    """Replace this process, with all that it has imported, by one that runs the plan."""
    # -I: neither the present folder nor Python's variables change what the script imports.
    command = [sys.executable, "-I", __file__, json.dumps(asdict(plan))]
    os.execve(sys.executable, command, environment)


def carry_out(plan: Plan) -> None:
    """Run the plan until a signal arrives, and clean up."""
    if plan.opened:
        threading.Thread(target=_open_browser, args=[plan.opened], daemon=True).start()
    state = Path(plan.state_file) if plan.state_file else None
    try:
        if state:
            with suppress(OSError):  # a home without write access
                state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                state.write_text(plan.state)
        run_together(plan.commands, environment=dict(os.environ))
    finally:
        with suppress(OSError):
            if state and state.read_text() == plan.state:  # a server that started later has not replaced it
                state.unlink()
        if plan.temporary:
            shutil.rmtree(plan.temporary, ignore_errors=True)


def _open_browser(address: str) -> None:
    import urllib.request
    import webbrowser

    while True:
        with suppress(OSError):
            urllib.request.urlopen(address, timeout=PATIENCE).close()
            break
        time.sleep(0.1)
    webbrowser.open(address)


def run_together(commands: dict[str, list[str]], *, environment: dict[str, str]) -> None:
    """Run the commands until a signal arrives, then stop them all; restart one that ends before."""
    stopping = _stopping()
    # Blocked signals stay pending until they are awaited, so none is lost between two waits.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping | {signal.SIGCHLD})
    programs = [Program(name, command) for name, command in commands.items()]
    try:
        for program in programs:
            _start(program, environment)
        _keep_running(programs, environment, stopping)
    finally:
        processes = [program.process for program in programs if program.process]
        for process in processes:
            process.terminate()
        # All programs share this time, because they end at once.
        until = time.monotonic() + PATIENCE
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
        for process in processes:
            with suppress(ProcessLookupError):  # all remaining processes of its session
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        while signal.sigpending() & stopping:  # an impatient second Ctrl-C
            signal.sigwait(stopping)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(program: Program, environment: dict[str, str]) -> None:
    # In a separate session, a program does not get the terminal's Ctrl-C: only we stop it, once.
    program.process = subprocess.Popen(
        program.command,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_set_up_child,
    )
    program.started, program.due = time.monotonic(), None


def _set_up_child() -> None:
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
    """Restart programs that end, each time after a longer backoff, until a signal requests a stop."""
    while not _wait_for_signal(programs, stopping):
        for program in programs:
            if program.due is not None and time.monotonic() >= program.due:
                _start(program, environment)
            elif program.due is None and program.process and program.process.poll() is not None:
                assert program.process is not None
                with suppress(ProcessLookupError):  # children left behind would keep the port
                    os.killpg(program.process.pid, signal.SIGKILL)
                now = time.monotonic()
                if now - program.started >= RECOVERED_AFTER:
                    program.backoff = FIRST_BACKOFF
                code = program.process.returncode
                how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
                sys.stderr.write(
                    f"The {program.name} process ended by itself ({how}); it starts again in "
                    f"{program.backoff:g} s.\n"
                )
                sys.stderr.flush()
                # Not at once: a program that cannot start would use a processor and fill the log.
                program.due = now + program.backoff
                program.backoff = min(2 * program.backoff, LONGEST_BACKOFF)


def _wait_for_signal(programs: list[Program], stopping: set[signal.Signals]) -> bool:
    """Pause until a program has ended or is due; return True if a signal requests a stop instead."""
    awaited = stopping | {signal.SIGCHLD}
    dues = [program.due for program in programs if program.due is not None]
    if not dues:
        return signal.sigwait(awaited) in stopping
    received = signal.sigtimedwait(awaited, max(0.0, min(dues) - time.monotonic()))
    return received is not None and received.si_signo in stopping


if __name__ == "__main__":
    carry_out(Plan(**json.loads(sys.argv[1])))
