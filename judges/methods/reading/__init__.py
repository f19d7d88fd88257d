"""Parsing of replies: from a string to a value and rationale, or a reason. Pure, total, never a guess."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Readable:
    """A value on the scale, the model's words for it, and the data of answers of other kinds."""

    value: float
    rationale: str = ""
    data: dict[str, Any] | None = None


@dataclass(frozen=True)
class Unreadable:
    """No value, with a short message on the reason."""

    reason: str


Reading = Readable | Unreadable
