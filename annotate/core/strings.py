"""Functions on strings: sentences, the order of names, and CSV cells that a spreadsheet would compute."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

# The end of a sentence: its mark and any closing quotes or brackets, followed by a blank and no lower-case
# character.
SENTENCE_END = re.compile(r"""(?<=[.!?…。！？])(?P<closing>["'”’»)\]]*)\s+(?=[^\s.,;:a-z])|\n+""")
SHORT_FORMS = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|z\.B|d\.h|bzw|Nr|No|Fig|approx|[A-Z])\.$"
)
LONGEST_SHORT_FORM = 8  # characters, with the one before it


def split_sentences(text: str) -> list[str]:
    """Split a string after marks that end sentences, but not after common abbreviations."""
    sentences: list[str] = []
    begin = 0
    for end in SENTENCE_END.finditer(text):
        piece = text[begin : end.start()] + (end.group("closing") or "")
        if SHORT_FORMS.search(piece[-LONGEST_SHORT_FORM:]):
            continue
        sentences.append(piece.strip())
        begin = end.end()
    sentences.append(text[begin:].strip())
    return [each for each in sentences if each]


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a cell begins that a spreadsheet computes
Value = TypeVar("Value")


def defuse(value: Value) -> Value | str:
    """Return a string with an apostrophe before a formula, and any other value unchanged.

    Not for files that programs read: it changes the string.
    """
    # A spreadsheet takes a cell with an apostrophe as text.
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def is_for_spreadsheet(asked: Mapping[str, Any]) -> bool:
    """Return True if the requested file is safe to open in a spreadsheet, without computed cells."""
    return asked.get("formulas") == "text"


def read_number(text: str, digits: int = 18) -> int | None:
    """Return the number that these digits write, None for another text or for more digits."""
    # Python raises for more than 4,300 digits, and no column of a database holds 20.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


# An even number of backslashes before it is text: only a separate escape writes the character NUL.
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def escapes_nul(written: str) -> bool:
    """Return True if this JSON contains a NUL character, which PostgreSQL rejects in text and jsonb."""
    return _ESCAPED_NUL.search(written) is not None


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Return a key that sorts the numbers in names by value, and letters without regard to case."""
    parts = re.split(r"(\d+)", name.casefold())
    # The leading 0 or 1 keeps Python from comparing a number with a word, which raises.
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts if part)
