"""How models really state a score. Every expected value was read by a person."""

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable, Unreadable
from tests.judges.methods.dimensions import BINARY, FIVE, HUNDRED, LABELLED, TEN, TOPICS, dimension

RTS = METHODS["rts"]


def value(reply: str, scale: FrozenDimension = FIVE) -> float:
    reading = RTS.read(reply, scale)
    assert isinstance(reading, Readable), reading
    return reading.value


def reason(reply: str, scale: FrozenDimension = FIVE) -> str:
    reading = RTS.read(reply, scale)
    assert isinstance(reading, Unreadable), reading
    return reading.reason


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Score: 4", 4),
        ("score:4", 4),
        ("Score: 4.", 4),
        ("**Score: 4**", 4),
        ("**Score:** 4", 4),
        ("**Final score:** 3.5", 3.5),
        ("Score: **4** / 5", 4),
        ("### Score\n4", 4),
        ("Score - 4", 4),
        ("Score = 4", 4),
        ("| Score | 4 |", 4),
        ("Score (1-5): 4", 4),
        ("Score (from 1 to 5): 4", 4),
        ("Coherence score: 4", 4),
        ("Coherence: 4", 4),
        ("- Coherence: 4", 4),
        ("Score for coherence: 4", 4),
        ("Score for the coherence of the text: 4/5", 4),
        ("My rating is: 4", 4),
        ("Rating: 4 stars", 4),
        ("Rating: [[4]]", 4),
        ("Answer: 4", 4),
        ("The final answer is: 4.", 4),
        ("Score: four", 4),
        ("Score: ４", 4),
        ("Score：4／5", 4),
        ("Score: 3½", 3.5),
        ("Score: 3,5", 3.5),
        ("Score: 4.0", 4),
        ("Score: 4 out of 5.", 4),
        ("Score: 4 (out of 5)", 4),
        ("Score: 4 out of 5 (80%)", 4),
        ("Total score: 4", 4),
        ("Final verdict: 4/5", 4),
        ("Coherence (1-5): 4", 4),
        ("Stars: 4/5", 4),
        ("Rating: ⭐⭐⭐⭐ (4/5)", 4),
        ("Score: 4\nReason: I took off 1 point for the ending.", 4),
        ("My score: 3. If the ending were better, it would be a 4.", 3),
        ("Score: <4>", 4),
        ("Score: 4 (good, with one slip)", 4),
        ("Score: 4 - mostly well ordered", 4),
        ("Score:\n\n4", 4),
        ("The text is clear. Score: 4/5.", 4),
        ("Score: 4\n\nThe text begins well and has 2 slips.", 4),
        ("I'm sorry for the confusion. Score: 4", 4),
    ],
)
def test_a_labelled_score(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It lacks order, resulting in a score of 2.", 2),
        ("It lacks order, resulting in a score of 2 out of 5 for coherence.", 2),
        ("It gets a score of 4 out of 5", 4),
        ("It lacks order, resulting in a score of two out of five.", 2),
        ("It is a heap, scoring a two out of five.", 2),
        ("It is a heap, scoring a 2 out of 5", 2),
        ("It flows, so it scores a 3 out of a possible 5.", 3),
        ("Order is there; 3 out of 5.", 3),
        ("It leaves out the verdict (1/5).", 1),
        ("I would rate this text a 4.", 4),
        ("I would rate the coherence of the text as a 4 out of 5.", 4),
        ("I'd give it a 4", 4),
        ("Therefore, I give this summary a solid 4.", 4),
        ("The score is one.", 1),
        ("It earns a rating of 3.5 because of its order.", 3.5),
        ("It deserves a 4 for its order.", 4),
        ("I'd say 4.", 4),
        ("I would rate the summary 4 out of 5 stars.", 4),
        ("Based on the criteria, the score would be 4.", 4),
        ("The coherence score for this summary is 4.", 4),
        ("It loses two points for slips. Score 3.", 3),
        ("I give this a rating of three stars.", 3),
        ("I'd rate this as 3 (partly ordered).", 3),
        ("A score of 4 would be appropriate.", 4),
        ("The text is well ordered, earning a 4", 4),
        ("This is a 4.", 4),
        ("Overall the text is a solid 4.", 4),
        ("It receives a four out of five.", 4),
        ("I would assign a score of 4 to reflect this.", 4),
        ("It can be rated 4/5.", 4),
    ],
)
def test_score_in_a_phrase(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("4", 4),
        (" 4\n", 4),
        ("4.", 4),
        ("(4)", 4),
        ("**4**", 4),
        ("4/5", 4),
        ("four", 4),
        ("4 stars", 4),
        ("4 ★", 4),
        ("4/5 ⭐", 4),
        ("I would rate the text as follows:\n\n4 out of 5\n\nExplanation: it has 2 slips.", 4),
        ("My judgment:\n- 4\nThe text has 2 slips.", 4),
        ("4\n\nIt has 2 slips.", 4),
        ("4: it flows.", 4),
        ("4 - it flows", 4),
        ("4. The text flows.", 4),
        ("4, because it flows", 4),
        ("It flows.\n\n4", 4),
        ("It flows well. 4.", 4),
        ("It flows well: 4", 4),
        ("★★★★☆", 4),
        ("It flows.\n⭐⭐⭐⭐", 4),
        ("★★★½", 3.5),
        ("1. 4", 4),
        ("1. 1", 1),
        ("1) 4/5", 4),
        ("1. It rambles.", 1),
        ("Response: 4. It flows.", 4),
        ("Response: 4 (good)", 4),
        ("Response: four", 4),
    ],
)
def test_a_score_by_itself(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<score>4</score>", 4),
        ("It flows in 3 places.\n<score> 4/5 </score>", 4),
        ("<rating>4</rating> is what I give.", 4),
        ("<final_score>4</final_score>", 4),
        ("It flows. <score>4", 4),
        ("The answer is $\\boxed{4}$.", 4),
        ('{"score": 4}', 4),
        ('{"reason": "It has 2 slips.", "score": 4}', 4),
        ('```json\n{"reason": "fine", "score": "4/5"}\n```', 4),
        ('Here you are: {"Rating": 3.5} I hope this helps.', 3.5),
        ('{"coherence": 4}', 4),
        ('{"result": {"score": 4}}', 4),
        ("<think>A 2? Score: 2. No, better.</think>\nScore: 4", 4),
        ("A 2? Score: 2. No, better.</think>4", 4),
    ],
)
def test_score_in_an_unusual_form(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I first thought of a score of 3, but the ending is good. Score: 4", 4),
        ("It lacks order, resulting in a score of 1. \n\nScore: 1", 1),
        ("A score of 5 would need a better ending. I give it a score of 3.", 3),
        ("I give it a score of 4. A score of 5 would require a better ending.", 4),
        ("It does not deserve a score of 5. It deserves a score of 3.", 3),
        ("To get a score of 5 it would have to end. I would give it a 3.", 3),
        ("Order score: 3\nEnding score: 5\nOverall score: 4", 4),
        ("Score: 2\nOn reflection the ending is good.\nFinal score: 3", 3),
        ("On a scale of 1 to 5, I would give the text a 4.", 4),
        ("On a scale from 1 to 5, where 1 is bad and 5 is good, it deserves a score of 4.", 4),
        ("1 means a pile and 5 means one text. Score: 4", 4),
        ("It lists 2 out of 5 facts, resulting in a score of 3.", 3),
        ("It mentions that Kane scored 3 goals. Score: 4", 4),
        ("It mentions the final score of 2-1 and the 24/7 coverage; it deserves a 4.", 4),
        ("1. It begins well.\n2. It ends badly.\n\nScore: 3", 3),
        ("Score 1: a pile; score 5: one text. I assign 3.", 3),
        ("1. Is it in order? (On a scale from 1 to 5, where 1 is a pile)\n4", 4),
        ("1. Is it in order?\n\nIt has slips. Coherence: 4", 4),
        ("1. Beginning: 3\n2. Ending: 5\n\n4", 4),
        ("1. 3\n2. 5\n\n4", 4),
        ("Beginning: 4\nEnding: 4", 4),
        ("I would rate it a 4, one or two slips aside.", 4),
        ("I took off 1 point for the ending and 1 for slips, giving it a 3.", 3),
        ("On a scale of 1-5, with 5 being the best, I would give it 3.", 3),
        (
            "  Sure! Here is my assessment of the text:\n\nThe text flows in 3 of its parts.\n\n"
            "Based on this, I would rate its coherence as follows:\n\nScore: 4 out of 5\n\n"
            "Please note that this is my opinion, and others may differ. I hope this helps!",
            4,
        ),
        (
            "Thank you for the text! I'd be happy to help. The sentences follow each other. "
            "Therefore, I would give this text a score of 4 out of 5. Is there anything else?",
            4,
        ),
    ],
)
def test_a_score_among_other_numbers(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "The reply is empty."),
        (" \n ", "The reply is empty."),
        ("<think>Let me see.</think>", "The reply is empty."),
        ("<think>Let me see. Score: 4", "The reply ends before an answer."),
        ("I'm sorry, but as an AI language model I cannot rate this.", "The reply refuses to judge."),
        ("I cannot provide a score for this text.", "The reply refuses to judge."),
        ("It is not possible to judge this text.", "The reply refuses to judge."),
        ("N/A", "No score was found."),
        ('```json\n{"scor\n```', "No score was found."),
        ("The text flows well.", "No score was found."),
        ("The reader cannot follow the story.", "No score was found."),
        ("The text has 3 sentences and 2 slips.", "No score was found."),
        ("The article says the boy is 3.", "No score was found."),
        ("He scored 2 goals in 4 games.", "No score was found."),
        ("It lists 2 out of 5 facts.", "No score was found."),
        ("1. It begins well.\n2. It ends badly.", "No score was found."),
        ("Score: between 3 and 4", "No score was found."),
        ("Score: 3-4", "No score was found."),
        ("Score: 3 to 4", "No score was found."),
        ("Score: 4th", "No score was found."),
        ("It does not deserve a score of 5.", "No score was found."),
        ("It gets a 2 for order but a 4 for style.", "Two different scores were found."),
        ("Score: 3\nScore: 4", "Two different scores were found."),
        ("Order score: 3\nEnding score: 5", "Two different scores were found."),
        ("1. 2\n2. 3\n3. 2", "Two different scores were found."),
        ("Text 1: 2\nText 2: 5", "Two different scores were found."),
        ("Give a score of 1, 2, or 3.", "No score was found."),
        ("1. Is it in order?\n\nIt rambles.", "No score was found."),
        ("I would give it a 3 or a 4.", "No score was found."),
        (
            "It gets a score of 3 in order. It gets a score of 4 in style. Ask me for more.",
            "Two different scores were found.",
        ),
        ('{"score": 3} or {"score": 4}', "Two different scores were found."),
        ("Score: 7", "The score 7 is outside the scale from 1 to 5."),
        ("Score: 0", "The score 0 is outside the scale from 1 to 5."),
        ("Score: -1", "The score -1 is outside the scale from 1 to 5."),
        ("7", "The score 7 is outside the scale from 1 to 5."),
        ("Score: 7/10", "The score 7/10 is not on the scale from 1 to 5."),
        ("4/10", "The score 4/10 is not on the scale from 1 to 5."),
        ("Score: 80%", "The score 80% is not on the scale from 1 to 5."),
        ("It deserves a score of 4 out of 10.", "The score 4/10 is not on the scale from 1 to 5."),
        ("★★★★☆☆", "The score 4/6 is not on the scale from 1 to 5."),
        (f"Score: {'9' * 400}", f"The score {'9' * 20}… is outside the scale from 1 to 5."),
        ('{"score": NaN}', "No score was found."),
        ('{"score": true}', "No score was found."),
    ],
)
def test_reply_without_a_score_has_a_reason(reply: str, expected: str) -> None:
    assert reason(reply) == expected


@pytest.mark.parametrize(
    ("reply", "scale", "expected"),
    [
        ("Score: 7/10", TEN, 7),
        ("Score: 10", TEN, 10),
        ("I would give it an 8.", TEN, 8),
        ("an eight out of ten, so: 8", TEN, 8),
        ("Score: 85", HUNDRED, 85),
        ("Score: 85/100", HUNDRED, 85),
        ("Score: 85%", HUNDRED, 85),
        ("Score: eighty-five", HUNDRED, 85),
        ("Score: 100", HUNDRED, 100),
        ("Score: 1", BINARY, 1),
        ("0", BINARY, 0),
        ("Yes", BINARY, 1),
        ("Answer: no.", BINARY, 0),
        ("Answer: yes, it is.", BINARY, 1),
        ("Response: yes", BINARY, 1),
        ("Response: yes , I like it .\n\n- Correct: 0", BINARY, 0),
        ("Score: -1", dimension(minimum=-2, maximum=2), -1),
        ("Score: 0", dimension(minimum=0, maximum=4), 0),
        ("Sport", TOPICS, 0),
        ("Category: Politics", TOPICS, 1),
        ("Category: Politics abroad", TOPICS, 2),
        ("It is about a visit. Score: politics abroad", TOPICS, 2),
        ("Politics\nIt is about an election.", TOPICS, 1),
        ("<score>Sport</score>", TOPICS, 0),
        ('{"score": "Sport"}', TOPICS, 0),
        ("2", TOPICS, 2),
        ("Score: Well ordered", LABELLED, 4),
        ("Score: One text", LABELLED, 5),
        ("Score: 4 (Well ordered)", LABELLED, 4),
        ("Well ordered.", LABELLED, 4),
        ("4: Well ordered", LABELLED, 4),
    ],
)
def test_other_scales(reply: str, scale: FrozenDimension, expected: float) -> None:
    assert value(reply, scale) == expected


@pytest.mark.parametrize(
    ("reply", "scale", "expected"),
    [
        ("Score: 5/10", HUNDRED, "The score 5/10 is not on the scale from 1 to 100."),
        ("Score: 1,000", HUNDRED, "No score was found."),
        ("Score: 2", BINARY, "The score 2 is outside the scale from 0 to 1."),
        ("Score: 1.5", TOPICS, "The score 1.5 lies between two categories."),
        ("It is about sport and politics.", TOPICS, "No score was found."),
        ("Sporty", TOPICS, "No score was found."),
        ("Response:\n\nYes, I like football.", BINARY, "No score was found."),
        ("1. Loose\n2. Well ordered\n3. Loose", LABELLED, "Two different scores were found."),
    ],
)
def test_other_scales_without_a_score(reply: str, scale: FrozenDimension, expected: str) -> None:
    assert reason(reply, scale) == expected


@pytest.mark.parametrize(
    ("reply", "labels", "expected"),
    [
        ("Yes, 2.", ("no", "somewhat", "yes"), 2),
        ("No, 1", ("no", "somewhat", "yes"), 1),
        ("The response is somewhat interesting.", ("dull", "somewhat interesting", "interesting"), 2),
        ("This text is dull", ("dull", "somewhat interesting", "interesting"), 1),
        ("Yes. It goes on from there.", ("no", "somewhat", "yes"), 3),
        ("3. Coherent", ("no", "somewhat", "yes"), 3),
        ("1. Incoherent", ("no", "somewhat", "yes"), 1),
    ],
)
def test_reply_of_one_short_phrase(reply: str, labels: tuple[str, ...], expected: float) -> None:
    assert value(reply, dimension("Coherence", 1, 3, labels=labels)) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, 1",  # the lowest point
        "No, 3",
        "The response is yes or no.",
        "The response is not somewhat.",
        "Yes. i like pop stars",  # the judged text
        "1. Coherent",  # the entry of a list: 1 is the lowest point
    ],
)
def test_short_phrase_without_a_score(reply: str) -> None:
    scale = dimension("Coherence", 1, 3, labels=("no", "somewhat", "yes"))
    assert reason(reply, scale) == "No score was found."


def test_the_highest_of_two_points_praises() -> None:
    assert value("1. Grounded", dimension("Groundedness", 0, 1, labels=("no", "yes"))) == 1
    assert value("Yes, 1", dimension("Groundedness", 0, 1, labels=("no", "yes"))) == 1


def test_labels_that_two_points_share_name_neither() -> None:
    assert (
        reason("Score: Fine", dimension(maximum=3, labels=("Bad", "Fine", "fine"))) == "No score was found."
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It flows. Score: 4", "It flows."),
        ("**Reason:** It flows.\n\n**Score: 4**", "**Reason:** It flows."),
        ("It flows, resulting in a score of 4.", "It flows, resulting in a score of 4."),
        ("Score: 4\n\nIt flows.", "It flows."),
        ("4 - it flows", "it flows"),
        ("4", ""),
        ("Score: 4", ""),
        ('{"reason": "It flows.", "score": 4}', "It flows."),
        ("<think>Hm.</think>It flows. Score: 4", "It flows."),
        ("It flows. (4/5)", "It flows."),
    ],
)
def test_rationale_is_the_remainder_around_the_score(reply: str, expected: str) -> None:
    reading = RTS.read(reply, FIVE)
    assert isinstance(reading, Readable)
    assert reading.rationale == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"reason": "It flows.", "score": 4}', Readable(4, "It flows.")),
        ('```json\n{"score": 4}\n```', Readable(4)),
        ("Score: 4", Unreadable("The reply has no JSON object with a score.")),
        ('{"score": 9}', Unreadable("The score 9 is outside the scale from 1 to 5.")),
        ('{"score": "high"}', Unreadable("The reply has no JSON object with a score.")),
        ("[" * 5000, Unreadable("The reply has no JSON object with a score.")),
        ('{"a":' * 5000, Unreadable("The reply has no JSON object with a score.")),
        ("", Unreadable("The reply is empty.")),
    ],
)
def test_structured_replies(reply: str, expected: Readable | Unreadable) -> None:
    assert RTS.read_structured(reply, FIVE) == expected


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("It has 2 slips. **Score:** 4/5", "4/5"),
        ("<think>3?</think>   Score:    4", "4"),
        ("4", "4"),
    ],
)
def test_position_of_the_score_is_located(reply: str, rest: str) -> None:
    position = RTS.answer_position(reply, FIVE)
    assert reply[position:] == rest


def test_reply_without_a_score_has_no_position() -> None:
    assert RTS.answer_position("It flows.", FIVE) is None
