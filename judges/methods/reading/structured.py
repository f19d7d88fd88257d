"""Answers in a form of their own: a field of a JSON object, or what stands between tags."""

import json
import re
from collections.abc import Iterator
from typing import Any

ANSWERS = (
    "score",
    "rating",
    "grade",
    "stars",
    "value",
    "choice",
    "option",
    "answer",
    "label",
    "category",
    "verdict",
)
REASONS = (
    "reason",
    "reasons",
    "rationale",
    "reasoning",
    "explanation",
    "justification",
    "analysis",
    "thought",
)
TAGS = re.compile(
    r"<(?P<tag>(?:final[_ ]|overall[_ ])?(?:score|rating|grade|choice|answer|verdict))>"
    r"(?P<inside>[^<>]{0,200})(?:</(?P=tag)>|\Z)|\\boxed\s(?P<boxed>[^\s\\]{1,40})",
    re.IGNORECASE,
)
MOST_OBJECTS = 50


def find_tagged(text: str) -> list[tuple[int, str]]:
    """Return what stands between tags of an answer in a plain text, each with its place."""
    found = []
    for match in TAGS.finditer(text):
        group = "inside" if match["inside"] is not None else "boxed"
        found.append((match.start(group), match[group]))
    return found


def json_answers(text: str, own_name: str = "") -> list[tuple[str, str]]:
    """Return (answer, reason) of every JSON object in a text that has a field for an answer."""
    answers = []
    for fields in objects(text):
        folded = {str(name).strip().casefold(): content for name, content in fields.items()}
        answer = _answer(folded, own_name.casefold())
        if answer is not None:
            answers.append((answer, _reason(folded)))
    return answers


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, and those within them unless they have a field for an answer."""
    decoder = json.JSONDecoder()
    end = 0
    for match in list(re.finditer(r"\{", text))[:MOST_OBJECTS]:
        if match.start() < end:
            continue
        try:
            content, after = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            has_answer = (
                _answer({str(name).strip().casefold(): x for name, x in content.items()}, "") is not None
            )
            end = after if has_answer else end
            yield content


def _answer(folded: dict[str, Any], own_name: str) -> str | None:
    for prefix in ("final_", "overall_", "final ", "overall ", ""):
        for name in (*ANSWERS, own_name):
            content = folded.get(prefix + name)
            if isinstance(content, str) or (
                isinstance(content, int | float) and not isinstance(content, bool)
            ):
                return str(content)
    return None


def _reason(folded: dict[str, Any]) -> str:
    return next((folded[name].strip() for name in REASONS if isinstance(folded.get(name), str)), "")
