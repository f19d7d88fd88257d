"""Whatever a model replies, reading it neither fails nor leaves the scale; what states one score is read."""

import json
import re
import time
from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS, Method
from judges.methods.base import Readable, Reading
from judges.methods.reading.plain import IN_ASCII
from judges.methods.reading.reader import read_answers, read_yes_or_no
from judges.methods.reading.table import CHOICES, SCORES, Form, compile_form
from tests.judges.methods.dimensions import BINARY, FIVE, HUNDRED, LABELLED, TEN, TOPICS, dimension

SCALES = st.sampled_from([FIVE, LABELLED, TEN, HUNDRED, BINARY, TOPICS, dimension(minimum=-2, maximum=2)])
EVERY_METHOD = st.sampled_from(list(METHODS.values()))
SCORERS = st.sampled_from(
    [
        method
        for method in METHODS.values()
        if not (method.takes_steps or method.asks_kinds) and "score" in method.json_schema(FIVE)["properties"]
    ]
)

PIECES = [
    *(
        "score",
        "Score:",
        "rating of",
        "is",
        "a",
        "an",
        "the",
        "final",
        "Final",
        "rate it",
        "give",
        "Therefore, ",
    ),
    *(
        "1",
        "2",
        "3.5",
        "4",
        "5",
        "7",
        "-1",
        "10",
        "100",
        "85",
        "/",
        "5",
        "/5",
        "%",
        "out of",
        "four",
        "one hundred",
    ),
    *(
        "A",
        "B",
        "C",
        "D",
        "E",
        "(D)",
        "option",
        "Answer:",
        "Text 1",
        "Text 2",
        "better",
        "tie",
        "both equally",
    ),
    *(
        "not",
        "would",
        "to",
        "or",
        "-",
        ":",
        ".",
        ",",
        ";",
        "(",
        ")",
        "**",
        "[[",
        "]]",
        "N/A",
        "sorry",
        "cannot",
    ),
    *(
        "<score>",
        "</score>",
        "<think>",
        "</think>",
        "\\boxed{",
        "}",
        "{",
        '"',
        '"score":',
        "★",
        "☆",
        "½",
        "４",
    ),
    *(
        "İ",
        "ı",
        "ſ",
        "K",
        "Sport",
        "Politics",
        "Yes",
        "No",
        "Coherence",
        "\n",
        "\n\n",
        "\u2028",
        "\x00",
        "\ufeff",
    ),
]
NEARLY = st.builds(str.join, st.sampled_from(["", " "]), st.lists(st.sampled_from(PIECES), max_size=25))
REPLIES = st.text() | NEARLY


def is_fine(reading: Reading, method: Method, scale: FrozenDimension) -> bool:
    if not isinstance(reading, Readable):
        return reading.reason.endswith(".") and len(reading.reason) < 200
    low, high = (0, 1) if method.asks_pairs else (scale.scale_minimum, scale.scale_maximum)
    return low <= reading.value <= high


@settings(max_examples=1500, deadline=None)
@given(method=EVERY_METHOD, scale=SCALES, reply=REPLIES)
@example(method=METHODS["rts"], scale=FIVE, reply="score of fıve. fİve, ſix, ²")
@example(method=METHODS["rts"], scale=FIVE, reply="Score: ٤")
@example(method=METHODS["rts"], scale=HUNDRED, reply="a\u00a0hundred")
def test_any_reply_has_a_value_on_the_scale_or_a_reason(method, scale, reply):
    if method.refuses(scale):
        return
    assert is_fine(method.read(reply, scale), method, scale)
    assert is_fine(method.read_structured(reply, scale), method, scale)
    position = method.answer_position(reply, scale)
    assert position is None or 0 <= position < len(reply)


def read_by_full_patterns(method: Method, reply: str, scale: FrozenDimension) -> tuple[Reading, int | None]:
    with patch.object(Form, "_pattern_for", lambda self, text: self.full_pattern):  # noqa: ARG005
        return method.read(reply, scale), method.answer_position(reply, scale)


@settings(max_examples=600, deadline=None)
@given(method=SCORERS, scale=SCALES, reply=st.text(st.characters(codec="ascii")) | NEARLY)
@example(method=METHODS["rts"], scale=FIVE, reply="I paid $4 out of 5.")
@example(method=METHODS["rts"], scale=FIVE, reply="It is version v4 out of 5.")
@example(method=METHODS["rts"], scale=HUNDRED, reply="I give seventy-five of one hundred.")
@example(method=METHODS["mcq"], scale=LABELLED, reply="(C) Partly ordered. It is not B; 3rd choice.")
def test_patterns_of_ascii_replies_read_the_same_as_full_patterns(method, scale, reply):
    reply = reply.encode("ascii", "ignore").decode()
    if not method.refuses(scale):
        found = method.read(reply, scale), method.answer_position(reply, scale)
        assert found == read_by_full_patterns(method, reply, scale)


def test_patterns_of_ascii_replies_have_no_class_that_compiles_slowly():
    forms = [compile_form(form, {}) for _, form in (*SCORES, *CHOICES)]
    for slow in IN_ASCII:
        assert any(slow in form.full_pattern.pattern for form in forms)
        assert not [form for form in forms if slow in form.ascii_pattern.pattern]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["score", "choice", "reason", "x", "Coherence"]), inner, max_size=3)
    ),
)


@settings(max_examples=500, deadline=None)
@given(method=EVERY_METHOD, content=JSON)
def test_any_json_has_a_value_on_the_scale_or_a_reason(method, content):
    reply = json.dumps(content)
    assert is_fine(method.read_structured(reply, FIVE), method, FIVE)
    assert is_fine(method.read(reply, FIVE), method, FIVE)


@settings(max_examples=500, deadline=None)
@given(
    method=EVERY_METHOD,
    logprobs=st.dictionaries(st.sampled_from([*"12345ABCDE", " 4", "The", "80"]), st.floats(), max_size=8),
    scale=SCALES,
)
def test_any_probabilities_have_a_value_on_the_scale_or_a_reason(method, logprobs, scale):
    if not method.refuses(scale):
        assert is_fine(method.weighted_score(logprobs, scale), method, scale)


OPENINGS = st.sampled_from(
    [
        "",
        "Sure, here is my judgment.\n\n",
        "The text has 3 sentences and 2 slips. ",
        "It mentions that 24 people came in 2015. ",
        "I first thought of a score of 2 for it. A score of 5 would need an ending. ",
        "On a scale from {low} to {high}, this is my judgment.\n",
        "**Reason:** it flows, but 1 of 3 sentences does not.\n\n",
    ]
)
STATEMENTS = st.sampled_from(
    [
        "Score: {value}",
        "**Score:** {value}/{high}",
        "**Final score: {value}**",
        "Score ({low}-{high}): {value}",
        "Final rating = {value} out of {high}",
        "Coherence: {value}",
        "<score>{value}</score>",
        '{{"score": {value}}}',
        "Therefore, I would rate it a {value} out of {high}.",
        "Overall, it earns a score of {value}.",
        "Therefore, it flows in parts, resulting in a score of {value} out of {high} for coherence.",
    ]
)
CLOSINGS = st.sampled_from(
    [
        "",
        "\n",
        " ",
        "\n\nI hope this helps!",
        "\n\nPlease note that others may judge otherwise.",
        "\nThank you!",
    ]
)


@settings(max_examples=800, deadline=None)
@given(
    method=SCORERS,
    scale=st.sampled_from([FIVE, LABELLED, TEN, HUNDRED]),
    opening=OPENINGS,
    statement=STATEMENTS,
    closing=CLOSINGS,
    half=st.booleans(),
    data=st.data(),
)
def test_single_stated_score_is_readable_in_any_context(
    method, scale, opening, statement, closing, half, data
):
    value = data.draw(st.sampled_from(scale.values))
    if half and value < scale.scale_maximum:
        value += 0.5
    reply = (opening + statement + closing).format(value=value, low=1, high=scale.scale_maximum)
    reading = method.read(reply, scale)
    assert isinstance(reading, Readable), (reply, reading)
    assert reading.value == value, reply


@settings(max_examples=300, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False), scale=SCALES)
def test_a_score_off_the_scale_is_never_read(value, scale):
    written = f"{value:.3f}"
    reading = METHODS["rts"].read(f"Score: {written}", scale)
    if not scale.scale_minimum <= float(written) <= scale.scale_maximum:
        assert not isinstance(reading, Readable)


SIGNS = "\n(){}[]<>\"'`*_#~.,:;!?|/\\-+=%&@^$ \t★☆½"
PHRASES = [
    *("score ", "score of ", "4 ", "( ", "1. ", "final ", "it ", "A: ", "text ", "A: (", "\n1."),
    *("score of 4. score of 3. ", "score of 4, score of 3, ", "Score: 1. ", "a ", "★ ", ").", "**"),
    *("评分 ", "4分", "5点中", "gebe ", "coherence of ", "is ok (", "option ((", "<score>", "to get "),
]


@pytest.mark.parametrize("key", ["rts", "h2h", "several"])  # all forms: of scores, choices and several
def test_long_replies_are_read_in_a_time_that_grows_with_their_length(key: str) -> None:
    METHODS[key].read("Score: 4", FIVE)  # makes the patterns
    assert slow_pieces(lambda reply: METHODS[key].read(reply, FIVE)) == []


def test_long_answers_of_yes_and_no_are_read_so_too() -> None:
    assert slow_pieces(lambda reply: (read_answers(reply, 3), read_yes_or_no(reply))) == []


def test_quadratic_time_is_detected() -> None:
    assert not grows_with_length(lambda reply: re.search(r"\(*x", reply), "(")


def slow_pieces(read: Callable[[str], object]) -> list[str]:
    pieces = [*SIGNS, *(f"\n{sign}" for sign in SIGNS), *PHRASES]
    return [piece for piece in pieces if not grows_with_length(read, piece)]


def grows_with_length(read: Callable[[str], object], piece: str) -> bool:
    """Return whether 8 times as much of a piece takes less than 24 times as long; by the square it is 64.

    Only times of the same moment are compared, and one of a few tries is enough: other work on the machine
    makes both longer, and rarely one of them alone.
    """

    def seconds(length: int) -> float:
        reply = (piece * length)[:length]
        began = time.thread_time()
        read(f"{reply}.\nSo it is.")
        return time.thread_time() - began

    return any(seconds(10_000) < 24 * seconds(1_250) for _ in range(5))
