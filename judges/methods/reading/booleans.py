"""Replies that say yes or no: to one question, or to each of several that are numbered."""

import re
from typing import Any

from annotate.core.translation import gettext
from judges.methods.reading.plain import answer_start, plain
from judges.methods.reading.reader import REFUSES
from judges.methods.reading.structured import json_value
from judges.methods.readings import Unreadable

YES = frozenset(("yes", "true", "y", "supported", "consistent", "correct", "1"))
NO = frozenset(("no", "false", "n", "unsupported", "not supported", "inconsistent", "incorrect", "0"))
WORDS = r"yes|no|true|false|not\s+supported|unsupported|supported|inconsistent|consistent"
# The whole reply, its first words, its last ones, or what stands behind "Answer:".
FIRST = re.compile(rf"\W{{0,40}}(?P<word>{WORDS})\b", re.IGNORECASE)
LABELLED = re.compile(
    rf"\b(?:answer|verdict|conclusion)\s*(?:is)?\s*[:=-]?\s*(?P<word>{WORDS})\b", re.IGNORECASE
)
LAST = re.compile(rf"(?:^|[\n.:;,]\s*|\bis\s+)(?P<word>{WORDS})\W{{0,40}}\Z", re.IGNORECASE)
NUMBERED = re.compile(
    rf"^\W{{0,20}}(?P<number>\d{{1,3}})\s?[.):-].*?\b(?P<word>{WORDS})\b", re.IGNORECASE | re.MULTILINE
)


def read_yes_or_no(reply: str) -> bool | Unreadable:
    """Return whether a reply says yes, or why it says neither."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    found = json_value(reply[start:])
    if isinstance(found, dict) and (answer := _boolean(found)) is not None:
        return answer
    text = plain(reply, start).text.strip()
    for pattern in (LABELLED, FIRST, LAST):
        said = {_means(match["word"]) for match in pattern.finditer(text)} if pattern is LABELLED else set()
        match = (
            None if pattern is LABELLED else pattern.match(text) if pattern is FIRST else pattern.search(text)
        )
        said |= {_means(match["word"])} if match else set()
        if len(said) == 1:
            return said.pop()
        if said:
            return Unreadable(gettext("The reply says yes and no."))
    refuses = REFUSES.search(text)
    return Unreadable(
        gettext("The reply refuses to judge.") if refuses else gettext("The reply says neither yes nor no.")
    )


def read_answers(reply: str, count: int) -> list[bool] | Unreadable:
    """Return what a reply says to each of so many numbered questions, or why that is not all of them.

    A JSON list of answers, a JSON object from number to answer, objects with an `answer`, or numbered lines.
    """
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    answers = _in_json(reply[start:])
    if answers is None:
        text = plain(reply, start).text
        lines = {int(match["number"]): _means(match["word"]) for match in NUMBERED.finditer(text)}
        wanted = [lines.get(number) for number in range(1, count + 1)]
        answers = [each for each in wanted if each is not None] if len(lines) == count else []
    if len(answers) != count:
        return Unreadable(
            gettext("The reply has {answers} answers to {questions} questions.").format(
                answers=len(answers), questions=count
            )
        )
    return answers


def _means(word: str) -> bool:
    return " ".join(word.casefold().split()) in YES


def _in_json(text: str) -> list[bool] | None:
    found = json_value(text)
    if isinstance(found, dict):
        inner = [each for each in found.values() if isinstance(each, list | dict)]
        found = inner[0] if len(found) == 1 and inner else list(found.values())
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, list):
        return None
    answers = [_boolean(each) for each in found]
    return [each for each in answers if each is not None] if None not in answers else []


def _boolean(said: Any) -> bool | None:
    if isinstance(said, dict):
        said = next((said[name] for name in ("answer", "value", "yes", "supported") if name in said), None)
    if isinstance(said, bool):
        return said
    word = str(said).strip().casefold().rstrip(".")
    return True if word in YES else False if word in NO else None
