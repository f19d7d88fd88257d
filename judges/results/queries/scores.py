"""Values of judges beside values of people, as arrays for `judges.comparison`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Item, Project, Round
from annotate.rating.queries.assigned import Unit
from annotate.results.queries.reliability_data import RatedItems, rated_items
from judges.comparison.head_to_head import Verdicts
from judges.comparison.scores import Scores
from judges.core.models import Judge, Judgment

_VALUE = np.dtype([("judge", "i8"), ("dimension", "i8"), ("item", "i8"), ("sample", "i8"), ("value", "f8")])
_VERDICT = np.dtype(
    [("dimension", "i8"), ("first", "i8"), ("second", "i8"), ("document", "i8"), ("value", "f8")]
)


@dataclass(frozen=True)
class Material:
    """All items of a project in one order, and what people say about them."""

    items: npt.NDArray[np.int64]
    systems: Sequence[str]
    documents: npt.NDArray[np.int64]
    document_keys: Sequence[str]
    dimensions: Sequence[FrozenDimension]
    rated: Mapping[str, RatedItems]

    def human(self, key: str) -> npt.NDArray[np.float64]:
        """(raters, items): the values of people on a dimension; no rows where nobody has rated."""
        rated = self.rated.get(key)
        if rated is None:
            return np.empty((0, len(self.items)))
        values = np.full((len(rated.data.values), len(self.items)), np.nan)
        values[:, np.searchsorted(self.items, rated.items)] = rated.data.values
        return values

    @cached_property
    def item_names(self) -> Mapping[int, str]:
        """What items are called in every installation of Concord, where a seed draws from them.

        By document and system; their keys in the database would draw others in a copy of the project.
        """
        parts = zip(self.items.tolist(), self.document_keys, self.systems, strict=True)
        return {item: f"{len(key)}:{key}/{len(system)}:{system}" for item, key, system in parts}

    def unit_names(self, units: Sequence[Unit]) -> list[str]:
        """Return the same for units: by document, system and dimension."""
        keys = {one.id: one.key for one in self.dimensions}
        return [f"{self.item_names[item]}/{keys[dimension]}" for item, dimension in units]


def material_of(project: Project, round: Round | None, guideline: FrozenGuideline) -> Material:
    """Return a project's items and what people hold about them at the end of a round. Three queries."""
    items = Item.objects.filter(document__project=project).order_by("pk")
    rows = list(items.values_list("pk", "system__name", "document", "document__key"))
    return Material(
        items=np.array([item for item, _, _, _ in rows], dtype=np.int64),
        systems=[system for _, system, _, _ in rows],
        documents=np.array([document for _, _, document, _ in rows], dtype=np.int64),
        document_keys=[key for _, _, _, key in rows],
        dimensions=guideline.dimensions,
        rated=rated_items(round) if round else {},
    )


def samples_of(judges: Sequence[Judge], material: Material) -> dict[tuple[int, str], npt.NDArray[np.float64]]:
    """Return (items, samples) by judge and dimension key, NaN where there is no value. One query."""
    done = Judgment.objects.filter(
        judge__in=judges, other__isnull=True, status=Judgment.Status.DONE
    ).values_list("judge", "dimension", "item", "sample", "value")
    rows = _rows(done, _VALUE)
    found = {}
    for judge in judges:
        for dimension in material.dimensions:
            own = rows[(rows["judge"] == judge.pk) & (rows["dimension"] == dimension.id)]
            values = np.full((len(material.items), max(int(own["sample"].max(initial=0)) + 1, 1)), np.nan)
            values[np.searchsorted(material.items, own["item"]), own["sample"]] = own["value"]
            found[judge.pk, dimension.key] = values
    return found


def unread_items(judges: Sequence[Judge], material: Material) -> dict[tuple[int, str], npt.NDArray[np.bool_]]:
    """Return (items,) by judge and dimension key: whether a reply about it has no value. One query."""
    failed = Judgment.objects.filter(
        judge__in=judges,
        other__isnull=True,
        status__in=[Judgment.Status.UNREADABLE, Judgment.Status.FAILED],
    )
    keys = {each.id: each.key for each in material.dimensions}
    found = {
        (judge.pk, key): np.zeros(len(material.items), dtype=bool)
        for judge in judges
        for key in keys.values()
    }
    for judge, dimension, item in failed.values_list("judge", "dimension", "item").iterator(20_000):
        if dimension in keys:
            found[judge, keys[dimension]][np.searchsorted(material.items, item)] = True
    return found


def scores_of(material: Material, key: str, samples: npt.NDArray[np.float64]) -> Scores:
    """Return people and one judge on one dimension; the judge's value is the mean of its samples."""
    return Scores(
        systems=material.systems,
        documents=material.documents,
        human=material.human(key),
        judge=mean_of_samples(samples),
    )


def mean_of_samples(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (items,): the mean of the samples (items, samples) that there are, NaN where there are none."""
    given = ~np.isnan(samples)
    means = np.full(len(samples), np.nan)
    np.divide(np.nansum(samples, axis=1), given.sum(axis=1), out=means, where=given.any(axis=1))
    return means


def verdicts_of(judge: Judge, material: Material) -> dict[str, Verdicts]:
    """Return a head-to-head judge's verdicts by dimension key, unreadable ones as gaps. One query."""
    answered = (
        Judgment.objects.filter(judge=judge, other__isnull=False)
        .filter(status__in=[Judgment.Status.DONE, Judgment.Status.UNREADABLE])
        .order_by("pk")
        .values_list("dimension", "item", "other", "item__document", "value")
    )
    rows = _rows(answered, _VERDICT)
    names = np.array(material.systems)
    found = {}
    for dimension in material.dimensions:
        own = rows[rows["dimension"] == dimension.id]
        found[dimension.key] = Verdicts(
            first=names[np.searchsorted(material.items, own["first"])],
            second=names[np.searchsorted(material.items, own["second"])],
            documents=own["document"],
            points=own["value"],
        )
    return found


def _rows(values: "QuerySet[Judgment, tuple[object, ...]]", of: np.dtype[np.void]) -> np.ndarray:
    rows = (tuple(np.nan if value is None else value for value in row) for row in values.iterator(20_000))
    return np.fromiter(rows, dtype=of)
