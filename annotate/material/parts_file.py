"""Parts of outputs in a CSV file: a row for each part, or a row for each output with a list."""

import csv
import io
import json
from collections.abc import Iterator

from django.utils.translation import gettext

from annotate.core.errors import ImportRefusedError

MOST_BYTES = 50 * 1024 * 1024
MOST_PARTS = 200
Parts = dict[tuple[str, str], list[str]]


def read_parts(content: bytes) -> Parts:
    """Return the parts by document and system, in the order of the file. Raises ImportRefusedError.

    Columns: document, system, and `part`, or `parts` with a JSON list.
    """
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        named = {name.strip() for name in rows.fieldnames or ()}
        if not {"document", "system"} <= named or not {"part", "parts"} & named:
            raise ImportRefusedError(
                gettext("The file needs the columns document, system, and part or parts.")
            )
        parts: Parts = {}
        for document, system, texts, line in _rows(rows):
            found = parts.setdefault((document, system), [])
            found.extend(texts)
            if not all(texts) or len(found) > MOST_PARTS:
                raise ImportRefusedError(
                    gettext("Line {line}: an output has 1 to {most} parts, none of them empty.").format(
                        line=line, most=MOST_PARTS
                    )
                )
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportRefusedError(
            gettext("This is not a CSV file in UTF-8: {error}.").format(error=error)
        ) from None
    if not parts:
        raise ImportRefusedError(gettext("The file has no rows."))
    return parts


def _rows(rows: "csv.DictReader[str]") -> Iterator[tuple[str, str, list[str], int]]:
    for row in rows:
        given = {
            (name or "").strip(): (text or "").strip() for name, text in row.items() if isinstance(text, str)
        }
        texts = (
            [given.get("part", "")]
            if given.get("part") or "parts" not in given
            else _read_list(given["parts"], rows.line_num)
        )
        yield given.get("document", ""), given.get("system", ""), texts, rows.line_num


def _read_list(text: str, line: int) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise ImportRefusedError(
            gettext("Line {line}: parts is a JSON list of texts, such as {example}.").format(
                line=line, example='["One.", "Two."]'
            )
        )
    return [each.strip() for each in found]
