"""Material of judges: outputs and scales, the sides and parts of items, and questions of other kinds."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import ComparisonSide, Dimension, Item, ItemPart, Project
from annotate.questions import ItemContent, kind_of
from annotate.questions.kind import LETTERS
from annotate.questions.parts import PARTS
from annotate.questions.scale import SCALE
from judges.methods.base import Subject
from judges.methods.reading import Readable, Reading, Unreadable


def scales_of(project: Project) -> QuerySet[Dimension]:
    """Return the dimensions whose answers are numbers, or codes of categories."""
    return project.dimensions.filter(kind=SCALE.key)


def outputs_of(project: Project) -> QuerySet[Item]:
    """Return the single outputs of systems, without comparisons and an addition's bridging items."""
    # Bridging items measure the severity of new raters, so judges and their results leave them out.
    return Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT, gold__bridging__isnull=True)


def has_other_kinds(project: Project) -> bool:
    """Return True if a project has questions that are no scales. One query."""
    return project.dimensions.exclude(kind=SCALE.key).exists()


def names_of_scales(project: Project) -> tuple[list[tuple[str, str]], bool]:
    """Return keys and names of the scales, and True if there are also other questions. One query."""
    rows = list(project.dimensions.values_list("key", "name", "kind"))
    scales = [(key, name) for key, name, kind in rows if kind == SCALE.key]
    return scales, len(scales) < len(rows)


def contents_of(items: Collection[int]) -> dict[int, Subject]:
    """Return items with their sides and parts. Three queries."""
    # Separate queries, because a join of sides with parts would multiply the rows.
    sides: dict[int, list[str]] = defaultdict(list)
    rows = ComparisonSide.objects.filter(item__in=items).order_by("item", "position")
    for item, text in rows.values_list("item", "output__text"):
        sides[item].append(text)
    parts: dict[int, list[str]] = defaultdict(list)
    listed = ItemPart.objects.filter(item__in=items).order_by("item", "position")
    for item, text in listed.values_list("item", "text"):
        parts[item].append(text)
    found = Item.objects.filter(pk__in=items).values_list("pk", "text", "document__parts")
    return {
        pk: Subject(
            tuple((part["label"], part["text"]) for part in of_document),
            text,
            sides=tuple(sides[pk]),
            parts=tuple(parts[pk]),
        )
        for pk, text, of_document in found
    }


def rotate_sides(subject: Subject, sample: int) -> Subject:
    """Return a subject with its sides rotated by sample: each sample starts with the next side."""
    sides = range(len(subject.sides))
    # A subject without sides would otherwise divide by 0.
    first = sample % max(len(sides), 1)
    return replace(subject, order=(*sides[first:], *sides[:first]))


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
            # Letters follow the order in this prompt; `content_of` passes it on to the reading.
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
        # The kind checks a reply as strictly as a person's answer, and its message becomes the reason.
        except InvalidValueError as error:
            return Unreadable(error.message)
        if value is None:
            return Unreadable(gettext("The reply answers only a part of the question."))
        reason = reply.get("reason")
        # A model may send any JSON as its reason.
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
