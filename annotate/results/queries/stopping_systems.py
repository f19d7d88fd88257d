"""Systems that differ surely while Round I is open, and the number of missing documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement.always_valid import MOST_TIMES, AlwaysValidDifference, always_valid_differences
from agreement.data import FloatArray
from agreement.groups import mean_values
from annotate.core.guideline import FrozenDimension
from annotate.results.page import Section
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

_SAYS = gettext_lazy(
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
class _Standing:
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
    rated: RatedRound,
    origins: ItemOrigins,
    finished: Sequence[int],
    items: Mapping[int, Sequence[int]],
) -> Section:
    """Return the differing systems by dimension; no tables with fewer than two systems.

    finished: documents in the order of completion. items: the outputs of each document.
    """
    names = sorted(set(origins.systems.values()))
    standings = [
        _Standing(each, _compare_systems(rated, each, origins, names, finished, items))
        for each in rated.dimensions
        if each.has_mean and len(names) > 1
    ]
    tables = [_summary(standings), _pairs(standings)] if standings else []
    return Section(gettext("Enough documents to compare systems"), str(_SAYS), tables, "systems-so-far")


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


def _summary(standings: Sequence[_Standing]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(max(pair.documents for pair in each.pairs)),
            Cell(len(each.pairs)),
            Cell(each.sure),
            Cell(len(each.pairs) - each.sure),
            *_nearest_cells(each),
        ]
        for each in standings
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
    return Table("systems-so-far", title, columns, rows, says=describe_standings(standings))


def _nearest_cells(standing: _Standing) -> Iterator[Cell]:
    nearest = standing.nearest
    if nearest is None:
        is_done = standing.sure == len(standing.pairs)
        yield from [Cell(reason=str(_ALL_SURE) if is_done else _FAR.format(times=MOST_TIMES))] * 2
        return
    yield text(f"{nearest.first} – {nearest.second}")
    yield Cell(nearest.more_documents, how=str(HOW_ALWAYS_VALID))


def describe_standings(standings: Sequence[_Standing]) -> str:
    """Return one or two messages: pairs by name if there are few, else their numbers and the next one."""
    found = [(each.dimension.name, pair) for each in standings for pair in each.pairs]
    if len(found) <= _FEW:
        return " ".join(_describe_pair(name, pair) for name, pair in found)
    sure = gettext("{sure} of {total} differences of systems are sure, over all dimensions.").format(
        sure=sum(pair.is_sure for _, pair in found), total=len(found)
    )
    waiting = [(each.dimension.name, each.nearest) for each in standings if each.nearest]
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


def _pairs(standings: Sequence[_Standing]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(pair.first),
            text(pair.second),
            *always_valid_cells(pair),
        ]
        for each in standings
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
