"""Pairwise with one answer (Gao et al., 2023, fig. 2): the better one of two outputs; there is no tie.

A run judges each pair in both orders, as for head to head.
"""

from annotate.core.translation import gettext_noop
from judges.methods.h2h import OPTIONS, HeadToHead
from judges.methods.wording import DEFINITION, PAIR, paragraphs

TEMPLATE = paragraphs(
    """\
Two texts were written for the same document. Which of them is better in {{ dimension }}?
""",
    DEFINITION,
    PAIR,
    """\
{{ options }}

Reply with the letter of the better text, {{ answer }}, and nothing else. Choose one, also where they are
close.
""",
)


class Pairwise(HeadToHead):
    """Prompts for the better of two outputs: 1 for the first position, 0 for the second."""

    key = "pairwise"
    label = "Pairwise, one answer"
    # Papers use the inherited name for the method with ties.
    paper_name = ""
    default_template = TEMPLATE
    max_tokens = 32
    offered = OPTIONS[:2]
    answer = "A or B"
    says_values = gettext_noop(
        "The value is 1 where the text shown first is better, and 0 where the other is."
    )


METHOD = Pairwise()
