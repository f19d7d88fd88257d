"""What a reply states, by the table of forms: of scores on a dimension, and of choices among options."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext, gettext_noop
from judges.methods import scales
from judges.methods.reading import table
from judges.methods.reading.numbers import number
from judges.methods.reading.statements import Statement
from judges.methods.reading.table import Rank

FLAGS = re.IGNORECASE | re.MULTILINE
LONGEST_SHOWN, LONGEST_ENTRY = 20, 1000
YES_NO = {"yes": 1.0, "no": 0.0}
LIST_GOES_ON = re.compile(r"(?:^|\s)\(?2[.)]\s")
ONE_WORD = re.compile(r"[.)]\s+(?P<word>[^\W\d_]{4,40})[.!]?\Z")
QUESTION = r"[^\n?]{1,300}\?(?:\s*\([^()\n]{0,200}\))?[\s\"')]*"


def short(written: str) -> str:
    """Return what a reason can show of something written, however long that is."""
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"


def either(names: Iterable[str]) -> str:
    """Return alternatives for whole names, the longest first, with a bar behind each."""
    longest_first = sorted((name.strip() for name in names), key=len, reverse=True)
    return "".join(rf"(?<!\w){re.escape(name)}(?!\w)|" for name in longest_first)


def compile_form(form: str, pieces: Mapping[str, str]) -> re.Pattern[str]:
    """Return a form of the table with its pieces filled in."""
    parts = (re.sub(r"[A-Z][A-Z_]{2,}", lambda match: pieces[match[0]], part) for part in form.split(" "))
    return re.compile("".join(parts), FLAGS)


class Forms(ABC):
    """The forms in which replies answer one question, compiled."""

    nothing: str
    not_in_json: str
    different: str
    own_name = ""
    rows: list[tuple[Rank, re.Pattern[str]]]
    whole: re.Pattern[str]

    @abstractmethod
    def statement(self, match: re.Match[str], rank: Rank) -> Statement:
        """Return what a match states."""

    def statements(self, text: str) -> Iterator[Statement]:
        """Yield all statements of a text; the same answer may come up by several forms."""
        for rank, pattern in self.rows:
            for match in pattern.finditer(text):
                yield self.statement(match, rank)

    def alone(self, text: str, offset: int = 0) -> list[Statement]:
        """Return the answer that a text consists of, if it is one and nothing else."""
        match = self.whole.fullmatch(text)
        return [self.statement(match, Rank.MARKED).moved(offset)] if match else []


class ScoreForms(Forms):
    """Forms of scores on a dimension's scale."""

    nothing = gettext_noop("No score was found.")
    not_in_json = gettext_noop("The reply has no JSON object with a score.")
    different = gettext_noop("Two different scores were found.")

    def __init__(self, dimension: FrozenDimension) -> None:
        self._dimension = dimension
        self.own_name = dimension.name.strip()
        names = {name.casefold(): float(value) for name, value in scales.names(dimension).items()}
        self._names = names | (YES_NO if not names and list(dimension.whole_values) == [0, 1] else {})
        stem = self.own_name.casefold()[: max(4, len(self.own_name) - 4)]
        self._stem = stem
        pieces = table.SCORE_PIECES | {
            "NAMES": either(names),
            "ANYNAME": either(self._names),
            "NAMED": either(names).removesuffix("|") or r"(?!)",
            "OWN": re.escape(self.own_name) or r"(?!)",
            "STEM": re.escape(stem) or r"(?!)",
            "LOWEST": str(dimension.scale_minimum),
            "HIGHEST": str(dimension.scale_maximum),
        }
        self.rows = [(rank, compile_form(form, pieces)) for rank, form in table.SCORES]
        self.whole = compile_form(table.ALONE_SCORE, pieces)
        self._rows = [compile_form(row, pieces) for row in table.ROWS]
        self._overall = compile_form(table.OVERALL, pieces)
        self._next_entry = compile_form(rf"[.)]\s+(?:{table.ALONE_SCORE}|{QUESTION})(?:\n|\Z)", pieces)
        self._stars = None if scales.is_named(dimension) else re.compile(table.STAR_SIGNS)

    def statements(self, text: str) -> Iterator[Statement]:
        """Yield the scores of a text; those in a list of several are called its parts."""
        parts = self._parts(text)
        yield from (self.statement(match, rank) for match, rank in parts.values())
        for rank, pattern in self.rows:
            for match in pattern.finditer(text):
                if match.start("value") not in parts and not self._numbers_a_list(match):
                    yield self.statement(match, rank)
        for match in self._stars.finditer(text) if self._stars else ():
            yield self._of_stars(match, Rank.LINE)

    def _parts(self, text: str) -> dict[int, tuple[re.Match[str], Rank]]:
        """Return the scores, by position, in a list of at least two with labels or numbers of their own."""
        labels: dict[int, tuple[re.Match[str], str]] = {}
        for row in chain.from_iterable(pattern.finditer(text) for pattern in self._rows):
            label = text[row.start() : row.start("value")].strip(" \n\"'-:|=").casefold()
            if not self._overall.fullmatch(label):
                labels[row.start("value")] = (row, label)
        if len({label for _, label in labels.values()}) < 2:
            return {}
        own = self.own_name.casefold()
        return {
            at: (row, Rank.OWN_PART if own and label.startswith(own) else Rank.PART)
            for at, (row, label) in labels.items()
        }

    def _numbers_a_list(self, match: re.Match[str]) -> bool:
        """Return whether this is the 1 of a list ("1. ... 2. ...") or of its only entry, and no score."""
        rest = match.string[match.end("value") : match.end("value") + LONGEST_ENTRY]
        if match["value"] != "1" or rest[:1] not in (".", ")"):
            return False
        # "1. Natural" praises, where 1 says that the text lacks it.
        if (word := ONE_WORD.match(rest)) and word["word"].casefold().startswith(self._stem):
            return self._dimension.scale_minimum == 1
        return LIST_GOES_ON.search(rest) is not None or self._next_entry.match(rest) is not None

    def statement(self, match: re.Match[str], rank: Rank) -> Statement:
        """Return the score of a match, with the problem if it is not on the scale."""
        groups = match.groupdict()
        written = groups["value"]
        value = self._names.get(written.casefold(), number(written))
        problem = self._problem(value, written, groups.get("whole"), groups.get("percent"))
        at = match.start("value")
        start = at if rank in (Rank.LINE, Rank.WHOLE) else match.start()
        return Statement(rank, value, start, match.end(), at, bool(groups.get("final")), problem)

    def _of_stars(self, match: re.Match[str], rank: Rank) -> Statement:
        full, empty = (len(re.sub(r"\s", "", match[name])) for name in ("full", "empty"))
        value = full + (0.5 if match["half"] else 0.0)
        whole = str(full + empty + bool(match["half"])) if empty else None
        problem = self._problem(value, f"{value:g}", whole, None)
        return Statement(rank, value, match.start(), match.end(), match.start(), problem=problem)

    def _problem(self, value: float | None, written: str, whole: str | None, percent: str | None) -> str:
        """Return why a score is not on this scale, empty where it is."""
        if value is None:
            return gettext("{written} is no number.").format(written=short(written))
        extent, of = scales.extent(self._dimension), 100.0 if percent else number(whole) if whole else None
        if of is not None and of != self._dimension.scale_maximum:
            shown = f"{short(written)}%" if percent else f"{short(written)}/{short(whole or '')}"
            return gettext("The score {value} is not on the scale {scale}.").format(value=shown, scale=extent)
        lowest, highest = scales.ends(self._dimension)
        if not lowest <= value <= highest:
            return gettext("The score {written} is outside the scale {extent}.").format(
                written=short(written), extent=extent
            )
        if scales.is_named(self._dimension) and not value.is_integer():
            return gettext("The score {written} lies between two categories.").format(written=short(written))
        return ""


@dataclass(frozen=True)
class Choices:
    """What can be chosen: letters and names with their values. `quality` where two texts are compared."""

    letters: tuple[tuple[str, float], ...]
    names: tuple[tuple[str, float], ...] = ()
    quality: str = ""


class ChoiceForms(Forms):
    """Forms of choices."""

    nothing = gettext_noop("No choice was found.")
    not_in_json = gettext_noop("The reply has no JSON object with a choice.")
    different = gettext_noop("Two different choices were found.")

    def __init__(self, choices: Choices) -> None:
        self._letters = [letter for letter, _ in choices.letters]
        self._values = {name.casefold(): value for name, value in (*choices.names, *choices.letters)}
        names = either(name for name, _ in choices.names)
        stem = re.escape(choices.quality[: max(4, len(choices.quality) - 4)])
        named = names.removesuffix("|")
        pieces = table.CHOICE_PIECES | {
            "NAMES": names,
            "NAMED": named or r"(?!)",
            "FIRSTNAME": rf"(?:{named})(?=\s?[:.]|\s-\s)|" if named and not choices.quality else "",
            "LETTERS": "|".join(self._letters),
            "PRAISED": rf"better|superior|stronger|preferable|best|winner|more\s+{stem}\w*",
        }
        compared = [(Rank.SENTENCE, table.COMPARED)] if choices.quality else []
        self.rows = [(rank, compile_form(form, pieces)) for rank, form in (*table.CHOICES, *compared)]
        self.whole = compile_form(table.ALONE_CHOICE, pieces)
        self._first = compile_form(table.FIRST_CHOICE, pieces)
        self._line = re.compile(table.OPTION_LINE, re.MULTILINE)
        self._tied = re.compile(table.TIED, FLAGS) if choices.quality else None

    def statements(self, text: str) -> Iterator[Statement]:
        """Yield the choices of a text; of lines that begin with a letter only where it is one letter."""
        yield from super().statements(text)
        lines = list(self._line.finditer(text))
        if len({match["value"] for match in lines}) < 2:
            yield from (self.statement(match, Rank.LINE) for match in self._first.finditer(text))
        if len({match["value"] for match in lines if match["value"] in self._letters}) == 1:
            shown = (match for match in lines if match["value"] in self._letters)
            yield from (self.statement(match, Rank.ONE_LINE) for match in shown)
        for match in self._tied.finditer(text) if self._tied else ():
            value = self._values.get("tie")
            equal = gettext("The reply finds both equal, which is none of the options.")
            problem = equal if value is None else ""
            yield Statement(Rank.SENTENCE, value, match.start(), match.end(), match.start(), problem=problem)

    def statement(self, match: re.Match[str], rank: Rank) -> Statement:
        """Return the option of a match, with the problem if it was not shown."""
        written, at = match["value"], match.start("value")
        value, letters = self._values.get(written.casefold()), self._letters
        problem = gettext("The option {written} is not one of {first} to {last}.").format(
            written=short(written), first=letters[0], last=letters[-1]
        )
        start = at if rank in (Rank.LINE, Rank.ONE_LINE) else match.start()
        final = bool(match.groupdict().get("final"))
        return Statement(rank, value, start, match.end(), at, final, "" if value is not None else problem)


def score_forms(dimension: FrozenDimension) -> ScoreForms:
    """Return a dimension's forms, compiled once for all that are called and scaled alike."""
    return _compile_scores(replace(dimension, id=0, key="", definition="", guidelines=""))


@lru_cache(maxsize=256)
def _compile_scores(dimension: FrozenDimension) -> ScoreForms:
    return ScoreForms(dimension)


@lru_cache(maxsize=256)
def choice_forms(choices: Choices) -> ChoiceForms:
    """Return the forms of these choices, compiled once."""
    return ChoiceForms(choices)
