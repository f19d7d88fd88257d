from types import MappingProxyType

from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, SCALE, paragraphs

TEMPLATE = paragraphs(
    """\
Rate one quality of a text, its {{ dimension }}, and nothing else. The text was written for a document.
""",
    DEFINITION,
    SCALE,
    MATERIAL,
    """\
Give the rating of {{ dimension }} first, {{ answer }}. Then explain it in a few sentences. Keep to this form:
Rating: (the rating)
Explanation: (why)
""",
)


class RateThenExplain(ScoreMethod):
    """Prompts for a score, then reasons."""

    key = "rate_explain"
    label = "Rate, then explain"
    default_template = TEMPLATE
    answer_form = "Rating: {answer}"
    # A structured reply keeps the prompt's order, because a score after reasons would be another method.
    reasons_follow = True
    usual_settings = MappingProxyType({"samples": 20, "temperature": 1.0})


METHOD = RateThenExplain()
