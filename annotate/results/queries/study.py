"""The page of planning a study: raters for a reliable mean, documents for a sure alpha, hours and money."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from django.db.models import Q, Sum
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, intraclass_correlation
from agreement.variance_components import (
    MOST_RATERS,
    expected_width,
    raters_needed,
    reliability_of_mean,
    units_needed,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Project
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import ItemOrigins, RatedRound, items_of, rated_rounds
from annotate.results.queries.study_designs import (
    COSTS,
    DESIGN_PARAMETERS,
    SYSTEMS,
    TRAINING,
    Costs,
    designs_section,
)
from annotate.results.queries.study_variances import (
    DEVIATIONS,
    FIND,
    WANTED,
    curves_of,
    planned_dimensions,
    size_of_study,
    variances_section,
)
from annotate.results.registry import Chosen, NumberParameter, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text

RATERS = (1, 2, 3, 5, 8, 12)
TIMES = (1, 2, 4, 8)
CURVE_RATERS = tuple(range(1, 13))
CURVE_TIMES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)
WIDTH = 0.1
_HOW_MEAN = gettext_lazy(
    "m r / (1 + (m - 1) r) with r = ICC(A,1) and its interval (function reliability_of_mean); source: "
    "Brennan 2001, chapter 2."
)
_HOW_WIDTH = gettext_lazy(
    "Today’s width times the square root of documents today by documents planned (expected_width)."
)
_SAYS = gettext_lazy(
    "From Round I: expected results of a larger study with the same kind of raters, outputs and guideline."
)
_SAYS_BEFORE = gettext_lazy("Before Round I: a plan from the seconds that you assume for an item.")
_NO_END = gettext_lazy("The interval of ICC(A,1) does not exclude that more than {most} raters are needed.")
_RATERS_SAY = gettext_lazy(
    "Reliability of the mean of the given number of raters, ICC(A,m), if each rates every output, and the "
    "fewest raters that reach the target."
)
_ALPHA_SAYS = gettext_lazy(
    "Width of alpha’s 95 % interval with more documents, rated as today. Needed: documents for a width of "
    "0.1. More documents make alpha surer, and not higher."
)
_CURVES_SAY = gettext_lazy("The same for more numbers of raters and documents. Bands are 95 % intervals.")
_EFFORT_SAYS = gettext_lazy(
    "Hours of active time if all raters rate every output of the given number of documents. The time per "
    "item is the median of Round I, or the seconds given above. Reading the guideline, training and "
    "discussion come on top."
)


TARGETS = [(each, each) for each in ("0.8", "0.7", "0.9")]  # the first is the default
TARGET = Parameter("target", gettext_lazy("Reliability to reach"), lambda _project: TARGETS, group=WANTED)
WAGE = NumberParameter("wage", gettext_lazy("Pay for an hour"), group=COSTS, most=100_000)
SECONDS = NumberParameter("seconds", gettext_lazy("Seconds for an item"), group=COSTS, least=1, most=100_000)
STUDY_PARAMETERS = (TARGET, FIND, *DESIGN_PARAMETERS, *DEVIATIONS, SECONDS, WAGE, TRAINING)


def study_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the requirements of a larger study, from Round I or from assumptions. Up to nine queries."""
    rounds = rated_rounds(project, "documents")
    first = rounds[0] if rounds else None
    items, target = items_of(project), float(chosen.get("target", "0.8"))
    size, planned = size_of_study(first, items), planned_dimensions(first, items, chosen)
    if chosen.get(SYSTEMS.name):
        size = replace(size, systems=int(float(chosen[SYSTEMS.name])))
    # ICC(A,1) of each dimension, from which the ICC of any number of raters follows.
    single = [
        (each, intraclass_correlation(first.data(each), form="A,1"))
        for each in (first.dimensions if first else ())
        if first
    ]
    tables = [_raters(single, target), _alphas(first)] if first else []
    pace = _pace(first, items, chosen)
    tables += _effort(pace, single, target, chosen)
    rows = [
        [text(dimension.name, key=dimension.key), Cell(number), _measure_mean(one, number)]
        for dimension, one in single
        if not _explain_no_mean(one)
        for number in CURVE_RATERS
    ]
    columns = [
        DIMENSION,
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("reliability", gettext("reliability of their mean")),
    ]
    reliability_curve = Table(
        "reliability-curve", gettext("Reliability by raters"), columns, rows, heads=2, plot="curve"
    )
    # Without known variances or ratings, a curve has no rows and is omitted.
    curves = [reliability_curve, *([_width_curve(first)] if first else [])]
    curves = [each for each in (*curves, *curves_of(planned, size, chosen)) if each.rows]
    minutes, wage = (float(chosen.get(each.name) or 0) for each in (TRAINING, WAGE))
    costs = Costs(pace.seconds, 60 * minutes, wage, pace.source)
    alphas = {each.key: alpha_of(first, each) for each in first.dimensions} if first else {}
    widths = {key: each.interval.high - each.interval.low for key, each in alphas.items() if each.interval}
    needs = Section(gettext("What a study needs"), str(_SAYS if first else _SAYS_BEFORE), tables)
    return [
        *([needs] if tables else []),
        designs_section(planned, size, costs, widths, chosen),
        variances_section(planned, size, target, chosen),
        *([Section(gettext("Curves"), str(_CURVES_SAY), curves, "curves")] if curves else []),
    ]


def _raters(single: Sequence[tuple[FrozenDimension, Coefficient]], target: float) -> Table:
    columns = [
        DIMENSION,
        Column("needed", gettext("raters for {target:g}").format(target=target), decimals=0),
        Column("single", gettext("1 rater: ICC(A,1)")),
        *(
            Column(f"raters_{number}", gettext("{number} raters").format(number=number))
            for number in RATERS[1:]
        ),
    ]
    rows = [
        [
            text(dimension.name, key=dimension.key),
            _raters_needed_cell(one, target),
            figure(one),
            *(_measure_mean(one, number) for number in RATERS[1:]),
        ]
        for dimension, one in single
    ]
    return Table("raters-needed", gettext("Raters for a reliable mean"), columns, rows, says=str(_RATERS_SAY))


def _measure_mean(one: Coefficient, raters: int) -> Cell:
    if reason := _explain_no_mean(one):
        return Cell(reason=reason)
    assert one.value is not None
    low, high = _limits(one)
    return Cell(
        reliability_of_mean(one.value, raters),
        # The formula has no meaning for an ICC below 0.
        low=None if low is None else reliability_of_mean(max(low, 0.0), raters),
        high=None if high is None else reliability_of_mean(high, raters),
        count=one.counts.pairable_units,
        how=str(_HOW_MEAN),
    )


def _raters_needed_cell(one: Coefficient, target: float) -> Cell:
    if reason := _explain_no_mean(one):
        return Cell(reason=reason)
    assert one.value is not None
    known, count, how = raters_needed(one.value, target), one.counts.pairable_units, str(_HOW_MEAN)
    if known is None:
        reason = gettext("More than {most}: raters hardly agree.").format(most=MOST_RATERS)
        return Cell(reason=reason, how=how)
    low, high = _limits(one)  # a higher ICC needs fewer raters
    fewest, most = (None if each is None else raters_needed(each, target) for each in (high, low))
    if fewest is None or most is None:
        return Cell(known, interval_reason=_NO_END.format(most=MOST_RATERS), count=count, how=how)
    return Cell(known, low=fewest, high=most, count=count, how=how)


def _explain_no_mean(one: Coefficient) -> str:
    """Return the reason why no reliability of a mean follows from ICC(A,1), empty if one does."""
    if one.value is None:
        return one.reason or ""
    return (
        "" if one.value > 0 else gettext("Raters agree no more than by chance, so more of them do not help.")
    )


def _limits(one: Coefficient) -> tuple[float | None, float | None]:
    return (one.interval.low, one.interval.high) if one.interval else (None, None)


def _alphas(rated: RatedRound) -> Table:
    columns = [
        DIMENSION,
        Column("needed", gettext("documents for a width of {width:g}").format(width=WIDTH), ColumnKind.COUNT),
        Column("documents", gettext("documents today"), ColumnKind.COUNT),
        Column("alpha", gettext("alpha")),
        *(
            Column(f"times_{times}", gettext("width, {times} × documents").format(times=times))
            for times in TIMES
        ),
    ]
    rows = [[text(each.name, key=each.key), *_alpha_cells(rated, each)] for each in rated.dimensions]
    title = gettext("Documents for a narrow interval of alpha")
    return Table("documents-needed", title, columns, rows, says=str(_ALPHA_SAYS))


def _alpha_cells(rated: RatedRound, dimension: FrozenDimension) -> Iterator[Cell]:
    alpha, documents = alpha_of(rated, dimension), _pairable_documents(rated, dimension)
    reason = alpha.reason or alpha.interval_reason or ""
    width = alpha.interval.high - alpha.interval.low if alpha.interval else None
    if width is None:
        yield from (Cell(reason=reason), Cell(documents), figure(alpha), *[Cell(reason=reason)] * len(TIMES))
        return
    yield Cell(units_needed(width, documents, WIDTH), how=str(_HOW_WIDTH))
    yield from (Cell(documents), figure(alpha))
    for times in TIMES:
        yield Cell(expected_width(width, documents, times * documents), how=str(_HOW_WIDTH))


def _width_curve(rated: RatedRound) -> Table:
    rows = []
    for each in rated.dimensions:
        alpha, documents = alpha_of(rated, each), _pairable_documents(rated, each)
        if alpha.interval:
            width = alpha.interval.high - alpha.interval.low
            planned = sorted({max(round(documents * times), 1) for times in CURVE_TIMES})
            for number in planned:
                expected = Cell(expected_width(width, documents, number), how=str(_HOW_WIDTH))
                rows.append([text(each.name, key=each.key), Cell(number), expected])
    columns = [
        DIMENSION,
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("width", gettext("width of alpha’s interval")),
    ]
    title = gettext("Width of alpha’s interval by documents")
    return Table("width-curve", title, columns, rows, heads=2, plot="curve")


def _pairable_documents(rated: RatedRound, dimension: FrozenDimension) -> int:
    """Return the number of documents in which two raters gave a unit a value."""
    data = rated.data(dimension)
    return len(np.unique(data.documents[data.ratings_per_unit >= 2])) if data.documents is not None else 0


@dataclass(frozen=True)
class _Pace:
    """items and documents of the present study; seconds: for one item, 0 if unknown."""

    items: int
    documents: int
    seconds: float
    source: str


def _pace(first: RatedRound | None, items: ItemOrigins, chosen: Chosen) -> _Pace:
    """Return the size of Round I and the median time of its items. One query.

    An item's time is from a counted annotator who rated all of it.
    """
    if first is None:
        counted = items.counted
        found = _Pace(len(counted), len({items.documents[item] for item in counted}), 0.0, "")
    else:
        taken = Assignment.objects.filter(round=first.round).annotate(
            seconds=Sum("ratings__active_seconds"),
            is_whole=Q(completed_at__isnull=False, partial=False, annotator__counted=True),
        )
        # All assignments count for the size of the study, and only whole ones for the time.
        rows = list(taken.values_list("item", "item__document", "seconds", "is_whole"))
        timed = [seconds for *_, seconds, is_whole in rows if seconds and is_whole]
        size = len({row[0] for row in rows}), len({row[1] for row in rows})
        found = _Pace(*size, median(timed) if timed else 0.0, gettext("median of Round I"))
    given = chosen.get(SECONDS.name)
    return replace(found, seconds=float(given), source="assumed") if given else found


def _effort(
    pace: _Pace, single: Sequence[tuple[FrozenDimension, Coefficient]], target: float, chosen: Chosen
) -> list[Table]:
    """Return hours and money, nothing without a measured or assumed time."""
    if not pace.seconds or not pace.items:
        return []
    # The numbers of raters that reach the target on each dimension get rows of their own.
    enough = [raters_needed(one.value, target) for _, one in single if one.value is not None]
    numbers = sorted({1, 2, 3, 5, *(each for each in enough if each)})
    wage = float(chosen.get("wage") or 0)
    how = gettext("{seconds:.0f} seconds an item ({source}) times items and raters.")
    how = how.format(seconds=pace.seconds, source=pace.source)
    rows = [
        [
            text(str(number)),
            Cell(sum(each is not None and each <= number for each in enough)),
            *(Cell(cost, how=how) for cost in _costs(number * pace.seconds * pace.items / 3600, wage)),
        ]
        for number in numbers
    ]
    columns = [
        Column("raters", gettext("Raters"), ColumnKind.TEXT),
        Column("reached", gettext("dimensions at {target:g}").format(target=target), ColumnKind.COUNT),
    ]
    for times in TIMES:
        documents = times * pace.documents
        hours = gettext("hours, {documents} documents").format(documents=documents)
        pay = gettext("pay, {documents} documents").format(documents=documents)
        columns.append(Column(f"hours_{times}", hours, decimals=1))
        columns += [Column(f"pay_{times}", pay, decimals=0)] if wage > 0 else []
    return [Table("effort", gettext("How much work it is"), columns, rows, says=str(_EFFORT_SAYS))]


def _costs(hours: float, wage: float) -> Iterator[float]:
    for times in TIMES:
        yield times * hours
        if wage:
            yield times * hours * wage
