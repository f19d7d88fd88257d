"""Head to head (H2H; Shen et al., 2023): the better one of two outputs, or a tie."""

from typing import ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext, gettext_noop
from judges.methods import scales
from judges.methods.choosing import ChoiceMethod, Option
from judges.methods.reading.forms import Choices
from judges.methods.wording import DEFINITION, PAIR, paragraphs

TEMPLATE = paragraphs(
    """\
Compare two texts by one quality, their {{ dimension }}, and nothing else. Both were written for a document.
""",
    DEFINITION,
    PAIR,
    """\
Which text is better in {{ dimension }}? The order in which they are shown means nothing.
{{ options }}

State the letter of your choice for {{ dimension }}, {{ answer }}, first. A short reason may follow it.
""",
)

OPTIONS = (
    Option("A", 1.0, "Text 1 is better."),
    Option("B", 0.0, "Text 2 is better."),
    Option("C", 0.5, "It is a tie: both are equally good."),
)
# Models often answer with a position or a word instead of the letter.
FIRST = ("1", "one", "first", "the first", "first one", "the first one")
SECOND = ("2", "two", "second", "the second", "second one", "the second one")
TIE = ("tie", "a tie", "tied", "draw", "a draw", "equal", "both", "neither")
NAMES = (
    *((name, 1.0) for name in FIRST),
    *((name, 0.0) for name in SECOND),
    *((name, 0.5) for name in TIE),
)


class HeadToHead(ChoiceMethod):
    """Prompts for the better of two outputs: 1 for the first position, 0 for the second, 0.5 for a tie."""

    key = "h2h"
    label = "Head to head"
    paper_name = "H2H"
    default_template = TEMPLATE
    required = frozenset({"text_1", "text_2"})
    asks_pairs = True
    offered: ClassVar[tuple[Option, ...]] = OPTIONS
    answer = "A, B or C"
    says_values = gettext_noop(
        "The value is 1 where the text shown first is better, 0 where the other is, 0.5 for a tie."
    )

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if the dimension is categorical, because categories have no order."""
        if scales.is_named(dimension):
            return gettext(
                "{dimension} has named categories, and none is better than another; texts cannot win."
            ).format(dimension=dimension.name)
        return None

    def refuses_value(self, value: float, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return the reason if the value is that of no option."""
        if value in {option.value for option in self.offered}:
            return None
        return gettext(self.says_values)

    def options(self, dimension: FrozenDimension) -> tuple[Option, ...]:  # noqa: ARG002
        return self.offered

    def choices(self, dimension: FrozenDimension) -> Choices:
        letters = {option.letter: option.value for option in self.offered}
        # A method without a tie reads no word for one.
        names = tuple((name, value) for name, value in NAMES if value in letters.values())
        return Choices(tuple(letters.items()), names, quality=dimension.name or self.label)

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        return super().own_values(dimension) | {"answer": self.answer}


METHOD = HeadToHead()
