"""Further tables of the agreement page: parts of the ratings, rare values, disputes, named categories."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import (
    Coefficient,
    DawidSkene,
    Mace,
    Majority,
    Resampling,
    checked_alpha,
    checked_alphas_of_parts,
    dawid_skene,
    mace,
    majority,
    value_ranges,
    why_not_latent,
)
from agreement.bootstrap import LARGEST_MODAL_SHARE, modal_share
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Dispute
from annotate.core.scale import normalize
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text

# From a dimension to alpha of each row.
Alphas = Callable[[FrozenDimension], Sequence[Coefficient]]


def breakdowns(rated: RatedRound, items: ItemOrigins) -> list[Table]:
    """Return alpha by system, by document, and with each rater left out."""
    system = Column("system", gettext("System"), ColumnKind.TEXT)
    document = Column("document", gettext("Document"), ColumnKind.TEXT)
    by_system = gettext("Krippendorff’s alpha by system ({round})").format(round=rated.label)
    by_document = gettext("Krippendorff’s alpha by document ({round})").format(round=rated.label)
    return [
        alpha_by_label(rated, by_system, system, items.systems, rated.resampling, plot="heat"),
        # One document cannot be resampled by documents, so its units are.
        alpha_by_label(rated, by_document, document, items.documents, Resampling()),
        _table_without_one_rater(rated),
    ]


def alpha_by_label(
    rated: RatedRound,
    title: str,
    head: Column,
    labels: Mapping[int, str],
    resampling: Resampling,
    plot: str = "",
) -> Table:
    """Return alpha of the items with each label. labels: by item."""
    names = sorted(set(labels.values()))

    def alphas(dimension: FrozenDimension) -> Sequence[Coefficient]:
        of_units = np.array([labels[item] for item in rated.rated[dimension.key].items.tolist()], np.str_)
        # `names` are sorted: numbers of the units' labels, which then give the units of each label.
        numbers = np.searchsorted(names, of_units)
        ends = np.cumsum(np.bincount(numbers, minlength=len(names)))[:-1]
        return checked_alphas_of_parts(
            rated.data(dimension),
            # A stable sort keeps the units of a label in their order, on which their resampling depends.
            np.split(np.argsort(numbers, kind="stable"), ends),  # the units of each name
            # Each label has its own random stream, so its interval does not depend on the other labels.
            generators=[rated.stream(dimension, head.key, name) for name in names],
            resampling=resampling,
        )

    return _table(rated, f"by-{head.key}", title, head, names, alphas, plot=plot)


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
    has_links = head.key in ("system", "document")
    columns = [
        [
            figure(alpha, link=urlencode({"dimension": dimension.key, head.key: name}) if has_links else "")
            for name, alpha in zip(names, rated.once(dimension, key, partial(alphas, dimension)), strict=True)
        ]
        for dimension in rated.dimensions
    ]
    rows = [[text(name), *cells] for name, *cells in zip(names, *columns, strict=True)]
    return Table(f"{rated.prefix}-{key}", title, [head, *rated.columns()], rows, plot=plot)


Measured = Callable[[RatedRound, FrozenDimension], Coefficient]
_SKEWED_SAYS = gettext_lazy(
    "More than {share:.0%} of the values are the same, so alpha depends on the few units "
    "that differ and may be near 0 even if raters agree on nearly all. Compare it with percent agreement "
    "and Gwet’s AC. The intervals of alpha and of kappas allow for rare values that this sample lacks."
)
_HOW_SKEWED = gettext_lazy(
    "Share of the most frequent value among units with two values or more (function modal_share)."
)


def skewed_tables(
    rounds: Sequence[RatedRound], alpha: Measured, percent_agreement: Measured, gwet_ac: Measured
) -> list[Table]:
    """Return a table of the dimensions on which nearly all values are the same, nothing without any."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(rated.label),
            Cell(share, count=rated.data(dimension).values.shape[1], how=str(_HOW_SKEWED)),
            *(figure(measured(rated, dimension)) for measured in (alpha, percent_agreement, gwet_ac)),
        ]
        for dimension in rounds[0].dimensions
        for rated in rounds
        if (share := modal_share(rated.data(dimension))) > LARGEST_MODAL_SHARE
    ]
    columns = [
        DIMENSION,
        Column("round", gettext("Round"), ColumnKind.TEXT),
        Column("modal_share", gettext("share of one value"), ColumnKind.SHARE),
        Column("alpha", gettext("alpha")),
        Column("percent_agreement", gettext("equal"), ColumnKind.SHARE),
        Column("gwet_ac", gettext("Gwet’s AC")),
    ]
    title, says = (
        gettext("Where nearly all values are the same"),
        _SKEWED_SAYS.format(share=LARGEST_MODAL_SHARE),
    )
    return [Table("skewed", title, columns, rows, heads=2, says=says)] if rows else []


_MOVEMENT_SAYS = gettext_lazy(
    "Units that were disputed, by the largest minus the smallest value in Round I (rows) and at the end of "
    "Round II (columns)."
)
_HOW_MOVED = gettext_lazy(
    "Counts of disputed units; value_ranges of the values that raters hold at the end of each round."
)


def movement(rounds: Sequence[RatedRound]) -> list[Table]:
    """Return the table of disputed units by spread before and after, none before Round II. One query."""
    if len(rounds) < 2:
        return []
    before, after = rounds[0], rounds[1]
    disputed: dict[int, set[int]] = {}
    disputes = Dispute.objects.filter(round=before.round)
    for dimension_id, item in disputes.values_list("dimension", "item"):
        disputed.setdefault(dimension_id, set()).add(item)
    moved = {
        dimension.name: Counter(_moves(before, after, dimension, disputed.get(dimension.id, set())))
        for dimension in before.dimensions
    }
    # Pairs of ranges, before and after, of all dimensions together.
    total: Counter[tuple[float, float]] = sum(moved.values(), Counter())
    if not total:
        return []
    found = {spread for move in total for spread in move}
    # Every whole range has a column, and other ranges only if they occur.
    spreads = sorted({*found, *range(int(max(found)) + 1)})
    rows = [
        [text(name), text(str(first)), *(Cell(counts[first, last], how=str(_HOW_MOVED)) for last in spreads)]
        for name, counts in [("all", total), *moved.items()]
        for first in sorted({first for first, _ in counts})
    ]
    columns = [
        DIMENSION,
        Column("apart_before", gettext("range in Round I"), ColumnKind.TEXT),
        *(
            Column(f"apart_{last}", gettext("range {last}").format(last=last), ColumnKind.COUNT)
            for last in spreads
        ),
    ]
    title = gettext("Disputes from Round I to Round II")
    return [Table("movement", title, columns, rows, heads=2, says=str(_MOVEMENT_SAYS), plot="movement")]


def _moves(
    before: RatedRound, after: RatedRound, dimension: FrozenDimension, items: set[int]
) -> list[tuple[float, float]]:
    """Return the range of each disputed unit before and after; raters who are now excluded do not count."""
    first, last = (
        dict(zip(own.items.tolist(), value_ranges(own.data).tolist(), strict=True))
        for own in (before.rated[dimension.key], after.rated[dimension.key])
    )
    pairs = [(first.get(item, np.nan), last.get(item, np.nan)) for item in sorted(items)]
    return [(normalize(one), normalize(other)) for one, other in pairs if not np.isnan(one + other)]


_CATEGORY = Column("category", lambda: gettext("Category"), ColumnKind.TEXT)
_HOW_MAJORITY = gettext_lazy("The most frequent category of each unit, ties left out (function majority).")
_HOW_SHARES = gettext_lazy("The mean over units of the share of raters (function majority).")
_HOW_DAWID_SKENE = gettext_lazy(
    "A confusion matrix for each rater, by maximum likelihood (function dawid_skene); source: Dawid and "
    "Skene 1979."
)
_HOW_MACE = gettext_lazy(
    "Raters who know or guess, by EM (function mace); source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013."
)
_LATENT_SAYS = gettext_lazy(
    "Two models estimate the errors of raters and the category of each unit together. They assume that "
    "raters are independent given the category. Decided otherwise: units with a majority whose most probable "
    "category is another one. The models overfit if a rater has few values in a category: use them to check "
    "the majority, which all other pages use. The export’s table soft_labels has the probabilities."
)
_RATERS_SAY = gettext_lazy(
    "Dawid and Skene: the probability that a rater gives the category that the model finds true. MACE: the "
    "probability that a rater knows the category rather than guesses. Of three raters, two who make the "
    "same error outvote the third."
)
_CONFUSION_SAYS = gettext_lazy(
    "The probability that the rater gives the second category if the first is true by the model. "
    "Probabilities below 0.5 % are omitted."
)


@dataclass(frozen=True, eq=False)
class _CategoryEstimates:
    """A dimension's categories by each method, and the reason if there are no models."""

    dimension: FrozenDimension
    raters: Sequence[str]
    values: Sequence[int]
    majority: Majority
    models: tuple[DawidSkene, Mace] | None
    reason: str


def latent_tables(rated: RatedRound) -> list[Table]:
    """Return the results for raters’ named categories, empty without such dimensions or after discussion."""
    named = [each for each in rated.dimensions if each.is_named]
    # The models assume raters who are independent given the category, which discussion ends.
    if not named or not rated.round.is_independent:
        return []
    found = []
    for each in named:
        data = rated.data(each)
        reason = why_not_latent(data)
        models = None if reason else (dawid_skene(data), mace(data))
        values = np.sum(~np.isnan(data.values), axis=1).tolist()
        found.append(_CategoryEstimates(each, data.raters, values, majority(data), models, reason))
    with_models = [each for each in found if each.models]
    tables = [_categories(found)]
    return [*tables, _raters(with_models), _confusion(with_models)] if with_models else tables


def _categories(found: Sequence[_CategoryEstimates]) -> Table:
    columns = [
        DIMENSION,
        _CATEGORY,
        Column("raters", gettext("share of raters"), ColumnKind.SHARE),
        Column("majority", gettext("by majority"), ColumnKind.SHARE),
        Column("dawid_skene", gettext("Dawid and Skene"), ColumnKind.SHARE),
        Column("dawid_skene_otherwise", gettext("decided otherwise"), ColumnKind.COUNT),
        Column("mace", gettext("MACE"), ColumnKind.SHARE),
        Column("mace_otherwise", gettext("MACE decided otherwise"), ColumnKind.COUNT),
    ]
    rows = [row for each in found for row in _category_rows(each)]
    title = gettext("Categories from several raters")
    return Table("categories-of-units", title, columns, rows, heads=2, says=str(_LATENT_SAYS))


def _category_rows(found: _CategoryEstimates) -> Iterator[list[Cell]]:
    plain = found.majority
    # The category of a unit without values is -1.
    rated, decided = plain.categories >= 0, (plain.categories >= 0) & ~plain.tied
    for index, category in enumerate(found.dimension.whole_values):
        own = decided & (plain.categories == index)
        cells = [text(found.dimension.name, key=found.dimension.key), _category_cell(found, category)]
        if not rated.any():
            yield [*cells, *[Cell(reason=gettext("There are no ratings yet."))] * 6]
            continue
        count, of_majority = int(rated.sum()), int(decided.sum())
        cells.append(Cell(float(plain.shares[rated, index].mean()), count=count, how=str(_HOW_SHARES)))
        cells.append(
            Cell(float(own.sum() / of_majority), count=of_majority, how=str(_HOW_MAJORITY))
            if of_majority
            else Cell(reason=gettext("No unit has a majority."))
        )
        # Two cells for each model: its share of the category, and the units that it decides otherwise.
        hows = (str(_HOW_DAWID_SKENE), str(_HOW_MACE))
        for model, how in zip(found.models or (None, None), hows, strict=True):
            if model is None or model.reason:
                cells += [Cell(reason=model.reason if model else found.reason)] * 2
            else:
                probable = model.probabilities[rated]
                # `own` has only units with a majority, so a tie is never decided otherwise.
                otherwise = own[rated] & (probable.argmax(axis=1) != index)
                cells.append(Cell(float(probable[:, index].mean()), count=count, how=how))
                cells.append(Cell(int(otherwise.sum())))
        yield cells


def _raters(found: Sequence[_CategoryEstimates]) -> Table:
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("values", gettext("values"), ColumnKind.COUNT),
        Column("accuracy", gettext("gives the true category"), ColumnKind.SHARE),
        Column("competence", gettext("knows the category"), ColumnKind.SHARE),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(rater),
            Cell(each.values[index]),
            _measure_rater(
                each, index, each.models[0].accuracy, each.models[0].reason, str(_HOW_DAWID_SKENE)
            ),
            _measure_rater(each, index, each.models[1].competence, each.models[1].reason, str(_HOW_MACE)),
        ]
        for each in found
        if each.models
        for index, rater in enumerate(each.raters)
        if each.values[index]
    ]
    title = gettext("Estimated accuracy of raters by category models")
    return Table("raters-of-categories", title, columns, rows, heads=2, says=str(_RATERS_SAY))


def _measure_rater(found: _CategoryEstimates, index: int, shares: FloatArray, reason: str, how: str) -> Cell:
    if reason:
        return Cell(reason=reason)
    return Cell(float(shares[index]), count=found.values[index], how=how)


def _confusion(found: Sequence[_CategoryEstimates]) -> Table:
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("true", gettext("true by the model"), ColumnKind.TEXT),
        Column("given", gettext("given"), ColumnKind.TEXT),
        Column("probability", gettext("probability"), ColumnKind.SHARE),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(rater),
            _category_cell(each, true),
            _category_cell(each, given),
            Cell(float(share), how=str(_HOW_DAWID_SKENE)),
        ]
        for each in found
        if each.models and not each.models[0].reason
        for index, rater in enumerate(each.raters)
        for row, true in enumerate(each.dimension.whole_values)
        for column, given in enumerate(each.dimension.whole_values)
        if (share := each.models[0].confusion[index, row, column]) >= 0.005  # see _CONFUSION_SAYS
    ]
    title = gettext("Given categories by estimated true category")
    return Table("confusion-of-raters", title, columns, rows, heads=4, says=str(_CONFUSION_SAYS))


def _category_cell(found: _CategoryEstimates, category: int) -> Cell:
    return text(found.dimension.name_of(category), key=str(category))
