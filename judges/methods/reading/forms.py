"""Find statements of scores or choices in a reply by the table of forms, and the one that counts."""

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext, gettext_noop
from judges.methods import scales
from judges.methods.reading import table
from judges.methods.reading.plain import number
from judges.methods.reading.table import Form, Rank, compile_form

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
        # Rule 2: statements from rank LINE up have no label.
        found = [each for each in found if not (each.problem and each.rank >= Rank.LINE)]
    if not found:
        return None
    # Rule 3: a final answer overrules a lower rank, but not a marked answer.
    best = [each for each in found if each.rank == min(other.rank for other in found)]
    final = [each for each in found if each.final and best[0].rank != Rank.MARKED]
    return (
        _common(final)
        or _common(best)
        or _common(_concluding([each for each in best if each.is_in_prose], text))
    )


def keep_meant(statements: Sequence[ScoreStatement], text: str) -> list[ScoreStatement]:
    """Return the statements outside denied, wished or imagined sentences."""
    # Several forms may match one value; if one of them sees the denial, all in prose are dropped.
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
    # The first alternative that matches wins, so a name comes before its own beginning.
    longest_first = sorted((name.strip() for name in names), key=len, reverse=True)
    return "".join(rf"(?<!\w){re.escape(name)}(?!\w)|" for name in longest_first)


class Forms(ABC):
    """The forms in which replies answer one question, compiled."""

    nothing: str
    not_in_json: str
    different: str
    own_name = ""
    whole: Form

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
        # The stem also matches other forms of the name, such as “natural” for naturalness.
        self._stem = self._own[: max(4, len(self._own) - 4)]
        names = {name.casefold(): float(value) for name, value in scales.names(dimension).items()}
        # On an unlabelled scale of 0 and 1, yes and no are natural answers.
        self._names = names | (YES_NO if not names and list(dimension.whole_values) == [0, 1] else {})
        # (?!) matches nothing: without names this part of a form must fail, not match an empty word.
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
                # A score in a list is one of its parts, so other forms must not lift its rank.
                if match.start("value") not in parts and not self._numbers_a_list(match):
                    yield self.statement(match, rank)
        for match in self._stars.finditer(text) if self._stars else ():
            # Full stars are the score; with the empty ones they show the length of the scale.
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
        # "4/10" on a scale to 5 is no 4: the reply has another scale in mind.
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
        # A reply that goes through several options starts with one that it need not choose.
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
    # These fields do not change the forms, and would only divide the cache.
    return _compile_scores(replace(dimension, id=0, key="", definition="", guidelines=""))


_compile_scores = lru_cache(maxsize=256)(ScoreForms)
choice_forms = lru_cache(maxsize=256)(ChoiceForms)
"""Return the forms of these choices, compiled once."""
