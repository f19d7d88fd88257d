"""The forms in which replies choose an option, the most explicit first.

"Answer: D", a reply that begins or ends with the letter, sentences ("I choose option D", "Text 1 is better"),
a letter in parentheses.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from annotate.core.translation import gettext, gettext_noop
from judges.methods.reading.mentions import Mention, keep_meant
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

THING = r"(?:option|choice|letter|answer)"
TEXT = r"(?:text|summary|response|candidate|version|output|review|story|translation|assistant|system)"
LABEL = (
    r"(?:answer|choice|option|selection|verdict|judge?ment|decision|preference|winner|letter|score|rating|grade|"
    rf"better\s+{TEXT}|better\s+one)"
)
IS = rf"(?:{SIGN}|\s+(?:is|was|would\s+be)\b)"
CHOOSE = (
    r"\b(?:choos(?:e|ing)|chose|select(?:ing)?|pick(?:ing)?|go(?:ing)?\s+with|opt(?:ing)?\s+for|prefer|settle\s+on|"
    r"(?:described|captured|classified|rated)\s+(?:by|as))"
)
UPPER = r"(?<!\w)(?-i:[A-Z])(?!\w)(?!')"
EITHER = r"(?<!\w)[A-Za-z](?!\w)(?!')"
NOT_MORE = r"(?!\s*(?:or|and|/|&|,|-)\s*(?-i:[A-Z])(?!\w))(?!\s*(?:or|and|/|-)\s*\d)"
ENDING = (
    r"(?=\s*(?:\Z|[.,;:!?)\"'\n>(]|-\s)|\s+(?:because|since|as|for|with|due|which|is|fits|best|describes|matches|applies)\b"
    r"|\s(?-i:[A-Z]))"
)
BETTER = (
    r"(?:is|was|seems|appears|reads|performs|does|would\s+be)\s+(?:to\s+be\s+)?"
    r"(?:(?:\w{2,20}ly|a\s+bit|a\s+little|much|far|somewhat|the|a)\s+){0,3}"
)
TIED = (
    r"\bequally\s+\w|\b(?:it\s+is|it's|is|as)\s+(?:a\s+)?(?:tie|draw)\b|\b(?:both|they)\b[^.\n]{0,60}\b(?:equal|the\s+same)\b|"
    r"\bneither\b[^.\n]{0,60}\b(?:better|superior)\b"
)
LINE_START = re.compile(
    rf"^[\s\"'(-]{{0,4}}(?:(?i:{THING})\s+)?(?P<value>[A-Z])(?=\s?[:.)]|\s{{0,4}}$)", re.MULTILINE
)


@dataclass(frozen=True)
class Choices:
    """What can be chosen: letters and names with their values. `quality` where two texts are compared."""

    letters: tuple[tuple[str, float], ...]
    names: tuple[tuple[str, float], ...] = ()
    quality: str = ""


class ChoiceForms(Forms):
    """Finders of the chosen option."""

    nothing = gettext_noop("No choice was found.")
    not_in_json = gettext_noop("The reply has no JSON object with a choice.")
    different = gettext_noop("Two different choices were found.")
    own_name = ""

    def __init__(self, choices: Choices) -> None:
        self._letters = dict(choices.letters)
        self._values = {name.casefold(): value for name, value in (*choices.names, *choices.letters)}
        self._compares = bool(choices.quality)
        self._compile(alternatives(name for name, _ in choices.names))
        self._compile_comparison(choices)
        self.finders: Sequence[Finder] = (
            self._find_labelled,
            self._at_an_end,
            self._on_a_line,
            self._in_a_sentence,
            self._in_parentheses,
        )

    def _compile(self, names: str) -> None:
        about = rf"(?:{THING}\s+|{TEXT}\s+)?[\"'(]{{0,8}}"
        value = rf"(?P<value>{names}{UPPER}){NOT_MORE}(?:\s+{TEXT})?"
        any_case = rf"(?P<value>{names}{EITHER}){NOT_MORE}(?:\s+{TEXT})?"
        label = rf"{FINAL}\b{LABEL}{ASIDE}{IS}{OPEN}{about}"
        self._label = re.compile(rf"{label}(?:{value}{ENDING})", FLAGS)
        self._lower_label = re.compile(rf"{label}(?P<value>{EITHER})[\s\"').]*(?:\Z|\n)", FLAGS)
        self._alone = re.compile(rf"{BEFORE}{about}{any_case}{AFTER}", FLAGS)
        self._last = re.compile(rf"(?:^|\n|[.!?:;]\s|\(){BEFORE}{about}{any_case}{AFTER}\Z", FLAGS)
        own_line = rf"(?:{names}{EITHER})(?={AFTER}(?:\n|\Z))"
        named = "" if self._compares or not names else rf"(?:{names.removesuffix('|')})(?=\s?[:.]|\s-\s)|"
        letter = rf"{EITHER}(?=\s?[:.)(]|\s-\s)"
        self._first = re.compile(rf"{BEFORE}{about}(?P<value>{own_line}|{named}{letter})", FLAGS)
        self._sentences = [
            re.compile(rf"\b{THING}\s+[\"'(]{{0,8}}{value}{ENDING}", FLAGS),
            re.compile(rf"{CHOOSE}\s+(?:the\s+)?{about}{value}{ENDING}", FLAGS),
        ]

    def _compile_comparison(self, choices: Choices) -> None:
        self._tied: re.Pattern[str] | None = None
        if not self._compares:
            return
        stem = re.escape(choices.quality[: max(4, len(choices.quality) - 4)])
        praise = rf"(?:better|superior|stronger|preferable|best|winner|more\s+{stem}\w*)\b"
        names = alternatives(name for name, _ in choices.names).removesuffix("|")
        subject = rf"(?:\b{TEXT}\s+|\bthe\s+|(?={UPPER}\s))(?P<value>{names}|{UPPER})(?:\s+(?:one|{TEXT}))?"
        self._sentences.append(re.compile(rf"{subject}\s+(?:wins\b|{BETTER}{praise})", FLAGS))
        self._tied = re.compile(TIED, FLAGS)

    def alone(self, text: str, offset: int = 0) -> list[Mention]:
        """Return the choice that a text consists of, if it is one and nothing else."""
        match = self._alone.fullmatch(text)
        return [self._mention(match, offset)] if match else []

    def problem(self, mention: Mention) -> str:
        """Return that an option is not among those that were shown, if so."""
        return mention.problem

    def _find_labelled(self, text: str) -> list[Mention]:
        found = self._all(self._label, text)
        return found or self._all(self._lower_label, text)

    def _at_an_end(self, text: str) -> list[Mention]:
        matches = (self._first_of_one(text), self._last.search(text))
        return [self._at_value(match) for match in matches if match]

    def _first_of_one(self, text: str) -> re.Match[str] | None:
        """Return a reply's first letter, unless the reply goes through several options line by line."""
        started = {match["value"] for match in LINE_START.finditer(text)}
        return self._first.match(text) if len(started) < 2 else None

    def _on_a_line(self, text: str) -> list[Mention]:
        """Return the one option that begins a line, unless the reply goes through several."""
        matches = [match for match in LINE_START.finditer(text) if match["value"] in self._letters]
        return [self._at_value(match) for match in matches] if len({m["value"] for m in matches}) == 1 else []

    def _in_a_sentence(self, text: str) -> list[Mention]:
        found = {mention.at: mention for pattern in self._sentences for mention in self._all(pattern, text)}
        if self._tied:
            found |= {match.start(): self._tie(match) for match in self._tied.finditer(text)}
        return keep_meant(found.values(), text)

    def _in_parentheses(self, text: str) -> list[Mention]:
        matches = re.finditer(r"(?<!\w)\((?P<value>[A-Za-z])\)", text)
        return [self._mention(match) for match in matches if match["value"].upper() in self._letters]

    def _all(self, pattern: re.Pattern[str], text: str) -> list[Mention]:
        return [self._mention(match) for match in pattern.finditer(text)]

    def _mention(self, match: re.Match[str], offset: int = 0) -> Mention:
        written = match["value"]
        value = self._values.get(written.casefold())
        letters = list(self._letters)
        problem = gettext("The option {written} is not one of {first} to {last}.").format(
            written=short(written), first=letters[0], last=letters[-1]
        )
        return Mention(
            value=value,
            written=short(written),
            start=match.start() + offset,
            end=match.end() + offset,
            at=match.start("value") + offset,
            final=bool(match.groupdict().get("final")),
            problem=problem if value is None else "",
        )

    def _at_value(self, match: re.Match[str]) -> Mention:
        mention = self._mention(match)
        return replace(mention, start=mention.at)

    def _tie(self, match: re.Match[str]) -> Mention:
        value = self._values.get("tie")
        problem = (
            gettext("The reply finds both equal, which is none of the options.") if value is None else ""
        )
        return Mention(value, "tie", match.start(), match.end(), match.start(), problem=problem)


@lru_cache(maxsize=256)
def forms_of(choices: Choices) -> ChoiceForms:
    """Return the forms of these choices, compiled once."""
    return ChoiceForms(choices)
