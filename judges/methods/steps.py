"""Methods with several calls per value: each reply determines the next step, or the value.

Such a method holds no state: `next_step` receives all previous replies. Each reply is stored immediately, so
that another worker can continue. A template has a section for each kind of step, after a line such as `===
questions ===`.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.base import (
    COMMON,
    Message,
    Method,
    Subject,
    chat,
    dimension_placeholders,
    subject_placeholders,
)
from judges.methods.reading import Reading, Unreadable
from judges.methods.template import END_OF_SYSTEM, check

# `[^\S\n]` is any blank but a line break, so that a heading never spans two lines.
HEADING = re.compile(r"^===[^\S\n]*(?P<name>[a-z][a-z ]*?)[^\S\n]*===[^\S\n]*(?:\n|\Z)", re.MULTILINE)

OF_DOCUMENT = frozenset({"document", "reference", END_OF_SYSTEM})
"""Placeholders of a step that is asked once for all texts of a document, on whatever dimension."""


@dataclass(frozen=True)
class MethodStep:
    """One call of several: its displayed name, its messages, and the shape of a structured reply."""

    name: str
    messages: Sequence[Message]
    shape: dict[str, Any] | None = None


class SteppedMethod(Method):
    """Prompts step by step; a dimension's value is a share between 0 and 1, mapped to its scale."""

    takes_steps = True
    sections: ClassVar[Mapping[str, frozenset[str]]]  # of a template, with the placeholders that each needs
    of_steps: ClassVar[frozenset[str]] = frozenset()  # placeholders that earlier replies fill

    @abstractmethod
    def next_step(
        self, template: str, subject: Subject, dimension: FrozenDimension, replies: Sequence[str]
    ) -> MethodStep | Reading:
        """Return the next step after these replies, or their result; always a step before the first reply."""

    @property
    def placeholders(self) -> frozenset[str]:
        return COMMON | {"text"} | self.of_steps

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if the dimension is categorical, because no share represents a category."""
        if scales.is_named(dimension):
            return gettext(
                "{dimension} has named categories, and a share is none; use “Named categories”."
            ).format(dimension=dimension.name)
        return None

    def refuses_probabilities(self, dimension: FrozenDimension) -> str | None:  # noqa: ARG002
        """Return the reason for no value from probabilities: it depends on several replies."""
        return gettext("The value comes of several replies; read them from their text.")

    def check(self, template: str) -> None:
        found = sections_of(template)
        if missing := next((name for name in self.sections if name not in found), None):
            raise ValueError(f"The template needs a section behind a line === {missing} ===.")
        for name, required in self.sections.items():
            of_document = name == self.document_section
            # The step about a document is asked once for all outputs, so it must not depend on one.
            known = OF_DOCUMENT | self.of_steps if of_document else self.placeholders
            check(found[name], known=known, required=required)
        if unknown := sorted(found.keys() - self.sections.keys()):
            names = ", ".join(self.sections)
            raise ValueError(f"There is no step “{unknown[0]}”; the sections are: {names}.")

    def messages(self, template: str, subject: Subject, dimension: FrozenDimension) -> list[Message]:
        """Return the messages of the first step."""
        if reason := self.refuses_kind(dimension) or self.refuses(dimension):
            raise ValueError(reason)
        step = self.next_step(template, subject, dimension, [])
        assert isinstance(step, MethodStep)
        return list(step.messages)

    def step(
        self,
        name: str,
        template: str,
        subject: Subject,
        dimension: FrozenDimension,
        filled: Mapping[str, str],
        shape: dict[str, Any] | None = None,
    ) -> MethodStep:
        """Return a step by the section of this name; filled: placeholder values from earlier replies."""
        given = subject_placeholders(subject) | dimension_placeholders(dimension)
        # Placeholders of later steps are empty here, so a template may name them.
        values = given | dict.fromkeys(self.of_steps, "") | dict(filled)
        text = sections_of(template)[name]
        return MethodStep(name, chat(text, values, required=self.sections[name]), shape)

    def calls_of(self, template: str, subject: Subject) -> int:  # noqa: ARG002
        """Return the number of calls for a value, as known before the first."""
        return len(self.sections)

    def read(self, reply: str, dimension: FrozenDimension) -> Reading:  # noqa: ARG002
        """Return Unreadable: one reply alone has no value."""
        return Unreadable(
            gettext("{method} takes several replies for a value; import the value.").format(method=self.label)
        )


def sections_of(template: str) -> dict[str, str]:
    """Return the sections of a template by name; lines before the first are in none."""
    _, *rest = HEADING.split(template)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def on_scale(share: float, dimension: FrozenDimension) -> float:
    """Map a share between 0 and 1 linearly to a dimension: 0 its lowest value, 1 its highest."""
    return dimension.scale_minimum + share * (dimension.scale_maximum - dimension.scale_minimum)
