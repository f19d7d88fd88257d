"""Pieces of patterns that scores and choices share. All are bounded: no reply takes long to read."""

import re
from collections.abc import Iterable

FLAGS = re.IGNORECASE
FINAL = r"(?P<final>\b(?:final|overall)\b[^.:=\n]{0,40}?)?"
ASIDE = r"(?:\s*\([^()\n]{0,60}\))?"
# Ignoring case would look for the other case of each of 27,000 characters, which takes most of compiling.
LETTER = r"(?-i:[^\W\u3040-\u30ff\u3400-\u9fff])"
"""A letter or digit of a script with spaces: beside Chinese and Japanese a word begins all the same."""
WORD = rf"(?<!{LETTER})"
SIGN = r"[\"']?\s*(?:\b(?:is|was)\s*)?(?::|=>?|\||->|→|-(?=\s))"
BEFORE = r"[\s\"'(]{0,8}"
AFTER = r"[\s\"').!:]{0,8}"
OPEN = r"[\s\"'(<|:]{0,6}"
LONGEST_SHOWN = 20


def alternatives(names: Iterable[str]) -> str:
    """Return alternatives for whole names, the longest first, with a bar behind each."""
    longest_first = sorted((name.strip() for name in names), key=len, reverse=True)
    return "".join(rf"(?<!\w){re.escape(name)}(?!\w)|" for name in longest_first)


def short(written: str) -> str:
    """Return what a reason can show of something written, however long that is."""
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"
