"""The page of results by metadata: mean scores and alpha for each value of a column."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import mean_score
from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.summary import UNEQUAL
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.metadata import metadata_names, metadata_of_items
from annotate.core.models import Item, Project
from annotate.material.reading.rows import shorten
from annotate.results.page import Section
from annotate.results.queries.breakdown import alpha_by_label
from annotate.results.queries.drawn import unequally_drawn
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text

MOST_VALUES = 50


def has_metadata(project: Project) -> bool:
    return bool(metadata_names(project))


def _columns(project: Project) -> Sequence[tuple[str, str]]:
    if names := metadata_names(project):
        return [(name, name) for name in names]
    raise NotReadyError(
        gettext("No document or item has metadata. Imports keep columns without another meaning as metadata.")
    )


METADATA = Parameter("column", gettext_lazy("Metadata"), _columns)


def metadata_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the means of the last round and alpha of Round I, none before it. Up to eight queries."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return []
    column, items = chosen[METADATA.name], items_of(project)
    labels = _labels(project, column)
    numbered = [each for each in rounds[-1].dimensions if not each.is_named]
    rated = replace(rounds[-1], dimensions=tuple(numbered))
    head = Column("metadata", column, ColumnKind.TEXT)
    first = rounds[0]
    title = gettext("Krippendorff’s alpha by {column} ({round})").format(column=column, round=first.label)
    alpha = alpha_by_label(first, title, head, labels, first.resampling)
    means = [_means(rated, items, labels, head)] if numbered else []
    return [Section(gettext("By {column}").format(column=column), "", [*means, alpha])]


def _labels(project: Project, column: str) -> Mapping[int, str]:
    """Return the value of each item. Values beyond the MOST_VALUES most frequent share a name."""
    items = Item.objects.filter(document__project=project).annotate(label=metadata_of_items(column))
    without = gettext("no value")
    labels = {item: shorten(label or without) for item, label in items.values_list("pk", "label")}
    frequent = {label for label, _ in Counter(labels.values()).most_common(MOST_VALUES)}
    return {item: label if label in frequent else gettext("all others") for item, label in labels.items()}


def _means(rated: RatedRound, items: ItemOrigins, labels: Mapping[int, str], head: Column) -> Table:
    names = sorted(set(labels.values()))
    unequal = unequally_drawn(rated, items)
    columns = []
    for dimension in rated.dimensions:
        scores = _scores_by_document(rated, items, labels, names, dimension)
        scale = dimension.scale_minimum, dimension.scale_maximum
        found = [mean_score(own, scale) for own in scores]
        cells = [figure(each, count=each.counts.ratings) for each in found]
        warning = UNEQUAL if unequal[dimension.key] else ""
        columns.append([replace(cell, warning=cell.warning or warning) for cell in cells])
    counts = Counter(labels.values())
    rows = [[text(name), Cell(counts[name]), *cells] for name, *cells in zip(names, *columns, strict=True)]
    dimensions = [Column(each.key, each.name, decimals=2) for each in rated.dimensions]
    says = gettext(
        "A document’s score is the mean of its items with this value, at the end of {round}; n is the number "
        "of documents. Intervals are over documents like these, by these raters."
    ).format(round=rated.name)
    title = gettext("Mean scores by {column}").format(column=head.name)
    counted = Column("items", gettext("items"), ColumnKind.COUNT)
    return Table("means", title, [head, counted, *dimensions], rows, says=says, plot="intervals")


def _scores_by_document(
    rated: RatedRound,
    items: ItemOrigins,
    labels: Mapping[int, str],
    names: Sequence[str],
    dimension: FrozenDimension,
) -> list[FloatArray]:
    """Return for each name (documents,): the mean over its items of the mean over raters, NaN without."""
    own = rated.rated[dimension.key]
    scores = mean_values(own.data.values)
    of_units = np.array([labels[item] for item in own.items.tolist()], np.str_)
    documents = items.documents_of(own)
    found = []
    for name in names:
        is_own = (of_units == name) & ~np.isnan(scores)
        _, positions = np.unique(documents[is_own], return_inverse=True)
        sums = np.bincount(positions, weights=scores[is_own])
        found.append(sums / np.bincount(positions))
    return found
