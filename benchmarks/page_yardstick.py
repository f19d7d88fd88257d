"""The least that shows an item, for benchmarks/page.py: a page and its stylesheet from memory, no script.

Serves the files of the folder that YARDSTICK_FOLDER names, each at its name.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css"}
FILES = {file.name: file.read_bytes() for file in Path(os.environ["YARDSTICK_FOLDER"]).iterdir()}


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    name = environ["PATH_INFO"].rpartition("/")[2]
    content = FILES.get(name, b"")
    kind = KINDS.get(Path(name).suffix, "text/plain")
    headers = [("Content-Type", kind), ("Content-Length", str(len(content)))]
    start("200 OK" if name in FILES else "404 Not Found", headers)
    return [content]
