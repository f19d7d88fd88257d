"""Stopping Round I: certainty of alpha, and of differences of systems, valid at every look."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from django.db.models import Count, Max, Q
from django.utils.translation import gettext, gettext_lazy

from agreement.always_valid import (
    MOST_TIMES,
    AlwaysValidDifference,
    always_valid_alpha,
    always_valid_differences,
)
from agreement.data import FloatArray, MeasurementLevel
from agreement.groups import mean_values
from agreement.streams import Stream
from agreement.variance_components import units_needed
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Item, Round
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text

WIDTHS = (0.2, 0.1)
_SAYS = gettext_lazy(
    "The standard interval assumes one look at the end. If you check repeatedly and stop as soon as it is "
    "narrow, it covers less often than stated. The always-valid interval is wider, but you may check it at "
    "any time and stop by it. It uses the documents that all their raters have finished, in order of "
    "completion, and treats them as a sample in random order."
)
_TABLE_SAYS = gettext_lazy(
    "More items: the number needed for a standard interval of that width, if they are like the items until "
    "now. Always valid: 95 % at all looks together, by betting on pairs of documents; at interval level if "
    "values are ordered, nominal if they are names."
)
_HOW_MORE = gettext_lazy(
    "Today’s width times the root of documents today by documents then (function units_needed)."
)
_HOW = gettext_lazy(
    "Alpha of finished documents, each counting the same (function always_valid_alpha); source: Waudby-Smith "
    "and Ramdas 2024, section 4."
)
_REACHED = gettext_lazy("It is as narrow already.")


def stopping_section(
    rated: RatedRound, finished: Sequence[int], items: Mapping[int, Sequence[int]]
) -> Section:
    """Return the certainty of alpha by dimension.

    finished: documents in the order of `finished_documents`. items: the outputs of each document.
    """
    rows = [
        [text(each.name, key=each.key), *_cells(rated, each, finished, items)] for each in rated.dimensions
    ]
    columns = [
        DIMENSION,
        Column("width", gettext("width of alpha’s interval")),
        *(
            Column(
                f"more_{width:g}", gettext("more items until {width:g}").format(width=width), ColumnKind.COUNT
            )
            for width in WIDTHS
        ),
        Column("documents", gettext("finished documents"), ColumnKind.COUNT),
        Column("always_valid", gettext("alpha, always valid")),
        Column("always_valid_width", gettext("its width")),
    ]
    title = gettext("Width of alpha’s interval, and when to stop")
    table = Table("stopping", title, columns, rows, says=str(_TABLE_SAYS))
    return Section(gettext("Enough ratings"), str(_SAYS), [table], "stopping")


def say_outlook(stopping: Section) -> str:
    """Return the number of further items that alpha's interval needs, by dimension; empty if unknown."""
    (table,) = stopping.tables
    index = [column.key for column in table.columns].index(f"more_{WIDTHS[-1]:g}")
    missing = [
        f"{row[index].value:,} ({row[0].value})" for row in table.rows if isinstance(row[index].value, int)
    ]
    if not missing:
        return ""
    says = gettext("At this rate, more items needed for an interval {width:g} wide: {listed}.")
    return says.format(width=WIDTHS[-1], listed=", ".join(missing))


def _cells(
    rated: RatedRound, dimension: FrozenDimension, finished: Sequence[int], items: Mapping[int, Sequence[int]]
) -> Iterator[Cell]:
    # The standard interval, and the items that it needs for each width.
    alpha = alpha_of(rated, dimension)
    width = alpha.interval.high - alpha.interval.low if alpha.interval else None
    reason = alpha.reason or alpha.interval_reason or ""
    yield Cell(width, reason="" if width is not None else reason)
    data, own = rated.data(dimension), rated.rated[dimension.key]
    pairable = int((data.ratings_per_unit >= 2).sum())
    for wanted in WIDTHS:
        if width is None or width <= wanted:
            yield Cell(reason=reason if width is None else str(_REACHED))
        else:
            # The width is still above the wanted one, so rounding must not give 0 more items.
            more = max(math.ceil(units_needed(width, pairable, wanted) - pairable), 1)
            yield Cell(more, how=str(_HOW_MORE))
    positions = {item: index for index, item in enumerate(own.items.tolist())}
    # The betting takes one document after the other, in the order in which they were finished.
    columns = ([positions[item] for item in items[document] if item in positions] for document in finished)
    level = MeasurementLevel.NOMINAL if dimension.is_named else MeasurementLevel.INTERVAL
    by_document = (own.data.values[:, each] for each in columns)
    found = always_valid_alpha(by_document, level=level, value_domain=list(dimension.values))
    yield Cell(found.documents)
    if found.value is None:
        yield Cell(count=found.documents, reason=found.reason, how=str(_HOW))
        yield Cell(reason=found.reason, how=str(_HOW))
    else:
        count, reason = found.documents, found.reason
        yield Cell(found.value, found.low, found.high, count=count, reason=reason, how=str(_HOW))
        yield Cell(found.width, reason=reason, how=str(_HOW))


def finished_documents(round: Round) -> list[int]:
    """Return the documents with all assignments completed, by the time of their last ratings. One query.

    Exports contain the time of a rating's last save, so a copy has the same order. Recorded ratings have no
    times; a random order from the project's seed replaces them.
    """
    # Free assignments are still expected; assignments of excluded raters must not delay a document.
    counted = Q(annotator__isnull=True) | Q(annotator__counted=True)
    assignments = Assignment.objects.filter(counted, round=round)
    rows = assignments.values("item__document").annotate(
        open=Count("pk", filter=Q(completed_at__isnull=True)), last=Max("ratings__updated_at")
    )
    # Equal times would order documents by their keys, which are no random order.
    whole = sorted((row["last"], row["item__document"]) for row in rows if not row["open"])
    documents = [document for _, document in whole]
    # Recorded ratings have equal times; sorting first makes the shuffle repeatable.
    if len({last for last, _ in whole}) < len(whole):
        documents.sort()
        Stream(round.project.seed).of("stopping").shuffler().shuffle(documents)
    return documents


def items_of_documents(round: Round) -> dict[int, list[int]]:
    """Return the outputs of each document. One query."""
    found: dict[int, list[int]] = {}
    outputs = Item.objects.filter(document__project=round.project_id, kind=Item.Kind.OUTPUT)
    for document, item in outputs.order_by("pk").values_list("document", "pk"):
        found.setdefault(document, []).append(item)
    return found


_SYSTEMS_SAY = gettext_lazy(
    "You may look after every document and stop as soon as a difference is sure: these tests stay valid at "
    "all looks together. They take the raters as they are and documents as a sample in random order, so they "
    "hold for other documents and not for other raters."
)
_PAIRS_SAY = gettext_lazy(
    "The first system’s mean minus the second’s over finished documents. The interval covers all pairs of a "
    "dimension at all looks (Bonferroni); p is corrected by Holm over the pairs of a dimension, not over "
    "dimensions. More documents: until the difference is sure, if they are like those finished."
)
HOW_ALWAYS_VALID = gettext_lazy(
    "Betting against every mean difference (function always_valid_differences); source: Waudby-Smith and "
    "Ramdas 2024, section 4."
)
_FAR = gettext_lazy("More than {times} times the finished documents.")
_SURE = gettext_lazy("It is sure already.")
_ALL_SURE = gettext_lazy("Every pair differs surely.")


@dataclass(frozen=True)
class _ComparedPairs:
    dimension: FrozenDimension
    pairs: Sequence[AlwaysValidDifference]

    @property
    def sure(self) -> int:
        return sum(each.is_sure for each in self.pairs)

    @property
    def nearest(self) -> AlwaysValidDifference | None:
        """The pair that becomes sure next, if any can be forecast."""
        waiting = [each for each in self.pairs if each.more_documents is not None]
        return min(waiting, key=lambda each: each.more_documents or 0, default=None)


def systems_so_far_section(
    rated: RatedRound, origins: ItemOrigins, finished: Sequence[int], items: Mapping[int, Sequence[int]]
) -> Section:
    """Return the differing systems by dimension; no tables with fewer than two systems.

    finished: documents in the order of completion. items: the outputs of each document.
    """
    names = sorted(set(origins.systems.values()))
    compared = [
        _ComparedPairs(each, _compare_systems(rated, each, origins, names, finished, items))
        for each in rated.dimensions
        if each.has_mean and len(names) > 1
    ]
    tables = [_summary(compared), _pairs(compared)] if compared else []
    return Section(
        gettext("Enough documents to compare systems"), str(_SYSTEMS_SAY), tables, "systems-so-far"
    )


def _compare_systems(
    rated: RatedRound,
    dimension: FrozenDimension,
    origins: ItemOrigins,
    names: Sequence[str],
    finished: Sequence[int],
    items: Mapping[int, Sequence[int]],
) -> Sequence[AlwaysValidDifference]:
    own = rated.rated[dimension.key]
    means = dict(zip(own.items.tolist(), mean_values(own.data.values).tolist(), strict=True))
    column = {name: index for index, name in enumerate(names)}
    # The score of each system on each finished document, NaN without one.
    scores: FloatArray = np.full((len(finished), len(names)), np.nan)
    for row, document in enumerate(finished):
        for item in items.get(document, ()):
            if item in means:
                scores[row, column[origins.systems[item]]] = means[item]
    pairs = [
        (names[one], names[other], scores[:, one] - scores[:, other])
        for one, other in combinations(range(len(names)), 2)
    ]
    return always_valid_differences(pairs, reach=dimension.scale_maximum - dimension.scale_minimum)


def _summary(compared: Sequence[_ComparedPairs]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(max(pair.documents for pair in each.pairs)),
            Cell(len(each.pairs)),
            Cell(each.sure),
            Cell(len(each.pairs) - each.sure),
            *_nearest_pair_cells(each),
        ]
        for each in compared
    ]
    columns = [
        DIMENSION,
        Column("documents", gettext("finished documents"), ColumnKind.COUNT),
        Column("pairs", gettext("pairs of systems"), ColumnKind.COUNT),
        Column("sure", gettext("differ surely"), ColumnKind.COUNT),
        Column("open", gettext("not yet"), ColumnKind.COUNT),
        Column("next", gettext("next pair"), ColumnKind.TEXT),
        Column("more", gettext("more documents"), ColumnKind.COUNT),
    ]
    title = gettext("Systems that differ surely, and when to stop")
    return Table("systems-so-far", title, columns, rows, says=describe_pairs(compared))


def _nearest_pair_cells(compared: _ComparedPairs) -> list[Cell]:
    if nearest := compared.nearest:
        more = Cell(nearest.more_documents, how=str(HOW_ALWAYS_VALID))
        return [text(f"{nearest.first} – {nearest.second}"), more]
    is_done = compared.sure == len(compared.pairs)
    return [Cell(reason=str(_ALL_SURE) if is_done else _FAR.format(times=MOST_TIMES))] * 2


def describe_pairs(compared: Sequence[_ComparedPairs]) -> str:
    """Return one or two messages: pairs by name if there are few, else their numbers and the next one."""
    found = [(each.dimension.name, pair) for each in compared for pair in each.pairs]
    if len(found) <= _FEW:
        return " ".join(_describe_pair(name, pair) for name, pair in found)
    sure = gettext("{sure} of {total} differences of systems are sure, over all dimensions.").format(
        sure=sum(pair.is_sure for _, pair in found), total=len(found)
    )
    waiting = [(each.dimension.name, each.nearest) for each in compared if each.nearest]
    if not waiting:
        return sure
    name, nearest = min(waiting, key=lambda each: each[1].more_documents or 0)
    return f"{sure} {_describe_pair(name, nearest)}"


_FEW = 3


def _describe_pair(dimension: str, pair: AlwaysValidDifference) -> str:
    parts = {"first": pair.first, "second": pair.second, "dimension": dimension}
    if pair.is_sure:
        return gettext("{first} and {second} differ surely on {dimension}.").format(**parts)
    if pair.more_documents is None:
        return gettext("{first} and {second} do not differ surely yet on {dimension}.").format(**parts)
    says = gettext(
        "{first} and {second} do not differ surely yet on {dimension}: about {more} more documents."
    )
    return says.format(**parts, more=f"{pair.more_documents:,}")


def _pairs(compared: Sequence[_ComparedPairs]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(pair.first),
            text(pair.second),
            *always_valid_cells(pair),
        ]
        for each in compared
        for pair in each.pairs
    ]
    columns = [
        DIMENSION,
        Column("system", gettext("System"), ColumnKind.TEXT),
        Column("other_system", gettext("Other system"), ColumnKind.TEXT),
        Column("difference", gettext("difference"), decimals=2),
        Column("p_adjusted", gettext("p at every look"), ColumnKind.P_VALUE),
        Column("sure", gettext("differ surely"), ColumnKind.TEXT),
        Column("more", gettext("more documents"), ColumnKind.COUNT),
    ]
    title = gettext("Differences of systems at every look")
    return Table("pairs-so-far", title, columns, rows, heads=3, says=str(_PAIRS_SAY))


def always_valid_cells(pair: AlwaysValidDifference) -> Iterator[Cell]:
    """Yield the difference with its interval, Holm's p, whether it is sure, and the documents missing."""
    how = str(HOW_ALWAYS_VALID)
    yield Cell(pair.value, pair.low, pair.high, count=pair.documents, reason=pair.reason, how=how)
    yield Cell(pair.adjusted_p_value, reason=pair.reason, how=how)
    yield text(gettext("yes") if pair.is_sure else gettext("not yet"))
    missing = str(_SURE) if pair.is_sure else pair.reason or _FAR.format(times=MOST_TIMES)
    yield Cell(pair.more_documents, reason=missing, how=how)
