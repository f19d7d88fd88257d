"""Several dimensions in one call: each is read where the reply speaks of it, and nowhere else."""

import json
from dataclasses import replace

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable, Subject, Unreadable
from judges.methods.several import rotate
from tests.judges.methods.dimensions import FIVE, TOPICS

SEVERAL = METHODS["several"]
NAMES = ("Fluency", "Aspect Coverage", "Overall Fluency")
THREE = [
    replace(FIVE, id=index, key=name.lower().replace(" ", "-"), name=name, definition=f"What {name} is.")
    for index, name in enumerate(NAMES)
]

NOTHING = "No score was found."


def values(reply: str, dimensions: list[FrozenDimension] = THREE, **how: str | bool) -> list[float | str]:
    readings = [SEVERAL.read_about(reply, each, dimensions, **how) for each in dimensions]  # type: ignore[arg-type]
    return [each.value if isinstance(each, Readable) else each.reason for each in readings]


def test_prompt_describes_all_dimensions_in_order() -> None:
    template = "{{ dimensions }}\n{{ text }}\n{{ answers }}"
    (message,) = SEVERAL.messages_about(template, Subject((), "A text."), THREE[:2])
    assert message.content == (
        "Fluency: What Fluency is.\nThe scale of Fluency:\n1 = the lower end\n5 = the upper end\n\n"
        "Aspect Coverage: What Aspect Coverage is.\nThe scale of Aspect Coverage:\n1 = the lower end\n"
        "5 = the upper end\nA text.\n"
        "Fluency: a number from 1 to 5\nAspect Coverage: a number from 1 to 5"
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Fluency: 4\nAspect Coverage: 2\nOverall Fluency: 5",
        "Overall Fluency: 5\nFluency: 4\nAspect coverage: 2",
        "1. **Fluency:** 4/5\n2. **Aspect Coverage**: 2/5\n3. __Overall Fluency__ = 5",
        "Fluency: 4, Aspect Coverage: 2; Overall Fluency: 5",
        "| Quality | Score |\n|---|---|\n| Fluency | 4 |\n| Aspect Coverage | 2 |\n| Overall Fluency | 5 |",
        "- Fluency (1-5): 4 - it reads well\n- Aspect Coverage (1-5): 2 - much is missing\n"
        "- Overall Fluency - 5",
        "Fluency: It reads well.\nScore: 4\n\nAspect Coverage: It misses 3 of 4.\nScore: 2\n\n"
        "Overall Fluency: I would give it a 5.",
        "Fluency: It reads well, with one slip.\nAspect Coverage: Prices are missing.\n\n"
        "Fluency: 4\nAspect Coverage: 2\nOverall Fluency: 5",
        "<think>Fluency: 1</think>Fluency: 4\nAspect Coverage: 2\nOverall Fluency: 5",
        '{"Fluency": 4, "Aspect Coverage": "2", "overall-fluency": 5}',
        '```json\n{"scores": {"fluency": 4, "aspect_coverage": 2, "overall_fluency_score": 5}}\n```',
        '{"fluency": {"score": 4, "reason": "Well."}, "aspect-coverage": {"rating": 2}, '
        '"overall-fluency": {"score": 5}}',
        '[{"dimension": "Fluency", "score": 4}, {"dimension": "Aspect Coverage", "score": 2},'
        ' {"dimension": "Overall Fluency", "score": 5}]',
    ],
)
def test_each_dimension_is_read_in_every_form(reply: str) -> None:
    assert values(reply) == [4, 2, 5]


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (
            "Fluency: 4\nOverall Fluency: 9",
            [
                4,
                "The reply gives no score of Aspect Coverage.",
                "The score 9 is outside the scale from 1 to 5.",
            ],
        ),
        (
            "Fluency: 4\nAspect Coverage: 3\nFluency: 5\nOverall Fluency: n/a",
            ["Two different scores were found.", 3, "No score was found."],
        ),
        ("4, 3 and 5", [f"The reply gives no score of {name}." for name in NAMES]),
        ("", ["The reply is empty."] * 3),
    ],
)
def test_what_lacks_one_score_gives_the_others(reply: str, read: list[float | str]) -> None:
    assert values(reply) == read


OFF_THE_SCALE = "The score 9 is outside the scale from 1 to 5."


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Style: N/A\n\nOverall score: 3", NOTHING),
        ("Style: N/A\nGrammar: 3", NOTHING),
        ("**Style:** n/a - too short\n\nIn sum, I give it a 3.", NOTHING),
        ("Style:\n**Not applicable**\n\nIn sum, I give it a 3.", NOTHING),
        ("Style: cannot be judged.\n\nI give it a 3.", NOTHING),
        ("Style: -\n\nI give it a 3.", NOTHING),
        ("Style:\n\n**Overall score** (1-5): 3", NOTHING),
        ("Style: It varies.\n- Overall quality of the whole text: 3", NOTHING),
        ("| Style | uneven |\n| Grammar | 3 |", NOTHING),
        ("Style: 9\n\nOverall score: 3", OFF_THE_SCALE),
        ("Style: **9** (very good)\n\nI give it a 3.", OFF_THE_SCALE),
        ("Style: It varies.\nReason: Long sentences.\nScore: 3\n\nOverall score: 5", 3),
        ("Style: It varies.\nStyle score: 3\nGrammar: 5", 3),
        ("Style: It varies.\nBewertung: 3", 3),
        ("Style: 3 of 4 paragraphs are even.\nThe text has one slip: a comma.\n**Rating:** 2", 2),
        ("**Style:**\n4\n\nOverall score: 3", 4),
        # The same within a line.
        ("Style: N/A, Overall: 3", NOTHING),
        ("Style: N/A. **Overall quality:** 3/5", NOTHING),
        ("Style: N/A (Overall: 3)", NOTHING),
        ("Style: N/A - I give it a 3.", NOTHING),
        ("Style: uneven; Grammar: 3", NOTHING),
        ("Style: uneven | Grammar = 3 | Length = 5", NOTHING),
        ("Style: 4, Overall: 3", 4),
        ("Style: It varies, for example: 3 sentences are long. Score: 2", 2),
        ("Style: It varies, so I say: 3", 3),
        ("Style: 3 slips - commas: 2, spelling: 1. Score: 4", 4),
        ("Style: It varies. Rating: 3, Overall: 5", 3),
    ],
)
def test_lines_below_count_where_the_first_leaves_the_score_open(reply: str, read: float | str) -> None:
    style = replace(FIVE, id=9, key="style", name="Style")
    assert values(f"Fluency: 4\n{reply}", [THREE[0], style]) == [4, read]


@pytest.mark.parametrize(
    "reply",
    [
        "**Fluency:**\n4\n**Aspect Coverage:**\n2\n**Overall Fluency:**\n5",
        "Fluency:\n4\n\n2. Aspect Coverage:\n2\n\n- **3) Overall Fluency**:\n5",
        "Fluency:\n4.\nAspect Coverage:\n2.\nOverall Fluency:\n5.",
        "### 1. Fluency:\n4\n### 2. Aspect Coverage:\n2\n### 3. Overall Fluency:\n5",
    ],
)
def test_score_on_a_separate_line_belongs_to_the_label_above(reply: str) -> None:
    assert values(reply) == [4, 2, 5]


def test_a_key_that_is_another_dimensions_name_means_the_other() -> None:
    renamed = replace(FIVE, id=1, key="coherence", name="Text coherence")
    named = replace(FIVE, id=2, key="coherence-2", name="Coherence")
    lacking = "The reply gives no score of Text coherence."
    assert values('{"Coherence": 2}', [renamed, named]) == [lacking, 2]
    assert values('{"Coherence": 2, "Text coherence": 4}', [renamed, named]) == [4, 2]
    assert values('{"coherence": 2}', [renamed]) == [2]


def test_a_pattern_is_not_applied_to_json_of_a_shape() -> None:
    reply = json.dumps({"fluency": 4, "aspect-coverage": 2, "overall-fluency": 5})
    assert values(reply, pattern=r"so g(\d)h", structured=True) == [4, 2, 5]


def test_structured_replies_are_read_by_key_only() -> None:
    schema = SEVERAL.schema_about(THREE)
    assert schema["required"] == ["fluency", "aspect-coverage", "overall-fluency"]
    reply = json.dumps({"fluency": 4, "aspect-coverage": 2})
    lacking = "The reply has no JSON object with a score of Overall Fluency."
    assert values(reply, structured=True) == [4, 2, lacking]
    assert isinstance(SEVERAL.read_about("Fluency: 4", THREE[0], THREE, structured=True), Unreadable)


def test_pattern_matches_within_the_section_of_the_dimension() -> None:
    reply = "Fluency: so g4h\nAspect Coverage: so g2h\nOverall Fluency: no"
    assert values(reply, pattern=r"g(\d)h") == [4, 2, "The prompt's pattern does not match."]


def test_categories_appear_with_scores() -> None:
    assert values("Fluency: 4\nTopic: Politics abroad", [THREE[0], TOPICS]) == [4, 2]


def test_a_reply_of_blanks_is_read_at_once() -> None:
    assert values("\n" * 100_000 + "Fluency: 4\nAspect Coverage: 2\nOverall Fluency: 5") == [4, 2, 5]


def test_items_start_with_each_dimension_about_equally_often() -> None:
    firsts = [rotate(THREE, item)[0].name for item in range(3000)]
    assert all(900 < firsts.count(name) < 1100 for name in NAMES)
    assert {tuple(each.name for each in rotate(THREE, item)) for item in range(50)} == {
        NAMES,
        (NAMES[1], NAMES[2], NAMES[0]),
        (NAMES[2], NAMES[0], NAMES[1]),
    }
