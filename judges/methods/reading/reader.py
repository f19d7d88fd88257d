"""Parsing of a reply to a value and reasons, or to a reason why it has no value.

JSON comes first. Then `choose_statement` selects one of the statements that the forms of `table` find. Scores
and choices are parsed in the same way.
"""

import re

from annotate.core.translation import gettext
from judges.methods.reading.forms import Forms
from judges.methods.reading.plain import Plain, answer_start, plain
from judges.methods.reading.statements import ScoreStatement, choose_statement, keep_meant
from judges.methods.reading.structured import find_tagged, json_answers
from judges.methods.readings import Readable, Reading, Unreadable

_JUDGE = (
    r"(?:judge|rate|score|evaluate|assess|grade|give|provide|compare|choose|determine|answer|help|assist)"
)
REFUSES = re.compile(
    r"\b(?:sorry|as an ai|as a language model)\b|\bi apologi[sz]e\b|\bi\s+(?:must\s+)?decline\b|"
    r"\b(?:i|we)\s+(?:cannot|can't|can not|could not|couldn't|won't|will not|am unable to|am not able to)"
    rf"\s+{_JUDGE}\b|"
    rf"\b(?:unable|not able|not possible|impossible)\s+(?:for me\s+)?to\s+{_JUDGE}\b",
    re.IGNORECASE,
)
OWN_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;]|\n)[\s\"'(-]*\Z")
OWN_SENTENCE_AFTER = re.compile(r"[\s\"').!>]*\Z")


def read(reply: str, forms: Forms, *, structured: bool = False) -> Reading:
    """Return the answer in a reply; structured: only a JSON object counts."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    in_json = [
        (statement, reason)
        for answer, reason in json_answers(reply[start:], forms.own_name)
        for statement in forms.alone(plain(answer).text)
    ]
    if in_json:
        statement = choose_statement([each for each, _ in in_json], "")
        return _reading_of(statement, in_json[-1][1]) if statement else Unreadable(gettext(forms.different))
    if structured:
        return Unreadable(gettext(forms.not_in_json))
    text = plain(reply, start)
    found = _find(text.text, forms)
    return found if isinstance(found, Unreadable) else _reading_of(found, rationale(reply, text, found))


def position(reply: str, forms: Forms) -> int | None:
    """Return the start of the stated answer, None if there is none."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return None
    text = plain(reply, start)
    found = _find(text.text, forms)
    return None if isinstance(found, Unreadable) else text.origins[found.at]


def explain_unreadable(text: str, nothing: str) -> Unreadable:
    """Return the reason why a reply has no answer: the model declines, or `nothing`."""
    return Unreadable(gettext("The reply refuses to judge.") if REFUSES.search(text) else nothing)


def _find(text: str, forms: Forms) -> ScoreStatement | Unreadable:
    marked = [each for start, inside in find_tagged(text) for each in forms.alone(inside, start)]
    statements = marked or list(forms.statements(text))
    if statement := choose_statement(statements, text):
        return statement
    if keep_meant(statements, text):
        return Unreadable(gettext(forms.different))
    return explain_unreadable(text, gettext(forms.nothing))


def _reading_of(statement: ScoreStatement, reasons: str) -> Reading:
    if statement.problem or statement.value is None:
        return Unreadable(statement.problem)
    return Readable(statement.value, reasons)


def rationale(reply: str, plain: Plain, statement: ScoreStatement) -> str:
    """Return a reply without its answer if that is separate at an end, else the whole reply."""
    before, after = plain.text[: statement.start], plain.text[statement.end :]
    first = plain.origins[0]
    if OWN_SENTENCE_AFTER.fullmatch(after) and (own := OWN_SENTENCE_BEFORE.search(before)):
        cut = plain.origins[own.start() + len(own[0]) - len(own[0].lstrip(".!?:;"))] if own.start() else first
        return reply[first:cut].strip(" \n").rstrip("*#- \n")
    if not before.strip(" \n\"'(-"):
        return reply[plain.origins[statement.end - 1] + 1 :].lstrip(" \n\t:.,-*)]\"'").rstrip()
    return reply[first:].strip()
