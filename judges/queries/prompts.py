"""Prompts as a model would get them: templates and their versions, previewed on a real item."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotate.guideline import FrozenDimension
from annotate.models import Item, Project
from annotate.queries.guidelines import current_guideline
from judges.methods import METHODS
from judges.methods.base import Message, Subject
from judges.models import Judgment, PromptTemplate

CHARACTERS_A_TOKEN = 4
ASKED = ~Q(status=Judgment.Status.PLANNED) | Q(attempts__gt=0)


@dataclass(frozen=True)
class PromptPreview:
    """A prompt about one item and one dimension, or why there is none."""

    problem: str = ""
    messages: Sequence[Message] = ()
    item: Item | None = None
    number: int = 0
    items: int = 0
    dimension: FrozenDimension | None = None

    @property
    def tokens(self) -> int:
        """About how many tokens the model reads."""
        return estimated_tokens(self.messages)


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Return about how many tokens messages have: one for each four characters."""
    return -(-sum(len(message.content) for message in messages) // CHARACTERS_A_TOKEN)


def templates_of(project: Project) -> list[PromptTemplate]:
    """Return all versions of all templates by name, the newest first, with `judges_count`. One query."""
    versions = PromptTemplate.objects.filter(project=project).annotate(judges_count=Count("judges"))
    return list(versions.order_by("name", "-version"))


def versions_of(template: PromptTemplate) -> QuerySet[PromptTemplate]:
    """Return all versions of a template, the newest first. One query."""
    same = PromptTemplate.objects.filter(project=template.project_id, name=template.name)
    return same.order_by("-version")


def was_asked(template: PromptTemplate) -> bool:
    """Return whether a judgment was asked with this version. One query."""
    return Judgment.objects.filter(Q(judge__template=template) & ASKED).exists()


def preview_of(project: Project, method: str, text: str, *, dimension: str, number: int) -> PromptPreview:
    """Return what the model would read about an item, by its number from 1. Five queries at the most."""
    dimensions = current_guideline(project).dimensions
    items = Item.objects.filter(document__project=project).order_by("document", "pk")
    count = items.count()
    if not dimensions or not count:
        return PromptPreview(problem="Add a dimension and import items to see what the model would read.")
    chosen = next((each for each in dimensions if each.key == dimension), dimensions[0])
    number = min(max(number, 1), count)
    item = items.select_related("document")[number - 1]
    try:
        messages = METHODS[method].messages(text, _subject(item, pair=METHODS[method].asks_pairs), chosen)
    except ValueError as error:
        return PromptPreview(problem=str(error), item=item, number=number, items=count, dimension=chosen)
    return PromptPreview(messages=messages, item=item, number=number, items=count, dimension=chosen)


def _subject(item: Item, *, pair: bool) -> Subject:
    """Return an item, for methods that compare with the text of another system for the same document."""
    parts = tuple((part["label"], part["text"]) for part in item.document.parts)
    if not pair:
        return Subject(parts, item.text)
    other = Item.objects.filter(document=item.document).exclude(pk=item.pk).order_by("pk").first()
    return Subject(parts, item.text, other.text if other else "(no other system wrote for this document)")
