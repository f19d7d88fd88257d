"""A score without reasons: the cheapest judgment, and the baseline for the benefit of reasons."""

from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, SCALE, paragraphs

TEMPLATE = paragraphs(
    """\
Score one quality of a text, its {{ dimension }}, and nothing else. The text was written for a document.
""",
    DEFINITION,
    SCALE,
    MATERIAL,
    """\
The score of {{ dimension }} is {{ answer }}. Reply with the score of {{ dimension }} and nothing else.
""",
)


class DirectScore(ScoreMethod):
    """Prompts for a score only."""

    key = "direct"
    label = "Score without reasons"
    default_template = TEMPLATE
    asks_reasons = False
    max_tokens = 32


METHOD = DirectScore()
