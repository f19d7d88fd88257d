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
Analyse the text by the definition and the scale of {{ dimension }} first: what in it speaks for a high
rating, what for a low one. Then give the rating of {{ dimension }}, {{ answer }}. Keep to this form:
Analysis: (what you found)
Rating: (the rating)
""",
)


class AnalyseThenRate(ScoreMethod):
    """Prompts for an analysis, followed by a score."""

    key = "analyse_rate"
    label = "Analyse, then rate"
    default_template = TEMPLATE
    answer_form = "Rating: {answer}"
    max_tokens = 400
    # The paper behind this method averages 20 replies at temperature 1.
    usual_settings = MappingProxyType({"samples": 20, "temperature": 1.0})


METHOD = AnalyseThenRate()
