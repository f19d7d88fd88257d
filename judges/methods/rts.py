from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, SCALE, paragraphs

TEMPLATE = paragraphs(
    """\
Judge one quality of a text, its {{ dimension }}, and nothing else. The text was written for a document.
""",
    DEFINITION,
    SCALE,
    MATERIAL,
    """\
First give the reasons for your judgment of {{ dimension }} in one or two sentences. Then state the score of
{{ dimension }}, {{ answer }}, on a last line of this form:
Score: (the score)
""",
)


class ReasonThenScore(ScoreMethod):
    """Prompts for reasons, followed by a score."""

    key = "rts"
    label = "Reason, then score"
    paper_name = "RTS"
    default_template = TEMPLATE
    max_tokens = 128  # as in the release


METHOD = ReasonThenScore()
