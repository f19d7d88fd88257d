"""The digests of all migrations that landed, which never change: `sha256sum --check` reads the file, too.

.venv/bin/python -m tests.core.migrations_lock        (or make migrations-lock) records new ones
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = "tests/core/migrations.lock"
APPS = ("annotate", "judges")


def recorded(root: Path = ROOT) -> dict[str, str]:
    """Return the recorded digest of each migration."""
    lock = root / LOCK
    lines = lock.read_text().splitlines() if lock.exists() else []
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def present(root: Path = ROOT) -> dict[str, str]:
    """Return the digest of each migration file."""
    paths = [path for app in APPS for path in sorted((root / app / "migrations").glob("[0-9]*.py"))]
    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest() for path in paths}


def changed(root: Path = ROOT) -> Iterator[str]:
    """Yield a sentence for each recorded migration that was edited or removed."""
    now = present(root)
    for name, digest in recorded(root).items():
        if name not in now:
            yield f"{name} has landed and is missing: restore it."
        elif now[name] != digest:
            yield f"{name} has landed and was changed: restore it, and write a new migration."


def unrecorded(root: Path = ROOT) -> list[str]:
    """Return the migrations that the file does not list."""
    return [name for name in present(root) if name not in recorded(root)]


def record(root: Path = ROOT) -> list[str]:
    """Append new migrations and return them; recorded lines never change."""
    if broken := list(changed(root)):
        raise SystemExit("\n".join(broken))
    new, digests = unrecorded(root), present(root)
    with (root / LOCK).open("a") as lock:
        lock.writelines(f"{digests[name]}  {name}\n" for name in new)
    return new


if __name__ == "__main__":
    sys.stdout.writelines(f"{name} is recorded.\n" for name in record())
