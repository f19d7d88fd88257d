"""A free answer in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.questions.kind import (
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    refuse_data,
)

MOST_CHARACTERS = 10_000


class TextKind(QuestionKind):
    """A free answer, without distance and dispute; `data` is {"text": ...}, `value` its characters."""

    key = "text"
    name = gettext_lazy("Free text")
    about = gettext_lazy("An answer in the rater's own words, such as a critique or a correction.")
    template = "questions/text.html"
    has_distance = False
    has_mean = False
    number_name = gettext_lazy("characters")

    def read_options(self, options: Options) -> dict[str, Any]:
        longest = options.get("longest", 1000)
        if type(longest) is not int or not 1 <= longest <= MOST_CHARACTERS:
            raise InvalidValueError(
                gettext("A text can have 1 to {most:,} characters.").format(most=MOST_CHARACTERS)
            )
        return {"longest": longest}

    def bounds(self, options: Options) -> tuple[int, int]:
        return 0, options["longest"]

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        text = (given.data or {}).get("text", "") if given else ""
        return {"text": text, "longest": dimension.options["longest"]}

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        return (
            "Answer in your own words.\n"
            f'Field "text": the answer, of at most {dimension.options["longest"]} characters.'
        )

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        return {"text": {"type": "string"}}

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        said = reply.get("text")
        if not isinstance(said, str) or not said.strip():
            raise InvalidValueError(gettext("The reply has no text."))
        return self.clean(dimension, None, {"text": said}, item)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        text = data.get("text") if isinstance(data, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise refuse_data(dimension)
        text, longest = text.strip(), dimension.options["longest"]
        if len(text) > longest:
            sentence = gettext("The answer has {count:,} characters; at most {most:,} can be kept.").format(
                count=len(text), most=longest
            )
            raise InvalidValueError(sentence, fields={"data": sentence})
        # Every complete answer has a number; for words it is their length.
        return Given(len(text), {"text": text})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        text = " ".join((given.data or {}).get("text", "").split())
        return text if len(text) <= 40 else f"{text[:39]}…"

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return str((given.data or {}).get("text", ""))

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 0: answers in words never open a dispute."""
        return 0.0


TEXT = TextKind()
