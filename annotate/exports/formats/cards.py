"""Texts of admins in cards that other sites show as Markdown: they stay texts."""

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def plain(text: str) -> str:
    """Return a text in which nothing is markup, neither Markdown nor HTML; its lines stay."""
    return _MARKUP.sub(r"\\\1", text)


def plain_line(text: str) -> str:
    """Return the same in one line, as a heading needs it."""
    return plain(" ".join(text.split()))
