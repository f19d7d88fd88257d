"""People's value of each output on each dimension, and the texts that it is about."""

from collections.abc import Iterator, Sequence

import numpy as np
from django.db.models import Q

from agreement.data import FloatArray
from agreement.groups import mean_values
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Item, Project, Rating
from annotate.core.rounds import rounds_of
from annotate.results.queries.reliability_data import rated_items

Unit = tuple[str, str]
"""The key of a document and the name of a system."""
Values = Iterator[tuple[str, int, float]]
"""Dimension key, item and value."""
DECIMALS = 12  # the same values added in another order differ behind these


def texts_of(project: Project, *, bridges: bool = False) -> dict[int, tuple[Unit, tuple[str, str]]]:
    """Return the unit and the digests of each output by its key, gold items aside except bridging ones."""
    counted = Q(gold__isnull=True) | Q(gold__bridging__isnull=False) if bridges else Q(gold__isnull=True)
    items = Item.objects.filter(counted, document__project=project, kind=Item.Kind.OUTPUT).order_by("pk")
    rows = items.values_list("pk", "document__key", "system__name", "document__digest", "digest")
    return {item: ((document, system), (source, output)) for item, document, system, source, output in rows}


def values_of_people(
    project: Project, number: int, *, bridges: bool = False
) -> tuple[Sequence[FrozenDimension], Values]:
    """Return the dimensions of a round, or of Round I, with people's values: means, of names the mode.

    Nothing before Round I. bridges: with the values of bridging items.
    """
    rounds = rounds_of(project)
    round = rounds.get(number) or rounds.get(1)
    if round is None:
        return (), iter(())
    dimensions = guideline_of(round).scales

    def values() -> Values:
        rated = rated_items(round)
        for each in dimensions:
            own = rated[each.key]
            given = own.data.values
            # As of a judge's samples, except for ties: people have no first answer that could decide.
            means = _find_majority(given) if each.is_named else mean_values(given)
            for item, value in zip(own.items.tolist(), means.tolist(), strict=True):
                if not np.isnan(value):
                    yield each.key, item, value
        if bridges:
            yield from _bridging_values(project, dimensions)

    return dimensions, values()


def _bridging_values(project: Project, dimensions: Sequence[FrozenDimension]) -> Values:
    """Yield the means of bridging items, which raters meet among the hidden checks. One query."""
    given = Rating.objects.filter(
        assignment__round__project=project,
        assignment__plan=Assignment.Plan.GOLD,
        assignment__item__gold__bridging__isnull=False,
        assignment__annotator__counted=True,
    )
    found: dict[tuple[int, int], list[float]] = {}
    for dimension, item, value in given.order_by("pk").values_list("dimension", "assignment__item", "value"):
        if value is not None:
            found.setdefault((dimension, item), []).append(value)
    by_id = {each.id: each for each in dimensions}
    for (dimension, item), values in found.items():
        if each := by_id.get(dimension):
            column = np.array(values)[:, None]
            value = float((_find_majority(column) if each.is_named else mean_values(column))[0])
            if not np.isnan(value):
                yield each.key, item, value


def _find_majority(values: FloatArray) -> FloatArray:
    """Return (items,): the most frequent of the raters' categories (raters, items), NaN for a tie."""
    times = np.sum(values[:, None, :] == values[None, :, :], axis=1)
    most = times.max(axis=0, initial=0)
    found = np.take_along_axis(values, times.argmax(axis=0)[None], axis=0)[0] if len(values) else most
    tied = np.any((times == most) & (values != found), axis=0)
    return np.where((most > 0) & ~tied, found, np.nan)
