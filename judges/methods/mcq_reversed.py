"""Multiple choice with A for the highest point, for measuring the effect of option order."""

from annotate.core.guideline import FrozenDimension
from judges.methods.choosing import Option
from judges.methods.mcq import MultipleChoice


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


METHOD = ReversedChoice()
