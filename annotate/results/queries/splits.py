"""Units on which raters stay in two camps after the last round, and whether noise alone explains it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import SplitUnits, UnitSplit, severity_share, split_units
from agreement.camps import FALSE_DISCOVERY_RATE, LEAST_RATERS
from agreement.data import ReliabilityData
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Rating, RatingChange
from annotate.core.scale import distance, normalize
from annotate.results.queries.disagreements import (
    Disagreement,
    DisagreementSource,
    PagedUnits,
    RaterValue,
    UnitApart,
    items_with_texts,
)
from annotate.results.queries.kept import KeptPage, ratings_of, version_of_ratings
from annotate.results.queries.material import ItemOrigins, RatedRound, default_drawn, items_of, rated_rounds
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text

MOST_UNITS = 1_000
"""Maximum number of listed units per dimension, those with the smallest p first."""
YES = "yes"
_SAYS = gettext_lazy(
    "Camps: the values of a unit fall into two groups after the raters’ severity is removed. A unit splits "
    "raters if noise as in Round I would rarely give such camps. Discuss it again, clarify the guideline, or "
    "report the distribution instead of the mean."
)
_CORRECTED = gettext_lazy(
    "p values are corrected over the units of a dimension (Benjamini and Hochberg), not over dimensions."
)
_HOW = gettext_lazy(
    "Probability of such camps under the rating scale model of Round I, given the unit’s sum; Benjamini and "
    "Hochberg over the units of the dimension (function split_units)."
)
_HOW_COUNTED = gettext_lazy("Counts of units by function split_units; rate of false discoveries {rate:g}.")
_HOW_ENTROPY = gettext_lazy("Mean over units with three values of their entropy (function split_units).")
_ONE_MAY_SLIP = gettext_lazy(
    "With three values, one rater’s slip looks like a camp: read the reasons before you judge the unit."
)


@dataclass(frozen=True)
class _TestedDimension:
    """A dimension with its units after the last round: the item of each column, raters, values, splits."""

    dimension: FrozenDimension
    first: RatedRound
    items: Sequence[int]
    last: ReliabilityData
    splits: SplitUnits


def split_tables(rounds: Sequence[RatedRound], origins: ItemOrigins) -> list[Table]:
    """Return the units that split raters, counted by dimension and listed; none before Round I."""
    tested = [_test(rounds, each) for each in rounds[0].dimensions] if rounds else []
    return [_table_by_dimension(tested), _list_units(tested, origins)] if tested else []


def _test(rounds: Sequence[RatedRound], dimension: FrozenDimension) -> _TestedDimension:
    first, last = rounds[0].rated[dimension.key], rounds[-1].rated[dimension.key]
    rows = {rater: row for row, rater in enumerate(last.annotators.tolist())}
    columns = {item: column for column, item in enumerate(last.items.tolist())}
    values = np.full(last.data.values.shape, np.nan)
    mine = [rows[rater] for rater in first.annotators.tolist()]
    values[np.ix_(mine, [columns[item] for item in first.items.tolist()])] = first.data.values
    level, domain = last.data.measurement_level, last.data.value_domain
    # Round I in the rows and columns of the last round, so that both have the same units.
    alone = ReliabilityData(values, measurement_level=level, value_domain=domain, raters=last.data.raters)
    test = partial(split_units, alone, last.data, generator=rounds[0].stream(dimension, "splits"))
    found = rounds[0].once(dimension, ("splits", rounds[-1].round.number), test)
    return _TestedDimension(dimension, rounds[0], last.items.tolist(), last.data, found)


def _table_by_dimension(tested: Sequence[_TestedDimension]) -> Table:
    columns = [
        DIMENSION,
        Column("severity", gettext("severity’s share of variance within units"), ColumnKind.SHARE),
        Column("entropy", gettext("mean entropy"), decimals=2),
        Column("units", gettext("units with three values"), ColumnKind.COUNT),
        Column("camps", gettext("units with camps"), ColumnKind.COUNT),
        Column("split", gettext("units that split raters"), ColumnKind.COUNT),
    ]
    rows = [[text(each.dimension.name, key=each.dimension.key), *_count_cells(each)] for each in tested]
    return Table("splits", gettext("Units that split raters"), columns, rows, says=_describe_tests(tested))


def _describe_tests(tested: Sequence[_TestedDimension]) -> str:
    few = any(unit.raters == LEAST_RATERS for each in tested for unit in each.splits.splitting)
    return f"{_SAYS} {_ONE_MAY_SLIP}" if few else str(_SAYS)


def _count_cells(each: _TestedDimension) -> list[Cell]:
    data = each.first.data(each.dimension)
    drawn = each.first.stream(each.dimension)
    share = severity_share(data, generator=drawn, resampling=each.first.resampling)
    if each.dimension.is_named:
        return [Cell(reason=each.splits.reason)] * 5
    if each.splits.reason:
        return [figure(share), *[Cell(reason=each.splits.reason)] * 4]
    units = each.splits.units
    how = str(_HOW_COUNTED).format(rate=FALSE_DISCOVERY_RATE)
    counts = (len(units), sum(bool(unit.lower) for unit in units), len(each.splits.splitting))
    entropy = float(np.mean([unit.entropy for unit in units]))
    return [
        figure(share),
        Cell(entropy, count=len(units), how=str(_HOW_ENTROPY)),
        *(Cell(number, how=how) for number in counts),
    ]


def _list_units(tested: Sequence[_TestedDimension], origins: ItemOrigins) -> Table:
    columns = [
        DIMENSION,
        Column("document", gettext("Document"), ColumnKind.TEXT),
        Column("item", gettext("Item"), ColumnKind.COUNT),
        Column("lower", gettext("lower camp"), ColumnKind.TEXT),
        Column("upper", gettext("upper camp"), ColumnKind.TEXT),
        Column("range", gettext("range"), decimals=2),
        Column("gap", gettext("gap"), decimals=2),
        Column("entropy", gettext("entropy"), decimals=2),
        Column("variance", gettext("variance"), decimals=2),
        Column("after_severity", gettext("after severity"), decimals=2),
        Column("p", "p", ColumnKind.P_VALUE),
        Column("p_adjusted", gettext("adjusted p"), ColumnKind.P_VALUE),
        Column("split", gettext("splits raters"), ColumnKind.TEXT),
    ]
    rows = []
    for each in tested:
        camps = [
            unit for unit in each.splits.units if unit.lower and each.items[unit.unit] in origins.documents
        ]
        # The position of the unit comes last, so that equal units have the same order at each computation.
        camps.sort(key=lambda unit: (unit.p_value, -unit.gap, unit.unit))
        rows += [_row(each, unit, origins) for unit in camps[:MOST_UNITS]]
    title = gettext("Units with two camps of raters")
    return Table("split-units", title, columns, rows, heads=2, says=f"{_describe_tests(tested)} {_CORRECTED}")


def _row(each: _TestedDimension, unit: UnitSplit, origins: ItemOrigins) -> list[Cell]:
    item = each.items[unit.unit]
    # The query of a link to the page of disagreements.
    units = {"between": "split", "dimension": each.dimension.key, "document": origins.documents[item]}

    values = each.last.values[:, unit.unit]

    def camp(raters: Sequence[int]) -> Cell:
        names = [f"{each.last.raters[rater]} {normalize(float(values[rater])):g}" for rater in raters]
        return text("; ".join(names))

    return [
        text(each.dimension.name, key=each.dimension.key),
        text(origins.documents[item], link=urlencode(units)),
        Cell(item),
        camp(unit.lower),
        camp(unit.upper),
        Cell(distance(float(np.nanmin(values)), float(np.nanmax(values)))),
        Cell(unit.gap),
        Cell(unit.entropy),
        Cell(unit.variance),
        Cell(unit.variance_after_severity),
        Cell(unit.p_value, how=str(_HOW)),
        Cell(unit.adjusted_p, how=str(_HOW)),
        text(gettext("yes") if unit.splits else gettext("no"), key=YES if unit.splits else "no"),
    ]


def split_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return the same tables for the page of disagreements. Up to six queries."""
    rounds = rated_rounds(project, default_drawn(project))
    tables = split_tables(rounds, items_of(project)) if rounds else []
    return [Section(gettext("Units that split raters"), str(_SAYS), tables)] if tables else []


class SplitUnitsListed(PagedUnits):
    """Units with two camps; units that split raters come first."""

    def __init__(self, project: Project, meant: Disagreement, kept: KeptPage) -> None:
        """Select the wanted units from the stored table. Up to two queries."""
        self._project = project
        self._dimensions = {each.key: each for each in project.dimensions.all()}
        # Cells by their position in this table: 5 range, 10 p, 12 whether the unit splits raters.
        table = kept.table("split-units")
        rows = [
            row
            for row in (table.rows if table else ())
            if row[0].key in self._dimensions
            and meant.dimension in ("", row[0].key)
            and meant.document in ("", row[1].value)
            and float(row[5].value or 0) >= meant.apart
        ]
        # The stored table has no systems, so they are read from the items.
        if meant.system:
            items = items_with_texts([int(row[2].value or 0) for row in rows])
            named = {pk for pk, item in items.items() if item.system.name == meant.system}
            rows = [row for row in rows if row[2].value in named]
        self._rows = sorted(rows, key=lambda row: (row[12].key != YES, float(row[10].value or 0)))

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, part: slice) -> list[UnitApart]:
        """Return some units with outputs, values and reasons, in three queries."""
        chosen = self._rows[part]
        items = items_with_texts([int(row[2].value or 0) for row in chosen])
        given = _last_values(list(items))
        found = []
        for row in chosen:
            item, dimension = items.get(int(row[2].value or 0)), self._dimensions[row[0].key]
            values = given.get((item.pk, dimension.pk), []) if item else []
            if item is None or not values:
                continue  # deleted since the camps were computed
            amounts = [each.value for each in values]
            found.append(
                UnitApart(
                    item=item,
                    dimension=dimension,
                    lowest=normalize(min(amounts)),
                    highest=normalize(max(amounts)),
                    ratings=len(values),
                    apart=normalize(float(row[5].value or 0)),
                    given=values,
                    mark=gettext("splits raters") if row[12].key == YES else gettext("noise explains it"),
                )
            )
        return found


def _last_values(items: Sequence[int]) -> Mapping[tuple[int, int], list[RaterValue]]:
    """Return each rater's last value with its reason, by item and dimension. Two queries."""
    ratings = Rating.objects.filter(
        assignment__item__in=items,
        assignment__round__number__in=(1, 2),
        assignment__annotator__counted=True,
        value__isnull=False,
    ).select_related("assignment__annotator", "assignment__round")
    ordered = list(ratings.order_by("assignment__annotator__joined_at", "assignment__annotator", "pk"))
    short = RatingChange.objects.filter(rating__in=ordered).exclude(short_reason="").order_by("revision")
    short_reasons = dict(short.values_list("rating", "short_reason"))
    last: dict[tuple[int, int, int], tuple[Rating, str]] = {}
    # A value of Round II comes after the one of Round I, which it replaces.
    for rating in sorted(ordered, key=lambda each: each.assignment.round.number):
        key = (rating.assignment.item_id, rating.dimension_id, rating.assignment.annotator_id or 0)
        # A value without a reason keeps that of the round before.
        reason = rating.comment or short_reasons.get(rating.pk, "") or (last[key][1] if key in last else "")
        last[key] = (rating, reason)
    found: dict[tuple[int, int], list[RaterValue]] = {}
    for item, dimension, _annotator in dict.fromkeys(
        (each.assignment.item_id, each.dimension_id, each.assignment.annotator_id or 0) for each in ordered
    ):
        rating, reason = last[item, dimension, _annotator]
        if rating.assignment.annotator is not None and rating.value is not None:
            value = RaterValue(rating.assignment.annotator.rater_name, normalize(rating.value), reason=reason)
            found.setdefault((item, dimension), []).append(value)
    return found


SPLITS = ResultsPage(
    "splits",
    gettext_lazy("Units that split raters"),
    gettext_lazy("Units whose raters stay in two camps after the last round."),
    split_sections,
    version_of_ratings,
    ratings_of,
    shown_on="disagreements",
)
SPLIT_AFTER_DISCUSSION = DisagreementSource(
    "split",
    gettext_lazy("Two camps"),
    gettext_lazy(
        "Units whose raters stay in two camps after the last round. Look at the guideline, discuss the unit "
        "again, or report its distribution instead of its mean."
    ),
    SPLITS,
    SplitUnitsListed,
)
