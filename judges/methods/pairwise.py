"""Pairwise with one answer (Gao et al., 2023, fig. 2): the better one of two outputs; there is no tie.

A run judges each pair in both orders, as for head to head.
"""

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods.choosing import Option
from judges.methods.h2h import FIRST, OPTIONS, SECOND, HeadToHead
from judges.methods.reading.forms import Choices
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
    paper_name = ""
    default_template = TEMPLATE
    max_tokens = 32

    def refuses_value(self, value: float, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return the reason if the value is neither 1 nor 0."""
        if value in (0.0, 1.0):
            return None
        return gettext("The value is 1 where the text shown first is better, and 0 where the other is.")

    def options(self, dimension: FrozenDimension) -> tuple[Option, ...]:  # noqa: ARG002
        return OPTIONS[:2]

    def choices(self, dimension: FrozenDimension) -> Choices:
        letters = tuple((option.letter, option.value) for option in self.options(dimension))
        names = (*((name, 1.0) for name in FIRST), *((name, 0.0) for name in SECOND))
        return Choices(letters, names, quality=dimension.name or self.label)

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        return super().own_values(dimension) | {"answer": "A or B"}


METHOD = Pairwise()
