"""Values by document and system, samples with unequal probabilities, and the page of results by metadata."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import mean_score
from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.summary import UNEQUAL
from agreement.system_differences import SystemDifference
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.metadata import metadata_names, metadata_of_items
from annotate.core.models import AssignedUnit, Item, Project
from annotate.material.reading.rows import shorten
from annotate.results.queries.agreement_tables import alpha_by_label
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, figure, text


def values_by_document(
    rated: RatedRound,
    items: ItemOrigins,
    dimension: FrozenDimension,
    names: Sequence[str],
    category: int | None = None,
) -> FloatArray:
    """Return (raters, documents, systems): every rater's values, NaN without a value.

    category: if given, 1 for this value and 0 for the others.
    """
    own = rated.rated[dimension.key]
    values = own.data.values
    if category is not None:
        values = np.where(np.isnan(values), np.nan, values == category)
    documents = np.unique(items.documents_of(own), return_inverse=True)[1]
    table = np.full((len(values), int(documents.max(initial=-1)) + 1, len(names)), np.nan)
    table[:, documents, np.searchsorted(names, items.systems_of(own))] = values  # `names` are sorted
    return table


def mean_over_raters(values: FloatArray) -> FloatArray:
    """(documents, systems): an item's score, the mean of its raters' values; NaN without values."""
    raters, documents, systems = values.shape
    return mean_values(values.reshape(raters, documents * systems)).reshape(documents, systems)


def warn_if(cell: Cell, unequal: bool) -> Cell:
    """Return a value, with a warning if its units had unequal probabilities."""
    return replace(cell, warning=f"{UNEQUAL} {gettext('The page Estimates has it.')}") if unequal else cell


def difference_cell(each: SystemDifference, how: str, unequal: Collection[str]) -> Cell:
    """Return a difference with its interval and its number of documents.

    unequal: the systems with unequal probabilities.
    """
    reason, interval_reason = (each.reason, "") if each.value is None else ("", each.reason)
    cell = Cell(each.value, each.low, each.high, interval_reason, each.documents, reason, how=how)
    return warn_if(cell, each.first in unequal or each.second in unequal)


Unequal = Mapping[str, frozenset[str]]
"""The names of such systems by the key of the dimension."""


def unequally_drawn(rated: RatedRound, items: ItemOrigins) -> Unequal:
    """Return the systems with some units certainly rated and others sampled. One query.

    Systems with a rating of every unit are not samples. Units without an assignment have a lower probability.
    """
    asked = AssignedUnit.objects.filter(
        assignment__round__project=rated.round.project_id, assignment__round__number__lte=rated.round.number
    )
    chances: dict[str, dict[int, float]] = {}
    columns = ("dimension__key", "assignment__item", "inclusion_probability")
    for key, item, probability in asked.order_by("pk").values_list(*columns):
        chances.setdefault(key, {})[item] = probability  # the latest assignment of a unit counts
    # The units of each system that count, without gold items.
    of_system: dict[str, set[int]] = {}
    for item in items.counted:
        of_system.setdefault(items.systems[item], set()).add(item)
    found: dict[str, frozenset[str]] = {}
    for each in rated.dimensions:
        drawn, given = chances.get(each.key, {}), set(rated.rated[each.key].items.tolist())
        unequal = (name for name, own in of_system.items() if drawn and _is_unequal(own, drawn, given))
        found[each.key] = frozenset(unequal)
    return found


def _is_unequal(own: set[int], drawn: Mapping[int, float], given: set[int]) -> bool:
    """Return True if the units of an incompletely rated system (item keys) differ in probability."""
    if own <= given:
        return False
    shares = [drawn[item] for item in own if drawn.get(item, 1.0) < 1]
    of_others = min(shares, default=0.0)
    # A rated unit without a recorded probability is certain; an unrated one counts as a sampled unit.
    return len({drawn.get(item, 1.0 if item in given else of_others) for item in own}) > 1


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
        # Numbers of the documents, by which `bincount` adds up and counts the scores of each.
        _, positions = np.unique(documents[is_own], return_inverse=True)
        sums = np.bincount(positions, weights=scores[is_own])
        found.append(sums / np.bincount(positions))
    return found
