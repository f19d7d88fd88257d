"""The statements of an answer in a reply, and the one that counts."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from judges.methods.reading.table import Rank

END_OF_SENTENCE = re.compile(r"[.!?]+[\"')]*\s+|\n")
CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|overall|final|finally|consequently|accordingly|in conclusion|to conclude|"
    r"result(?:s|ing)? in|leading to|earning|my (?:score|rating|choice|answer)|"
    r"i(?: would|'d| will|'ll)? (?:\w+ly )?(?:rate|score|give|assign|grade|choose|select|pick|settle))\b"
    r"|, so ",
    re.IGNORECASE,
)

_GIVING = (
    "quite be been being it this that the its text summary a an to get getting give given giving earn earned "
    "earning receive received deserve deserving merit warrant justify reach reaching achieve for of with up "
    "rate rated rating score scored as at enough full perfect high higher assign award choose select pick go "
    "say call"
).replace(" ", "|")
_IMPROVE = r"(?:make|bring|raise|push|lift|elevate|move|turn|take|bump|boost|increase|improve|upgrade)"
NOT_MEANT_BEFORE = re.compile(
    r"\b(?:not|never|cannot|[a-z]+n't|without|unlike|than|instead of|rather than|if|or|below|above|least|"
    rf"almost|nearly|close to|between|from|short of|(?:would|could|can|may|might|to|and) {_IMPROVE}|"
    r"(?:would|could|might|should) have(?! to)|to (?:get|earn|reach|achieve|receive|deserve|merit|be)|"
    r"(?:needed|required|necessary) for)"
    rf"(?:\s+(?:{_GIVING}))*\s*(?:\ba|\ban)?\s*\Z",
    re.IGNORECASE,
)
NOT_MEANT_AFTER = re.compile(
    r"[\s\"')]*(?:would(?!\s+be\s+(?:appropriate|fair|fitting|justified|given|suitable|right|apt|my))|"
    r"could|might|requires?|needs?|means?|represents?|cannot|if|"
    r"is\s+(?:for|when|not|too|reserved|only|given\s+(?:to|when|if)|wrong)|isn't|does|=)",
    re.IGNORECASE,
)
WISH = re.compile(
    r"(?:\bif\b|\A\W*(?:had|were)\b)(?!\s+(?:i|we|you|one|asked|forced)\b)"
    r"[^.!?;\n]*\b(?:would|could|might)\b[^;]*\Z",
    re.IGNORECASE,
)
LOOKED_AT = 120


@dataclass(frozen=True)
class ScoreStatement:
    """One statement of an answer from `start` to `end`, the value itself at `at`; `final` if labelled
    final.
    """

    rank: Rank
    value: float | None
    start: int
    end: int
    at: int
    final: bool = False
    problem: str = ""

    @property
    def is_in_prose(self) -> bool:
        """Return True if it is part of a sentence, which may deny it."""
        return self.rank in (Rank.SENTENCE, Rank.THING)

    def move(self, by: int) -> "ScoreStatement":
        return replace(self, start=self.start + by, end=self.end + by, at=self.at + by)


def choose_statement(statements: Iterable[ScoreStatement], text: str) -> ScoreStatement | None:
    """Return the statement that counts, None if several contradict each other.

    1. Statements that a sentence denies, or only wishes or imagines, do not count.
    2. Without a label, an answer off the scale counts only if there is none on it.
    3. The marked answer decides, else the one called final or overall, else the lowest rank.
    4. If these differ, the last sentence or concluding sentences decide.
    """
    found = sorted(keep_meant(list(statements), text), key=lambda each: (each.at, each.rank))
    if any(not each.problem for each in found):
        found = [each for each in found if not (each.problem and each.rank >= Rank.LINE)]
    if not found:
        return None
    best = [each for each in found if each.rank == min(other.rank for other in found)]
    final = [each for each in found if each.final and best[0].rank != Rank.MARKED]
    return (
        _common(final)
        or _common(best)
        or _common(_concluding([each for each in best if each.is_in_prose], text))
    )


def keep_meant(statements: Sequence[ScoreStatement], text: str) -> list[ScoreStatement]:
    """Return the statements outside denied, wished or imagined sentences."""
    denied = {each.at for each in statements if each.is_in_prose and not _is_meant(each, text)}
    return [each for each in statements if not (each.is_in_prose and each.at in denied)]


def _is_meant(statement: ScoreStatement, text: str) -> bool:
    before = text[max(0, statement.start - LOOKED_AT) : statement.start]
    after = text[statement.end : statement.end + LOOKED_AT]
    sentence = END_OF_SENTENCE.split(before)[-1]
    return not (NOT_MEANT_BEFORE.search(before) or WISH.search(sentence) or NOT_MEANT_AFTER.match(after))


def _common(statements: Sequence[ScoreStatement]) -> ScoreStatement | None:
    """Return the last of statements if all state the same, None if they differ."""
    stated = {(each.value, each.problem) for each in statements}
    return statements[-1] if len(stated) == 1 else None


def _concluding(statements: Sequence[ScoreStatement], text: str) -> list[ScoreStatement]:
    """Return the statements in the last sentence and in concluding sentences."""
    starts = [0, *(match.end() for match in END_OF_SENTENCE.finditer(text)), len(text)]
    last = len(text.rstrip())

    @cache  # a sentence may be long, and contain many statements
    def concludes(sentence: int) -> bool:
        start, end = starts[sentence - 1], starts[sentence]
        return end >= last or CONCLUDES.search(text, start, end) is not None

    return [each for each in statements if concludes(bisect_right(starts, each.at))]
