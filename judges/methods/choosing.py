"""Base of the methods that prompt for a letter."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from judges.methods.base import Method
from judges.methods.probabilities import weighted_mean_of_first
from judges.methods.reading import Reading
from judges.methods.reading.forms import Choices, choice_forms
from judges.methods.reading.reader import position, read
from judges.methods.scoring import object_of


@dataclass(frozen=True)
class Option:
    """One letter that can be chosen, with its value and its description."""

    letter: str
    value: float
    text: str


class ChoiceMethod(Method):
    """Prompts for one of a few lettered options."""

    own_placeholders = frozenset({"options"})
    max_tokens: ClassVar[int] = 128

    @abstractmethod
    def options(self, dimension: FrozenDimension) -> tuple[Option, ...]:
        """Return the options in the order of the prompt."""

    @abstractmethod
    def choices(self, dimension: FrozenDimension) -> Choices:
        """Return the names that a reply may use for the options."""

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        return {"options": "\n".join(f"{option.letter}: {option.text}" for option in self.options(dimension))}

    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        return read(reply, choice_forms(self.choices(dimension)))

    def show_answer(self, value: int, dimension: FrozenDimension) -> str:
        return f"Answer: {next(each.letter for each in self.options(dimension) if each.value == value)}"

    def follow_up(self, dimension: FrozenDimension) -> str:
        letters = [option.letter for option in self.options(dimension)]
        return f"State only the letter of your choice, from {letters[0]} to {letters[-1]}."

    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        return read(reply, choice_forms(self.choices(dimension)), structured=True)

    def answer_position(self, reply: str, dimension: FrozenDimension) -> int | None:
        return position(reply, choice_forms(self.choices(dimension)))

    def weighted_score_of_first(
        self, tokens: Iterable[Mapping[str, float]], dimension: FrozenDimension
    ) -> Reading | None:
        """Return the mean of the options at the first token of the reply that carries any of them."""
        return weighted_mean_of_first(tokens, self.candidates(dimension))

    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        """Return an object of a reason and a choice."""
        letters = [option.letter for option in self.options(dimension)]
        return object_of({"reason": {"type": "string"}, "choice": {"type": "string", "enum": letters}})

    def candidates(self, dimension: FrozenDimension) -> Mapping[str, float]:
        return {option.letter: option.value for option in self.options(dimension)}
