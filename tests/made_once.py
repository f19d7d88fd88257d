"""Folders that are slow to build: one process builds each, and all tests of the run share it."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def make_once(
    config: pytest.Config, factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """Return the folder with this name. The first process creates it; tests must not change it."""
    own = factory.getbasetemp()
    folder = (own.parent if hasattr(config, "workerinput") else own) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Only a complete folder gets the name, so the next process repeats a failed attempt.
        if not folder.exists():
            unfinished = factory.mktemp(name)
            make(unfinished)
            unfinished.rename(folder)
    return folder
