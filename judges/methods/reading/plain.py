"""A reply without its decoration: the same words, easier to match, and the origin of each character."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from annotate.core.translation import gettext
from judges.methods.readings import Unreadable

# A character becomes exactly one: no Markdown, plain quotes and dashes, one kind of line break.
DECORATION, BREAKS = "*_`#~[]{}\u200b\u200c\u200d\u2060\ufeff\ufe0f", "\r\x0b\x0c\x85\u2028\u2029"
LETTERS = (
    str.maketrans("’‘`´“”«»„–—−‐‑‒／∕⁄÷：＝（）％。，．", '\'\'\'\'"""""------////:=()%.,.')
    | str.maketrans(DECORATION, " " * len(DECORATION))
    | str.maketrans(BREAKS, "\n" * len(BREAKS))
)
OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_THINKING = r"think(?:ing)?|thoughts?|reflection|scratchpad"
END_OF_THINKING = re.compile(
    rf"</(?:{_THINKING})>|\[/think\]|◁/think▷|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
BEGIN_OF_THINKING = re.compile(
    rf"\s*(?:<(?:{_THINKING})>|\[think\]|◁think▷|<\|channel\|>analysis)", re.IGNORECASE
)
MATHS = re.compile(r"\$(?P<inside>\d[\d./]{0,6})\$|\\[()\[\]]")
BULLET = re.compile(r"^([^\S\n]*)[*•·](?=[^\S\n])", re.MULTILINE)
# Patterns skip signs between words, several times over: the time for a reply of brackets alone grew with its
# cube. Stars are counted.
KEPT_SIGNS = 20
MANY_SPACES = re.compile(r"\s{3,}")
MANY_SIGNS = re.compile(rf"(?<=[^\w★⭐🌟☆]{{{KEPT_SIGNS}}})[^\w★⭐🌟☆]+(?=[^\w★⭐🌟☆]{{{KEPT_SIGNS}}})")


@dataclass(frozen=True)
class Plain:
    """A string for matching; its character i comes from `origins[i]` of the reply."""

    text: str
    origins: Sequence[int]


def answer_start(reply: str) -> int | Unreadable:
    """Return the start of the reply proper, after a model's thinking; a reason if it is empty."""
    ends = [match.end() for match in END_OF_THINKING.finditer(reply)]
    start = ends[-1] if ends else 0
    if not start and BEGIN_OF_THINKING.match(reply):
        return Unreadable(gettext("The reply ends before an answer."))
    return start if reply[start:].strip() else Unreadable(gettext("The reply is empty."))


def plain(reply: str, start: int = 0) -> Plain:
    """Return the reply from `start`: no Markdown, plain quotes and dashes, a maximum of two spaces in a row.

    A bullet is a dash. Runs of more than 40 signs are shortened to the first and the last 20.
    """
    text = MATHS.sub(lambda match: f" {match['inside'] or ''} ", reply[start:])
    text = BULLET.sub(r"\1-", text).translate(LETTERS)
    text = OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    left_out = {at for run in MANY_SIGNS.finditer(text) for at in range(run.start(), run.end())}
    for run in MANY_SPACES.finditer(text):
        break_at = text.find("\n", run.start() + 1, run.end())
        left_out.update({*range(run.start() + 1, run.end())} - {max(break_at, run.start() + 1)})
    if not left_out:
        return Plain(text, range(start, len(reply)))
    kept = [at for at in range(len(text)) if at not in left_out]
    return Plain("".join(text[at] for at in kept), [start + at for at in kept])
