"""Parts of models' replies that several kinds have in common: keys, lists, letters and quotes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError

LETTERS = "ABCDEFGHIJ"
"""By which a prompt names the sides of a comparison, in the order shown."""
ChoiceRows = Sequence[Mapping[str, Any]]
"""The {key, name, description} of an option."""


def unreadable_reply(sentence: str) -> InvalidValueError:
    return InvalidValueError(sentence)


def choice_lines(rows: ChoiceRows) -> str:
    return "\n".join(
        f"- {row['key']}: {row['name']}" + (f" ({row['description']})" if row["description"] else "")
        for row in rows
    )


def one_of_keys(rows: ChoiceRows) -> dict[str, Any]:
    return {"type": "string", "enum": [row["key"] for row in rows]}


def strict_object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def read_list(reply: Mapping[str, Any], name: str) -> list[Any]:
    found = reply.get(name)
    if not isinstance(found, list):
        raise unreadable_reply(gettext("The reply has no list “{name}”.").format(name=name))
    return found


def read_key(rows: ChoiceRows, said: object) -> str:
    """Return the key of the choice that a reply names by its key or name. Raises InvalidValueError."""
    word = str(said).strip().casefold()
    for field in ("key", "name"):
        for row in rows:
            if row[field].casefold() == word:
                return str(row["key"])
    shown = word if len(word) <= 40 else f"{word[:39]}…"
    raise unreadable_reply(gettext("The reply names “{word}”, which is no choice.").format(word=shown))


class QuotedPassage(NamedTuple):
    """The position of a quote: the number of the source and the offsets of its characters."""

    part: int
    start: int
    end: int


class QuoteFinder:
    """Finds quotes in sources: an exact match, else one with any blanks between the words.

    The search for a repeated quote starts behind its previous match.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._behind: dict[tuple[str, int], int] = defaultdict(int)

    def find(self, quote: str, among: Iterable[int]) -> QuotedPassage | None:
        """Return the position of a quote in the first of these sources with a match, else None."""
        words = quote.split()
        if not words:
            return None
        patterns = (re.escape(quote.strip()), r"\s+".join(map(re.escape, words)))
        for pattern in patterns:
            for part in among:
                key = " ".join(words), part
                if found := re.compile(pattern).search(self._texts[part], self._behind[key]):
                    self._behind[key] = found.end()
                    return QuotedPassage(part, found.start(), found.end())
        return None
