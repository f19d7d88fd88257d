"""Numbers as replies write them: 4, 3.5, 3,5, 3½, four, seventy-five, vier, 四."""

import re
import unicodedata

from judges.methods.reading import languages
from judges.methods.reading.patterns import LETTER, WORD

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = [
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _words() -> dict[str, int]:
    words = {word: value for value, word in enumerate([*UNITS, "ten", *TEENS])}
    for ten, word in zip(range(20, 100, 10), TENS, strict=True):
        words[word] = ten
        words |= {f"{word}-{UNITS[unit]}": ten + unit for unit in range(1, 10)}
    return languages.WORDS | words | {"hundred": 100, "one hundred": 100, "a hundred": 100}


WORDS = _words()
FRACTIONS = "½¼¾"

_DIGITS = rf"[-+]?\d+(?:\.\d+|,\d{{1,2}})?[{FRACTIONS}]?"
_WORDS = "|".join(word.replace("-", "[- ]") for word in sorted(WORDS, key=len, reverse=True))
_BEFORE = rf"{WORD}(?<![$€£])"
_NOT_PART_OF_MORE = rf"(?!{LETTER}|[½¼¾])(?![.,]\d)(?!\s+\d+\s*/\s*\d)(?!\s?[年月日人个個件本回番章节])"
_HAN = rf"[{''.join(languages.HAN)}](?=\s?(?:\Z|[.,;:!?)\"'\n]|{languages.HAN_UNITS}))"

DIGITS = rf"{_BEFORE}{_DIGITS}{_NOT_PART_OF_MORE}"
NUMBER = rf"(?:{_BEFORE}(?:{_DIGITS}|{_WORDS}){_NOT_PART_OF_MORE}|(?<![{''.join(languages.HAN)}]){_HAN})"
"""A number that stands by itself; no part of a word, of a date or of a sum of money."""


def number(written: str) -> float | None:
    """Return the value of what `NUMBER` matched, None where it is not a number after all."""
    half = written[-1:] if written[-1:] in FRACTIONS else ""
    digits = written.removesuffix(half) if half else written
    word = languages.HAN.get(digits)
    if word is None:
        word = WORDS.get(
            re.sub(r"\s", "-" if "hundred" not in written.casefold() else " ", digits.casefold())
        )
    try:
        whole = float(digits.replace(",", ".")) if word is None else float(word)
    except ValueError:
        return None
    part = unicodedata.numeric(half) if half else 0.0
    return whole - part if digits.startswith("-") else whole + part
