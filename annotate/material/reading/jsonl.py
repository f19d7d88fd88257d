import json
from collections import Counter
from collections.abc import Iterator
from typing import IO, NoReturn

from annotate.core.translation import gettext
from annotate.material.reading.lines import MAX_LINE_BYTES, numbered_lines
from annotate.material.reading.rows import LineReason, Record, RefusedLine


class _DuplicateKeyError(ValueError):
    pass


def read_jsonl(stream: IO[bytes]) -> Iterator[Record | RefusedLine]:
    for number, text in numbered_lines(stream):
        if text is None:
            reason = gettext("The line is longer than {limit} MiB; shorten its texts.").format(
                limit=MAX_LINE_BYTES // 1024**2
            )
            yield RefusedLine(number, "", reason)
        elif text.strip():
            yield _parse_line(number, text)


def _parse_line(number: int, text: str) -> Record | RefusedLine:
    try:
        value = json.loads(text, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)
    except _DuplicateKeyError as error:
        return RefusedLine(
            number,
            str(error),
            gettext("The field “{field}” is there twice; keep one of them.").format(field=error),
            text,
        )
    except json.JSONDecodeError as error:
        position = f"{error.msg}, {error.colno}"
        reason = LineReason.fill(
            gettext("The line is not JSON ({error}, column {column}); write one object per line."),
            example=position,
            error=error.msg,
            column=error.colno,
        )
        return RefusedLine(number, "", reason, text)
    # NaN, a number with too many digits, or a line that is nested too deeply.
    except (ValueError, RecursionError) as error:
        return RefusedLine(
            number,
            "",
            gettext("The line cannot be read as JSON ({error}); write one object per line.").format(
                error=error
            ),
            text,
        )
    if not isinstance(value, dict):
        sentence = gettext("The line is JSON but not an object; write one object {…} per line.")
        return RefusedLine(number, "", sentence, text)
    return Record(number, value)


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    # Python keeps the last of two equal keys and would silently lose the other value.
    if len(fields) < len(pairs):
        raise _DuplicateKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return fields


def _refuse_constant(name: str) -> NoReturn:
    # Python reads NaN and Infinity, but PostgreSQL stores no such JSON.
    raise ValueError(f"{name} is not a number of JSON")
