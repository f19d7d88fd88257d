"""The distribution of raters’ values over each unit, and models' shares of named categories."""

from collections.abc import Iterator, Mapping

from agreement import DawidSkene, Mace, dawid_skene, mace, majority, why_not_latent
from agreement.data import FloatArray
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Item, Project
from annotate.core.rounds import rounds_of
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.results.queries.reliability_data import RatedItems, rated_items

_DIGITS = 6  # beyond them libraries of linear algebra differ


def _soft_labels(project: Project) -> Iterator[Row]:
    first = rounds_of(project).get(1)
    if first is None:
        return
    items = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    names = {
        item: (document, system)
        for item, document, system in items.values_list("pk", "document__key", "system__name")
    }
    rated = rated_items(first)
    for dimension in FrozenGuideline.from_json(first.guideline.content).scales:
        yield from _iter_dimension_rows(dimension, rated[dimension.key], names)


def _iter_dimension_rows(
    dimension: FrozenDimension, rated: RatedItems, names: Mapping[int, tuple[str, str]]
) -> Iterator[Row]:
    shares = majority(rated.data).shares
    models: tuple[DawidSkene, Mace] | None = None
    if dimension.is_named and not why_not_latent(rated.data):
        models = dawid_skene(rated.data), mace(rated.data)
    given = rated.data.ratings_per_unit.tolist()
    for index, item in enumerate(rated.items.tolist()):
        document, system = names[item]
        yield {
            "document": document,
            "system": system,
            "dimension": dimension.key,
            "values": int(given[index]),
            "shares": _share_by_value(dimension, shares[index]),
            "dawid_skene": _estimate_by_model(dimension, models and models[0], index),
            "mace": _estimate_by_model(dimension, models and models[1], index),
        }


def _estimate_by_model(
    dimension: FrozenDimension, model: DawidSkene | Mace | None, index: int
) -> dict[str, float] | None:
    if model is None or model.reason:
        return None
    return _share_by_value(dimension, model.probabilities[index])


def _share_by_value(dimension: FrozenDimension, shares: FloatArray) -> dict[str, float]:
    rounded = {
        str(value): round(share, _DIGITS)
        for value, share in zip(dimension.values, shares.tolist(), strict=True)
    }
    return {value: share for value, share in rounded.items() if share > 0}


SOFT_LABEL_TABLE = ExportTable(
    "soft_labels",
    "how the values of Round I are spread over each unit, and which named category it is by two models",
    COLUMNS["soft_labels"],
    _soft_labels,
    is_computed=True,
)
