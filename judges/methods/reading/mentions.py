"""Places in a reply that state a value, and what follows when there are several of them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from judges.methods.reading.plain import Plain

END_OF_SENTENCE = re.compile(r"[.!?]+[\"')]*\s+|\n")
OWN_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;]|\n)[\s\"'(-]*\Z")
OWN_SENTENCE_AFTER = re.compile(r"[\s\"').!>]*\Z")
CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|overall|final|finally|consequently|accordingly|in conclusion|to conclude|"
    r"result(?:s|ing)? in|leading to|earning|my (?:score|rating|choice|answer)|"
    r"i(?: would|'d| will|'ll)? (?:\w+ly )?(?:rate|score|give|assign|grade|choose|select|pick|settle))\b"
    r"|, so ",
    re.IGNORECASE,
)

_GIVING = (
    "quite be been being it this that the its text summary a an to get getting give given giving earn earned "
    "earning receive received deserve deserving merit warrant justify reach reaching achieve for of with "
    "rate rated rating score scored as at enough full perfect high higher assign award choose select pick go "
    "say call"
).replace(" ", "|")
NOT_MEANT_BEFORE = re.compile(
    r"\b(?:not|never|cannot|[a-z]+n't|without|unlike|than|instead of|rather than|if|or|below|above|least|"
    r"almost|nearly|close to|between|from|short of|(?:would|could|might|should) have(?! to)|"
    r"to (?:get|earn|reach|achieve|receive|deserve|merit|be|warrant)|needed for|required for)"
    rf"(?:\s+(?:{_GIVING}))*\s*(?:\ba|\ban)?\s*\Z",
    re.IGNORECASE,
)
NOT_MEANT_AFTER = re.compile(
    r"[\s\"')]*(?:would(?!\s+be\s+(?:appropriate|fair|fitting|justified|given|suitable|right|reasonable|apt|my))|"
    r"could|might|requires?|needs?|means?|represents?|cannot|if|"
    r"is\s+(?:for|when|not|too|reserved|only|given\s+(?:to|when|if)|wrong)|isn't|does|=)",
    re.IGNORECASE,
)
LOOKED_AT = 80


@dataclass(frozen=True)
class Mention:
    """One statement of a value: the statement from `start` to `end`, and the value itself at `at`.

    `final` where it is called so; `in_prose` where what its sentence says decides about its weight.
    """

    value: float | None
    written: str
    start: int
    end: int
    at: int
    final: bool = False
    in_prose: bool = False
    problem: str = ""


def is_meant(text: str, start: int, end: int) -> bool:
    """Return whether a statement is made, rather than denied or only imagined."""
    before, after = text[max(0, start - LOOKED_AT) : start], text[end : end + LOOKED_AT]
    return not NOT_MEANT_BEFORE.search(before) and not NOT_MEANT_AFTER.match(after)


def keep_meant(mentions: Iterable[Mention], text: str) -> list[Mention]:
    """Return those statements of sentences that are meant, in the order of the text."""
    meant = (mention for mention in mentions if is_meant(text, mention.start, mention.end))
    return [replace(mention, in_prose=True) for mention in sorted(meant, key=lambda mention: mention.at)]


def common_mention(mentions: Sequence[Mention]) -> Mention | None:
    """Return the last of mentions that all state the same, None where they differ."""
    stated = {(mention.value, mention.problem) for mention in mentions}
    return mentions[-1] if len(stated) == 1 else None


def choose_mention(mentions: Sequence[Mention], text: str) -> Mention | None:
    """Return the mention that counts: all agree, those called final do, or those in concluding sentences."""
    if mention := common_mention(mentions):
        return mention
    if final := [mention for mention in mentions if mention.final]:
        return common_mention(final)
    return common_mention(_concluding_mentions([mention for mention in mentions if mention.in_prose], text))


def _concluding_mentions(mentions: Sequence[Mention], text: str) -> list[Mention]:
    """Return the mentions in the last sentence, and in sentences that say that they conclude."""
    starts = [0, *(match.end() for match in END_OF_SENTENCE.finditer(text)), len(text)]
    last = len(text.rstrip())

    @cache  # a sentence may be long, and hold very many mentions
    def concludes(sentence: int) -> bool:
        start, end = starts[sentence - 1], starts[sentence]
        return end >= last or CONCLUDES.search(text, start, end) is not None

    return [mention for mention in mentions if concludes(bisect_right(starts, mention.at))]


def rationale(reply: str, plain: Plain, mention: Mention) -> str:
    """Return what the reply says beside its answer: all of it, less an answer at an end of its own."""
    before, after = plain.text[: mention.start], plain.text[mention.end :]
    first = plain.origins[0]
    if OWN_SENTENCE_AFTER.fullmatch(after) and (own := OWN_SENTENCE_BEFORE.search(before)):
        cut = plain.origins[own.start() + len(own[0]) - len(own[0].lstrip(".!?:;"))] if own.start() else first
        return reply[first:cut].strip(" \n").rstrip("*#- \n")
    if not before.strip(" \n\"'(-"):
        return reply[plain.origins[mention.end - 1] + 1 :].lstrip(" \n\t:.,-*)]\"'").rstrip()
    return reply[first:].strip()
