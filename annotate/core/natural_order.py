"""The order of names in which 2 comes before 10."""

import re

_NUMBER = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Return a key that sorts the numbers in names by value, and letters without regard to case."""
    parts = _NUMBER.split(name.casefold())
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts if part)
