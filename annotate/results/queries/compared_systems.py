"""Every pair of systems on a dimension: raters and documents as samples, documents alone, or neither.

Means of scores and shares of named categories are compared alike.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.utils.translation import gettext, gettext_lazy

from agreement import (
    CrossedDifferences,
    CrossedModelError,
    SystemDifference,
    crossed_differences,
    mean_score,
    system_differences,
)
from agreement.crossed import OutlyingSystem, VarianceSource
from agreement.data import FloatArray, IntArray
from agreement.system_differences import KNOWN, adjust_p_values
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.by_system import (
    Unequal,
    difference_cell,
    mean_over_raters,
    values_by_document,
    warn_if,
)
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text

RATERS, DOCUMENTS, TEXTS = "raters", "documents", "texts"
READINGS = {
    RATERS: gettext_lazy("raters and documents like these"),
    DOCUMENTS: gettext_lazy("these raters, documents like these"),
    TEXTS: gettext_lazy("these raters and these outputs only"),
}
_PAIRED = gettext_lazy(
    "Paired differences by document of the raters’ mean (function system_differences); t interval with n - 1 "
    "degrees of freedom; source: Student 1908."
)
_OF_THESE = gettext_lazy(
    "Difference of the raters’ mean over the documents that both have (function system_differences); where "
    "not all are rated, t interval with the finite population correction; sources: Student 1908; Cochran "
    "1977, section 2.6."
)
_HOW = gettext_lazy(
    "Crossed model of ratings, raters and documents random (function crossed_differences); variances by "
    "{method}; a system whose variance is larger than the others’ uses its own (F test, p < .15); t interval "
    "with Satterthwaite’s degrees of freedom; sources: Satterthwaite 1946; Bancroft 1944."
)
_SAYS = {
    RATERS: gettext_lazy(
        "Raters and documents are samples: a difference that counts is one that other raters like these "
        "would find on other documents like these (crossed model). Choose “{reading}” above to take "
        "the raters as given."
    ),
    DOCUMENTS: gettext_lazy(
        "Documents are a sample, raters are these: a difference that counts is one that they would "
        "find on other documents like these. Other raters may not; choose “{reading}” above to ask "
        "that."
    ),
    TEXTS: gettext_lazy(
        "About these outputs only, as these raters score them. If every output is rated, the difference is "
        "known: there is no p value, and there are no ranks. Other outputs or raters may not show it; "
        "choose “{reading}” above to cover them."
    ),
}
_DISCUSSED = gettext_lazy(
    "These values follow a discussion, in which raters came nearer to each other: other raters would differ "
    "by more than they do."
)
_MARKED = {
    VarianceSource.RATERS: gettext_lazy(
        "{dimension}: raters differ more about {systems} than about the other systems. Differences of such a "
        "system use its own variance."
    ),
    VarianceSource.DOCUMENTS: gettext_lazy(
        "{dimension}: scores of {systems} vary more between documents than those of the other systems. "
        "Differences of such a system use its own variance."
    ),
}
_MOST_TIMES = 100
Key = TypeVar("Key", bound=Hashable)


def reach_parameter(*readings: str) -> Parameter:
    """Return the parameter of the scope of differences; the first one is the default."""

    return Parameter("about", gettext("About"), lambda _: [(each, str(READINGS[each])) for each in readings])


ABOUT = reach_parameter(RATERS, DOCUMENTS, TEXTS)
PAIRS, DIMENSIONS = "pairs", "dimensions"


ACROSS = Parameter(
    "across",
    gettext_lazy("Adjust p values over"),
    lambda _: [(PAIRS, gettext("the pairs of a dimension")), (DIMENSIONS, gettext("all dimensions at once"))],
)


@dataclass(frozen=True)
class ComparedSystems:
    """Every pair of systems, with the method of comparison.

    crossed: the result of the crossed model; None if not chosen or not possible: `why_not` has the reason.
    """

    differences: Sequence[SystemDifference]
    how: str
    crossed: CrossedDifferences | None = None
    why_not: str = ""

    @property
    def is_known(self) -> bool:
        """Whether no difference has an error: ranks would then claim more than the question."""
        return bool(self.differences) and all(each.reason == KNOWN for each in self.differences)


def compare_systems(
    values: FloatArray, names: Sequence[str], chosen: Chosen, texts: IntArray, tables: int = 1
) -> ComparedSystems:
    """Compare systems by values (raters, documents, systems), NaN for gaps, as chosen.

    `texts`: (systems, systems), numbers of documents with outputs of both. tables: the number of compared
    tables of values; simultaneous intervals are valid for all of them if p values are adjusted over all
    dimensions.
    """
    # Without this number, simultaneous intervals cover the pairs of this table only.
    tests = tables * len(names) * (len(names) - 1) // 2 if is_across_dimensions(chosen) else None
    why_not = ""
    if chosen.get(ABOUT.name, RATERS) == RATERS:
        try:
            found = crossed_differences(values, names, tests=tests)
        # Readers then get the paired test with these raters as given, and the reason.
        except CrossedModelError as undefined:
            why_not = str(undefined)
        else:
            return ComparedSystems(found.differences, _HOW.format(method=found.method), found)
    scores = mean_over_raters(values)
    if is_about_these_texts(chosen):
        return ComparedSystems(system_differences(scores, names, texts=texts, tests=tests), str(_OF_THESE))
    return ComparedSystems(system_differences(scores, names, tests=tests), str(_PAIRED), why_not=why_not)


def is_about_these_texts(chosen: Chosen) -> bool:
    """Return True if neither documents nor raters count as samples."""
    return chosen.get(ABOUT.name) == TEXTS


def is_across_dimensions(chosen: Chosen) -> bool:
    """Return True if p values are adjusted over all dimensions at once."""
    return chosen.get(ACROSS.name) == DIMENSIONS


def describe_adjustment(*, across: bool) -> str:
    """Return the tests over which p values are adjusted, and the way to choose otherwise."""
    if across:
        return gettext(
            "Adjusted p values are corrected over all pairs of all dimensions (Holm). Ranks hold for all "
            "dimensions at once."
        )
    return gettext(
        "Adjusted p values are corrected over all pairs of a dimension (Holm), not over dimensions. Choose "
        "“{across}” above to correct over all of them."
    ).format(across=gettext("all dimensions at once"))


def adjust_together(compared: Mapping[Key, ComparedSystems]) -> dict[Key, ComparedSystems]:
    """Return comparisons with p values adjusted by Holm over all pairs of all of them."""
    # The order stays the same, so each comparison gets its own part of the list back.
    found = adjust_p_values([each for own in compared.values() for each in own.differences])
    start, adjusted = 0, {}
    for key, own in compared.items():
        end = start + len(own.differences)
        adjusted[key] = replace(own, differences=found[start:end])
        start = end
    return adjusted


def name_outlying_systems(outlying: Sequence[OutlyingSystem], source: VarianceSource) -> str:
    """Return the systems on which raters, or documents, differ more, with the ratio of variances.

    A mean square is, up to a factor, the variance of raters' (documents') means.
    """
    named = []
    for each in outlying:
        if each.source is source:
            over = gettext("over {most}").format(most=_MOST_TIMES)
            times = f"{each.ratio:.1f}" if each.ratio < _MOST_TIMES else over
            says = gettext("{system} ({times} times the variance)")
            named.append(says.format(system=each.system, times=times))
    return ", ".join(named)


def describe_reach(compared: Mapping[str, ComparedSystems], chosen: Chosen, *, independent: bool) -> str:
    """Return the interpretation in words, with the names of dimensions with another one, and the reason.

    independent: whether raters had not seen each other’s values.
    """
    by_reason: dict[str, list[str]] = {}
    for name, each in compared.items():
        if each.why_not:
            by_reason.setdefault(each.why_not, []).append(name)
    others = (
        gettext("{names}: by these raters only. {why}").format(names=", ".join(named), why=why)
        for why, named in by_reason.items()
    )
    about = chosen.get(ABOUT.name, RATERS)
    # The other interpretation, which the message offers.
    reading = READINGS[DOCUMENTS if about == RATERS else RATERS]
    caution = [str(_DISCUSSED)] if about == RATERS and not independent else []
    marked = (
        says.format(dimension=name, systems=systems)
        for name, each in compared.items()
        if each.crossed
        for source, says in _MARKED.items()
        if (systems := name_outlying_systems(each.crossed.outlying, source))
    )
    return " ".join([_SAYS[about].format(reading=reading), *caution, *others, *marked])


_SHARES_SAY = gettext_lazy(
    "Categories have no order and no distance, so there is no mean score. An item’s share of a category is "
    "the share of its raters who chose it; a system’s share is the mean over its items. Intervals of "
    "shares are over documents like these, by these raters."
)
_TOGETHER = gettext_lazy(
    "The p values of all categories and pairs of a dimension are corrected together: Holm 1979."
)
_ACROSS = gettext_lazy("The p values of all pairs of all dimensions are corrected together: Holm 1979.")
_SYSTEM, _SHARE = (
    Column("system", lambda: gettext("System"), ColumnKind.TEXT),
    Column("share", lambda: gettext("share"), ColumnKind.SHARE),
)
_CATEGORY = Column("category", lambda: gettext("Category"), ColumnKind.TEXT)
Category = tuple[str, int]
"""The key of a dimension and one of its values."""


def compare_shares(
    rated: RatedRound,
    items: ItemOrigins,
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    chosen: Chosen,
    tables: int,
) -> tuple[dict[Category, FloatArray], dict[Category, ComparedSystems]]:
    """Return shares (documents, systems) and comparisons of each category, p adjusted within a dimension.

    tables: as in `compare_systems`.
    """
    shares: dict[Category, FloatArray] = {}
    compared: dict[Category, ComparedSystems] = {}
    texts = items.shared_texts(names)
    for each in dimensions:
        own = {}
        for category in each.whole_values:
            values = values_by_document(rated, items, each, names, category)
            shares[each.key, category] = mean_over_raters(values)
            own[each.key, category] = compare_systems(values, names, chosen, texts, tables)
        compared |= adjust_together(own)
    return shares, compared


def shares_section(
    rated: RatedRound,
    items: ItemOrigins,
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    chosen: Chosen,
    unequal: Unequal,
    shares: Mapping[Category, FloatArray],
    compared: Mapping[Category, ComparedSystems],
) -> Section:
    """Return the tables of dimensions with named categories, from what `compare_shares` returns."""
    texts = items.shared_texts(names)
    by_name = {
        f"{each.name} ({each.name_of(category)})": compared[each.key, category]
        for each in dimensions
        for category in each.whole_values
    }
    about = describe_reach(by_name, chosen, independent=rated.round.is_independent)
    all_there_are = texts.diagonal() if is_about_these_texts(chosen) else None
    tables = [
        _shares(shares, dimensions, names, all_there_are, unequal),
        _comparing_table(compared, dimensions, unequal, across=is_across_dimensions(chosen)),
    ]
    return Section(gettext("Shares of categories"), f"{_SHARES_SAY} {about}", tables)


def _shares(
    shares: Mapping[Category, FloatArray],
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    all_there_are: IntArray | None,
    unequal: Unequal,
) -> Table:
    rows = []
    for dimension in dimensions:
        for category in dimension.whole_values:
            table = shares[dimension.key, category]
            for index, name in enumerate(names):
                texts = None if all_there_are is None else int(all_there_are[index])
                found = mean_score(table[:, index], (0, 1), texts=texts)
                share = figure(found, count=found.counts.ratings)
                share = warn_if(share, name in unequal[dimension.key])
                rows.append([*_category_cells(dimension, category), text(name), share])
    columns = [DIMENSION, _CATEGORY, _SYSTEM, _SHARE]
    return Table("shares", gettext("Share of each category by system"), columns, rows, heads=3)


def _category_cells(dimension: FrozenDimension, category: int) -> list[Cell]:
    name = dimension.name_of(category)
    return [text(dimension.name, key=dimension.key), text(name, key=str(category))]


def _comparing_table(
    compared: Mapping[Category, ComparedSystems],
    dimensions: Sequence[FrozenDimension],
    unequal: Unequal,
    *,
    across: bool,
) -> Table:
    rows = []
    for dimension in dimensions:
        for category in dimension.whole_values:
            own = compared[dimension.key, category]
            how = f"{own.how} {_ACROSS if across else _TOGETHER}"
            for each in own.differences:
                heads = [*_category_cells(dimension, category), text(each.first), text(each.second)]
                difference = difference_cell(each, how, unequal[dimension.key])
                # A known difference has a value without a p value.
                reason = each.reason if each.adjusted_p_value is None else ""
                rows.append([*heads, difference, Cell(each.adjusted_p_value, reason=reason, how=how)])
    columns = [
        DIMENSION,
        _CATEGORY,
        Column("first", gettext("First"), ColumnKind.TEXT),
        Column("second", gettext("Second"), ColumnKind.TEXT),
        Column("difference", gettext("first minus second"), decimals=3),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
    ]
    says = gettext(
        "Intervals are per pair. p values are corrected over all categories and pairs of a dimension (Holm), "
        "not over dimensions."
    )
    if across:
        says = gettext(
            "Intervals are per pair. p values are corrected over all categories and pairs of all dimensions "
            "(Holm)."
        )
    return Table("share-differences", gettext("Differences of shares"), columns, rows, heads=4, says=says)
