"""Values of record fields: output, keys and scale values."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping

from annotate.core.rendering.runs import is_chat
from annotate.core.scale import int_if_whole
from annotate.core.strings import escapes_nul
from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.rows import LineReason, Metadata, Part, RefusedLine, shorten

KEY_LIMIT = 200
TITLE_LIMIT = 300
RATER_LIMIT = 150
# Without ASCII, \d also matches the digits of other scripts.
NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{0,20})?|\.\d{1,20})", re.ASCII)
ROUND_WORDS = {"1": 1, "i": 1, "2": 2, "ii": 2}
KINDS = {
    bool: gettext_noop("a yes-or-no value"),
    list: gettext_noop("a list"),
    dict: gettext_noop("an object"),
    type(None): gettext_noop("nothing"),
}


class RefusedFieldError(Exception):
    """A field that cannot be imported, with the reason. name: the invalid value."""

    def __init__(self, field: str, reason: str, name: object = "") -> None:
        super().__init__(reason)
        self.field, self.reason, self.name = field, reason, str(name)

    def at(self, line: int) -> RefusedLine:
        return RefusedLine(line, self.field, self.reason, name=self.name)


def require_field(fields: Mapping[str, object], name: str) -> object:
    if name not in fields:
        raise RefusedFieldError(name, gettext("The field “{name}” is missing.").format(name=name))
    return fields[name]


def text_of(value: object, name: str) -> str:
    """Return the value unchanged; reject empty strings and characters that the database cannot store."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise RefusedFieldError(
            name,
            gettext("The field “{name}” is empty; give it a text or leave the line out.").format(name=name),
        )
    # A list of messages is stored as JSON, which pages show as a chat.
    if is_chat(value):
        value = json.dumps(value, ensure_ascii=False)
    # True is an int, too.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RefusedFieldError(
            name,
            gettext("The field “{name}” holds {kind} where a text is needed.").format(
                name=name, kind=gettext(KINDS.get(type(value), gettext_noop("a value of another kind")))
            ),
        )
    text = (
        # Workbooks store 3 as 3.0, and a key must not depend on that.
        (str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))
        if isinstance(value, int | float)
        else value
    )
    if "\0" in text:
        raise RefusedFieldError(
            name, gettext("The field “{name}” holds a NUL character; remove it.").format(name=name)
        )
    # ASCII has no surrogates, so most texts need no encoding to check.
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        reason = gettext("The field “{name}” holds half a character (a lone surrogate); repair it.").format(
            name=name
        )
        raise RefusedFieldError(name, reason) from error
    return text


def key_of(value: object, name: str, limit: int = KEY_LIMIT) -> str:
    key = text_of(value, name).strip()
    if len(key) > limit:
        reason = LineReason.fill(
            gettext("The field “{name}” has {count} characters where at most {limit} fit; shorten it."),
            example=key,
            shared={"name": name, "limit": limit},
            count=len(key),
        )
        raise RefusedFieldError(name, reason)
    return key


def title_of(value: object, name: str) -> str:
    """A title, which may be empty and is cut to what fits."""
    return "" if value in (None, "") else text_of(value, name).strip()[:TITLE_LIMIT]


def rated_value(value: object, name: str) -> float:
    """Return a rating's value as a number, an int if it is whole. Also accepts "4" or 4.0.

    The caller checks whether the dimension's scale contains it.
    """
    written = value.strip() if isinstance(value, str) else repr(value)
    if not isinstance(value, bool) and NUMBER.fullmatch(written):
        return int_if_whole(float(written))
    shown = shorten(written, 40)
    reason = gettext("“{value}” is not a number; a rating is a point of its scale.")
    raise RefusedFieldError(name, LineReason.fill(reason, example=shown, value=shown))


def round_of(value: object, name: str) -> int:
    word = re.sub(r"^r(ound)?[\s_-]*", "", str(value).strip().casefold())
    if word not in ROUND_WORDS:
        shown = shorten(str(value), 40)
        reason = gettext("“{value}” is not a round; a rating is of round 1 or 2.")
        raise RefusedFieldError(name, LineReason.fill(reason, example=shown, value=shown))
    return ROUND_WORDS[word]


def is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def parts_of(value: object, label: str, name: str) -> tuple[Part, ...]:
    """Return a document's parts from one field: a string, a list, or an object of labelled strings."""
    if isinstance(value, list) and not is_chat(value):
        texts = [text_of(text, f"{name}[{index}]") for index, text in enumerate(value)]
        return tuple((f"{label} {number}", text) for number, text in enumerate(texts, start=1))
    if isinstance(value, dict):
        return tuple((key_of(key, name), text_of(text, f"{name}.{key}")) for key, text in value.items())
    return ((label, text_of(value, name)),)


def metadata_of(fields: Mapping[str, object], columns: Iterable[str]) -> Metadata:
    return {name: _metadata_value(fields[name], name) for name in columns if not is_blank(fields.get(name))}


def _metadata_value(value: object, name: str) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str | int | float):
        text_of(value, name)  # rejects characters that databases cannot store
        return value
    written = json.dumps(value, ensure_ascii=False, default=str)
    # JSON escapes NUL, which `text_of` would not find in this form.
    text_of("\0" if escapes_nul(written) else written, name)
    # NaN and Infinity become strings: databases take no such JSON.
    return json.loads(written, parse_constant=str)


def key_from_parts(parts: tuple[Part, ...], prefix: str = "document") -> str:
    """Return a key for a document without one in the file: equal parts give equal keys."""
    texts = json.dumps([text for _, text in parts], ensure_ascii=False)
    # 48 bits: two of 100,000 documents collide with a probability of 0.00002. The import rejects a collision
    # as a document with other texts.
    return f"{prefix}-{hashlib.sha256(texts.encode()).hexdigest()[:12]}"
