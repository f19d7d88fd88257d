"""Alpha of parts of the ratings: by system, by document, and with each rater left out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from agreement import Coefficient, Resampling, checked_alpha, checked_alphas_of_parts
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.table import Column, ColumnKind, Table, figure, text

# From a dimension to alpha of each row.
Alphas = Callable[[FrozenDimension], Sequence[Coefficient]]


def breakdowns(rated: RatedRound, items: ItemOrigins) -> list[Table]:
    head = Column("system", gettext("System"), ColumnKind.TEXT)
    title = gettext("Krippendorff’s alpha by system ({round})").format(round=rated.label)
    by_system = alpha_by_label(rated, title, head, items.systems, rated.resampling, plot="heat")
    return [by_system, _table_by_document(rated, items), _table_without_one_rater(rated)]


def _table_by_document(rated: RatedRound, items: ItemOrigins) -> Table:
    head = Column("document", gettext("Document"), ColumnKind.TEXT)
    title = gettext("Krippendorff’s alpha by document ({round})").format(round=rated.label)
    return alpha_by_label(rated, title, head, items.documents, Resampling())


def alpha_by_label(
    rated: RatedRound,
    title: str,
    head: Column,
    labels: Mapping[int, str],
    resampling: Resampling,
    plot: str = "",
) -> Table:
    names = sorted(set(labels.values()))

    def alphas(dimension: FrozenDimension) -> Sequence[Coefficient]:
        of_units = np.array([labels[item] for item in rated.rated[dimension.key].items.tolist()], np.str_)
        return checked_alphas_of_parts(
            rated.data(dimension),
            _units_of(names, of_units),
            generators=[rated.stream(dimension, head.key, name) for name in names],
            resampling=resampling,
        )

    return _table(rated, f"by-{head.key}", title, head, names, alphas, plot=plot)


def _units_of(names: Sequence[str], labels: npt.NDArray[np.str_]) -> list[npt.NDArray[np.intp]]:
    numbers = np.searchsorted(names, labels)
    ends = np.cumsum(np.bincount(numbers, minlength=len(names)))[:-1]
    return np.split(np.argsort(numbers, kind="stable"), ends)


def _table_without_one_rater(rated: RatedRound) -> Table:
    head, everyone = Column("without", gettext("Without"), ColumnKind.TEXT), range(len(rated.raters))

    def alphas(dimension: FrozenDimension) -> Sequence[Coefficient]:
        return [
            checked_alpha(
                rated.data(dimension).of_raters([other for other in everyone if other != rater]),
                generator=rated.stream(dimension, head.key, name),
                resampling=rated.resampling,
            )
            for rater, name in enumerate(rated.raters)
        ]

    title = gettext("Krippendorff’s alpha with one rater left out ({round})").format(round=rated.label)
    return _table(rated, "with-one-rater-left-out", title, head, rated.raters, alphas)


def _table(
    rated: RatedRound,
    key: str,
    title: str,
    head: Column,
    names: Sequence[str],
    alphas: Alphas,
    *,
    plot: str = "",
) -> Table:
    """Return a table; the value of a system or document links to the units that raters disagree on."""

    queries = [urlencode({head.key: name}) for name in names]

    def link(dimension: FrozenDimension, query: str) -> str:
        return (
            ""
            if head.key not in ("system", "document")
            else f"{urlencode({'dimension': dimension.key})}&{query}"
        )

    def of(dimension: FrozenDimension) -> Sequence[Coefficient]:
        return rated.once(dimension, key, partial(alphas, dimension))

    columns = [
        [
            figure(alpha, link=link(dimension, query))
            for query, alpha in zip(queries, of(dimension), strict=True)
        ]
        for dimension in rated.dimensions
    ]
    return Table(
        f"{rated.prefix}-{key}",
        title,
        [head, *rated.columns()],
        [[text(name), *cells] for name, *cells in zip(names, *columns, strict=True)],
        plot=plot,
    )
