"""How models really choose, among options and between texts. Every expected value was read by a person."""

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable, Unreadable
from tests.judges.methods.dimensions import BINARY, FIVE, LABELLED, dimension


def outcome(method: str, reply: str, scale: FrozenDimension = FIVE) -> float | str:
    reading = METHODS[method].read(reply, scale)
    return reading.value if isinstance(reading, Readable) else reading.reason


@pytest.mark.parametrize(
    "reply",
    [
        "D",
        "d",
        "D.",
        "(D)",
        "(d)",
        "d)",
        "**D**",
        "[[D]]",
        "D: The majority of the sentences follow each other.",
        "D) The majority of the sentences follow each other.",
        "D. The majority of the sentences follow each other.",
        "D - The majority of the sentences follow each other.",
        "D\n\nA reader can follow it.",
        "(D) A reader can follow it.",
        "Option D",
        "Option D: The majority of the sentences follow each other.",
        "Answer: D",
        "Answer: D.",
        "Answer: d",
        "Answer: (D)",
        "**Answer:** D",
        "**Answer: D**",
        "The answer is D.",
        "The correct option is D: the majority.",
        "My choice: Option D",
        "Choice: D because it flows.",
        "I would rate its order as:\n\nD: The majority of it flows.\n\nI hope this helps!",
        "Here is my choice.\n\nOption D.\n\nThe text has slips.",
        "I believe the answer is (D) The majority of it flows.",
        "The best option is D",
        "Answer: D A reader can follow it.",
        "A reader can follow it.\n\nD",
        "A reader can follow it. Answer: D",
        "A reader can follow it, so I choose option D.",
        "I would choose D.",
        "The text is best described by option D.",
        "Option D describes the text best.",
        "A: a pile\nB: loose\nC: partly\nD: well\nE: all\n\nAnswer: D",
        "Option C is too low. Therefore, I would choose option D.",
        "I would not choose option E, but option D.",
        "The majority of the sentences follow each other (D).",
        "<answer>D</answer>",
        "The answer is \\boxed{D}",
        '{"choice": "D"}',
        '{"reason": "A reader can follow it.", "answer": "D"}',
        "<think>B? Answer: B. No.</think>D",
        "  Sure! I'd be happy to help.\n\nAnswer: D\n\nI hope this helps! A last remark: B would be harsh.",
    ],
)
def test_a_chosen_option(reply: str) -> None:
    assert outcome("mcq", reply) == 4


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "The reply is empty."),
        ("I'm sorry, but I cannot choose.", "The reply refuses to judge."),
        ("A reader can follow it.", "No choice was found."),
        ("A text that flows.", "No choice was found."),
        ("I think that it flows.", "No choice was found."),
        ("4", "No choice was found."),
        ("Score: 4", "No choice was found."),
        ("F", "The option F is not one of A to E."),
        ("Answer: F", "The option F is not one of A to E."),
        ("Answer: D or E", "No choice was found."),
        ("D/E", "No choice was found."),
        ("Answer: D\nAnswer: E", "Two different choices were found."),
        ("A: a pile\nB: loose\nC: partly\nD: well\nE: all", "No choice was found."),
        ("Not option E.", "No choice was found."),
    ],
)
def test_reply_without_an_option_has_a_reason(reply: str, expected: str) -> None:
    assert outcome("mcq", reply) == expected


@pytest.mark.parametrize(
    ("reply", "scale", "expected"),
    [
        ("Well ordered", LABELLED, 4),
        ("Answer: Well ordered.", LABELLED, 4),
        ("Well ordered: most of it follows.", LABELLED, 4),
        ("B", BINARY, 1),
        ("Answer: No", BINARY, 0),
        ("A", dimension(minimum=0, maximum=4), 0),
        ("J", dimension(maximum=10), 10),
        ("I: nearly all of it.", dimension(maximum=10), 9),
        ("I think that it flows.", dimension(maximum=10), "No choice was found."),
    ],
)
def test_options_of_other_scales(reply: str, scale: FrozenDimension, expected: float | str) -> None:
    assert outcome("mcq", reply, scale) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A", 1),
        ("B", 0),
        ("C", 0.5),
        ("A: Summary #1 is more coherent.", 1),
        ("B: Summary #2 is more coherent.", 0),
        ("C: Both Summary #1 and Summary #2 are equally coherent.", 0.5),
        ("Text 1", 1),
        ("Text 2 is better.", 0),
        ("Text 1 is more coherent than Text 2.", 1),
        ("Both have slips, but the second text is clearly better.", 0),
        ("The first summary is much more coherent.", 1),
        ("Answer: B", 0),
        ("Answer: Text 1", 1),
        ("Answer: the second text.", 0),
        ("Answer: tie", 0.5),
        ("Verdict: A tie", 0.5),
        ("Tie", 0.5),
        ("It is a tie.", 0.5),
        ("Both texts are equally coherent.", 0.5),
        ("Neither text is better than the other.", 0.5),
        ("My final verdict is: [[B]]", 0),
        ("I prefer Text 2.", 0),
        ("A is better than B.", 1),
        ("I choose A as the better one.", 1),
        ("Both are equally coherent, but text 1 is slightly better.", "Two different choices were found."),
        ('{"choice": "C"}', 0.5),
        ("Text A", 1),
        ("", "The reply is empty."),
        ("D", "The option D is not one of A to C."),
        ("Text 1 has more words than Text 2.", "No choice was found."),
        ("Text 1 is not better.", "No choice was found."),
        ("Text 1 is more boring.", "No choice was found."),
        ("Answer: A or B", "No choice was found."),
        ("1. Text 1 ends early.\n2. Text 2 rambles.", "No choice was found."),
        (
            "Text 1 is better in order. Text 2 is better in style. What do you think?",
            "Two different choices were found.",
        ),
    ],
)
def test_a_comparison(reply: str, expected: float | str) -> None:
    assert outcome("h2h", reply) == expected


def test_rationale_is_the_remainder_around_the_choice() -> None:
    reading = METHODS["mcq"].read("D: The majority of it flows.", FIVE)
    assert reading == Readable(4, "The majority of it flows.")


def test_structured_choices() -> None:
    mcq, h2h = METHODS["mcq"], METHODS["h2h"]
    assert mcq.read_structured('{"reason": "It flows.", "choice": "D"}', FIVE) == Readable(4, "It flows.")
    assert h2h.read_structured('{"reason": "", "choice": "B"}', FIVE) == Readable(0)
    assert mcq.read_structured("D", FIVE) == Unreadable("The reply has no JSON object with a choice.")


def test_position_of_the_choice_is_located() -> None:
    assert METHODS["mcq"].answer_position("It flows. **Answer:** D", FIVE) == 22
    assert METHODS["mcq"].answer_position("It flows.", FIVE) is None
