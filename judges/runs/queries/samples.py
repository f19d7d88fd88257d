"""Which of a project's items a run is about: a random sample of documents, or some that were chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from agreement.streams import Stream
from annotate.core.models import Item, Project
from judges.core.models import Judgment
from judges.core.specification import Scope

MOST_DOCUMENTS = MOST_ITEMS = 10_000
"""What fits into one statement; a run over more is a run over all."""


def sampled_documents(project: Project, number: int | None) -> list[int] | None:
    """Return the keys of so many documents with items, drawn by the project's seed; None for all. One query.

    A larger sample holds a smaller one, so that a run that is extended pays only for what is new, and judges
    that are asked about as many documents are asked about the same.
    """
    if number is None:
        return None
    documents = project.documents.filter(items__isnull=False).distinct().order_by("key")
    drawn = list(documents.values_list("pk", flat=True))
    Stream(project.seed).of("sample of documents").shuffler().shuffle(drawn)
    return drawn[:number]


@dataclass(frozen=True)
class ChosenItems:
    """Which items a run asks about, by ids: of some documents, and of them just some; all where None."""

    documents: Sequence[int] | None = None
    items: Sequence[int] | None = None

    def among_items(self, items: QuerySet[Item]) -> QuerySet[Item]:
        """Return those of the items that are chosen."""
        if self.documents is not None:
            items = items.filter(document__in=self.documents)
        return items if self.items is None else items.filter(pk__in=self.items)

    def among_judgments(self, judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
        """Return those of the judgments whose items, one or two, are chosen."""
        if self.documents is not None:
            judgments = judgments.filter(item__document__in=self.documents)
        if self.items is None:
            return judgments
        return judgments.filter(Q(other=None) | Q(other__in=self.items), item__in=self.items)

    def condition(self, *of_items: str) -> str:
        """Return the same in SQL about columns with the ids of items; numbers in it, of which any fit."""
        found = ""
        if self.documents is not None:
            found += f" AND document.id IN ({_numbers(self.documents)})"
        if self.items is not None:
            found += "".join(f" AND {column} IN ({_numbers(self.items)})" for column in of_items)
        return found


def chosen_items(project: Project, scope: Scope) -> ChosenItems:
    """Return what a scope chooses or draws. One query at the most."""
    if scope.chosen is not None:
        return ChosenItems(list(scope.chosen), scope.items)
    return ChosenItems(sampled_documents(project, scope.documents), scope.items)


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "NULL"
