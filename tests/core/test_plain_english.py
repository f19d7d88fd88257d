"""How far the project's English is from the field's: counted, and never further than it was.

A hit is a reason to rewrite the sentence, not to replace one word. `plain_english.toml` has the patterns.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.catalog import ROOT, german

pytestmark = pytest.mark.once
PLAIN = tomllib.loads(Path(__file__).with_name("plain_english.toml").read_text())
PATTERNS = [re.compile(each, re.IGNORECASE) for each in PLAIN["patterns"]]
NAMES = [re.compile(each) for each in PLAIN["names"]]
SLACK = 1.0  # hits per 1,000 words by which a measured rate may lie below the recorded one


def documents() -> Iterator[str]:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```|\]\([^)]*\)", " ", path.read_text(), flags=re.DOTALL)
        yield re.sub(r"`[^`]*`", "CODE", text)


def interface() -> Iterator[str]:
    yield from german()


def docstrings() -> Iterator[str]:
    for package in ("agreement", "annotate", "judges", "concord", "client"):
        for path in (ROOT / package).rglob("*.py"):
            if "migrations" not in path.parts:
                yield from prose_of(path.read_text())


def prose_of(source: str) -> Iterator[str]:
    """Docstrings and comments of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and (
            text := ast.get_docstring(node)
        ):
            yield re.sub(r"`[^`]*`", "CODE", text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(noqa|type:)", token.string):
            yield token.string.lstrip("# ")


def titles() -> Iterator[str]:
    for path in (ROOT / "tests").rglob("*.py"):
        for name in re.findall(r"(?m)^ *(?:async )?def test_(\w+)\(", path.read_text()):
            yield name.replace("_", " ")


def names() -> Iterator[str]:
    """Names of functions and classes, one word each."""
    for package in ("agreement", "annotate", "judges", "concord", "client"):
        for path in (ROOT / package).rglob("*.py"):
            if "migrations" not in path.parts:
                yield from re.findall(r"(?m)^ *(?:async )?(?:def|class) (\w+)", path.read_text())


def rate(texts: Iterator[str]) -> float:
    """Hits for each 1,000 words."""
    hits = words = 0
    for text in texts:
        words += len(text.split())
        hits += sum(len(pattern.findall(text)) for pattern in PATTERNS)
    return 1000 * hits / words


def rate_of_names() -> float:
    """Names for each 1,000 that start with a preposition, a participle or a question word."""
    found = list(names())
    return 1000 * sum(any(pattern.match(name) for pattern in NAMES) for name in found) / len(found)


KINDS: dict[str, Callable[[], float]] = {
    "documents": lambda: rate(documents()),
    "interface": lambda: rate(interface()),
    "docstrings": lambda: rate(docstrings()),
    "tests": lambda: rate(titles()),
    "names": rate_of_names,
}


def test_every_kind_of_prose_has_a_recorded_rate() -> None:
    assert set(PLAIN["rates"]) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_rate_only_falls(kind: str) -> None:
    measured, recorded = KINDS[kind](), PLAIN["rates"][kind]
    assert measured <= recorded, "Rewrite the sentences that were added; the patterns say how."
    assert measured > recorded - SLACK, f"Record the lower rate {measured:.1f} in plain_english.toml."


def test_docstrings_and_comments_count_for_hits() -> None:
    source = '"""Nobody knows."""\nx = 1  # it stands beside another\n'
    assert list(prose_of(source)) == ["Nobody knows.", "it stands beside another"]
    assert rate(iter(prose_of(source))) == pytest.approx(1000 * 3 / 6)


def test_names_that_start_with_a_preposition_or_a_question_count() -> None:
    assert [
        name
        for name in ("_of_round", "why_none", "WhatFor", "offer", "count_units")
        if any(map(NAMES[0].match, [name])) or any(map(NAMES[1].match, [name]))
    ] == ["_of_round", "why_none", "WhatFor"]
