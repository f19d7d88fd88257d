"""Multiple choice (MCQ; Shen et al., 2023): the points of the scale as options, from its lowest point up."""

from string import ascii_uppercase

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.choosing import ChoiceMethod, Option
from judges.methods.reading.forms import Choices
from judges.methods.template import placeholders
from judges.methods.wording import DEFINITION, MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Choose the option that describes one quality of a text best: its {{ dimension }}, and nothing else. The text
was written for a document.
""",
    DEFINITION,
    MATERIAL,
    """\
Which option describes the {{ dimension }} of the text best?
{{ options }}

State the letter of your choice for {{ dimension }}, {{ answer }}, first. A short reason may follow it.
""",
)


class MultipleChoice(ChoiceMethod):
    """Prompts for the option with the matching description."""

    key = "mcq"
    label = "Multiple choice"
    paper_name = "MCQ"
    default_template = TEMPLATE
    own_placeholders = frozenset({"options", "scored_options"})

    def check(self, template: str) -> None:
        super().check(template)
        if not placeholders(template) & self.own_placeholders:
            raise ValueError("The template needs the placeholder {{ options }} or {{ scored_options }}.")

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if a scale has more points than there are letters."""
        if (points := len(dimension.whole_values)) > len(ascii_uppercase):
            return gettext(
                "The scale of {dimension} has {points} points, and multiple choice has {letters} letters; "
                "use a method that asks for a score."
            ).format(dimension=dimension.name, points=points, letters=len(ascii_uppercase))
        return None

    def options(self, dimension: FrozenDimension) -> tuple[Option, ...]:
        """Return a letter for each point of the scale, A for the lowest."""
        return tuple(
            Option(
                letter,
                float(value),
                scales.meaning(dimension, value) or f"{value} on the scale {scales.extent(dimension)}",
            )
            # A scale with more points than letters is rejected before, so no point lacks a letter.
            for letter, value in zip(ascii_uppercase, dimension.whole_values, strict=False)
        )

    def choices(self, dimension: FrozenDimension) -> Choices:
        letters = {option.letter: option.value for option in self.options(dimension)}
        labels = {label: float(value) for label, value in scales.names(dimension).items()}
        return Choices(tuple(letters.items()), tuple(labels.items()))

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        """Return the options, also with their scores, and their first and last letter."""
        options = self.options(dimension)
        return super().own_values(dimension) | {
            "answer": f"from {options[0].letter} to {options[-1].letter}",
            "scored_options": "\n".join(_format_option(dimension, option) for option in options),
        }


def _format_option(dimension: FrozenDimension, option: Option) -> str:
    """Return 'D: Well ordered. Score: Four.', as in the paper."""
    described = scales.meaning(dimension, int(option.value)).rstrip(".")
    score = f"Score: {scales.in_words(int(option.value)).capitalize()}."
    return f"{option.letter}: {described}. {score}" if described else f"{option.letter}: {score}"


class ReversedChoice(MultipleChoice):
    """Prompts for the option with the matching description, the highest point first."""

    key = "mcq_reversed"
    label = "Multiple choice, options reversed"

    def options(self, dimension: FrozenDimension) -> tuple[Option, ...]:
        """Return a letter for each point of the scale, A for the highest."""
        forward = super().options(dimension)
        return tuple(
            Option(slot.letter, option.value, option.text)
            for slot, option in zip(forward, reversed(forward), strict=True)
        )


METHOD = MultipleChoice()
REVERSED = ReversedChoice()
