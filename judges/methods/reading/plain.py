"""A reply without its decoration: the same words, easier to match, and where each character came from."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from annotate.core.translation import gettext, gettext_noop
from judges.methods.readings import Unreadable

EMPTY = gettext_noop("The reply is empty.")
UNFINISHED = gettext_noop("The reply ends before an answer.")

DECORATION = "*_`#~[]{}\u200b\u200c\u200d\u2060\ufeff\ufe0f"
LOOKALIKES = {
    **dict.fromkeys("’‘`´", "'"),
    **dict.fromkeys("“”«»„", '"'),
    **dict.fromkeys("–—−‐‑‒", "-"),
    **dict.fromkeys("／∕⁄÷", "/"),
    "：": ":",
    "＝": "=",
    "（": "(",
    "）": ")",
    "％": "%",
    "。": ".",
    "，": ",",
    "．": ".",
}
END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
BEGIN_OF_THINKING = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


RUN_OF_SPACE = re.compile(r"\s{3,}")
# Patterns skip signs between words, several times over: a reply of brackets alone took time by its cube.
# Stars are counted.
KEPT_SIGNS = 20
RUN_OF_SIGNS = re.compile(rf"[^\w★⭐🌟☆]{{{2 * KEPT_SIGNS + 1},}}")


@dataclass(frozen=True)
class Plain:
    """Text to match; character i of it stood at `origins[i]` in the reply."""

    text: str
    origins: Sequence[int]


class _PlainLetters(dict[int, str]):
    """What each character is replaced with, always by exactly one; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        self[code] = plain_letter = _plain_letter(chr(code))
        return plain_letter


_LETTERS = _PlainLetters()


def answer_start(reply: str) -> int | Unreadable:
    """Return where the reply proper begins, behind a model's thinking; the reason where nothing is there."""
    ends = [match.end() for match in END_OF_THINKING.finditer(reply)]
    start = ends[-1] if ends else 0
    if not start and BEGIN_OF_THINKING.match(reply):
        return Unreadable(gettext(UNFINISHED))
    return start if reply[start:].strip() else Unreadable(gettext(EMPTY))


def plain(reply: str, start: int = 0) -> Plain:
    """Return the reply from `start` on: no Markdown, plain quotes and dashes, at most two spaces in a row.

    Of more than 40 signs in a row only the first and the last 20 are kept.
    """
    text = reply[start:].translate(_LETTERS)
    left_out = {at for run in RUN_OF_SPACE.finditer(text) for at in range(run.start() + 2, run.end())}
    for run in RUN_OF_SIGNS.finditer(text):
        left_out.update(range(run.start() + KEPT_SIGNS, run.end() - KEPT_SIGNS))
    if not left_out:
        return Plain(text, range(start, len(reply)))
    kept = [at for at in range(len(text)) if at not in left_out]
    return Plain("".join(text[at] for at in kept), [start + at for at in kept])


def _plain_letter(letter: str) -> str:
    if letter in DECORATION:
        return " "
    if letter in LOOKALIKES:
        return LOOKALIKES[letter]
    if letter.isdecimal():
        return str(unicodedata.decimal(letter))
    return "\n" if letter in "\r\x0b\x0c\x85\u2028\u2029" else letter
