"""Scores of several dimensions in one call; the reply has a line, or a field of a JSON object, for each."""

import hashlib
from collections.abc import Sequence
from typing import Any

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.base import Message, Subject, chat, subject_placeholders
from judges.methods.reading import Reading
from judges.methods.reading.parts import read_part
from judges.methods.scoring import ScoreMethod, object_of, score_schema
from judges.methods.template import END_OF_SYSTEM, placeholders
from judges.methods.wording import MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Score several qualities of a text, each of them by itself. The text was written for a document.

{{ dimensions }}
""",
    MATERIAL,
    """\
Reply with one line for each quality and nothing else, in this order and form:

{{ answers }}
""",
)


class SeveralDimensions(ScoreMethod):
    """Prompts for scores on all dimensions of a call."""

    key = "several"
    label = "Several dimensions in one call"
    default_template = TEMPLATE
    asks_several = True
    asks_reasons = False
    max_tokens = 512

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset({"document", "text", "reference", "dimensions", "answers", END_OF_SYSTEM})

    def check(self, template: str) -> None:
        super().check(template)
        if not placeholders(template) & {"dimensions", "answers"}:
            raise ValueError("The template needs {{ dimensions }} or {{ answers }}: what is scored.")

    def refuses_probabilities(self, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return the reason for no value from probabilities: a reply has a score for each dimension."""
        return gettext("A reply gives several scores; read them from the reply’s text.")

    def messages(self, template: str, subject: Subject, dimension: FrozenDimension) -> list[Message]:
        return self.messages_about(template, subject, [dimension])

    def messages_about(
        self, template: str, subject: Subject, dimensions: Sequence[FrozenDimension]
    ) -> list[Message]:
        if subject.other is not None:
            raise ValueError(f"{self.label} judges one text at a time.")
        values = subject_placeholders(subject) | {
            "dimensions": "\n\n".join(map(_description, dimensions)),
            "answers": "\n".join(f"{each.name}: {scales.answer(each)}" for each in dimensions),
        }
        return chat(template, values, required=self.required)

    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        return self.read_about(reply, dimension, [dimension])

    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        return self.read_about(reply, dimension, [dimension], structured=True)

    def read_about(
        self,
        reply: str,
        dimension: FrozenDimension,
        dimensions: Sequence[FrozenDimension],
        *,
        subject: Subject | None = None,  # noqa: ARG002
        pattern: str = "",
        structured: bool = False,
    ) -> Reading:
        """Return the score on one of the dimensions of a call; other parts of the reply are ignored."""

        def read(part: str) -> Reading:
            # A structured reply is JSON, so the prompt's pattern does not apply.
            if structured or not pattern:
                return score(part)
            return super(SeveralDimensions, self).read_with(pattern, part, dimension)

        def score(part: str) -> Reading:
            return super(SeveralDimensions, self).read(part, dimension)

        return read_part(reply, dimension, dimensions, read, structured=structured)

    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        return self.schema_about([dimension])

    def schema_about(
        self,
        dimensions: Sequence[FrozenDimension],
        subject: Subject | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        return object_of({each.key: score_schema(each) for each in dimensions})


def _description(dimension: FrozenDimension) -> str:
    lines = (
        f"{dimension.name}: {dimension.definition}".rstrip(),
        dimension.guidelines.strip(),
        f"The scale of {dimension.name}:",
        scales.points(dimension),
    )
    return "\n".join(line for line in lines if line)


def rotate(dimensions: Sequence[FrozenDimension], item: int) -> list[FrozenDimension]:
    """Return the dimensions rotated by item: another one comes first.

    A hash of the item's number selects the first. Items are sorted by system, so the number itself would give
    a system always the same first dimension.
    """
    if not dimensions:
        return []
    drawn = hashlib.sha256(str(item).encode()).digest()
    first = int.from_bytes(drawn[:8], "big") % len(dimensions)
    return [*dimensions[first:], *dimensions[:first]]


METHOD = SeveralDimensions()
