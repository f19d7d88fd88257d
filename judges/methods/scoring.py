"""Base of the methods that prompt for a score on the dimension's own scale."""

from collections.abc import Mapping
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from judges.methods import scales
from judges.methods.base import Method
from judges.methods.reading import Reading
from judges.methods.reading.forms import score_forms
from judges.methods.reading.reader import position, read
from judges.methods.scales import write_modifiers_as_numbers

MOST_LISTED = 101


class ScoreMethod(Method):
    """Prompts for a number, or for the name of a category, with or without reasons."""

    asks_reasons: ClassVar[bool] = True
    reasons_follow: ClassVar[bool] = False  # the score rather than leading to it
    takes_modifiers: ClassVar[bool] = True

    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        # The forms read numbers only, so “weak 4” becomes one first.
        return read(_replace_number_words(reply, dimension), score_forms(dimension))

    def follow_up(self, dimension: FrozenDimension) -> str:
        return f"State only the score of {dimension.name}: {scales.answer(dimension)}."

    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        return read(_replace_number_words(reply, dimension), score_forms(dimension), structured=True)

    def answer_position(self, reply: str, dimension: FrozenDimension) -> int | None:
        return position(reply, score_forms(dimension))

    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        score, reason = {"score": score_schema(dimension)}, {"reason": {"type": "string"}}
        # A model writes the fields in this order, so reasons before the score can influence it.
        if self.reasons_follow:
            return object_of(score | reason)
        return object_of(reason | score if self.asks_reasons else score)

    def candidates(self, dimension: FrozenDimension) -> Mapping[str, float]:
        return {scales.name_of(dimension, value): float(value) for value in dimension.whole_values}


def _replace_number_words(reply: str, dimension: FrozenDimension) -> str:
    return write_modifiers_as_numbers(reply) if scales.takes_modifiers(dimension) else reply


def score_schema(dimension: FrozenDimension) -> dict[str, Any]:
    if scales.is_named(dimension):
        return {
            "type": "string",
            "enum": [scales.name_of(dimension, value) for value in dimension.whole_values],
        }
    if scales.takes_modifiers(dimension):
        words = [f"{word}{value}" for value in dimension.whole_values for word in ("weak ", "", "strong ")]
        # With thirds there is no "weak" lowest and no "strong" highest score.
        return {"type": "string", "enum": words[1:-1] if scales.takes_thirds(dimension) else words}
    if scales.takes_thirds(dimension):
        thirds = (value + third for value in dimension.whole_values for third in (0, 0.33, 0.67))
        return {"type": "number", "enum": [each for each in thirds if each <= dimension.scale_maximum]}
    if len(dimension.whole_values) <= MOST_LISTED:
        return {"type": "integer", "enum": list(dimension.whole_values)}
    return {"type": "integer", "minimum": dimension.scale_minimum, "maximum": dimension.scale_maximum}


def object_of(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with all of these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
