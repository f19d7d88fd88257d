"""Replies read by a prompt's own regular expression."""

import pytest

from judges.methods import METHODS
from judges.methods.base import Readable, Unreadable
from judges.methods.reading.reader import problem_of_pattern
from tests.judges.methods.dimensions import FIVE, TOPICS

DIRECT = METHODS["direct"]


def read(reply: str, pattern: str, method: str = "direct") -> object:
    reading = METHODS[method].read_with(pattern, reply, FIVE)
    return reading.value if isinstance(reading, Readable) else reading


def test_first_group_of_the_last_match_is_read_and_rationale_precedes() -> None:
    reply = "<think>Grade 1!</think>Grade 2 at first.\nDull, so\ngrade 3!"
    assert DIRECT.read_with(r"grade (\d)", reply, FIVE) == Readable(3, "Grade 2 at first.\nDull, so")
    assert read("4 of 9 stars: 3!", r"(\d) of 9 stars: (?P<answer>\d)!") == 3
    assert read("So: three", r"three") == 3
    assert read("Mine|D", r"Mine\|(\w)", "mcq") == 4
    named = DIRECT.read_with(r"^topic (\w+)$", "Well\ntopic Sport", TOPICS)
    assert named == Readable(next(point.value for point in TOPICS.points if point.label == "Sport"), "Well")


def test_what_does_not_match_or_is_off_the_scale_has_no_value() -> None:
    assert read("Score: 4", r"Grade (\d)") == Unreadable("The prompt's pattern does not match.")
    off = read("Grade 7", r"Grade (\d)")
    assert isinstance(off, Unreadable)
    assert off.reason.startswith("The prompt's pattern matches, but:")
    assert isinstance(read("Grade", r"Grade(?: (\d))?"), Unreadable)


@pytest.mark.parametrize(
    "pattern",
    [
        r"Grade: (\d+)",
        r"^ {0,9}([1-5])[ .]{0,9}$",
        r"^\s*(\d)\s*$",
        r"(?:score|grade)\W{0,5}(\d)",
        r"(?:ab){1,3}(\d)",
        "(a+)+b",
    ],
)
def test_usual_patterns_are_accepted(pattern: str) -> None:
    assert problem_of_pattern(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "missing )"),
        (r"(a)\1", "invalid escape sequence"),
        ("(?=a)", "invalid perl operator"),
        ("x" * 501, "500 characters"),
    ],
)
def test_pattern_unsupported_by_re2_is_rejected(pattern: str, says: str) -> None:
    assert says in problem_of_pattern(pattern)
    if len(pattern) < 500:
        reading = DIRECT.read_with(pattern, "Grade 3", FIVE)
        assert isinstance(reading, Unreadable)
        assert says in reading.reason


@pytest.mark.parametrize("pattern", ["(a+)+b", r"(?:\x62|\x62){0,90}!", "(?:a?){90}a{90}", "a*a*a*a*b"])
def test_pattern_time_is_linear_in_the_reply_length(pattern: str) -> None:
    """Each takes Python's own expressions more than years on this text."""
    assert isinstance(DIRECT.read_with(pattern, "ab" * 10 + "a" * 4_000 + "b" * 4_000, FIVE), Unreadable)
