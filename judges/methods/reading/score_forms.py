"""The forms in which replies state a score on one dimension, the most explicit first.

"Score: 4", a line that is nothing but a score, stars, sentences ("a score of 4", "4 out of 5"), "a 4".
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext, gettext_noop
from judges.methods import scales
from judges.methods.reading import languages
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
    WORD,
    alternatives,
    short,
)
from judges.methods.reading.reader import Finder, Forms

OUT_OF = rf"(?:/|\b(?:(?:out\s+)?of|{languages.OUT_OF})\b|{languages.FULL_MARKS})"
WHOLE = (
    rf"(?:(?:{languages.HAN_UNITS})?\s*\(?\s*{OUT_OF}\s*(?:(?:a|an|the)\s+)?"
    rf"(?:(?:possible|maximum|total|perfect)\s+)?(?:of\s+)?(?P<whole>{NUMBER})|\s?(?P<percent>%))?"
)
NOT_MORE = (
    rf"(?!\s*[/%]\s*\w)(?!\s*%)(?!\s+out\s+of\b)(?!\s?(?:{languages.OF_WHICH}))"
    rf"(?!(?:\s*\([^()\n]{{0,40}}\))?\s*(?:-|\bto\b|\bor\b|\bthrough\b)\s*(?:(?:a|an)\s+)?{NUMBER})"
    rf"(?!,\s+{DIGITS},?\s+(?:(?:or|and)\s+)?{DIGITS})"
)
ENDING = (
    rf"(?=\s*(?:\Z|[.,;:!?)\"'\n]|-\s|\((?!\s*\d)|(?:{languages.HAN_UNITS})|"
    rf"(?:{languages.UNITS}|stars?|points?|for|on|in|because|since|as|due|given|and|but|with|"
    r"overall|here|regarding|when|while|at|by|based|rating|to\s+reflect|would\s+be|is\s+(?:appropriate|given|assigned))\b))"
)
UNITS = rf"(?:\s+(?:stars?|points?|{languages.UNITS})|\s?(?:{languages.HAN_UNITS})|\s?[★⭐🌟])?"
A = (
    rf"(?:(?:{languages.ARTICLES}|a|an|the|only|just|about|around|approximately|roughly|therefore|thus|then|solid|strong|clear|low|high|"
    r"weak|perfect|full|overall|final|good|fair|poor|mere|respectable|score\s+of|rating\s+of|grade\s+of)\s+){0,4}"
)
NOUN = rf"(?:(?:score|rating|grade|mark)s?|{languages.SCORE})"
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
END_OF_THING = r"(?=\s*(?:\Z|[.!;\n]|,\s|(?:in\s+terms\s+of|for|on|because|as|since)\b))"
YES_NO = {"yes": 1.0, "no": 0.0}
STARS = re.compile(r"(?<!\d)(?<!\d\s)(?P<full>(?:[★⭐🌟]\s?)+)(?P<half>½)?\s?(?P<empty>(?:☆\s?)*)")
LONGEST_ENTRY = 1000
LIST_GOES_ON = re.compile(r"(?:^|\s)\(?2[.)]\s")
ROW = r"(?:[^:\n]{1,60}:|\s{0,4}\d{1,2}[.)])[^\S\n]{1,2}"
"""What stands before each of several scores: "Text 1: ", "2. "."""
QUESTION = r"[^\n?]{1,300}\?(?:\s*\([^()\n]{0,200}\))?[\s\"')]*"
SCORE_OR_QUESTION = re.compile(
    rf"[.)]\s+(?:{BEFORE}{NUMBER}{WHOLE}{UNITS}{AFTER}|{QUESTION})(?:\n|\Z)", FLAGS
)
"""What follows the 1 of "1. 4" and of "1. Is it in order?", which is no score."""
ONE_WORD = re.compile(r"[.)]\s+(?P<word>[^\W\d_]{4,40})[.!]?\Z")
YES_AND_NUMBER = re.compile(rf"{BEFORE}(?P<word>yes|no),\s+(?P<value>{DIGITS}){AFTER}\Z", FLAGS)
IS_NAMED = r"(?:the|this)\s+(?:text|summary|response|review|reply)\s+is"


class ScoreForms(Forms):
    """Finders of a dimension's scores."""

    nothing = gettext_noop("No score was found.")
    not_in_json = gettext_noop("The reply has no JSON object with a score.")
    different = gettext_noop("Two different scores were found.")

    def __init__(self, dimension: FrozenDimension) -> None:
        self._dimension = dimension
        self.own_name = dimension.name.strip()
        names = {name.casefold(): float(value) for name, value in scales.names(dimension).items()}
        self._names = names | (YES_NO if not names and list(dimension.whole_values) == [0, 1] else {})
        self._compile(alternatives(names), alternatives(self._names))
        self.finders: Sequence[Finder] = (
            self._find_labelled,
            self._on_a_line,
            self._in_stars,
            self._in_a_sentence,
            self._as_a_thing,
            self._as_a_whole,
        )

    def _compile(self, names: str, by_itself: str) -> None:
        """`by_itself`: names that are a score behind a label or alone, and mere words in a sentence."""
        value = rf"(?P<value>{names}{NUMBER}){WHOLE}{NOT_MORE}"
        only = rf"(?P<value>{by_itself}{NUMBER}){WHOLE}{NOT_MORE}"
        digits = rf"(?P<value>{by_itself}{DIGITS}){WHOLE}{NOT_MORE}"
        own_name = re.escape(self.own_name) or NOUN
        self._compile_labels(own_name, only)
        self._alone = re.compile(rf"{BEFORE}{only}{UNITS}{AFTER}\Z", FLAGS)
        self._own_line = re.compile(rf"^{BEFORE}(?:-\s)?{only}{UNITS}{AFTER}$", FLAGS | re.MULTILINE)
        self._row = re.compile(rf"^{ROW}{only}{UNITS}{AFTER}$", FLAGS | re.MULTILINE)
        self._last = re.compile(rf"(?:^|\n|[.!?:;]\s|\(){BEFORE}(?:-\s)?{only}{UNITS}{AFTER}\Z", FLAGS)
        self._first = re.compile(
            rf"{BEFORE}(?:-\s)?{digits}{UNITS}[\"')]*(?:\s*[:(,](?!\s*\d)|\s*-\s|\s*\n|\.\s|\s+(?:because|since)\b)",
            FLAGS,
        )
        self._first_stars = re.compile(
            rf"{BEFORE}(?P<value>{NUMBER})\s+(?:stars?|sterne?n?|étoiles?|estrellas?|звезд[аы]?|звёзд[аы]?)"
            rf"{WHOLE}[\"')]*\s*(?:[.,;:!(\n]|-\s|for\b|\Z)",
            FLAGS,
        )
        self._sentences = (
            re.compile(rf"\b{NOUN}{IS}\s+{A}{value}{ENDING}", FLAGS),
            re.compile(
                rf"\b{own_name}(?:\s+(?:of|in)\s+[^.:;\n\d]{{1,60}}?)?\s+(?:is|was|would\s+be)\s+{A}{value}{ENDING}",
                FLAGS,
            ),
            re.compile(rf"\b(?:is|was)\s+(?:\w+\s+){{1,3}}\((?P<value>{NUMBER})\)(?=\s*(?:[.,;]|\Z))", FLAGS),
            re.compile(rf"{VERB}{OBJECT}\s+{A}{value}{ENDING}", FLAGS),
            re.compile(rf"\b(?:and|but|while|yet)\s+(?:a|an)\s+{value}{ENDING}", FLAGS),
            re.compile(rf"\b(?:category|label|class)\s+(?:of\s+|is\s+)?[\"']?{value}{ENDING}", FLAGS),
            re.compile(
                rf"(?P<value>{NUMBER})(?=(?:{languages.HAN_UNITS})?\s*\(?{OUT_OF}){WHOLE}{NOT_MORE}{ENDING}",
                FLAGS,
            ),
            re.compile(rf"\b(?:{languages.GIVE})\b[^.:;\n\d]{{0,40}}?\s{value}{ENDING}", FLAGS),
        )
        self._counted = (
            re.compile(rf"(?P<whole>{NUMBER})\s?(?:{languages.OF_WHICH})\s?(?P<value>{NUMBER})", FLAGS),
            re.compile(
                rf"(?<!满分)(?<!滿分)(?<!満点)(?P<value>{NUMBER})\s?(?:{languages.HAN_UNITS})(?=\s*(?:\Z|[.,;!?)\n]|です|と))",
                FLAGS,
            ),
        )
        self._thing = re.compile(rf"\ba(?:n)?\s+{A}(?P<value>{NUMBER}){NOT_MORE}{END_OF_THING}", FLAGS)
        named = names.removesuffix("|") or r"(?!)"
        self._sentence_of_name = re.compile(rf"{BEFORE}{IS_NAMED}\s+(?P<value>{named}){AFTER}\Z", FLAGS)

    def _compile_labels(self, own_name: str, only: str) -> None:
        """A judged text is a response, too, and repeated ("Response: Yes, it is."), so words stand alone."""
        weak = rf"(?:answer|verdict|category|label|stars|overall|total|{own_name})"
        response = rf"{FINAL}\bresponse{ASIDE}{SIGN}{OPEN}{A}"
        self._strong_label = re.compile(
            rf"{FINAL}{WORD}{NOUN}{ASIDE}{ABOUT}{ASIDE}{SIGN}{OPEN}{A}{only}", FLAGS
        )
        self._weak_labels = (
            re.compile(rf"{FINAL}\b{weak}{ASIDE}{SIGN}{OPEN}{A}{only}{ENDING}", FLAGS),
            re.compile(rf"{response}(?P<value>{DIGITS}){WHOLE}{NOT_MORE}{ENDING}", FLAGS),
            re.compile(rf"{response}{only}{UNITS}{AFTER}$", FLAGS | re.MULTILINE),
        )

    def alone(self, text: str, offset: int = 0) -> list[Mention]:
        """Return the score that a text consists of, if it is one and nothing else."""
        match = self._alone.fullmatch(text)
        return [self._mention(match, offset)] if match else []

    def problem(self, mention: Mention) -> str:
        """Return why a score is not on the scale, empty where it is."""
        value, extent = mention.value, scales.extent(self._dimension)
        if mention.problem or value is None:
            return mention.problem
        lowest, highest = scales.ends(self._dimension)
        if not lowest <= value <= highest:
            return gettext("The score {written} is outside the scale {extent}.").format(
                written=mention.written, extent=extent
            )
        if scales.is_named(self._dimension) and not value.is_integer():
            return gettext("The score {written} lies between two categories.").format(written=mention.written)
        return ""

    def _find_labelled(self, text: str) -> list[Mention]:
        strong = self._all(self._strong_label, text)
        return strong or [mention for pattern in self._weak_labels for mention in self._all(pattern, text)]

    def _on_a_line(self, text: str) -> list[Mention]:
        matches = [
            self._first_score(text) or self._first_stars.match(text),
            *self._own_line.finditer(text),
            *self._at_the_end(text),
        ]
        return [self._at_value(match) for match in matches if match and not self._numbers_a_list(match)]

    def _first_score(self, text: str) -> re.Match[str] | None:
        """Return the score at the beginning, unless it is a word of a text: "Yes. i do like it"."""
        match = self._first.match(text)
        if match and match["value"].casefold() in self._names and match[0].endswith(". "):
            return None if text[match.end() : match.end() + 1].islower() else match
        return match

    def _at_the_end(self, text: str) -> list[re.Match[str]]:
        """Return the last score; with it all others of its list, if it stands in one."""
        last = self._last.search(text)
        rows = list(self._row.finditer(text)) if last else []
        if last and any(row.start("value") == last.start("value") for row in rows):
            return rows
        return [last] if last else []

    def _in_stars(self, text: str) -> list[Mention]:
        if scales.is_named(self._dimension):
            return []
        return [self._star_mention(match) for match in STARS.finditer(text)]

    def _in_a_sentence(self, text: str) -> list[Mention]:
        patterns = self._sentences + (self._counted if languages.COUNTS.search(text) else ())
        found = {mention.at: mention for pattern in patterns for mention in self._all(pattern, text)}
        return keep_meant(found.values(), text)

    def _as_a_thing(self, text: str) -> list[Mention]:
        return keep_meant(self._all(self._thing, text), text)

    def _as_a_whole(self, text: str) -> list[Mention]:
        """Return the score of a reply that is "Yes, 2." or one sentence with the name of a point."""
        if match := YES_AND_NUMBER.match(text):
            says_yes = match["word"].casefold() == "yes"
            contrary = self._dimension.scale_minimum if says_yes else self._dimension.scale_maximum
            return [] if number(match["value"]) == contrary else [self._at_value(match)]
        match = self._sentence_of_name.match(text)
        return [self._at_value(match)] if match else []

    def _all(self, pattern: re.Pattern[str], text: str) -> list[Mention]:
        return [self._mention(match) for match in pattern.finditer(text) if not self._numbers_a_list(match)]

    def _numbers_a_list(self, match: re.Match[str]) -> bool:
        """Whether this is the 1 of a list ("1. ... 2. ...") or of its only entry, and no score."""
        rest = match.string[match.end("value") : match.end("value") + LONGEST_ENTRY]
        if match["value"] != "1" or rest[:1] not in (".", ")"):
            return False
        if (word := ONE_WORD.match(rest)) and self._is_praise(word["word"]):
            return True
        return LIST_GOES_ON.search(rest) is not None or SCORE_OR_QUESTION.match(rest) is not None

    def _is_praise(self, word: str) -> bool:
        """Whether a word says that a text has the quality, as "natural", where 1 says that it lacks it."""
        stem = self.own_name.casefold()[: max(4, len(self.own_name) - 4)]
        return word.casefold().startswith(stem) and self._dimension.scale_minimum == 1

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
            problem=problem
            if value is not None
            else gettext("{written} is no number.").format(written=short(written)),
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
        return gettext("The score {value} is not on the scale {scale}.").format(
            value=shown, scale=scales.extent(self._dimension)
        )

    def _star_mention(self, match: re.Match[str]) -> Mention:
        full, empty = (len(re.sub(r"\s", "", match[name])) for name in ("full", "empty"))
        value = full + (0.5 if match["half"] else 0.0)
        whole = str(full + empty + bool(match["half"])) if empty else None
        problem = self._other_scale(f"{value:g}", whole, None)
        return Mention(value, f"{value:g}", match.start(), match.end(), match.start(), problem=problem)


def forms_of(dimension: FrozenDimension) -> ScoreForms:
    """Return a dimension's forms, compiled once for all that are called and scaled alike."""
    return _compile_forms(replace(dimension, id=0, key="", definition="", guidelines=""))


@lru_cache(maxsize=256)
def _compile_forms(dimension: FrozenDimension) -> ScoreForms:
    return ScoreForms(dimension)
