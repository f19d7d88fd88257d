"""The recipe of Stureborg et al. (2024, tables 2 and 6, fig. 8): 1 to 10, score first, no reasoning.

The system message has role, one quality by name, scale and definition. The user's message has document and
output, and ends with an empty form. A judge by the recipe has its own scale, temperature 0, and one dimension
per call; the reply is cut off after its first number.
"""

from types import MappingProxyType

from annotate.core.guideline import FrozenDimension
from judges.methods.scoring import ScoreMethod
from judges.methods.wording import MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
You are an expert who rates texts that were written for a document. You rate one quality only:
{{ dimension }}. A rating is {{ answer }}, where {{ minimum }} is the worst and {{ maximum }} the best.
""",
    """\
{{ dimension }}: {{ definition }}
{{ guidelines }}

Be critical and careful: read the document and the text in full before you rate.
{{ end_of_system_message }}
""",
    MATERIAL,
    """\
Fill in the rating first.
{{ dimension }}:
""",
)


class Recipe(ScoreMethod):
    """Prompts for a number on a fine scale only."""

    key = "recipe"
    label = "The recipe: 1 to 10, score first"
    default_template = TEMPLATE
    answer_form = "{dimension}: {answer}"
    own_placeholders = frozenset({"aspects"})
    asks_reasons = False
    max_tokens = 20
    usual_settings = MappingProxyType({"temperature": 0.0, "scale_minimum": 1, "scale_maximum": 10})

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        """Return the guidelines as aspects to consider, empty without any."""
        guidelines = dimension.guidelines.strip()
        return {"aspects": f"Aspects to consider:\n{guidelines}" if guidelines else ""}


METHOD = Recipe()
