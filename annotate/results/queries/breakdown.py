"""Alpha of parts of the ratings: by system, by document, and with each rater left out."""

from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlencode

from annotate.agreement import ReliabilityData, Resampling, checked_alpha
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.material import Items, RatedRound
from annotate.results.table import Cell, Column, Kind, Table, figure, text

# From a dimension to the data of each row.
Parts = Callable[[FrozenDimension], Iterable[ReliabilityData]]


def breakdowns(rated: RatedRound, items: Items) -> list[Table]:
    """Return alpha by system, by document and without each rater."""
    return [_by_system(rated, items), _by_document(rated, items), _without_one(rated)]


def _by_system(rated: RatedRound, items: Items) -> Table:
    names = sorted(set(items.systems.values()))

    def parts(dimension: FrozenDimension) -> Iterator[ReliabilityData]:
        labels = items.systems_of(rated.rated[dimension.key])
        return (rated.data(dimension).of_units(labels == name) for name in names)

    head = Column("system", "System", Kind.TEXT)
    return _table(rated, "by system", head, names, parts, resampling=rated.resampling, plot="heat")


def _by_document(rated: RatedRound, items: Items) -> Table:
    names = sorted(set(items.documents.values()))

    def parts(dimension: FrozenDimension) -> Iterator[ReliabilityData]:
        labels = items.documents_of(rated.rated[dimension.key])
        return (rated.data(dimension).of_units(labels == name) for name in names)

    head = Column("document", "Document", Kind.TEXT)
    return _table(rated, "by document", head, names, parts, resampling=Resampling())


def _without_one(rated: RatedRound) -> Table:
    names = rated.raters

    def parts(dimension: FrozenDimension) -> Iterator[ReliabilityData]:
        everyone = range(len(names))
        return (
            rated.data(dimension).of_raters([other for other in everyone if other != rater])
            for rater in everyone
        )

    head = Column("without", "Without", Kind.TEXT)
    return _table(rated, "with one rater left out", head, names, parts, resampling=rated.resampling)


def _table(
    rated: RatedRound,
    title: str,
    head: Column,
    names: Iterable[str],
    parts: Parts,
    *,
    resampling: Resampling,
    plot: str = "",
) -> Table:
    columns = [_alphas(rated, dimension, head, names, parts, resampling) for dimension in rated.dimensions]
    return Table(
        f"{rated.prefix}-{title.replace(' ', '-')}",
        f"Krippendorff’s alpha {title} ({rated.label})",
        [head, *rated.columns()],
        [[text(name), *cells] for name, *cells in zip(names, *columns, strict=True)],
        plot=plot,
    )


def _alphas(
    rated: RatedRound,
    dimension: FrozenDimension,
    head: Column,
    names: Iterable[str],
    parts: Parts,
    resampling: Resampling,
) -> list[Cell]:
    """Return a column; a figure of a system or document leads to the units that raters disagree on."""
    found = []
    for name, data in zip(names, parts(dimension), strict=True):
        drawn_with = rated.stream(dimension, head.key, name)
        alpha = checked_alpha(data, generator=drawn_with, resampling=resampling)
        link = urlencode({"dimension": dimension.key, head.key: name}) if head.key != "without" else ""
        found.append(figure(alpha, link=link))
    return found
