"""Addresses of pages that show what was chosen."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def query_of(chosen: Mapping[str, Any]) -> str:
    """Return what a page's address ends with, without what was left open."""
    return urlencode(
        {name: value for name, value in chosen.items() if value not in ("", None, ())}, doseq=True
    )
