"""Replies of yes or no: to one question, or to each of several numbered ones."""

import re
from typing import Any

from annotate.core.translation import gettext
from judges.methods.reading.plain import answer_start, plain
from judges.methods.reading.reader import explain_unreadable
from judges.methods.reading.structured import json_value
from judges.methods.readings import Unreadable

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
