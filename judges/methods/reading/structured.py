"""Answers with markup: a field of a JSON object, or the content of tags or a box."""

import json
import re
from collections.abc import Iterator
from typing import Any

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
        if start >= behind and isinstance(content, dict):
            folded = {str(name).strip().casefold(): x for name, x in content.items()}
            behind = end if _answer(folded, "") is not None else behind
            yield content


def _contents(text: str, opening: str) -> Iterator[tuple[int, int, Any]]:
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
            if isinstance(content, str | int | float) and not isinstance(content, bool):
                return str(content)
    return None
