"""Question kinds for the judge method."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.questions import ItemContent, kind_of
from annotate.questions.kind import LETTERS
from annotate.questions.parts import PARTS
from judges.methods.base import Subject
from judges.methods.reading import Readable, Reading, Unreadable


class KindPrompts:
    """The prompt and parser of each dimension's question kind; see judges.methods.questions."""

    def prompt(self, dimension: FrozenDimension, subject: Subject) -> str:
        return kind_of(dimension).prompt(dimension, content_of(subject))

    def fields(self, dimension: FrozenDimension, subject: Subject) -> dict[str, Any]:
        return kind_of(dimension).reply_fields(dimension, content_of(subject))

    def texts(self, dimension: FrozenDimension, subject: Subject) -> Sequence[tuple[str, str]]:
        """Return the sides with their aliases, or the output, with its parts for a question about parts."""
        kind = kind_of(dimension)
        if kind.compares:
            shown = [subject.sides[side] for side in subject.order or range(len(subject.sides))]
            return [(f"text_{letter}", text) for letter, text in zip(LETTERS, shown, strict=False)]
        texts = [("text", subject.text)]
        if kind.key == PARTS.key:
            numbered = (f"{number}. {part}" for number, part in enumerate(subject.parts, start=1))
            texts.append(("parts", "\n".join(numbered)))
        return texts

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], subject: Subject) -> Reading:
        try:
            value, data = kind_of(dimension).read(dimension, reply, content_of(subject))
        except InvalidValueError as error:
            return Unreadable(error.message)
        if value is None:
            return Unreadable(gettext("The reply answers only a part of the question."))
        reason = reply.get("reason")
        return Readable(value, reason if isinstance(reason, str) else "", data)


def content_of(subject: Subject) -> ItemContent:
    """Return a subject as kinds expect it; each line end is one character, as where people mark spans."""
    texts = [subject.text, *(text for _, text in subject.document_parts)]
    return ItemContent(
        texts=[each.replace("\r\n", "\n") for each in texts],
        sides=subject.sides,
        order=subject.order,
        parts=subject.parts,
    )
