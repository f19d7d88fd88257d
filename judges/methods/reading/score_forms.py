"""The forms in which replies state a score on one dimension, the most explicit first.

"Score: 4", a line that is nothing but a score, stars, sentences ("a score of 4", "4 out of 5"), "a 4".
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from annotate.core.guideline import FrozenDimension
from judges.methods import scales
from judges.methods.reading.mentions import Mention, keep_meant
from judges.methods.reading.numbers import DIGITS, NUMBER, number
from judges.methods.reading.patterns import (
    AFTER,
    ASIDE,
    BEFORE,
    FINAL,
    FLAGS,
    OPEN,
    SIGN,
    alternatives,
    short,
)
from judges.methods.reading.reader import Finder, Forms

WHOLE = (
    r"(?:\s*\(?\s*(?:/|\b(?:out\s+)?of\b)\s*(?:(?:a|an|the)\s+)?(?:(?:possible|maximum|total|perfect)\s+)?(?:of\s+)?"
    rf"(?P<whole>{NUMBER})|\s?(?P<percent>%))?"
)
NOT_MORE = (
    r"(?!\s*[/%]\s*\w)(?!\s*%)(?!\s+out\s+of\b)"
    rf"(?!(?:\s*\([^()\n]{{0,40}}\))?\s*(?:-|\bto\b|\bor\b|\bthrough\b)\s*(?:(?:a|an)\s+)?{NUMBER})"
)
ENDING = (
    r"(?=\s*(?:\Z|[.,;:!?)\"'\n]|-\s|\((?!\s*\d)|(?:stars?|points?|for|on|in|because|since|as|due|given|and|but|with|"
    r"overall|here|regarding|when|while|at|by|based|rating|to\s+reflect|would\s+be|is\s+(?:appropriate|given|assigned))\b))"
)
UNITS = r"(?:\s+(?:stars?|points?)|\s?[★⭐🌟])?"
A = (
    r"(?:(?:a|an|the|only|just|about|around|approximately|roughly|therefore|thus|then|solid|strong|clear|low|high|weak|\
perfect|full|overall|final|good|fair|poor|mere|respectable|score\s+of|rating\s+of|grade\s+of)\s+){0,4}"
)
NOUN = r"(?:score|rating|grade|mark)s?"
ABOUT = r"(?:\s+(?:given|assigned|awarded))?(?:\s+(?:for|of|on|in|as|to)\s+[^.:=\n\d]{1,60}?)?"
IS = (
    r"(?:\s+(?:of|at|as|to\s+be)|"
    r"(?:\s+(?:for|of)\s+[^.:;,=\n\d]{1,60}?)?\s+(?:is|was|(?:would|will|should|could|must)\s+be))"
)
VERB = (
    r"\b(?:rat(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|g[ia]ves?|given|giving|assign(?:s|ed|ing)?|award(?:s|ed|ing)?|"
    r"deserv(?:es?|ing)|earn(?:s|ed|ing)?|receiv(?:es?|ing)|gets?|getting|merit(?:s|ing)?|warrant(?:s|ing)?|"
    r"scor(?:es?|ing)|(?:is|are|be|been|was)\s+scored|i(?:'d|'ll|\s+would|\s+will)\s+(?:say|go\s+(?:with|for)))"
)
OBJECT = (
    r"(?:\s+(?:it|its|this|that|the|these|a|an|as|at|with|of|for|to|overall|only|just|"
    r"text|summary|review|response)){0,6}"
)
STARS = re.compile(r"(?<!\d)(?<!\d\s)(?P<full>(?:[★⭐🌟]\s?)+)(?P<half>½)?\s?(?P<empty>(?:☆\s?)*)")
LONGEST_ENTRY = 1000
LIST_GOES_ON = re.compile(r"(?:^|\s)\(?2[.)]\s")


class ScoreForms(Forms):
    """Finders of a dimension's scores."""

    what = "score"

    def __init__(self, dimension: FrozenDimension) -> None:
        self._dimension = dimension
        self.own_name = dimension.name.strip()
        self._names = {name.casefold(): float(value) for name, value in scales.names(dimension).items()}
        self._compile(alternatives(self._names))
        self.finders: Sequence[Finder] = (
            self._labelled,
            self._on_a_line,
            self._in_stars,
            self._in_a_sentence,
            self._as_a_thing,
        )

    def _compile(self, names: str) -> None:
        value = rf"(?P<value>{names}{NUMBER}){WHOLE}{NOT_MORE}"
        digits = rf"(?P<value>{names}{DIGITS}){WHOLE}{NOT_MORE}"
        own_name = re.escape(self.own_name) or NOUN
        weak = rf"(?:answer|verdict|category|label|stars|{own_name})"
        self._strong_label = re.compile(rf"{FINAL}\b{NOUN}{ASIDE}{ABOUT}{ASIDE}{SIGN}{OPEN}{A}{value}", FLAGS)
        self._weak_label = re.compile(rf"{FINAL}\b{weak}{ASIDE}{SIGN}{OPEN}{A}{value}{ENDING}", FLAGS)
        self._alone = re.compile(rf"{BEFORE}{value}{UNITS}{AFTER}\Z", FLAGS)
        self._own_line = re.compile(rf"^{BEFORE}(?:-\s)?{value}{UNITS}{AFTER}$", FLAGS | re.MULTILINE)
        self._last = re.compile(rf"(?:^|\n|[.!?:;]\s|\(){BEFORE}(?:-\s)?{value}{UNITS}{AFTER}\Z", FLAGS)
        self._first = re.compile(
            rf"{BEFORE}(?:-\s)?{digits}{UNITS}[\"')]*(?:\s*[:(,](?!\s*\d)|\s+-\s|\s*\n|\.\s|\s+(?:because|since)\b)",
            FLAGS,
        )
        self._sentences = (
            re.compile(rf"\b{NOUN}{IS}\s+{A}{value}{ENDING}", FLAGS),
            re.compile(rf"{VERB}{OBJECT}\s+{A}{value}{ENDING}", FLAGS),
            re.compile(rf"\b(?:and|but|while|yet)\s+(?:a|an)\s+{value}{ENDING}", FLAGS),
            re.compile(rf"\b(?:category|label|class)\s+(?:of\s+|is\s+)?[\"']?{value}{ENDING}", FLAGS),
            re.compile(rf"(?P<value>{NUMBER})(?=\s*(?:/|\(?out\s+of|\(?of)){WHOLE}{NOT_MORE}{ENDING}", FLAGS),
        )
        self._thing = re.compile(rf"\ba(?:n)?\s+{A}(?P<value>{NUMBER}){NOT_MORE}(?=\s*(?:\Z|[.!;\n]))", FLAGS)

    def alone(self, text: str, offset: int = 0) -> list[Mention]:
        """Return the score that a text consists of, if it is one and nothing else."""
        match = self._alone.fullmatch(text)
        return [self._mention(match, offset)] if match else []

    def problem(self, mention: Mention) -> str:
        """Return why a score is not on the scale, empty where it is."""
        value, extent = mention.value, scales.extent(self._dimension)
        if mention.problem or value is None:
            return mention.problem
        if not self._dimension.scale_minimum <= value <= self._dimension.scale_maximum:
            return f"The score {mention.written} is outside the scale {extent}."
        if scales.is_named(self._dimension) and not value.is_integer():
            return f"The score {mention.written} lies between two categories."
        return ""

    def _labelled(self, text: str) -> list[Mention]:
        strong = self._all(self._strong_label, text)
        return strong or self._all(self._weak_label, text)

    def _on_a_line(self, text: str) -> list[Mention]:
        matches = [self._first.match(text), *self._own_line.finditer(text), self._last.search(text)]
        return [self._at_value(match) for match in matches if match and not self._numbers_a_list(match)]

    def _in_stars(self, text: str) -> list[Mention]:
        if scales.is_named(self._dimension):
            return []
        return [self._star_mention(match) for match in STARS.finditer(text)]

    def _in_a_sentence(self, text: str) -> list[Mention]:
        found = {mention.at: mention for pattern in self._sentences for mention in self._all(pattern, text)}
        return keep_meant(found.values(), text)

    def _as_a_thing(self, text: str) -> list[Mention]:
        return keep_meant(self._all(self._thing, text), text)

    def _all(self, pattern: re.Pattern[str], text: str) -> list[Mention]:
        return [self._mention(match) for match in pattern.finditer(text) if not self._numbers_a_list(match)]

    def _numbers_a_list(self, match: re.Match[str]) -> bool:
        """Whether this is the 1 of a list ("1. ... 2. ...") and no score."""
        rest = match.string[match.end("value") : match.end("value") + LONGEST_ENTRY]
        return match["value"] == "1" and rest[:1] in (".", ")") and LIST_GOES_ON.search(rest) is not None

    def _mention(self, match: re.Match[str], offset: int = 0) -> Mention:
        groups = match.groupdict()
        written = groups["value"]
        value = self._names.get(written.casefold(), number(written))
        problem = self._other_scale(written, groups.get("whole"), groups.get("percent"))
        return Mention(
            value=value,
            written=short(written),
            start=match.start() + offset,
            end=match.end() + offset,
            at=match.start("value") + offset,
            final=bool(groups.get("final")),
            problem=problem if value is not None else f"{short(written)} is no number.",
        )

    def _at_value(self, match: re.Match[str]) -> Mention:
        mention = self._mention(match)
        return replace(mention, start=mention.at)

    def _other_scale(self, written: str, whole: str | None, percent: str | None) -> str:
        """Return why a score out of something is not on this scale, empty where it is."""
        of = 100.0 if percent else number(whole) if whole else None
        if of is None or of == self._dimension.scale_maximum:
            return ""
        shown = f"{short(written)}%" if percent else f"{short(written)}/{short(whole or '')}"
        return f"The score {shown} is not on the scale {scales.extent(self._dimension)}."

    def _star_mention(self, match: re.Match[str]) -> Mention:
        full, empty = (len(re.sub(r"\s", "", match[name])) for name in ("full", "empty"))
        value = full + (0.5 if match["half"] else 0.0)
        whole = str(full + empty + bool(match["half"])) if empty else None
        problem = self._other_scale(f"{value:g}", whole, None)
        return Mention(value, f"{value:g}", match.start(), match.end(), match.start(), problem=problem)


@lru_cache(maxsize=256)
def forms_of(dimension: FrozenDimension) -> ScoreForms:
    """Return a dimension's forms, compiled once."""
    return ScoreForms(dimension)
