"""How far apart systems must be to be told apart, with the raters and documents there are, or with more."""

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import CrossedDifferences
from agreement.crossed import VarianceSource
from annotate.core.guideline import FrozenDimension
from annotate.results.answers import NO_SYSTEM
from annotate.results.page import Section
from annotate.results.queries.compared_systems import name_outlying_systems
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

FEW_RATERS = (2, 3, 5, 8, 12)
MOST_RATERS = 50
TIMES = (1, 2, 4)
_LEVEL, _POWER = 0.05, 0.8
_SAYS = gettext_lazy(
    "The error of a difference has three sources: raters rank systems differently (only more raters help), "
    "documents suit systems differently (only more documents help), and the rest (both help)."
)
_HOW = gettext_lazy(
    "Smallest true difference that the crossed model finds with a probability of 80 % after Bonferroni’s "
    "correction over all pairs of a dimension (method ErrorVariances.smallest_difference), if every rater "
    "rates every output; noncentral t."
)
_LARGER = gettext_lazy("Larger than the scale: this many cannot distinguish systems.")
_TOO_MANY = gettext_lazy("More than {most} raters with this number of documents.")
Found = Mapping[str, CrossedDifferences]


def resolution_section(dimensions: Sequence[FrozenDimension], found: Found, raters: int) -> Section:
    """Return what the error of a difference is made of, and what other designs would find."""
    known = [each for each in dimensions if each.key in found]
    numbers = sorted({*FEW_RATERS, raters} - {1})
    tables = [_sources(known, found), _designs(known, found, numbers)]
    return Section(gettext("Smallest differences for more raters or documents"), str(_SAYS), tables)


def _sources(dimensions: Sequence[FrozenDimension], found: Found) -> Table:
    rows = []
    for each in dimensions:
        own = found[each.key]
        how = gettext(
            "Standard deviation in points (function crossed_differences); variances by {method}."
        ).format(method=own.method)
        parts = (own.variances.rater_by_system, own.variances.document_by_system, own.variances.residual)
        sizes = [Cell(own.raters), Cell(own.documents)]
        marked = [text(name_outlying_systems(own.outlying, source) or NO_SYSTEM) for source in VarianceSource]
        errors = [Cell(part**0.5, how=how) for part in parts]
        rows.append([text(each.name, key=each.key), *sizes, *errors, *marked])
    columns = [
        DIMENSION,
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("rater_by_system", gettext("raters by system")),
        Column("document_by_system", gettext("documents by system")),
        Column("residual", gettext("the rest")),
        Column("outlying_raters", gettext("raters differ more about"), ColumnKind.TEXT),
        Column("outlying_documents", gettext("documents differ more on"), ColumnKind.TEXT),
    ]
    says = gettext(
        "Standard deviations in points of the scale, common to all systems; a variance below 0 is cut at 0. "
        "The last columns name systems with a larger variance of raters’ or documents’ means (F test, "
        "p < .01 / systems)."
    )
    return Table("error-sources", gettext("Sources of the error of a difference"), columns, rows, says=says)


def _designs(dimensions: Sequence[FrozenDimension], found: Found, numbers: Sequence[int]) -> Table:
    rows = [
        [
            text(each.name, key=each.key),
            text(str(times * own.documents)),
            *_of_design(each, own, times, numbers),
        ]
        for each in dimensions
        for own in [found[each.key]]
        for times in TIMES
    ]
    columns = [
        DIMENSION,
        Column("documents", gettext("Documents"), ColumnKind.TEXT),
        *(
            Column(f"raters_{number}", gettext("{number} raters").format(number=number), decimals=2)
            for number in numbers
        ),
        Column("points", gettext("an eighth of the scale"), decimals=2),
        Column("raters_needed", gettext("raters that find it"), ColumnKind.COUNT),
    ]
    says = gettext(
        "Smallest difference in points that is found with a power of 80 %, corrected for all pairs of the "
        "dimension, if every rater rates every output. On a scale from 1 to 5, an eighth is half a point. "
        "One variance for all systems is assumed: a system that uses its own needs a larger difference."
    )
    title = gettext("Smallest detectable difference of systems")
    return Table("smallest-differences", title, columns, rows, heads=2, says=says)


def _of_design(
    dimension: FrozenDimension, own: CrossedDifferences, times: int, numbers: Sequence[int]
) -> Iterator[Cell]:
    documents, length = times * own.documents, dimension.scale_maximum - dimension.scale_minimum
    level = _LEVEL / (own.systems * (own.systems - 1) / 2)

    def smallest(raters: int) -> float:
        return own.variances.smallest_difference(
            own.systems, raters, documents, significance_level=level, power=_POWER
        )

    for number in numbers:
        value = smallest(number)
        yield Cell(value, how=str(_HOW)) if value <= length else Cell(reason=str(_LARGER))
    enough = next((each for each in range(2, MOST_RATERS + 1) if smallest(each) <= length / 8), None)
    yield Cell(length / 8)
    yield Cell(enough, reason="" if enough else _TOO_MANY.format(most=MOST_RATERS), how=str(_HOW))
