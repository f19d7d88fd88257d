"""Properties of outputs: length, perplexity, and their system's family."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from annotate.core.models import ItemTag, Project
from judges.core.material import outputs_of
from judges.core.models import DOCUMENT_PERPLEXITY, MetricValue

FAMILY = "family:"
"""Prefix of tags that name the family of the model behind an output, such as "family: gpt"."""


@dataclass(frozen=True)
class ItemTexts:
    """Properties by item, in the order of their keys, as in `Material`.

    items: their keys. log_length: of characters. log_perplexity: NaN if an output has none; None without such
    a metric. log_document_perplexity: the same of each item's document. families: the lower-case family of
    each, empty if no tag names it.
    """

    items: Sequence[int]
    log_length: npt.NDArray[np.float64]
    log_perplexity: npt.NDArray[np.float64] | None
    log_document_perplexity: npt.NDArray[np.float64] | None
    families: Sequence[str]

    def is_of_family(self, model: str) -> npt.NDArray[np.float64]:
        """(items,): 1 if the family is part of the model's name, 0 if it is not, NaN if unknown."""
        name = model.casefold()
        return np.array([float(each in name) if each else np.nan for each in self.families])


def texts_of(project: Project) -> ItemTexts:
    """Return the properties of a project's outputs. Four queries."""
    lengths = lengths_of(project)
    positions = {pk: index for index, pk in enumerate(lengths)}
    # An empty output counts as one character, because 0 has no logarithm.
    logs = np.log(np.maximum(list(lengths.values()), 1))
    values = MetricValue.objects.filter(metric__project=project)
    of_documents = values.filter(metric__name__istartswith=DOCUMENT_PERPLEXITY)
    of_texts = values.filter(metric__name__icontains="perplexity").exclude(
        metric__name__istartswith=DOCUMENT_PERPLEXITY
    )
    families = [""] * len(positions)
    # By name, so an item with two families has the last one in every installation.
    tags = ItemTag.objects.filter(item__in=outputs_of(project), name__istartswith=FAMILY).order_by("name")
    for item, name in tags.values_list("item", "name"):
        families[positions[item]] = name[len(FAMILY) :].strip().casefold()
    return ItemTexts(
        list(positions),
        logs,
        _perplexity(of_texts, positions),
        _perplexity(of_documents, positions),
        families,
    )


def lengths_of(project: Project) -> dict[int, int]:
    """Return the number of characters of each output by item, in the order of their keys. One query."""
    return dict(outputs_of(project).order_by("pk").values_list("pk", Length("text")))


def _perplexity(values: QuerySet[MetricValue], positions: dict[int, int]) -> npt.NDArray[np.float64] | None:
    """Return the first metric by name; values that are not above 0 have no logarithm."""
    first: str | None = None
    found = np.full(len(positions), np.nan)
    for name, item, value in values.order_by("metric__name").values_list("metric__name", "item", "value"):
        first = first or name
        # Imported values can be about other items: an addition's bridging items.
        if name == first and value > 0 and item in positions:
            found[positions[item]] = np.log(value)
    return None if first is None else found


def version_of_texts(project: Project) -> Sequence[object]:
    """Return a version that changes when a family tag is added or removed. One query."""
    tags = ItemTag.objects.filter(item__document__project=project, name__istartswith=FAMILY)
    counted = tags.order_by("name").values_list("name")
    # The sum of ids changes if a tag moves to another item and their number stays.
    return list(counted.annotate(Count("pk"), Sum("item")))
