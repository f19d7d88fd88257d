"""Texts in CSV that a spreadsheet would compute, such as a name that begins with an equals sign."""

from collections.abc import Mapping
from typing import Any, TypeVar

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How such texts begin."""
Value = TypeVar("Value")


def defuse(value: Value) -> Value | str:
    """Return a text with an apostrophe before what would be computed, and any other value as it is.

    What programs read must not have it: it would be another text.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def is_for_spreadsheet(asked: Mapping[str, Any]) -> bool:
    """Return whether a file is asked for that a spreadsheet opens without computing anything."""
    return asked.get("formulas") == "text"
