"""OP (Siledar et al., 2024, app. C.2): a separate prompt for each dimension.

The criteria are the project's descriptions of the dimension's points. The steps come from `STEPS` if the
dimension's name is known, else they are general. A version of the prompt can give each dimension its own
wording.
"""

from collections.abc import Mapping
from types import MappingProxyType

from annotate.core.guideline import FrozenDimension
from judges.methods.scoring import ScoreMethod
from judges.methods.wording import MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Task:
A text was written for a document. Judge the {{ dimension }} of the text, and nothing else about it.

Evaluation criteria:
Give one score in <score> tags by these points:
{{ points }}

Metric:
{{ dimension }}: {{ definition }}
{{ guidelines }}
""",
    MATERIAL,
    """\
Evaluation steps:
{{ steps }}

Form of the answer: first what you found at each step, the score of {{ dimension }} last, {{ answer }}, in
tags, like this:
Score- <score>(the score)</score>
""",
)

GENERAL = (
    "Note what the definition of {name} asks you to look at.",
    "Find what the document has of it.",
    "Find what the text has of it.",
    "Name what of it speaks for the text, and what against it.",
    "Compare what you found with the points above, from the lowest to the highest.",
    "Give the score of the point that fits best.",
)
_OF_FACTS = (
    "Divide the text into single statements.",
    "Look for the passage of the document that supports each statement.",
    "List statements without support, and those that go beyond their passage.",
    "Weigh how much these matter to a reader.",
    "Compare this with the points above.",
    "Give the score of the point that fits best.",
)
STEPS: Mapping[str, tuple[str, ...]] = {
    "fluency": (
        "Read the text sentence by sentence, without the document.",
        "List errors of grammar, spelling, punctuation and capitals.",
        "List sentences that are cut off, repeat themselves or are hard to read.",
        "Weigh how much these errors slow a reader down.",
        "Compare this with the points above.",
        "Give the score of the point that fits best.",
    ),
    "coherence": (
        "Name what the text is about as a whole.",
        "Note for each sentence how it follows from the one before.",
        "List jumps, repetitions, and words that point to nothing.",
        "Decide whether the text begins, develops and ends as one text.",
        "Compare this with the points above.",
        "Give the score of the point that fits best.",
    ),
    "relevance": (
        "List what matters most in the document.",
        "List what the text says.",
        "Mark what the text says that matters, and what it could leave out.",
        "Mark what it says twice.",
        "Compare this with the points above.",
        "Give the score of the point that fits best.",
    ),
    "faithfulness": _OF_FACTS,
    "consistency": _OF_FACTS,
    "aspect coverage": (
        "List the aspects that the document discusses, the most discussed first.",
        "List the aspects that the text mentions.",
        "List the aspects that both have in common.",
        "Count the aspects of the first list and of the third.",
        "Compare the two counts with the points above.",
        "Give the score of the point that fits best.",
    ),
    "sentiment consistency": (
        "List the aspects that the text mentions, with its opinion of each.",
        "Note the opinion of the document as a whole on each of these aspects.",
        "List aspects of which the opinions differ in direction.",
        "List aspects of which they differ in strength only.",
        "Compare this with the points above.",
        "Give the score of the point that fits best.",
    ),
    "specificity": (
        "List the opinions in the text.",
        "Mark each opinion that would fit nearly any other subject as well.",
        "Mark each opinion that says what exactly, and why.",
        "Count both.",
        "Compare the two counts with the points above.",
        "Give the score of the point that fits best.",
    ),
}


class PromptForEach(ScoreMethod):
    """Prompts for a score by criteria and steps written for the dimension."""

    key = "op"
    label = "OP: a prompt for each dimension"
    default_template = TEMPLATE
    answer_form = "Score- <score>{answer}</score>"
    own_placeholders = frozenset({"steps"})
    max_tokens = 600
    usual_settings = MappingProxyType({"samples": 100, "temperature": 0.7})

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        """Return the steps for a dimension by its name, one on a line."""
        steps = STEPS.get(dimension.name.strip().casefold(), GENERAL)
        named = (step.format(name=dimension.name) for step in steps)
        return {"steps": "\n".join(f"{number}. {step}" for number, step in enumerate(named, 1))}


METHOD = PromptForEach()
