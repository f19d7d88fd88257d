"""Scripts that a page loads as one file: one request, while each source is a small separate file."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

JOINED = {
    "rating-page.js": (
        "concord.js",
        "press.js",
        "unsent.js",
        "causes.js",
        "keys.js",
        "passages.js",
        "words.js",
        "find.js",
        "evidence.js",
        "advance.js",
        "counter.js",
        "questions.js",
        "rows.js",
        "output.js",
        "pause.js",
        "active-time.js",
        "reservation.js",
        "rating.js",
        "items.js",
    ),
    "dispute-page.js": (
        "keys.js",
        "passages.js",
        "words.js",
        "find.js",
        "evidence.js",
        "questions.js",
        "dispute-texts.js",
        "kept-answers.js",
        "dispute.js",
    ),
}


class JoinedScripts(BaseFinder):
    """Finds scripts concatenated from others, and rebuilds them after a change of one of these."""

    def __init__(self) -> None:
        self.storage = FileSystemStorage(settings.DATA_DIR / "joined")

    def find(self, path: str, find_all: bool = False, **_options: Any) -> Any:
        found = [str(self._join(path))] if path in JOINED else []
        return found if find_all else found[0] if found else []

    def list(self, _ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        for name in JOINED:
            self._join(name)
            yield name, self.storage

    def _join(self, name: str) -> Path:
        file = Path(self.storage.path(name))
        # The line end separates two scripts if one ends with a comment or without a semicolon.
        content = b"\n".join((settings.BASE_DIR / "static" / each).read_bytes() for each in JOINED[name])
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            whole = file.with_suffix(f".{os.getpid()}")
            whole.write_bytes(content)
            whole.replace(file)  # another process finds the one or the other, never a part
        return file
