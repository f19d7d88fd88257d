"""What a method is: it turns a text and a dimension into messages, and a reply into a value or a reason."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.nearest import PLACEHOLDER, split_pool
from judges.methods.probabilities import weighted_mean
from judges.methods.reading.pattern import read_by_pattern
from judges.methods.readings import Readable, Reading, Unreadable
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
    """What is judged: a text for a document, or two of them, of which `text` is shown first."""

    document_parts: tuple[tuple[str, str], ...]  # label, text
    text: str
    other: str | None = None
    reference: str = ""  # a text for the same document to hold it against
    sides: tuple[str, ...] = ()  # of a comparison, in its own order
    order: tuple[int, ...] = ()  # the order of the sides in the prompt
    parts: tuple[str, ...] = ()  # of the output, each judged separately


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: str
    content: str
    shared: int = field(default=0, compare=False)  # characters at its beginning that all items have


class Method(ABC):
    """One way to ask a model for a judgment. It holds no state: `METHODS` has one of each."""

    key: ClassVar[str]
    label: ClassVar[str]
    paper_name: ClassVar[str] = ""  # by which papers call the method, where the label does not say it
    default_template: ClassVar[str]
    required: ClassVar[frozenset[str]] = frozenset({"text"})
    own_placeholders: ClassVar[frozenset[str]] = frozenset()
    asks_pairs: ClassVar[bool] = False
    asks_several: ClassVar[bool] = False  # dimensions in one call
    asks_kinds: ClassVar[bool] = False  # questions that are no scales, see annotate.questions
    takes_modifiers: ClassVar[bool] = False
    takes_steps: ClassVar[bool] = False  # several calls for a value, see judges.methods.steps
    document_section: ClassVar[str] = ""  # the first step, where one call serves all texts of a document
    max_tokens: ClassVar[int] = 256
    usual_settings: ClassVar[Mapping[str, Any]] = {}  # of a judge, by field: those of the method's source
    stop: ClassVar[tuple[str, ...]] = ()
    answer_form: ClassVar[str] = "Score: {answer}"  # of a reply, as the default template asks for it

    def title(self, label: str = "") -> str:
        """Return the name that papers use, followed by the label of the method or of one of its prompts."""
        return " – ".join(filter(None, (self.paper_name, label or self.label)))

    def refuses(self, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return why this dimension cannot be judged this way, None where it can."""
        return None

    def refuses_kind(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if this method has no questions of the kind, else None."""
        if dimension.is_scale:
            return None
        return gettext("{dimension} has no scale; use the method “Questions of other kinds”.").format(
            dimension=dimension.name
        )

    def refuses_value(self, value: float, dimension: FrozenDimension) -> str | None:
        """Return why no reply could give this value, None where one could.

        Fractions are values, of a text or of probabilities, but not between named categories.
        """
        lowest, highest = scales.ends(dimension)
        if not lowest <= value <= highest:
            return f"{dimension.name} is judged {scales.extent(dimension)}."
        if scales.is_named(dimension) and not value.is_integer():
            return gettext("{dimension} has named categories, and nothing lies between them.").format(
                dimension=dimension.name
            )
        return None

    def refuses_probabilities(self, dimension: FrozenDimension) -> str | None:
        """Return why the probabilities of answers give no value on this dimension, None where they do."""
        if self.asks_pairs:
            return gettext("A text wins, loses or ties; read the answer from the reply's text.")
        if scales.is_named(dimension):
            return gettext("Named categories have no mean; read the answer from the reply's text.")
        return None

    @property
    def placeholders(self) -> frozenset[str]:
        """The names that a template of this method may hold between double braces."""
        texts = {"text_1", "text_2"} if self.asks_pairs else {"text"}
        return COMMON | texts | self.own_placeholders

    def check(self, template: str) -> None:
        """Raise a ValueError that says what is wrong with a template, if anything is."""
        plain, pool = split_pool(template)
        own = {PLACEHOLDER} if pool else set()
        check(plain, known=self.placeholders | own, required=self.required)

    def messages(self, template: str, subject: Subject, dimension: FrozenDimension) -> list[Message]:
        """Return what to send; a ValueError says why it cannot be sent."""
        if reason := self.refuses_kind(dimension) or self.refuses(dimension):
            raise ValueError(reason)
        if (subject.other is not None) != self.asks_pairs:
            raise ValueError(
                f"{self.label} judges {'two texts' if self.asks_pairs else 'one text'} at a time."
            )
        plain, pool = split_pool(template)
        values = about_subject(subject) | about_dimension(dimension) | self.own_values(dimension)
        if pool:
            document = "\n\n".join(text for _, text in subject.document_parts)
            values[PLACEHOLDER] = pool.nearest(document, subject.text)
        return chat(plain, values, required=self.required)

    def messages_about(
        self, template: str, subject: Subject, dimensions: Sequence[FrozenDimension]
    ) -> list[Message]:
        """Return what to send about all dimensions of a call: one, unless the method asks about several."""
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
        """Return the value of a reply on one of the dimensions of its call, as a judge reads it.

        subject: what the call was about, without which some replies cannot be read.
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
        """Return a value as a reply states it, for an example in the prompt."""
        answer = scales.name_of(dimension, value)
        return self.answer_form.format(answer=answer, dimension=dimension.name)

    def calls_of(self, template: str, subject: Subject) -> int:  # noqa: ARG002
        """Return how many calls a value takes, as far as that is known before the first."""
        return 1

    def follow_up(self, dimension: FrozenDimension) -> str:  # noqa: ARG002
        """Return what to send after a reply without a readable answer; empty: nothing."""
        return ""

    @abstractmethod
    def read(self, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a reply in plain text, or why it has none."""

    def read_with(self, pattern: str, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a reply by a prompt's pattern, by the method's own rules where it is empty."""
        if not pattern:
            return self.read(reply, dimension)
        return read_by_pattern(reply, pattern, lambda part: self.read(part, dimension))

    @abstractmethod
    def read_structured(self, reply: str, dimension: FrozenDimension) -> Reading:
        """Return the value of a reply that follows `json_schema`, or why it has none."""

    @abstractmethod
    def answer_position(self, reply: str, dimension: FrozenDimension) -> int | None:
        """Return where in the reply the first character of its answer stands, None where it has none."""

    @abstractmethod
    def json_schema(self, dimension: FrozenDimension) -> dict[str, Any]:
        """Return the JSON schema of a structured reply."""

    @abstractmethod
    def candidates(self, dimension: FrozenDimension) -> Mapping[str, float]:
        """Return the answers that a model can give, as it writes them, and their values."""

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
        """Return the score of a reply whose text states none, from its tokens; None where they tell nothing.

        A number may stand in a reply for anything, a letter that is an option hardly.
        """
        return None

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:  # noqa: ARG002
        """Return what this method's own placeholders stand for."""
        return {}


def chat(template: str, values: Mapping[str, str], *, required: Iterable[str]) -> list[Message]:
    """Return a filled template as messages: a system message, where it has one, and the user's."""
    system, user = render(template, values, required=required)
    asked = Message("user", user, shared=shared_beginning(template, values))
    return [*([Message("system", system)] if system else []), asked]


def about_subject(subject: Subject) -> dict[str, str]:
    """Return what the placeholders of the material stand for."""
    beside = {"document": _document(subject.document_parts), "reference": subject.reference}
    if subject.other is None:
        return {**beside, "text": subject.text}
    return {**beside, "text_1": subject.text, "text_2": subject.other}


def _document(parts: tuple[tuple[str, str], ...]) -> str:
    return "\n\n".join(f"{label}:\n{text}" if label.strip() else text for label, text in parts)


def about_dimension(dimension: FrozenDimension) -> dict[str, str]:
    """Return what the placeholders of a dimension stand for."""
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
