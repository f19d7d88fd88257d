"""Parsing of a reply to a value and reasons, or to a reason why it has no value.

JSON comes first. Then `choose_statement` selects one of the statements that the forms of `table` find. Scores
and choices are parsed in the same way. Replies of yes or no, and a project's own regular expression for forms
unknown to the rules, have functions of their own.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Any

import re2

from annotate.core.translation import gettext
from judges.methods.reading import Readable, Reading, Unreadable
from judges.methods.reading.forms import Forms, ScoreStatement, choose_statement, keep_meant
from judges.methods.reading.plain import Plain, answer_start, find_tagged, json_answers, json_value, plain

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
    # JSON comes before prose; a structured reply needs it.
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
    # Tags and boxes mark the answer, so prose around them is not searched.
    statements = marked or list(forms.statements(text))
    if statement := choose_statement(statements, text):
        return statement
    # Statements that count but differ; otherwise the reply states no score at all.
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
    # The answer ends the reply: the reasons are what comes before it.
    if OWN_SENTENCE_AFTER.fullmatch(after) and (own := OWN_SENTENCE_BEFORE.search(before)):
        cut = plain.origins[own.start() + len(own[0]) - len(own[0].lstrip(".!?:;"))] if own.start() else first
        return reply[first:cut].strip(" \n").rstrip("*#- \n")
    # The answer starts the reply: the reasons are what follows.
    if not before.strip(" \n\"'(-"):
        return reply[plain.origins[statement.end - 1] + 1 :].lstrip(" \n\t:.,-*)]\"'").rstrip()
    return reply[first:].strip()


YES = frozenset(("yes", "true", "y", "supported", "consistent", "correct", "1"))
NO = frozenset(("no", "false", "n", "unsupported", "not supported", "inconsistent", "incorrect", "0"))
WORDS = r"yes|no|true|false|not\s+supported|unsupported|supported|inconsistent|consistent"
# The words after "Answer:"; the first words; the last ones.
FORMS = tuple(
    re.compile(form.replace("WORD", rf"(?P<word>{WORDS})"), re.IGNORECASE)
    for form in (
        r"\b(?:answer|verdict|conclusion)\s*(?:is)?\s*[:=-]?\s*WORD\b",
        r"\A\W{0,40}WORD\b",
        r"(?:^|[\n.:;,]\s*|\bis\s+)WORD\W{0,40}\Z",
    )
)
NUMBERED = re.compile(
    rf"^\W{{0,20}}(?P<number>\d{{1,3}})\s?[.):-].*?\b(?P<word>{WORDS})\b", re.IGNORECASE | re.MULTILINE
)


def read_yes_or_no(reply: str) -> bool | Unreadable:
    """Return True for yes and False for no, or the reason why a reply is neither."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    found = json_value(reply[start:])
    if isinstance(found, dict) and (answer := _boolean(found)) is not None:
        return answer
    text = plain(reply, start).text.strip()
    # The most explicit form decides; a later one may match words of the explanation.
    for form in FORMS:
        said = {_boolean(match["word"]) is True for match in form.finditer(text)}
        if said:
            return said.pop() if len(said) == 1 else Unreadable(gettext("The reply says yes and no."))
    return explain_unreadable(text, gettext("The reply says neither yes nor no."))


def read_answers(reply: str, count: int) -> list[bool] | Unreadable:
    """Return the answers to `count` numbered questions, or the reason why some are missing.

    Accepts a JSON list of answers, a JSON object from number to answer, objects with an `answer`, or numbered
    lines.
    """
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    found = json_value(reply[start:])
    if isinstance(found, dict):
        # {"answers": [...]} has the list in its only field; {"1": "yes", ...} has an answer in each.
        inner = [each for each in found.values() if isinstance(each, list | dict)]
        found = inner[0] if len(found) == 1 and inner else found
        found = list(found.values()) if isinstance(found, dict) else found
    if not isinstance(found, list):
        lines = {int(match["number"]): match["word"] for match in NUMBERED.finditer(plain(reply, start).text)}
        found = [lines.get(number) for number in range(1, count + 1)] if len(lines) == count else []
    answers = [answer for answer in map(_boolean, found) if answer is not None]
    if len(answers) == len(found) == count:
        return answers
    said = gettext("The reply has {answers} answers to {questions} questions.")
    return Unreadable(said.format(answers=len(answers) if len(answers) == len(found) else 0, questions=count))


def _boolean(said: Any) -> bool | None:
    if isinstance(said, dict):
        said = next((said[name] for name in ("answer", "value", "yes", "supported") if name in said), None)
    if isinstance(said, bool):
        return said
    word = " ".join(str(said).casefold().split()).rstrip(".")
    return True if word in YES else False if word in NO else None


LONGEST = 500  # characters of a pattern
LONGEST_REPLY = 8_000  # searched characters of a reply, its last ones
ANSWER = "answer"


def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern: letters of either case, ^ and $ at every line. Raises re2.error."""
    options = re2.Options()
    # Errors are raised as exceptions; RE2 would write them to stderr too.
    options.log_errors = False
    return re2.compile(f"(?im){pattern}", options)


def problem_of_pattern(pattern: str) -> str:
    """Return the problem of an invalid pattern, empty if it is valid."""
    if len(pattern) > LONGEST:
        return gettext("A pattern has {limit} characters at the most.").format(limit=LONGEST)
    try:
        compile_pattern(pattern)
    except re2.error as error:
        (what,) = error.args
        return gettext("This is no regular expression as RE2 reads them: {error}.").format(
            error=what.decode(errors="replace")
        )
    return ""


def read_by_pattern(reply: str, pattern: str, read: Callable[[str], Reading]) -> Reading:
    """Return the result of `read` for the last match of a pattern, with the preceding content as reasons.

    The group called `answer` counts, else the first group, else the whole match. Thinking is not searched,
    and of a very long reply only its last 8,000 characters.
    """
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    if problem := problem_of_pattern(pattern):  # of an export that was written before RE2 read them
        return Unreadable(problem)
    text = reply[start:][-LONGEST_REPLY:]
    # A deque of one keeps the last match.
    match = next(iter(deque(compile_pattern(pattern).finditer(text), maxlen=1)), None)
    if match is None:
        return Unreadable(gettext("The prompt's pattern does not match."))
    group: str | int = ANSWER if ANSWER in match.re.groupindex else min(match.re.groups, 1)
    reading = read((match[group] or "").strip())
    if isinstance(reading, Readable):
        return Readable(reading.value, text[: match.start()].strip())
    return Unreadable(gettext("The prompt's pattern matches, but: {reason}").format(reason=reading.reason))
