"""Basis of a study's plan: variances from Round I or assumed ones, and the results of designs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import VarianceComponents, variance_components, why_no_components
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.by_system import values_by_document
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.registry import Chosen, NumberParameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text

RATERS = (2, 3, 5, 8, 12)
TIMES = (1, 2, 4, 8)
CURVE_RATERS = tuple(range(1, 13))
CURVE_TIMES = (0.25, 0.5, 1, 2, 4, 8)
MOST_RATERS = 50
TYPICAL = VarianceComponents(
    systems=0.87**2,
    documents=0.04**2,
    documents_by_systems=0.27**2,
    raters=0.42**2,
    raters_by_systems=0.23**2,
    raters_by_documents=0.32**2,
    rest=0.59**2,
)
"""On a scale from 1 to 5: means over SummEval-OP's dimensions (3 raters, 32 documents, 13 systems)."""
_TYPICAL_LENGTH = 4
_LEVEL = 0.05
_DOCUMENTS = Column("documents", lambda: gettext("Documents"), ColumnKind.TEXT)
_SOURCES = {
    "sd_s": ("systems", gettext_lazy("systems"), gettext_lazy("SD of systems, in points")),
    "sd_d": ("documents", gettext_lazy("documents"), gettext_lazy("SD of documents, in points")),
    "sd_ds": (
        "documents_by_systems",
        gettext_lazy("documents by systems"),
        gettext_lazy("SD of documents by systems, in points"),
    ),
    "sd_r": ("raters", gettext_lazy("raters"), gettext_lazy("SD of raters, in points")),
    "sd_rs": (
        "raters_by_systems",
        gettext_lazy("raters by systems"),
        gettext_lazy("SD of raters by systems, in points"),
    ),
    "sd_rd": (
        "raters_by_documents",
        gettext_lazy("raters by documents"),
        gettext_lazy("SD of raters by documents, in points"),
    ),
    "sd_e": ("rest", gettext_lazy("the rest"), gettext_lazy("SD of the rest, in points")),
}
WANTED = gettext_lazy("What is wanted")
_KNOWN = gettext_lazy("Known standard deviations (SD)")
FIND = NumberParameter(
    "find", gettext_lazy("Difference to find, in points"), group=WANTED, least=0.01, most=100
)
DEVIATIONS = tuple(
    NumberParameter(name, label, group=_KNOWN, most=100) for name, (_, _, label) in _SOURCES.items()
)
_NAMED = gettext_lazy("Categories have no distance, so ratings have no variance.")
_HOW = gettext_lazy(
    "Components of variance by symmetric sums (function variance_components); sources: Koch 1968; Brennan "
    "2001, chapter 4."
)
_HOW_PHI = gettext_lazy(
    "Phi of a system’s mean from the variances above (method VarianceComponents.dependability), each rater "
    "rating every output; source: Brennan 2001, equations 4.10 to 4.12."
)
_HOW_POWER = gettext_lazy(
    "Power of the crossed model’s t test at 5 % after Bonferroni’s correction over all pairs of systems "
    "(method ErrorVariances.power), each rater rating every output; noncentral t."
)
_SAYS = gettext_lazy(
    "The table shows the sources of variance and the precision of designs. Raters by systems: raters rank "
    "systems differently, which only more raters mend; documents by systems: only more documents. You can "
    "enter your own values, for example from another project or a paper."
)
_VARIANCES_SAY = gettext_lazy("Standard deviations in points of the scale; a variance below 0 is cut at 0.")
_PHI_SAYS = gettext_lazy(
    "Phi of systems’ means: the share of their variance that other raters and documents would find again. "
    "Needed: the fewest raters that reach the target, for the height of means (phi), and for differences of "
    "systems alone (E rho squared)."
)
_NO_VARIANCE = gettext_lazy("There is no variance at all.")
_TOO_MANY = gettext_lazy("More than {most} raters with this number of documents.")


@dataclass(frozen=True)
class Planned:
    """A dimension and the variances for planning a study of it; without them `reason` explains why.

    length: of its scale, in points. basis: the source of the variances, in words.
    """

    key: str
    name: str
    length: float
    components: VarianceComponents | None
    basis: str
    reason: str = ""

    @property
    def heading(self) -> Cell:
        return text(self.name, key=self.key)


@dataclass(frozen=True)
class Size:
    """The present study: its systems, documents, raters, and the mean number of raters of a document."""

    systems: int
    documents: int
    raters: int
    per_document: int

    @property
    def level(self) -> float:
        """The level of the test of one pair of systems, corrected for all pairs (Bonferroni)."""
        return _LEVEL / max(self.systems * (self.systems - 1) / 2, 1)


def planned_dimensions(rated: RatedRound | None, items: ItemOrigins, chosen: Chosen) -> list[Planned]:
    """Return the known or assumed variances of each dimension of Round I; before it, of one for all."""
    assumed = {
        field: float(chosen[name]) ** 2 for name, (field, _, _) in _SOURCES.items() if chosen.get(name)
    }
    if rated is None:
        basis = _basis(assumed, "SummEval-OP")
        components = replace(TYPICAL, **assumed)
        return [Planned("any", gettext("Any dimension"), _TYPICAL_LENGTH, components, basis)]
    names = sorted(set(items.systems.values()))
    return [_plan(rated, each, items, names, assumed) for each in rated.dimensions]


def _plan(
    rated: RatedRound,
    dimension: FrozenDimension,
    items: ItemOrigins,
    names: Sequence[str],
    assumed: Mapping[str, float],
) -> Planned:
    length, basis = dimension.scale_maximum - dimension.scale_minimum, _basis(assumed, gettext("Round I"))
    found = Planned(dimension.key, dimension.name, length, None, basis)
    if not dimension.has_mean:
        return replace(found, reason=str(_NAMED))
    if len(assumed) == len(_SOURCES):
        # Ratings are not needed if every deviation is known, even ratings that allow no estimate.
        return replace(found, components=VarianceComponents(**assumed))
    values = values_by_document(rated, items, dimension, names)
    if reason := why_no_components(values):
        return replace(found, reason=reason)
    return replace(found, components=replace(variance_components(values), **assumed))


def _basis(assumed: Mapping[str, float], else_from: str) -> str:
    if len(assumed) == len(_SOURCES):
        return gettext("assumed")
    if not assumed:
        return else_from
    return gettext("{source}, {count} assumed").format(source=else_from, count=len(assumed))


def size_of_study(rated: RatedRound | None, items: ItemOrigins) -> Size:
    """Return the size of the project: of Round I, or of the imported material before it."""
    systems = len(set(items.systems.values()))
    documents = len({items.documents[item] for item in items.counted})
    raters = 0 if rated is None else len(rated.raters)
    each = _raters_of_documents(rated, items) if rated else []
    mean = round(float(np.mean(each))) if each else raters
    # Fewer than two of anything leave nothing to compare or to plan.
    return Size(max(systems, 2), max(documents, 2), max(raters, 2), max(mean, 2))


def _raters_of_documents(rated: RatedRound, items: ItemOrigins) -> list[int]:
    """Return the number of raters of every document with a value, on each dimension."""
    found: list[int] = []
    for own in rated.rated.values():
        documents = items.documents_of(own)
        given = ~np.isnan(own.data.values)
        counts = (int(given[:, documents == each].any(axis=1).sum()) for each in np.unique(documents))
        found += [count for count in counts if count]
    return found


def variances_section(planned: Sequence[Planned], size: Size, target: float, chosen: Chosen) -> Section:
    """Return variances, and by raters and documents the dependability of means and the power to find."""
    find = float(chosen["find"]) if chosen.get("find") else None
    rows = [[each.heading, *_deviations(each), text(each.basis)] for each in planned]
    columns = [
        DIMENSION,
        *(Column(field, str(label), decimals=2) for field, label, _ in _SOURCES.values()),
        Column("basis", gettext("from"), ColumnKind.TEXT),
    ]
    variances = Table("variances", gettext("Sources of variance"), columns, rows, says=str(_VARIANCES_SAY))
    tables = [variances, _dependability(planned, size, target), _power(planned, size, find)]
    return Section(gettext("Systems’ means and differences"), str(_SAYS), tables, "variances")


def curves_of(planned: Sequence[Planned], size: Size, chosen: Chosen) -> list[Table]:
    """Return dependability by raters and power by documents; nothing without known variances."""
    find = float(chosen["find"]) if chosen.get("find") else None
    known = [each for each in planned if each.components]
    return [_dependability_curve(known, size), _power_curve(known, size, find)] if known else []


def _deviations(planned: Planned) -> list[Cell]:
    if planned.components is None:
        return [Cell(reason=planned.reason)] * len(_SOURCES)
    variances = [getattr(planned.components, field) for field, _, _ in _SOURCES.values()]
    return [Cell(variance**0.5, how=str(_HOW)) for variance in variances]


def _dependability(planned: Sequence[Planned], size: Size, target: float) -> Table:
    rows = []
    for each in planned:
        for documents in _documents(size):
            cells = [_phi(each, number, documents) for number in RATERS]
            rows.append([each.heading, text(str(documents)), *cells, *_needed_cells(each, documents, target)])
    of_differences = gettext("for {target:g} of differences")
    columns = [
        DIMENSION,
        _DOCUMENTS,
        *(Column(f"raters_{number}", gettext("{number} raters").format(number=number)) for number in RATERS),
        Column("needed", gettext("raters for {target:g}").format(target=target), ColumnKind.COUNT),
        Column("needed_differences", of_differences.format(target=target), ColumnKind.COUNT),
    ]
    title = gettext("Dependability of systems’ means")
    return Table("dependability", title, columns, rows, heads=2, says=str(_PHI_SAYS))


def _documents(size: Size) -> list[int]:
    return [times * size.documents for times in TIMES]


def _phi(planned: Planned, raters: int, documents: int) -> Cell:
    if planned.components is None:
        return Cell(reason=planned.reason)
    return Cell(
        planned.components.dependability(raters, documents), reason=str(_NO_VARIANCE), how=str(_HOW_PHI)
    )


def _needed_cells(planned: Planned, documents: int, target: float) -> Iterator[Cell]:
    known = planned.components
    if known is None:
        yield from [Cell(reason=planned.reason)] * 2
        return
    for measure in (known.dependability, known.generalisability):
        # A measure is None if there is no variance at all.
        reached = (
            number for number in range(1, MOST_RATERS + 1) if (measure(number, documents) or 0) >= target
        )
        enough = next(reached, None)
        yield Cell(enough, reason="" if enough else _TOO_MANY.format(most=MOST_RATERS), how=str(_HOW_PHI))


def _power(planned: Sequence[Planned], size: Size, find: float | None) -> Table:
    rows = [
        [
            each.heading,
            text(str(documents)),
            Cell(_to_find(each, find)),
            *(_power_cell(each, size, number, documents, find) for number in RATERS),
        ]
        for each in planned
        for documents in _documents(size)
    ]
    columns = [
        DIMENSION,
        _DOCUMENTS,
        Column("find", gettext("difference"), decimals=2),
        *(
            Column(f"raters_{number}", gettext("{number} raters").format(number=number), ColumnKind.SHARE)
            for number in RATERS
        ),
    ]
    says = gettext(
        "Probability of finding a true difference of this size in points, of {systems} systems and "
        "corrected for all their pairs. An eighth of the scale unless you set another difference."
    ).format(systems=size.systems)
    return Table("power", gettext("Power to find a difference of systems"), columns, rows, heads=2, says=says)


def _to_find(planned: Planned, find: float | None) -> float:
    return planned.length / 8 if find is None else find


def _power_cell(planned: Planned, size: Size, raters: int, documents: int, find: float | None) -> Cell:
    if planned.components is None:
        return Cell(reason=planned.reason)
    power = planned.components.of_differences.power(
        _to_find(planned, find), size.systems, raters, documents, significance_level=size.level
    )
    return Cell(power, how=str(_HOW_POWER))


def _dependability_curve(known: Sequence[Planned], size: Size) -> Table:
    rows = [
        [each.heading, Cell(number), _phi(each, number, size.documents)]
        for each in known
        for number in CURVE_RATERS
    ]
    columns = [
        DIMENSION,
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("phi", gettext("phi of systems’ means")),
    ]
    title = gettext("Dependability of systems’ means by raters, {documents} documents")
    title = title.format(documents=size.documents)
    return Table("dependability-curve", title, columns, rows, heads=2, plot="curve")


def _power_curve(known: Sequence[Planned], size: Size, find: float | None) -> Table:
    # In small studies several multiples give the same number of documents.
    numbers = np.unique([max(2, round(times * size.documents)) for times in CURVE_TIMES]).tolist()
    rows = [
        [each.heading, Cell(number), _power_cell(each, size, size.raters, number, find)]
        for each in known
        for number in numbers
    ]
    columns = [
        DIMENSION,
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("power", gettext("power")),
    ]
    title = gettext("Power to find the difference by documents, {raters} raters").format(raters=size.raters)
    return Table("power-curve", title, columns, rows, heads=2, plot="curve")
