"""Chats: a JSON list of messages in the form of OpenAI's API, read with the offsets of its strings."""

import json
import json.decoder
import json.scanner
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A pair of surrogates is one character.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_UNPAIRED = re.compile("[\0\ud800-\udfff]")
MOST_MESSAGES = 2000
_reading: Any = json.decoder  # The types of the library do not list the parts of a decoder.
_scanning: Any = json.scanner


class LocatedString(str):
    """A string in JSON, from `start` to `end` between its quotes."""

    start: int
    end: int


class LocatedObject(dict[str, Any]):
    """An object in JSON, from `start` to `end` with its braces."""

    start: int
    end: int


@dataclass(frozen=True)
class JsonString:
    """A string with the offset of each character in the JSON source, and the lengths of its escapes."""

    text: str
    offsets: Sequence[int]
    lengths: Mapping[int, int]


def read_messages(text: str) -> list[LocatedObject] | None:
    """Return the messages of a chat, each an object with a role; None for any other source."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = _make_decoder().decode(text)
    except (ValueError, RecursionError):
        return None
    return found if is_chat(found) else None


def is_chat(value: object) -> bool:
    """Return True for a list of messages: objects with a role and a content or calls of tools."""
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_MESSAGES
        and all(
            isinstance(each, dict)
            and isinstance(each.get("role"), str)
            and ("content" in each or "tool_calls" in each)
            for each in value
        )
    )


def read_string(source: str, string: LocatedString) -> JsonString:
    offsets: list[int] = []
    lengths: dict[int, int] = {}
    at = string.start
    for match in _ESCAPE.finditer(source, string.start, string.end):
        offsets.extend(range(at, match.start()))
        offsets.append(match.start())
        lengths[match.start()] = len(match[0])
        at = match.end()
    offsets.extend(range(at, string.end))
    # Of equal length: Markdown would join the two characters of such an end of a line.
    text = _UNPAIRED.sub("\ufffd", str(string)).replace("\r\n", " \n").replace("\r", "\n")
    return JsonString(text, offsets, lengths)


def _make_decoder() -> json.JSONDecoder:
    decoder: Any = json.JSONDecoder(strict=False)
    parse_object: Callable[..., tuple[dict[str, Any], int]] = decoder.parse_object

    def parse_located_string(text: str, start: int, strict: bool) -> tuple[str, int]:
        value, end = _reading.scanstring(text, start, strict)
        located = LocatedString(value)
        located.start, located.end = start, end - 1
        return located, end

    def parse_located_object(begin: tuple[str, int], *rest: Any) -> tuple[dict[str, Any], int]:
        value, end = parse_object(begin, *rest)
        located = LocatedObject(value)
        located.start, located.end = begin[1] - 1, end
        return located, end

    decoder.parse_string = parse_located_string
    decoder.parse_object = parse_located_object
    decoder.scan_once = _scanning.py_make_scanner(decoder)  # the one in C does not give offsets
    made: json.JSONDecoder = decoder
    return made
