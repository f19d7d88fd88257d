from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def query_of(chosen: Mapping[str, Any]) -> str:
    """Return the query string of a page, without empty parameters."""
    return urlencode(
        {name: value for name, value in chosen.items() if value not in ("", None, ())}, doseq=True
    )
