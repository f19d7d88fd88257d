"""Escaping admins' input in cards that other sites show as Markdown."""

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def plain(text: str) -> str:
    """Escape a string so that nothing in it is markup, neither Markdown nor HTML; its lines remain."""
    return _MARKUP.sub(r"\\\1", text)


def plain_line(text: str) -> str:
    """Return the same in one line, as a heading needs it."""
    return plain(" ".join(text.split()))
