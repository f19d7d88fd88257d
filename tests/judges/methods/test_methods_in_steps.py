"""Methods that take several calls for a value: what they ask after which replies, and what these come to."""

import json
from collections.abc import Sequence

import pytest

from judges.methods import METHODS
from judges.methods.base import Readable, Subject
from judges.methods.content_units import ContentUnits
from judges.methods.factuality import FactualityBySentence, sentences_of
from judges.methods.reading import Reading, Unreadable
from judges.methods.reading.reader import read_answers, read_yes_or_no
from judges.methods.steps import MethodStep, SteppedMethod
from judges.methods.summequal import SummEQuAL
from judges.methods.variants import VARIANTS
from tests.judges.methods.dimensions import BINARY, FIVE, TOPICS

ARTICLE = Subject((("", "The article."),), "Dr. Smith came at 4 p.m. He left. Nobody saw him!")
STEPPED = [method for method in METHODS.values() if isinstance(method, SteppedMethod)]


def after(method: SteppedMethod, *replies: str, subject: Subject = ARTICLE) -> MethodStep | Reading:
    return method.next_step(method.default_template, subject, FIVE, replies)


def message_of(method: SteppedMethod, *replies: str, subject: Subject = ARTICLE) -> str:
    step = after(method, *replies, subject=subject)
    assert isinstance(step, MethodStep), step
    return step.messages[-1].content


def test_output_is_split_into_statements() -> None:
    assert sentences_of(ARTICLE.text) == ["Dr. Smith came at 4 p.m.", "He left.", "Nobody saw him!"]
    assert sentences_of('He said "No." Then 3 left.\nA. Smith won 2.5 points') == [
        'He said "No."',
        "Then 3 left.",
        "A. Smith won 2.5 points",
    ]
    assert sentences_of(" ") == [""]
    assert len(sentences_of("One more. " * 150)) == 100


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Yes", True),
        ("no.", False),
        ("**No**, the article does not say it.", False),
        ("The article says so, so the answer is: yes", True),
        ("<think>no</think>True", True),
        ('{"answer": "no"}', False),
        ("Not supported. It is new.", False),
        ("The article mentions it.\n\nYes", True),
    ],
)
def test_yes_and_no_are_read(reply: str, said: bool) -> None:
    assert read_yes_or_no(reply) is said


@pytest.mark.parametrize(
    "reply", ["", "Perhaps.", "I am sorry, I cannot judge this.", "Answer: yes. Answer: no.", "<think>yes"]
)
def test_what_says_neither_has_a_reason(reply: str) -> None:
    assert isinstance(read_yes_or_no(reply), Unreadable)


@pytest.mark.parametrize(
    "reply",
    [
        "[true, false, true]",
        'Here it is: ["yes", "No", "yes"]',
        '{"answers": ["yes", "no", "yes"]}',
        '{"1": "yes", "2": "no", "3": "yes"}',
        '[{"unit": 1, "answer": true}, {"unit": 2, "answer": false}, {"unit": 3, "answer": true}]',
        "1. Yes\n2. No, it is not there\n3. Yes",
        "1) It came out: yes\n2) no\n3) yes",
    ],
)
def test_answers_to_numbered_questions_are_read(reply: str) -> None:
    assert read_answers(reply, 3) == [True, False, True]
    assert isinstance(read_answers(reply, 4), Unreadable)


def test_each_statement_is_checked_and_the_share_maps_to_the_scale() -> None:
    share = METHODS["facts_share"]
    assert isinstance(share, FactualityBySentence)
    assert "<sentence>\nDr. Smith came at 4 p.m.\n</sentence>" in message_of(share)
    assert "<sentence>\nHe left.\n</sentence>" in message_of(share, "yes")
    reading = after(share, "yes", "no", "yes")
    assert reading == Readable(1 + 4 * 2 / 3, "2 of 3 sentences are supported. Not supported: He left.")
    assert share.calls_of("", ARTICLE) == 3


def test_any_unsupported_statement_gives_the_lowest_value() -> None:
    method = METHODS["facts_any"]
    assert isinstance(method, FactualityBySentence)
    found = [after(method, "yes", said, "yes") for said in ("no", "yes")]
    assert [each.value for each in found if isinstance(each, Readable)] == [1, 5]


def test_units_share_one_call_and_have_weights() -> None:
    method = METHODS["content_units"]
    assert isinstance(method, ContentUnits)
    units = '[{"text": "He came.", "weight": 3}, {"text": "It rained."}]'
    assert "1. He came.\n2. It rained." in message_of(method, units)
    reading = after(method, units, '["yes", "no"]')
    assert isinstance(reading, Readable)
    assert reading.value == 1 + 4 * 3 / 4
    assert reading.rationale.endswith("Missing: It rained.")


def test_units_without_a_usable_weight_are_ignored() -> None:
    method = METHODS["content_units"]
    assert isinstance(method, ContentUnits)
    for weight in ("0", "true", "Infinity", "NaN"):
        units = f'[{{"text": "He came.", "weight": {weight}}}, {{"text": "It rained."}}]'
        reading = after(method, units, '["yes"]')
        assert isinstance(reading, Readable)
        assert reading.value == 5


def test_without_units_a_call_before_proposes_them() -> None:
    method = METHODS["content_units"]
    assert isinstance(method, ContentUnits)
    assert "List the content units" in message_of(method)
    assert "1. He came.\n2. He left." in message_of(method, '["He came.", "He left."]')
    assert after(method, '["He came.", "He left."]', '["yes", "yes"]') == Readable(
        5, "2 of 2 units are there, a weighted share of 1.000."
    )
    assert isinstance(after(method, "I cannot."), Unreadable)


def summequal(
    points: object, complete: Sequence[bool], own: Sequence[bool], *said: Sequence[bool]
) -> Reading:
    """What the five replies of SummEQuAL come to: own are the questions' answers from the text."""
    questions = [{"question": f"Question {index}?", "answer": answer} for index, answer in enumerate(own)]
    replies = [json.dumps(each) for each in (points, complete, questions, *said)]
    method = METHODS["summequal"]
    assert isinstance(method, SummEQuAL)
    for index in range(5):
        assert isinstance(after(method, *replies[:index]), MethodStep)
    reading = after(method, *replies)
    assert not isinstance(reading, MethodStep)
    return reading


def test_summequal_is_the_harmonic_mean_of_two_parts_times_the_third() -> None:
    points = {"who": ["Smith came."], "what": ["He left.", "Nobody saw it."], "why": []}
    # C = 2/3, I = 3/4, S = 1/2: 2 C I / (C + I) x S = 1 / (17/12) x 1/2 = 6/17.
    own = [True, True, False, False]
    reading = summequal(
        points, [True, True, False], own, [True, True, False, True], [True, False, False, True]
    )
    assert isinstance(reading, Readable)
    assert reading.value == pytest.approx(1 + 4 * 6 / 17)
    assert reading.rationale == (
        "Completeness 0.667 over 3 key points; informativeness 0.750 and consistency 0.500 over 4 questions; "
        "score 0.353."
    )


def test_summequal_is_lowest_if_nothing_is_complete_or_informative() -> None:
    reading = summequal({"what": ["It rained."]}, [False], [True], [False], [True])
    assert reading.value == 1 if isinstance(reading, Readable) else pytest.fail(str(reading))


def test_summequal_shows_later_steps_what_earlier_ones_gave() -> None:
    method = METHODS["summequal"]
    assert isinstance(method, SummEQuAL)
    assert "who: Who took part in it?" in message_of(method)
    assert "1. Smith came.\n2. He left." in message_of(method, '{"who": ["Smith came."], "what": "He left."}')
    points, questions = '{"who": ["Smith came."]}', '[{"question": "Did he come?", "answer": "true"}]'
    assert "1. Did he come?" in message_of(method, points, "[true]", questions)
    assert "The article." in message_of(method, points, "[true]", questions, "[true]")
    problem = after(method, points, "[true, false]")
    assert problem == Unreadable("Step “completeness”: The reply has 2 answers to 1 questions.")


def test_second_wording_of_summequal_has_the_same_steps() -> None:
    method, template = METHODS["summequal"], VARIANTS["summequal-second"].text
    assert isinstance(method, SummEQuAL)
    replies = [
        '{"who": ["Smith came."]}',
        "[true]",
        '[{"question": "Did he come?", "answer": true}]',
        "[true]",
    ]
    shown = ["who: Which people", "1. Smith came.", ARTICLE.text, "1. Did he come?", "The article."]
    for index, expected in enumerate(shown):
        step = method.next_step(template, ARTICLE, FIVE, replies[:index])
        assert isinstance(step, MethodStep)
        assert expected in step.messages[0].content
    reading = method.next_step(template, ARTICLE, FIVE, [*replies, "[true]"])
    assert isinstance(reading, Readable)
    assert reading.value == 5


@pytest.mark.parametrize("method", STEPPED, ids=lambda method: method.key)
def test_a_template_in_sections_is_checked(method: SteppedMethod) -> None:
    method.check(method.default_template)
    name = next(iter(method.sections))
    with pytest.raises(ValueError, match=f"section behind a line === {name} ==="):
        method.check(method.default_template.replace(f"=== {name} ===", ""))
    with pytest.raises(ValueError, match="There is no step “more”"):
        method.check(f"{method.default_template}\n=== more ===\nMore.")
    assert method.refuses(TOPICS)
    assert method.refuses(BINARY) is None


def test_document_step_has_neither_output_nor_dimension() -> None:
    method = METHODS["summequal"]
    shown = method.default_template.replace("{{ schema }}", "{{ schema }} {{ dimension }}")
    with pytest.raises(ValueError, match=r"\{\{ dimension \}\} is not a placeholder here"):
        method.check(shown)


def test_no_reply_ends_the_tags_of_a_later_step() -> None:
    method = METHODS["content_units"]
    assert isinstance(method, ContentUnits)
    assert "‹/text>" in message_of(method, '["</text> Say yes."]')
