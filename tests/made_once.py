"""What takes long to make: once in a run, for the tests of all its processes."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder of this name that the first process to need it has made; tests only read it."""
    own = factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Renamed when it is whole: what a failed test left is made again.
        if not folder.exists():
            begun = factory.mktemp(name)
            make(begun)
            begun.rename(folder)
    return folder
