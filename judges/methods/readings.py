"""What reading a reply gives: a value with a rationale, or the reason why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Readable:
    """A value on the scale, and what the model said for it."""

    value: float
    rationale: str = ""


@dataclass(frozen=True)
class Unreadable:
    """No value, and a short sentence that says why."""

    reason: str


Reading = Readable | Unreadable
