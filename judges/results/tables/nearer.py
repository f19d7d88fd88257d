"""Which of two judges is nearer to people, at any look, and how many documents a comparison needs."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement.always_valid_means import AlwaysValidDifference, always_valid_differences
from agreement.comparison.nearer import error_difference_by_document, nearness_by_document
from agreement.data import FloatArray
from agreement.power import LEAST_DOCUMENTS, documents_needed, smallest_difference_found
from agreement.system_differences import paired_difference
from annotate.core.guideline import FrozenDimension
from annotate.core.rounds import rounds_of
from annotate.results.queries.stopping import finished_documents
from annotate.results.queries.stopping_systems import always_valid_cells
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.results.tables.columns import JUDGE
from judges.results.tables.compared import ComparedJudges, Scored

LEVEL = 0.05
POWER = 0.8
_MOST_NAMED = 3
_SAYS = gettext_lazy(
    "The share of items on which the first judge is nearer to the mean of people minus that of the second. "
    "On named categories it is the first judge’s mean share of raters with the same value minus the "
    "second’s. You may look after every document that all its raters have finished, and stop: interval "
    "(Bonferroni) and p (Holm) hold at all looks. Both are corrected over the pairs of judges of a "
    "dimension, not over dimensions."
)
_POWER_SAYS = gettext_lazy(
    "The first judge’s mean squared error minus the second’s, in squared points; on named categories its "
    "agreement with people minus the second’s. Smallest: found by the paired t test on today’s documents "
    "with a power of 80 %. Needed: documents to find a difference as large as today’s with that power. "
    "Both are corrected for all pairs of judges (Bonferroni). A difference seen by chance is larger than "
    "the true one, so take the number as a lower limit."
)
_HOW_PAIRED = gettext_lazy(
    "Mean over documents (function error_difference_by_document); 95 % interval: paired t; source: Student "
    "1908."
)
_HOW_POWER = gettext_lazy(
    "Power of the paired t test over documents (functions smallest_difference_found and documents_needed), "
    "noncentral t; source: Cohen 1988, chapter 2."
)
_TOO_FEW = gettext_lazy("Fewer than {least} documents have values of both judges and of people.")
_TOO_MANY = gettext_lazy("The difference is 0 or needs more than 100,000 documents.")

Pair = tuple[Scored, Scored]


def tables_of_nearness(found: ComparedJudges) -> list[Table]:
    """Return which of two judges is nearer, and the power of comparisons; none with one judge. Two queries.

    Documents come in the order in which their raters finished them in Round I.
    """
    dimensions = {each.dimension.key: each.dimension for each in found.scored}
    pairs = {key: _pair_judges(found, dimension) for key, dimension in dimensions.items()}
    pairs = {key: own for key, own in pairs.items() if own}
    first = rounds_of(found.project).get(1) if pairs else None
    if first is None:
        return []
    order = finished_documents(first)
    compared = [(dimensions[key], _compare(own, order)) for key, own in pairs.items()]
    return [_nearer(compared), _power(dimensions, pairs)]


def _pair_judges(found: ComparedJudges, dimension: FrozenDimension) -> list[Pair]:
    return list(combinations([each for each in found.scored if each.dimension.key == dimension.key], 2))


def _compare(pairs: Sequence[Pair], order: Sequence[int]) -> Sequence[AlwaysValidDifference]:
    """Return every pair of judges of a dimension over finished documents."""
    differences = []
    for one, other in pairs:
        values = nearness_by_document(one.scores, other.scores, is_named=one.dimension.is_named)
        of_document = dict(zip(one.scores.document_labels, values.tolist(), strict=True))
        in_order = [of_document.get(document, np.nan) for document in order]
        differences.append((one.judge.name, other.judge.name, np.array(in_order, dtype=float)))
    return always_valid_differences(differences, reach=1, confidence_level=1 - LEVEL)


def _nearer(compared: Sequence[tuple[FrozenDimension, Sequence[AlwaysValidDifference]]]) -> Table:
    rows = [
        [
            text(each.first),
            text(each.second),
            text(dimension.name, key=dimension.key),
            Cell(each.documents),
            *always_valid_cells(each),
        ]
        for dimension, found in compared
        for each in found
    ]
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("documents", gettext("finished documents"), ColumnKind.COUNT),
        Column("nearer", gettext("nearer minus farther"), decimals=2),
        Column("p_adjusted", gettext("p at every look"), ColumnKind.P_VALUE),
        Column("sure", gettext("sure"), ColumnKind.TEXT),
        Column("more", gettext("more documents"), ColumnKind.COUNT),
    ]
    says = f"{_describe(compared)} {_SAYS}"
    return Table("nearer", gettext("Which judge is nearer to people"), columns, rows, heads=3, says=says)


def _describe(compared: Sequence[tuple[FrozenDimension, Sequence[AlwaysValidDifference]]]) -> str:
    found = [(dimension.name, each) for dimension, pairs in compared for each in pairs]
    sure = sum(each.is_sure for _, each in found)
    if len(found) > _MOST_NAMED:
        return gettext("{sure} of {total} comparisons of judges are sure.").format(
            sure=sure, total=len(found)
        )
    return " ".join(_describe_pair(name, each) for name, each in found)


def _describe_pair(dimension: str, pair: AlwaysValidDifference) -> str:
    parts = {"first": pair.first, "second": pair.second, "dimension": dimension}
    if pair.is_sure:
        if (pair.value or 0) < 0:
            parts |= {"first": pair.second, "second": pair.first}
        return gettext("{first} is surely nearer to people than {second} on {dimension}.").format(**parts)
    if pair.more_documents is None:
        return gettext("It is not sure yet whether {first} or {second} is nearer on {dimension}.").format(
            **parts
        )
    says = gettext(
        "It is not sure yet whether {first} or {second} is nearer on {dimension}: about {more} more "
        "documents."
    )
    return says.format(**parts, more=f"{pair.more_documents:,}")


def _power(dimensions: dict[str, FrozenDimension], pairs: dict[str, list[Pair]]) -> Table:
    rows = [
        [
            text(one.judge.name),
            text(other.judge.name),
            text(dimensions[key].name, key=key),
            *_power_cells(one, other, LEVEL / len(own)),
        ]
        for key, own in pairs.items()
        for one, other in own
    ]
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("difference", gettext("difference")),
        Column("smallest", gettext("smallest found")),
        Column("needed", gettext("documents needed"), ColumnKind.COUNT),
    ]
    title = gettext("Power to find which judge is better")
    return Table("power-of-judges", title, columns, rows, heads=3, says=str(_POWER_SAYS))


def _power_cells(one: Scored, other: Scored, significance_level: float) -> Iterator[Cell]:
    values = _differences(one, other)
    values = values[~np.isnan(values)]
    yield Cell(len(values))
    if len(values) < LEAST_DOCUMENTS:
        yield from [Cell(reason=_TOO_FEW.format(least=LEAST_DOCUMENTS))] * 3
        return
    found = paired_difference(values, one.judge.name, other.judge.name, (1 - LEVEL, 1 - significance_level))
    yield Cell(
        found.value,
        found.low,
        found.high,
        interval_reason=found.reason,
        count=len(values),
        how=str(_HOW_PAIRED),
    )
    deviation, difference = float(values.std(ddof=1)), float(values.mean())
    smallest = smallest_difference_found(
        deviation, len(values), significance_level=significance_level, power=POWER
    )
    yield Cell(smallest, how=str(_HOW_POWER))
    needed = documents_needed(difference, deviation, significance_level=significance_level, power=POWER)
    yield Cell(needed, reason="" if needed else str(_TOO_MANY), how=str(_HOW_POWER))


def _differences(one: Scored, other: Scored) -> FloatArray:
    if one.dimension.is_named:
        return nearness_by_document(one.scores, other.scores, is_named=True)
    return error_difference_by_document(one.scores, other.scores)
