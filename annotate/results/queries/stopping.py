"""Stopping Round I: the present and forecast width of alpha's interval, and an interval valid for
stopping.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Count, Max, Q
from django.utils.translation import gettext, gettext_lazy

from agreement.always_valid import always_valid_alpha
from agreement.data import MeasurementLevel
from agreement.streams import Stream
from agreement.variance_components import units_needed
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Item, Round
from annotate.results.page import Section
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

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
    table = Table(
        "stopping",
        gettext("Width of alpha’s interval, and when to stop"),
        columns,
        rows,
        says=str(_TABLE_SAYS),
    )
    return Section(gettext("Enough ratings"), str(_SAYS), [table], "stopping")


def say_outlook(stopping: Section) -> str:
    """Return in words the number of further items that alpha's interval needs, by dimension; empty if
    unknown.
    """
    (table,) = stopping.tables
    index = [column.key for column in table.columns].index(f"more_{WIDTHS[-1]:g}")
    missing = [
        f"{row[index].value:,} ({row[0].value})" for row in table.rows if isinstance(row[index].value, int)
    ]
    if not missing:
        return ""
    listed = ", ".join(missing)
    return gettext("At this rate, more items needed for an interval {width:g} wide: {listed}.").format(
        width=WIDTHS[-1], listed=listed
    )


def _cells(
    rated: RatedRound,
    dimension: FrozenDimension,
    finished: Sequence[int],
    items: Mapping[int, Sequence[int]],
) -> Iterator[Cell]:
    alpha = alpha_of(rated, dimension)
    width = alpha.interval.high - alpha.interval.low if alpha.interval else None
    reason = alpha.reason or alpha.interval_reason or ""
    yield Cell(width, reason="" if width is not None else reason)
    data, own = rated.data(dimension), rated.rated[dimension.key]
    pairable = int((data.ratings_per_unit >= 2).sum())
    for wanted in WIDTHS:
        yield _more_items(width, pairable, wanted) if width is not None else Cell(reason=reason)
    positions = {item: index for index, item in enumerate(own.items.tolist())}
    columns = ([positions[item] for item in items[document] if item in positions] for document in finished)
    level = MeasurementLevel.NOMINAL if dimension.is_named else MeasurementLevel.INTERVAL
    found = always_valid_alpha(
        (own.data.values[:, each] for each in columns),
        level=level,
        value_domain=list(dimension.values),
    )
    yield Cell(found.documents)
    yield Cell(
        found.value,
        low=found.low if found.value is not None else None,
        high=found.high if found.value is not None else None,
        count=found.documents,
        reason=found.reason,
        how=str(_HOW),
    )
    yield Cell(found.width if found.value is not None else None, reason=found.reason, how=str(_HOW))


def _more_items(width: float, items: int, wanted: float) -> Cell:
    if width <= wanted:
        return Cell(reason=str(_REACHED))
    return Cell(max(math.ceil(units_needed(width, items, wanted) - items), 1), how=str(_HOW_MORE))


def finished_documents(round: Round) -> list[int]:
    """Return the documents with all assignments completed, by the time of their last ratings. One query.

    Exports contain the time of a rating's last save, so a copy has the same order. Recorded ratings have no
    times; a random order from the project's seed replaces them.
    """
    counted = Q(annotator__isnull=True) | Q(annotator__counted=True)
    assignments = Assignment.objects.filter(counted, round=round)
    rows = assignments.values("item__document").annotate(
        open=Count("pk", filter=Q(completed_at__isnull=True)), last=Max("ratings__updated_at")
    )
    whole = sorted((row["last"], row["item__document"]) for row in rows if not row["open"])
    documents = [document for _, document in whole]
    if len({last for last, _ in whole}) < len(whole):
        documents.sort()
        Stream(round.project.seed).of("stopping").shuffler().shuffle(documents)
    return documents


def items_of_documents(round: Round) -> dict[int, list[int]]:
    """Return the outputs of each document. One query."""
    found: dict[int, list[int]] = {}
    outputs = Item.objects.filter(document__project=round.project_id, kind=Item.Kind.OUTPUT)
    rows = outputs.order_by("pk").values_list("document", "pk")
    for document, item in rows:
        found.setdefault(document, []).append(item)
    return found
