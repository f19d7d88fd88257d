"""SummEQuAL (Liu, Shi and Lipani, 2023): questions about an output, its document and key points.

Five calls: (1) key points of the document by a schema of slots and questions, once for all outputs of a
document; (2) presence of each key point in the output: completeness C; (3) boolean questions with answers
from the output; (4) the same questions answered from the key points: informativeness I, the share of equal
answers; (5) the same questions answered from the document: consistency S. The score is 2 C I / (C + I) x S
(equations 1 to 4), 0 if C and I are 0. It is between 0 and 1 and mapped to the dimension's scale.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods.base import Subject
from judges.methods.reading import Readable, Reading, Unreadable
from judges.methods.reading.plain import json_list, json_value
from judges.methods.reading.reader import read_answers
from judges.methods.scoring import object_of
from judges.methods.steps import MethodStep, SteppedMethod, on_scale, sections_of
from judges.methods.wording import RULE

TEMPLATE = f"""\
=== schema ===
when: When did it happen?
where: Where did it happen?
who: Who took part in it?
what: What happened?
why: Why did it happen?
result: What came of it?

=== key points ===
List the key points of a document by the questions of this schema:
{{{{ schema }}}}

{RULE}
<document>
{{{{ document }}}}
</document>

A key point is one short statement that the document makes. A question may have several, or none if the
document does not answer it. Reply with a JSON object and nothing else: a field for each slot of the schema,
with a list of its key points.

=== completeness ===
Which of these key points does a text mention, in whatever words?
{{{{ key_points }}}}

{RULE}
<text>
{{{{ text }}}}
</text>

Reply with a JSON list of {{{{ count }}}} times true or false, one for each key point in their order, and
nothing else.

=== questions ===
Write questions about what a text states, each of which can be answered with true or false from the text
alone. Cover every statement of it, and let about half of the answers be false.

{RULE}
<text>
{{{{ text }}}}
</text>

Reply with a JSON list and nothing else, of objects like {{"question": "...", "answer": true}}.

=== informativeness ===
Answer each question from these key points alone; what they do not say is false.
{{{{ key_points }}}}

The questions:
{{{{ questions }}}}

Reply with a JSON list of {{{{ count }}}} times true or false, one for each question in their order, and
nothing else.

=== consistency ===
Answer each question from a document alone; what it does not say is false.

{RULE}
<document>
{{{{ document }}}}
</document>

The questions:
{{{{ questions }}}}

Reply with a JSON list of {{{{ count }}}} times true or false, one for each question in their order, and
nothing else.
"""
MOST_POINTS = 60
ANSWERS = object_of({"answers": {"type": "array", "items": {"type": "boolean"}}})
QUESTION = object_of({"question": {"type": "string"}, "answer": {"type": "boolean"}})
STEPS = ("key points", "completeness", "questions", "informativeness", "consistency")
SHAPES = dict.fromkeys(("completeness", "informativeness", "consistency"), ANSWERS) | {
    "questions": object_of({"questions": {"type": "array", "items": QUESTION}})
}


class SummEQuAL(SteppedMethod):
    """Prompts for key points, their presence in the output, and the same questions on output, points and
    document.
    """

    key = "summequal"
    label = "SummEQuAL: by questions and key points"
    default_template = TEMPLATE
    required = frozenset({"text", "document"})
    sections: ClassVar[Mapping[str, frozenset[str]]] = {
        "schema": frozenset(),
        "key points": frozenset({"document", "schema"}),
        "completeness": frozenset({"text", "key_points"}),
        "questions": frozenset({"text"}),
        "informativeness": frozenset({"key_points", "questions"}),
        "consistency": frozenset({"document", "questions"}),
    }
    of_steps = frozenset({"schema", "key_points", "questions", "count"})
    document_section = "key points"
    max_tokens = 1500

    def calls_of(self, template: str, subject: Subject) -> int:  # noqa: ARG002
        return len(STEPS)

    def next_step(
        self, template: str, subject: Subject, dimension: FrozenDimension, replies: Sequence[str]
    ) -> MethodStep | Reading:
        points: list[str] = []
        questions: list[tuple[str, bool]] = []
        shares: list[float] = []  # completeness, informativeness, consistency
        # Every call plans from the stored replies, so they are read in order each time.
        for name, reply in zip(STEPS, replies, strict=False):
            if name == "key points":
                points, problem = _key_points(reply)
            elif name == "questions":
                questions, problem = _questions(reply)
            else:
                # A key point counts if the text mentions it, a question if both answers are equal.
                expected = [True] * len(points) if name == "completeness" else [own for _, own in questions]
                share, problem = _share_of_equal(expected, reply)
                shares.append(share)
            if problem:
                return Unreadable(f"Step “{name}”: {problem}")
        if len(replies) == len(STEPS):
            completeness, informativeness, consistency = shares
            both = completeness + informativeness
            score = 2 * completeness * informativeness / both * consistency if both else 0.0  # equation 4
            words = (
                f"Completeness {completeness:.3f} over {len(points)} key points; informativeness "
                f"{informativeness:.3f} and consistency {consistency:.3f} over {len(questions)} questions; "
                f"score {score:.3f}."
            )
            return Readable(on_scale(score, dimension), words)
        name = STEPS[len(replies)]
        filled = {
            "schema": sections_of(template)["schema"].strip(),
            "key_points": "\n".join(f"{number}. {point}" for number, point in enumerate(points, 1)),
            "questions": "\n".join(f"{number}. {asked}" for number, (asked, _) in enumerate(questions, 1)),
            "count": str(len(points if name == "completeness" else questions)),
        }
        return self.step(name, template, subject, dimension, filled, SHAPES.get(name))


def _key_points(reply: str) -> tuple[list[str], str]:
    """Return the key points of all slots in order, and the problem, empty if there is none."""
    found = json_value(reply)
    if not isinstance(found, dict):
        return [], gettext("The reply has no JSON object of key points.")
    # A slot has a list of key points, or one of them without a list.
    flat = [each for slot in found.values() for each in (slot if isinstance(slot, list) else [slot])]
    points = [each.strip() for each in flat if isinstance(each, str) and each.strip()]
    return points[:MOST_POINTS], "" if points else gettext("The reply names no key point.")


def _questions(reply: str) -> tuple[list[tuple[str, bool]], str]:
    pairs = [_question(each) for each in json_list(reply)]
    questions = [each for each in pairs if each is not None][:MOST_POINTS]
    return questions, "" if questions else gettext("The reply has no JSON list of questions with answers.")


def _question(said: Any) -> tuple[str, bool] | None:
    if not isinstance(said, dict) or not isinstance(said.get("question"), str):
        return None
    # The answer is read as a list of one, so all spellings of true and false count.
    answer = read_answers(f'["{said.get("answer")}"]', 1)
    return None if isinstance(answer, Unreadable) else (said["question"].strip(), answer[0])


def _share_of_equal(expected: Sequence[bool], reply: str) -> tuple[float, str]:
    said = read_answers(reply, len(expected))
    if isinstance(said, Unreadable):
        return 0.0, said.reason
    # The list has an element: a step without points or questions ends the judgment earlier.
    return sum(answer == own for answer, own in zip(said, expected, strict=True)) / len(said), ""


METHOD = SummEQuAL()
