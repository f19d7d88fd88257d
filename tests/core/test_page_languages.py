"""Detects a message in the other language on a page; tests/test_access_table.py looks at every page."""

import re
from collections import defaultdict
from functools import cache
from html.parser import HTMLParser

import pytest

from tests.catalog import german, sentences_of

pytestmark = pytest.mark.once
BLANKS = re.compile(r"%\(\w+\)[sd]|\{[^{}]*\}|%[sd]|<[^<>]*>")
SHOWN = {"aria-label", "title", "placeholder", "alt", "data-confirm"}
UNREAD = {"script", "style", "code", "pre", "textarea"}


class Words(HTMLParser):
    """Collects the words of a page, without the project's own texts: these have a `dir`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.language = ""
        self.words: set[str] = set()
        self.unread: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "html":
            self.language = found.get("lang") or ""
        if self.unread or tag in UNREAD or tag == "bdi" or {"dir", "translate"} & set(found):
            if tag not in {"input", "img", "br", "hr", "link", "meta", "use", "wbr"}:
                self.unread.append(tag)
            return
        self.words |= {" ".join(str(found[name]).split()) for name in SHOWN & set(found)}

    def handle_endtag(self, tag: str) -> None:
        if self.unread and tag in self.unread:
            while self.unread.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self.unread:
            self.words.add(" ".join(data.split()))


def read(html: str) -> Words:
    words = Words()
    words.feed(html)
    return words


def parts(text: str) -> list[str]:
    """Return what a sentence keeps around names, numbers and marks that are filled in."""
    found = (" ".join(part.split()) for part in BLANKS.split(text.replace("%%", "%")))
    return [part for part in found if len(part.split()) > 2]


@cache
def phrases() -> tuple[dict[str, str], dict[str, str]]:
    """Return the phrases that are only English, and those that are only German, with their messages."""
    english: dict[str, str] = {}
    translated: dict[str, str] = {}
    for text in {**german(), **sentences_of("templates", "annotate", "judges")}:
        told = german().get(text) or []
        english |= dict.fromkeys([" ".join(text.split()), *parts(text)], text)
        for each in filter(None, told):
            translated |= dict.fromkeys([" ".join(each.split()), *parts(each)], text)
    both = set(english) & set(translated)
    return (
        {part: text for part, text in english.items() if part and part not in both},
        {part: text for part, text in translated.items() if part and part not in both},
    )


@cache
def phrases_by_word(language: str) -> dict[str, list[str]]:
    """Return the phrases that are foreign to a language, by the longest word within.

    Neither the first word counts nor the last, which may be a part of a longer one on a page.
    """
    english, translated = phrases()
    found: dict[str, list[str]] = defaultdict(list)
    for part in english if language == "de" else translated:
        if within := part.split()[1:-1]:
            found[max(within, key=len)].append(part)
    return found


def foreign(page: Words) -> set[str]:
    """Return the sentences of a page that are not in the language that it names."""
    english, translated = phrases()
    other = english if page.language == "de" else translated
    by_word = phrases_by_word(page.language)
    all_words = "\n".join(page.words)
    possible = (part for word in set(all_words.split()) for part in by_word.get(word, ()))
    return {other[words] for words in page.words & other.keys()} | {
        other[part] for part in possible if part in all_words
    }


def test_message_in_the_other_language_is_detected() -> None:
    page = '<html lang="{}"><p dir="auto">Sprache</p><p title="{}">{}</p></html>'
    assert foreign(read(page.format("de", "Language", "Sprache"))) == {"Language"}
    assert foreign(read(page.format("en", "Language", "Sprache"))) == {"Language"}
    assert not foreign(read(page.format("de", "Sprache", "Sprache")))
    assert not foreign(read(page.format("en", "Language", "Language")))


def test_phrase_within_a_longer_string_is_detected() -> None:
    part = next(part for part in phrases()[0] if part.count(" ") > 2)
    page = read(f'<html lang="de"><p>Mit{part}ende</p></html>')
    assert phrases()[0][part] in foreign(page)
