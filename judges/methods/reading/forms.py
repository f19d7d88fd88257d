"""Find statements of scores or choices in a reply by the table of forms."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext, gettext_noop
from judges.methods import scales
from judges.methods.reading import table
from judges.methods.reading.numbers import number
from judges.methods.reading.statements import ScoreStatement
from judges.methods.reading.table import Rank, compile_form

LONGEST_SHOWN, LONGEST_ENTRY = 20, 1000
YES_NO = {"yes": 1.0, "no": 0.0}
LIST_GOES_ON = re.compile(r"(?:^|\s)\(?2[.)]\s")
ONE_WORD = re.compile(r"[.)]\s+(?P<word>[^\W\d_]{4,40})[.!]?\Z")
NEXT_ENTRY = (
    rf"[.)]\s+(?:{table.SCORE_ALONE}|[^\n?]{{1,300}}\?(?:\s*\([^()\n]{{0,200}}\))?[\s\"')]*)(?:\n|\Z)"
)


def short(written: str) -> str:
    """Return the first words of a string, as reasons show it."""
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"


def either(names: Iterable[str]) -> str:
    """Return alternatives for whole names, the longest first, with a bar after each."""
    longest_first = sorted((name.strip() for name in names), key=len, reverse=True)
    return "".join(rf"(?<!\w){re.escape(name)}(?!\w)|" for name in longest_first)


class Forms(ABC):
    """The forms in which replies answer one question, compiled."""

    nothing: str
    not_in_json: str
    different: str
    own_name = ""
    whole: re.Pattern[str]

    @abstractmethod
    def statements(self, text: str) -> Iterator[ScoreStatement]:
        """Yield all statements of a reply; several forms may match the same answer."""

    @abstractmethod
    def statement(self, match: re.Match[str], rank: Rank) -> ScoreStatement:
        """Return the statement of a match."""

    def alone(self, text: str, offset: int = 0) -> list[ScoreStatement]:
        """Return the answer if the string contains one and nothing else."""
        match = self.whole.fullmatch(text)
        return [self.statement(match, Rank.MARKED).move(offset)] if match else []


class ScoreForms(Forms):
    """Forms of scores on a dimension's scale."""

    nothing = gettext_noop("No score was found.")
    not_in_json = gettext_noop("The reply has no JSON object with a score.")
    different = gettext_noop("Two different scores were found.")

    def __init__(self, dimension: FrozenDimension) -> None:
        self._dimension = dimension
        self.own_name = dimension.name.strip()
        self._own = self.own_name.casefold()
        self._stem = self._own[: max(4, len(self._own) - 4)]
        names = {name.casefold(): float(value) for name, value in scales.names(dimension).items()}
        self._names = names | (YES_NO if not names and list(dimension.whole_values) == [0, 1] else {})
        pieces = {"NAMES": either(names), "NAMED": either(names).removesuffix("|") or r"(?!)"}
        pieces |= {"OWN": re.escape(self.own_name) or r"(?!)", "STEM": re.escape(self._stem) or r"(?!)"}
        pieces |= {"LOWEST": str(dimension.scale_minimum), "HIGHEST": str(dimension.scale_maximum)}
        pieces |= {"ANYNAME": either(self._names)}
        rows = [(rank, compile_form(form, pieces)) for rank, form in table.SCORES]
        self._rows = [(rank, pattern) for rank, pattern in rows if rank != Rank.PART]
        self._rows_of_lists = [pattern for rank, pattern in rows if rank == Rank.PART]
        self.whole = compile_form(table.SCORE_ALONE, pieces)
        self._overall = compile_form(table.OVERALL, pieces)
        self._next_entry = compile_form(NEXT_ENTRY, pieces)
        self._stars = None if scales.is_named(dimension) else re.compile(table.STARS)

    def statements(self, text: str) -> Iterator[ScoreStatement]:
        """Yield the scores of a reply; scores in a list of several are its parts."""
        parts = self._parts(text)
        yield from parts.values()
        for rank, pattern in self._rows:
            for match in pattern.finditer(text):
                if match.start("value") not in parts and not self._numbers_a_list(match):
                    yield self.statement(match, rank)
        for match in self._stars.finditer(text) if self._stars else ():
            full, empty = (len(re.sub(r"\s", "", match[name])) for name in ("full", "empty"))
            value = full + (0.5 if match["half"] else 0.0)
            problem = self._problem(
                value, f"{value:g}", full + empty + bool(match["half"]) if empty else None
            )
            yield ScoreStatement(Rank.LINE, value, match.start(), match.end(), match.start(), problem=problem)

    def _parts(self, text: str) -> dict[int, ScoreStatement]:
        """Return the scores, by position, in a list of at least two with their own labels or numbers."""
        labels, parts = set(), {}
        for row in chain.from_iterable(pattern.finditer(text) for pattern in self._rows_of_lists):
            label = text[row.start() : row.start("value")].strip(" \n\"'-:|=").casefold()
            if not self._overall.fullmatch(label):
                labels.add(label)
                is_own = self._own and label.startswith(self._own)
                parts[row.start("value")] = self.statement(row, Rank.OWN_PART if is_own else Rank.PART)
        return parts if len(labels) > 1 else {}

    def _numbers_a_list(self, match: re.Match[str]) -> bool:
        """Return True if this is the 1 of a list ("1. ... 2. ...") or of its only entry, and no score."""
        rest = match.string[match.end("value") : match.end("value") + LONGEST_ENTRY]
        if match["value"] != "1" or rest[:1] not in (".", ")"):
            return False
        # "1. Natural" praises the output; a score of 1 would not.
        if (word := ONE_WORD.match(rest)) and word["word"].casefold().startswith(self._stem):
            return self._dimension.scale_minimum == 1
        return LIST_GOES_ON.search(rest) is not None or self._next_entry.match(rest) is not None

    def statement(self, match: re.Match[str], rank: Rank) -> ScoreStatement:
        """Return the score of a match, with a problem if it is off the scale."""
        groups, written = match.groupdict(), match["value"]
        value = self._names.get(written.casefold(), number(written))
        whole = 100 if groups.get("percent") else groups.get("whole")
        problem = self._problem(value, written, whole)
        at = match.start("value")
        start = at if rank in (Rank.LINE, Rank.WHOLE) else match.start()
        return ScoreStatement(rank, value, start, match.end(), at, bool(groups.get("final")), problem)

    def _problem(self, value: float | None, written: str, whole: str | float | None) -> str:
        """Return the reason why a score is off this scale, or an empty string.

        whole: "5" of "4/5", 100 of percents.
        """
        scale, of = scales.extent(self._dimension), number(whole) if isinstance(whole, str) else whole
        lowest, highest = scales.ends(self._dimension)
        if value is None:
            return gettext("{written} is no number.").format(written=short(written))
        if of is not None and of != self._dimension.scale_maximum:
            shown = f"{short(written)}/{short(str(whole))}" if whole != 100 else f"{short(written)}%"
            return gettext("The score {value} is not on the scale {scale}.").format(value=shown, scale=scale)
        if not lowest <= value <= highest:
            said = gettext("The score {written} is outside the scale {extent}.")
            return said.format(written=short(written), extent=scale)
        if scales.is_named(self._dimension) and not value.is_integer():
            return gettext("The score {written} lies between two categories.").format(written=short(written))
        return ""


@dataclass(frozen=True)
class Choices:
    """The options of a reply: letters and names with their values. `quality` if two outputs are compared."""

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
        names, compares = either(name for name, _ in choices.names), bool(choices.quality)
        named, stem = names.removesuffix("|"), choices.quality[: max(4, len(choices.quality) - 4)]
        praised = rf"better|superior|stronger|preferable|best|winner|more\s+{re.escape(stem)}\w*"
        pieces = {"NAMES": names, "NAMED": named or r"(?!)", "LETTERS": "|".join(self._letters)}
        pieces |= {"PRAISED": praised if compares else r"(?!)"}
        pieces |= {"FIRSTNAME": rf"(?:{named})(?=\s?[:.]|\s-\s)|" if named and not compares else ""}
        self._rows = [(rank, compile_form(form, pieces)) for rank, form in table.CHOICES]
        self.whole = compile_form(table.CHOICE_ALONE, pieces)
        self._first = compile_form(table.FIRST_CHOICE, pieces)
        self._line = re.compile(table.OPTION_LINE, re.MULTILINE)
        self._tied = compile_form(table.TIED if compares else r"(?!)", {})

    def statements(self, text: str) -> Iterator[ScoreStatement]:
        """Yield the choices of a reply. Lines that start with different letters are no choice."""
        matches = [(match, rank) for rank, pattern in self._rows for match in pattern.finditer(text)]
        lines = list(self._line.finditer(text))
        if len({match["value"] for match in lines}) < 2:
            matches += [(match, Rank.LINE) for match in self._first.finditer(text)]
        shown = [match for match in lines if match["value"] in self._letters]
        if len({match["value"] for match in shown}) == 1:
            matches += [(match, Rank.ONE_LINE) for match in shown]
        yield from (self.statement(match, rank) for match, rank in matches)
        for match in self._tied.finditer(text):
            value, equal = (
                self._values.get("tie"),
                "The reply finds both equal, which is none of the options.",
            )
            problem = gettext(equal) if value is None else ""
            yield ScoreStatement(
                Rank.SENTENCE, value, match.start(), match.end(), match.start(), problem=problem
            )

    def statement(self, match: re.Match[str], rank: Rank) -> ScoreStatement:
        """Return the option of a match, with a problem if it is no option of the prompt."""
        written, at = match["value"], match.start("value")
        value, ends = self._values.get(written.casefold()), (self._letters[0], self._letters[-1])
        said = gettext("The option {written} is not one of {first} to {last}.")
        problem = said.format(written=short(written), first=ends[0], last=ends[1]) if value is None else ""
        start = at if rank in (Rank.LINE, Rank.ONE_LINE) else match.start()
        return ScoreStatement(
            rank, value, start, match.end(), at, bool(match.groupdict().get("final")), problem
        )


def score_forms(dimension: FrozenDimension) -> ScoreForms:
    """Return a dimension's forms, compiled once for all with the same name and scale."""
    return _compile_scores(replace(dimension, id=0, key="", definition="", guidelines=""))


_compile_scores = lru_cache(maxsize=256)(ScoreForms)
choice_forms = lru_cache(maxsize=256)(ChoiceForms)
"""Return the forms of these choices, compiled once."""
