"""Escaping CSV cells that a spreadsheet would compute, such as a name that starts with an equals sign."""

from collections.abc import Mapping
from typing import Any, TypeVar

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How such texts begin."""
Value = TypeVar("Value")


def defuse(value: Value) -> Value | str:
    """Return a string with an apostrophe before a formula, and any other value unchanged.

    Not for files that programs read: it changes the string.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def is_for_spreadsheet(asked: Mapping[str, Any]) -> bool:
    """Return True if the requested file is safe to open in a spreadsheet, without computed cells."""
    return asked.get("formulas") == "text"
