"""Base of methods, which turn an output and a dimension into messages, and a reply into a value or a
reason.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.nearest import PLACEHOLDER, split_pool
from judges.methods.probabilities import weighted_mean
from judges.methods.reading import Readable, Reading, Unreadable
from judges.methods.reading.reader import read_by_pattern
from judges.methods.template import END_OF_SYSTEM, check, render, shared_beginning

__all__ = ["Message", "Method", "Readable", "Reading", "Subject", "Unreadable"]

COMMON = frozenset(
    {
        *("document", "dimension", "definition", "guidelines", "minimum", "maximum", "points", "answer"),
        *("ends", "reference", END_OF_SYSTEM),
    }
)


@dataclass(frozen=True)
class Subject:
    """The subject of a judgment: an output for a document, or two outputs, with `text` in first position."""

    document_parts: tuple[tuple[str, str], ...]  # label, template
    text: str
    other: str | None = None
    reference: str = ""  # an output for the same document, for comparison
    sides: tuple[str, ...] = ()  # of a comparison, in its own order
    order: tuple[int, ...] = ()  # the order of the sides in the prompt
    parts: tuple[str, ...] = ()  # of the output, each judged separately


@dataclass(frozen=True)
class Message:
    role: str
    content: str
    # Messages are equal by role and content; the length only helps servers to cache.
    shared: int = field(default=0, compare=False)  # characters at its beginning that all items have


class Method(ABC):
    """A method of prompting a model for a judgment. It holds no state: `METHODS` has one of each."""

    key: ClassVar[str]
    label: ClassVar[str]
    paper_name: ClassVar[str] = ""  # the method's name in papers, if the label does not contain it
    default_template: ClassVar[str]
    required: ClassVar[frozenset[str]] = frozenset({"text"})
    own_placeholders: ClassVar[frozenset[str]] = frozenset()
    asks_pairs: ClassVar[bool] = False
    asks_several: ClassVar[bool] = False  # dimensions in one call
    asks_kinds: ClassVar[bool] = False  # questions that are no scales, see annotate.questions
    takes_modifiers: ClassVar[bool] = False
    takes_steps: ClassVar[bool] = False  # several calls for a value, see judges.methods.steps
    document_section: ClassVar[str] = ""  # the first step, if one call serves all outputs of a document
    max_tokens: ClassVar[int] = 256
    # of a judge, by field: the settings of the method's source
    usual_settings: ClassVar[Mapping[str, Any]] = {}
    stop: ClassVar[tuple[str, ...]] = ()
    answer_form: ClassVar[str] = "Score: {answer}"  # of a reply, as the default template asks for it

    def title(self, label: str = "") -> str:
        """Return the method's name in papers, followed by the label of the method or of one of its
        prompts.
        """
        return " – ".join(filter(None, (self.paper_name, label or self.label)))

    def refuses(self, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return the reason why the method does not support this dimension, None if it does."""
        return None

    def refuses_kind(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if this method has no questions of the kind, else None."""
        if dimension.is_scale:
            return None
        return gettext("{dimension} has no scale; use the method “Questions of other kinds”.").format(
            dimension=dimension.name
        )

    def refuses_value(self, value: float, dimension: FrozenDimension) -> str | None:
        """Return the reason why no reply could give this value, None if one could.

        Fractions are values of an output or of probabilities, but not between named categories.
        """
        lowest, highest = scales.ends(dimension)
        # NaN fails each comparison, so in this form it is rejected, too.
        if not lowest <= value <= highest:
            return f"{dimension.name} is judged {scales.extent(dimension)}."
        if scales.is_named(dimension) and not value.is_integer():
            return gettext("{dimension} has named categories, and nothing lies between them.").format(
                dimension=dimension.name
            )
        return None

    def refuses_probabilities(self, dimension: FrozenDimension) -> str | None:
        """Return the reason why probabilities of answers give no value on this dimension, None if they do."""
        if self.asks_pairs:
            return gettext("A text wins, loses or ties; read the answer from the reply's text.")
        if scales.is_named(dimension):
            return gettext("Named categories have no mean; read the answer from the reply's text.")
        return None

    @property
    def placeholders(self) -> frozenset[str]:
        texts = {"text_1", "text_2"} if self.asks_pairs else {"text"}
        return COMMON | texts | self.own_placeholders

    def check(self, template: str) -> None:
        """Raise ValueError with the problem of an invalid template."""
        # A pool has its own syntax, so the check sees one placeholder in its position.
        plain, pool = split_pool(template)
        own = {PLACEHOLDER} if pool else set()
        check(plain, known=self.placeholders | own, required=self.required)

    def messages(self, template: str, subject: Subject, dimension: FrozenDimension) -> list[Message]:
        """Return the messages to send; raises ValueError with the reason if there are none."""
        if reason := self.refuses_kind(dimension) or self.refuses(dimension):
            raise ValueError(reason)
        if (subject.other is not None) != self.asks_pairs:
            raise ValueError(
                f"{self.label} judges {'two texts' if self.asks_pairs else 'one text'} at a time."
            )
        plain, pool = split_pool(template)
        values = (
            subject_placeholders(subject) | dimension_placeholders(dimension) | self.own_values(dimension)
        )
        # Examples depend on the item, so they are chosen here and not when the prompt is written.
        if pool:
            document = "\n\n".join(text for _, text in subject.document_parts)
            values[PLACEHOLDER] = pool.nearest(document, subject.text)
        return chat(plain, values, required=self.required)

    def messages_about(
        self, template: str, subject: Subject, dimensions: Sequence[FrozenDimension]
    ) -> list[Message]:
        """Return the messages about all dimensions of a call: one, unless the method covers several."""
        # Unpacking fails if a caller passes several dimensions to a method that covers one.
        (dimension,) = dimensions
        return self.messages(template, subject, dimension)

    def read_about(
        self,
        reply: str,
        dimension: FrozenDimension,
        dimensions: Sequence[FrozenDimension],  # noqa: ARG002
        *,
        subject: Subject | None = None,  # noqa: ARG002
        pattern: str = "",
        structured: bool = False,
    ) -> Reading:
        """Return the value of a reply on one of the dimensions of its call, parsed by the judge's rules.

        subject: the subject of the call, without which some replies cannot be parsed.
        """
        if structured:
            return self.read_structured(reply, dimension)
        return self.read_with(pattern, reply, dimension)

    def schema_about(
        self,
        dimensions: Sequence[FrozenDimension],
        subject: Subject | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return the JSON schema of a structured reply about all dimensions of a call."""
        (dimension,) = dimensions
        return self.json_schema(dimension)

    def show_answer(self, value: int, dimension: FrozenDimension) -> str:
        """Return a value in a reply's form, for an example in the prompt."""
        answer = scales.name_of(dimension, value)
        return self.answer_form.format(answer=answer, dimension=dimension.name)

    def calls_of(self, template: str, subject: Subject) -> int:  # noqa: ARG002
        """Return the number of calls for a value, as known before the first."""
        return 1

    def follow_up(self, dimension: FrozenDimension) -> str:  # noqa: ARG002
        """Return the message to send after a reply without a readable answer; empty: none."""
        return ""

    @abstractmethod
    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a plain reply, or the reason why it has none."""

    def read_with(self, pattern: str, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a reply by a prompt's pattern, by the method's own rules if it is empty."""
        if not pattern:
            return self.read(reply, dimension)
        # The pattern narrows the reply to a part, which the method's own rules then read.
        return read_by_pattern(reply, pattern, lambda part: self.read(part, dimension))

    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a reply that follows `json_schema`, or why it has none."""
        return self.read(reply, dimension)

    def answer_position(self, reply: str, dimension: FrozenDimension) -> int | None:  # noqa: ARG002
        """Return the position of the answer's first character in the reply, None if there is no answer."""
        return None

    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        """Return the JSON schema of a structured reply; methods with several calls have one for each."""
        raise NotImplementedError

    def candidates(self, dimension: FrozenDimension) -> Mapping[str, float]:  # noqa: ARG002
        """Return the possible answers in a model's spelling, and their values."""
        return {}

    def weighted_score(self, top_logprobs: Mapping[str, float], dimension: FrozenDimension) -> Reading:
        """Return the mean of the candidates' values, weighted by the probabilities of their tokens."""
        if scales.is_named(dimension):
            return Unreadable(gettext("Named categories have no mean, so probabilities give no score."))
        return weighted_mean(top_logprobs, self.candidates(dimension))

    def weighted_score_of_first(
        self,
        tokens: Iterable[Mapping[str, float]],  # noqa: ARG002
        dimension: FrozenDimension,  # noqa: ARG002
    ) -> Reading | None:
        """Return the score from the tokens of a reply that states none; None if they contain no candidate.

        A number in a reply may mean anything; a letter that is an option is rarely ambiguous.
        """
        return None

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:  # noqa: ARG002
        """Return the values of this method's own placeholders."""
        return {}


def chat(template: str, values: Mapping[str, str], *, required: Iterable[str]) -> list[Message]:
    """Return a filled template as messages: a system message, if it has one, and the user's."""
    system, user = render(template, values, required=required)
    asked = Message("user", user, shared=shared_beginning(template, values))
    return [*([Message("system", system)] if system else []), asked]


def subject_placeholders(subject: Subject) -> dict[str, str]:
    """Return the values of the material's placeholders."""
    beside = {
        "document": "\n\n".join(
            f"{label}:\n{text}" if label.strip() else text for label, text in subject.document_parts
        ),
        "reference": subject.reference,
    }
    if subject.other is None:
        return {**beside, "text": subject.text}
    return {**beside, "text_1": subject.text, "text_2": subject.other}


def dimension_placeholders(dimension: FrozenDimension) -> dict[str, str]:
    """Return the values of a dimension's placeholders."""
    return {
        "dimension": dimension.name,
        "definition": dimension.definition,
        "guidelines": dimension.guidelines.strip(),
        "minimum": str(dimension.scale_minimum),
        "maximum": str(dimension.scale_maximum),
        "points": scales.points(dimension),
        "answer": scales.answer(dimension),
        "ends": scales.ends_in_words(dimension),
    }
