"""A reply without its decoration: the same words, easier to match, and the origin of each character.

Also numbers (4, 3.5, 3,5, 3½, four, seventy-five, vier, 四) in English, German, French, Spanish, Russian,
Arabic, Hindi, Chinese and Japanese, in digits of every script; and answers with markup: a field of a JSON
object, or the content of tags or a box. An article is no number: "eine 4" is not 1.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.translation import gettext
from judges.methods.reading import Unreadable

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
    # The last end counts, because a reply may contain several blocks of thinking.
    start = ends[-1] if ends else 0
    # The reply ends within its thinking, so a score in it is no answer.
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
    # Characters are excluded with their positions, because `origins` must lead back to the reply.
    left_out = {at for run in MANY_SIGNS.finditer(text) for at in range(run.start(), run.end())}
    for run in MANY_SPACES.finditer(text):
        # A run of blanks keeps its line break, since forms look for lines.
        break_at = text.find("\n", run.start() + 1, run.end())
        left_out.update({*range(run.start() + 1, run.end())} - {max(break_at, run.start() + 1)})
    if not left_out:
        return Plain(text, range(start, len(reply)))
    kept = [at for at in range(len(text)) if at not in left_out]
    return Plain("".join(text[at] for at in kept), [start + at for at in kept])


_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "_ deux trois quatre cinq six sept huit neuf dix",
    "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "один два три четыре пять шесть семь восемь девять десять",
    "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "एक दो तीन चार पांच छह सात आठ नौ दस",
)
WORDS = {word: value for words in _COUNTED for value, word in enumerate(words.split(), start=1)} | {
    **{"zero": 0, "zéro": 0, "cero": 0, "ноль": 0, "صفر": 0, "शून्य": 0, "одна": 1, "одну": 1, "واحدة": 1},
    **{"две": 2, "اثنين": 2, "اثنتان": 2, "ثلاث": 3, "أربع": 4, "خمس": 5, "पाँच": 5, "ست": 6, "छः": 6},
    **{"hundred": 100, "one hundred": 100, "a hundred": 100},
}
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_UNITS = _COUNTED[0].split()[:9]
for _ten, _word in enumerate(_TENS, start=2):
    WORDS[_word] = 10 * _ten
    WORDS |= {f"{_word}-{unit}": 10 * _ten + WORDS[unit] for unit in _UNITS}
del WORDS["_"]
HAN = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"〇": 0, "两": 2}
FRACTIONS = "½¼¾"

# Ignoring case would look for the other case of each of 27,000 characters, which takes most of compiling.
LETTER = r"(?-i:[^\W\u3040-\u30ff\u3400-\u9fff])"
"""A letter or digit of a script with spaces: beside Chinese and Japanese a word begins all the same."""
_MONEY = "[$€£]"
_BEFORE = rf"(?<!{LETTER})(?<!{_MONEY})"
_DIGITS = rf"[-+]?\d+(?:\.\d+|,\d{{1,2}})?[{FRACTIONS}]?"


def _alternatives(words: Iterable[str]) -> str:
    """Return alternatives for words, the longest first, grouped by first letter.

    The engine needs one letter to reject all words of a group.
    """
    rests: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        rests.setdefault(word[0], []).append(re.sub("[- ]", r"[-\\x20]", word[1:]))
    return "|".join(f"{first}(?:{'|'.join(group)})" for first, group in rests.items())


_SIMPLE_WORDS = _alternatives(word for word in WORDS if not word.startswith(tuple(_TENS)))
_WORDS = rf"(?:{'|'.join(_TENS)})(?:[-\x20](?:{'|'.join(_UNITS)}))?|{_SIMPLE_WORDS}"
_UNITS_IN_HAN, _HAN_DIGIT = "[年月日人个個件本回番章节]", f"[{''.join(HAN)}]"
_NOT_PART_OF_MORE = rf"(?!{LETTER}|[½¼¾])(?![.,]\d)(?!\s+\d+\s*/\s*\d)(?!\s?{_UNITS_IN_HAN})"
_HAN = rf"{_HAN_DIGIT}(?=\s?(?:\Z|[.,;:!?)\"'\n]|颗星|顆星|つ星|星|分|点|點))"
DIGITS = rf"{_BEFORE}{_DIGITS}{_NOT_PART_OF_MORE}"
NUMBER = rf"(?:{_BEFORE}(?:{_DIGITS}|{_WORDS}){_NOT_PART_OF_MORE}|(?<!{_HAN_DIGIT}){_HAN})"
"""A number that stands by itself: no part of a word, a date or a sum of money."""
NOTHING = "(?!)"
IN_ASCII = {LETTER: r"\w", _MONEY: r"\$", _UNITS_IN_HAN: NOTHING, _HAN_DIGIT: NOTHING}
"""Patterns that compile slowly, each with one that matches the same in ASCII texts."""


def number(written: str) -> float | None:
    """Return the value of a match of `NUMBER`, None if it is no number after all."""
    half = written[-1:] if written[-1:] in FRACTIONS else ""
    digits = written.removesuffix(half) if half else written
    joined = re.sub(r"[\s-]", "-" if "hundred" not in digits.casefold() else " ", digits.casefold())
    word = HAN.get(digits, WORDS.get(joined))
    try:
        whole = float(digits.replace(",", ".")) if word is None else float(word)
    except ValueError:
        return None
    part = unicodedata.numeric(half) if half else 0.0
    # -3½ is -3.5, not -2.5.
    return whole - part if digits.startswith("-") else whole + part


ANSWERS = tuple("score rating grade stars value choice option answer label category verdict".split())  # noqa: SIM905
REASONS = tuple("reason reasons rationale reasoning explanation justification analysis thought".split())  # noqa: SIM905
TAGS = re.compile(
    r"<(?P<tag>(?:final[_ ]|overall[_ ])?(?:score|rating|grade|choice|answer|verdict))>"
    r"(?P<inside>[^<>]{0,200})(?:</(?P=tag)>|\Z)|\\boxed\s(?:\s?\\(?:text|mathrm|mathbf)\s)?(?P<boxed>[^\s\\]{1,40})",
    re.IGNORECASE,
)
MOST_OBJECTS = 50


def find_tagged(text: str) -> list[tuple[int, str]]:
    """Return the contents of answer tags and boxes, each with its position."""
    return [
        (match.start(group), match[group])
        for match in TAGS.finditer(text)
        for group in ("inside", "boxed")
        if match[group] is not None
    ]


def json_value(text: str) -> Any:
    """Return the longest JSON list or object in a reply, None without one."""
    found = [(end - start, content) for start, end, content in _contents(text, r"[\[{]")]
    return max(found, key=lambda each: each[0])[1] if found else None


def json_list(text: str) -> list[Any]:
    """Return the JSON list in a reply, also in a field of an object; an empty one if there is none."""
    found = json_value(text)
    if isinstance(found, dict):
        found = next((each for each in found.values() if isinstance(each, list)), None)
    return found if isinstance(found, list) else []


def json_answers(text: str, own_name: str = "") -> list[tuple[str, str]]:
    """Return (answer, reason) of every JSON object in a reply with a field for an answer."""
    answers = []
    for fields in objects(text):
        folded = {str(name).strip().casefold(): content for name, content in fields.items()}
        answer = _answer(folded, own_name.casefold())
        if answer is not None:
            reasons = (folded[name].strip() for name in REASONS if isinstance(folded.get(name), str))
            answers.append((answer, next(reasons, "")))
    return answers


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a reply, including nested ones unless the outer has a field for an answer."""
    behind = 0
    for start, end, content in _contents(text, r"\{"):
        # An object inside one with an answer belongs to that answer.
        if start >= behind and isinstance(content, dict):
            folded = {str(name).strip().casefold(): x for name, x in content.items()}
            behind = end if _answer(folded, "") is not None else behind
            yield content


def _contents(text: str, opening: str) -> Iterator[tuple[int, int, Any]]:
    # Each bracket may start JSON; the limit bounds the time for a reply full of brackets.
    for match in list(re.finditer(opening, text))[:MOST_OBJECTS]:
        try:
            content, end = json.JSONDecoder().raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield match.start(), end, content


def _answer(folded: dict[str, Any], own_name: str) -> str | None:
    for prefix in ("final_", "overall_", "final ", "overall ", ""):
        for name in (*ANSWERS, own_name):
            content = folded.get(prefix + name)
            # True is an int in Python, and no score.
            if isinstance(content, str | int | float) and not isinstance(content, bool):
                return str(content)
    return None
