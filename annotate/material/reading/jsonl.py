"""JSONL: one JSON object per line."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import IO, NoReturn

from annotate.material.reading.lines import MAX_LINE_BYTES, OverlongLine, numbered_lines
from annotate.material.reading.rows import Record, RefusedLine

TOO_LONG = f"The line is longer than {MAX_LINE_BYTES // 1024**2} MiB; shorten its texts."


class _DuplicateKeyError(ValueError):
    pass


def read_jsonl(stream: IO[bytes]) -> Iterator[Record | RefusedLine]:
    """The records of a JSONL stream; a broken line is refused and reading goes on."""
    for number, text in numbered_lines(stream):
        if isinstance(text, OverlongLine):
            yield RefusedLine(number, "", TOO_LONG)
        elif text.strip():
            yield _parse_line(number, text)


def _parse_line(number: int, text: str) -> Record | RefusedLine:
    try:
        value = json.loads(text, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)
    except _DuplicateKeyError as error:
        return RefusedLine(number, str(error), f"The field “{error}” is there twice; keep one of them.", text)
    except json.JSONDecodeError as error:
        reason = f"The line is not JSON ({error.msg}, column {error.colno}); write one object per line."
        return RefusedLine(number, "", reason, text)
    except (ValueError, RecursionError) as error:
        return RefusedLine(
            number, "", f"The line cannot be read as JSON ({error}); write one object per line.", text
        )
    if not isinstance(value, dict):
        reason = "The line is JSON but not an object; write one object {…} per line."
        return RefusedLine(number, "", reason, text)
    return Record(number, value)


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _DuplicateKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
