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

# The score that a reply states on a dimension.


def read_score(reply: str, dimension: FrozenDimension) -> Reading:
    """Return the score that a reply states, and its reasons."""
    return read(_replace_number_words(reply, dimension), score_forms(dimension))


def read_json_score(reply: str, dimension: FrozenDimension) -> Reading:
    return read(_replace_number_words(reply, dimension), score_forms(dimension), structured=True)


def _replace_number_words(reply: str, dimension: FrozenDimension) -> str:
    return write_modifiers_as_numbers(reply) if scales.takes_modifiers(dimension) else reply


def score_position(reply: str, dimension: FrozenDimension) -> int | None:
    return position(reply, score_forms(dimension))


MOST_LISTED = 101


class ScoreMethod(Method):
    """Prompts for a number, or for the name of a category, with or without reasons."""

    asks_reasons: ClassVar[bool] = True
    reasons_follow: ClassVar[bool] = False  # the score rather than leading to it
    takes_modifiers: ClassVar[bool] = True

    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        return read_score(reply, dimension)

    def follow_up(self, dimension: FrozenDimension) -> str:
        return ask_for_score(dimension)

    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        return read_json_score(reply, dimension)

    def answer_position(self, reply: str, dimension: FrozenDimension) -> int | None:
        return score_position(reply, dimension)

    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        if self.reasons_follow:
            return object_of({"score": score_schema(dimension), "reason": {"type": "string"}})
        return object_schema("score", score_schema(dimension), with_reason=self.asks_reasons)

    def candidates(self, dimension: FrozenDimension) -> Mapping[str, float]:
        return {scales.name_of(dimension, value): float(value) for value in dimension.whole_values}


def ask_for_score(dimension: FrozenDimension) -> str:
    return f"State only the score of {dimension.name}: {scales.answer(dimension)}."


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


def object_schema(name: str, schema: dict[str, Any], *, with_reason: bool) -> dict[str, Any]:
    """Return the schema of an object with an answer, after its reason if requested."""
    properties = ({"reason": {"type": "string"}} if with_reason else {}) | {name: schema}
    return object_of(properties)


def object_of(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with all of these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
