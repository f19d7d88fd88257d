"""Named categories of units where raters differ, by majority and by two models, and how raters err."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import DawidSkene, Mace, Majority, dawid_skene, mace, majority, why_not_latent
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.material import RatedRound
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

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
_SAYS = gettext_lazy(
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
    if not named or not rated.round.is_independent:
        return []
    found = [_find(rated, each) for each in named]
    tables = [_categories(found)]
    with_models = [each for each in found if each.models]
    return [*tables, _raters(with_models), _confusion(with_models)] if with_models else tables


def _find(rated: RatedRound, dimension: FrozenDimension) -> _CategoryEstimates:
    data = rated.data(dimension)
    reason = why_not_latent(data)
    models = None if reason else (dawid_skene(data), mace(data))
    values = np.sum(~np.isnan(data.values), axis=1).tolist()
    return _CategoryEstimates(dimension, data.raters, values, majority(data), models, reason)


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
    return Table("categories-of-units", title, columns, rows, heads=2, says=str(_SAYS))


def _category_rows(found: _CategoryEstimates) -> Iterator[list[Cell]]:
    plain = found.majority
    rated, decided = plain.categories >= 0, (plain.categories >= 0) & ~plain.tied
    for index, category in enumerate(found.dimension.whole_values):
        own = decided & (plain.categories == index)
        cells = [text(found.dimension.name, key=found.dimension.key), _category_cell(found, category)]
        if not rated.any():
            yield [*cells, *[Cell(reason=gettext("There are no ratings yet."))] * 6]
            continue
        cells.append(
            Cell(float(plain.shares[rated, index].mean()), count=int(rated.sum()), how=str(_HOW_SHARES))
        )
        cells.append(_share(own.sum(), decided.sum()))
        for model, how in zip(
            found.models or (None, None), (str(_HOW_DAWID_SKENE), str(_HOW_MACE)), strict=True
        ):
            if model is None or model.reason:
                cells += [Cell(reason=model.reason if model else found.reason)] * 2
            else:
                probable = model.probabilities[rated]
                otherwise = own[rated] & (probable.argmax(axis=1) != index)
                cells.append(Cell(float(probable[:, index].mean()), count=int(rated.sum()), how=how))
                cells.append(Cell(int(otherwise.sum())))
        yield cells


def _share(part: int, whole: int) -> Cell:
    if not whole:
        return Cell(reason=gettext("No unit has a majority."))
    return Cell(float(part / whole), count=int(whole), how=str(_HOW_MAJORITY))


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
        if (share := each.models[0].confusion[index, row, column]) >= 0.005
    ]
    title = gettext("Given categories by estimated true category")
    return Table("confusion-of-raters", title, columns, rows, heads=4, says=str(_CONFUSION_SAYS))


def _category_cell(found: _CategoryEstimates, category: int) -> Cell:
    return text(found.dimension.name_of(category), key=str(category))
