"""G-Eval (Liu et al., 2023): a form to complete after given steps, parsed from the reply or from
probabilities.

The reply starts with the score, so that its first token has the probabilities of the scores.
"""

from types import MappingProxyType

from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, SCALE, paragraphs

TEMPLATE = paragraphs(
    """\
You evaluate one text that was written for a document, by one criterion: {{ dimension }}, {{ answer }}.
""",
    DEFINITION,
    SCALE,
    """\
Evaluation steps:
1. Read the document and note what matters in it for {{ dimension }}.
2. Read the text and hold it against the definition of {{ dimension }}.
3. Compare what you found with the scale of {{ dimension }} and decide on one point of it.
""",
    MATERIAL,
    """\
Evaluation form. Fill in the score and write nothing else.
- {{ dimension }}:
""",
)


class GEval(ScoreMethod):
    """Prompts for a score after evaluation steps."""

    key = "g_eval"
    label = "G-Eval"
    default_template = TEMPLATE
    answer_form = "- {dimension}: {answer}"
    asks_reasons = False
    max_tokens = 32
    # Where the server gives no probabilities, of which one sample is enough.
    usual_settings = MappingProxyType({"samples": 20, "temperature": 1.0})


METHOD = GEval()
