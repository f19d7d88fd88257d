"""Values of judges and of people, as arrays for `agreement.comparison`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from agreement import Stream
from agreement.comparison.head_to_head import Verdicts
from agreement.comparison.scores import Scores
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Project, Round
from annotate.rating.queries.assignments import Unit
from annotate.results.queries.reliability_data import RatedItems, rated_items
from judges.core.material import outputs_of
from judges.core.models import Judge, Judgment, Metric
from judges.core.values import map_values

_VALUE = np.dtype([("judge", "i8"), ("dimension", "i8"), ("item", "i8"), ("sample", "i8"), ("value", "f8")])
_VERDICT = np.dtype(
    [("dimension", "i8"), ("first", "i8"), ("second", "i8"), ("document", "i8"), ("value", "f8")]
)


@dataclass(frozen=True, eq=False)
class Samples:
    """All values of a judge on a dimension, (items, samples), NaN for a missing value.

    values: on the dimension's scale. as_read: on the judge's own scale, the same if it has none; correlations
    use these.
    """

    values: npt.NDArray[np.float64]
    as_read: npt.NDArray[np.float64]

    @property
    def given(self) -> npt.NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.values).all(axis=1))

    def of_items(self, chosen: npt.NDArray[np.bool_]) -> "Samples":
        kept = np.reshape(chosen, (-1, 1))
        return Samples(*(np.where(kept, each, np.nan) for each in (self.values, self.as_read)))


SamplesOf = Mapping[tuple[int, str], Samples]
"""By judge and dimension key."""


@dataclass(frozen=True)
class Material:
    """All outputs of a project in one order, and people's values of them.

    in_development: (items,), True if judges may have learned from an item's document. People's values of
    these are gaps, unless the material is for learning: no reported result depends on them.
    """

    items: npt.NDArray[np.int64]
    systems: Sequence[str]
    documents: npt.NDArray[np.int64]
    document_keys: Sequence[str]
    dimensions: Sequence[FrozenDimension]
    rated: Mapping[str, RatedItems]
    in_development: npt.NDArray[np.bool_]
    with_development: bool = False

    def human(self, key: str) -> npt.NDArray[np.float64]:
        """(raters, items): the values of people on a dimension; no rows without ratings."""
        rated = self.rated.get(key)
        if rated is None:
            return np.empty((0, len(self.items)))
        values = np.full((len(rated.data.values), len(self.items)), np.nan)
        known = np.isin(rated.items, self.items)
        # Items are sorted by key, so a search finds their indices.
        values[:, np.searchsorted(self.items, rated.items[known])] = rated.data.values[:, known]
        # No reported result may depend on documents from which judges learn.
        if not self.with_development:
            values[:, self.in_development] = np.nan
        return values

    def raters(self, key: str) -> Sequence[str]:
        rated = self.rated.get(key)
        return rated.data.raters if rated else ()

    @cached_property
    def item_names(self) -> Mapping[int, str]:
        """Names of items that are the same in every installation, for seeded sampling.

        By document and system; database keys would give a copy of the project another sample.
        """
        parts = zip(self.items.tolist(), self.document_keys, self.systems, strict=True)
        # The lengths keep names distinct, since keys and systems may contain any separator.
        return {item: f"{len(key)}:{key}/{len(system)}:{system}" for item, key, system in parts}

    def unit_names(self, units: Sequence[Unit]) -> list[str]:
        """Return names of units: by document, system and dimension."""
        keys = {one.id: one.key for one in self.dimensions}
        return [f"{self.item_names[item]}/{keys[dimension]}" for item, dimension in units]


def material_of(
    project: Project,
    round: Round | None,
    guideline: FrozenGuideline | None = None,
    *,
    with_development: bool = False,
) -> Material:
    """Return a project's outputs and people's values on its scales at the end of a round. Three queries.

    guideline: `guideline_of` by default, with one query more before a round. with_development: include
    documents that judges may have learned from.
    """
    # In the order of keys, because arrays find their items by binary search.
    items = outputs_of(project).order_by("pk")
    rows = list(items.values_list("pk", "system__name", "document", "document__key", "document__development"))
    return Material(
        items=np.array([item for item, *_ in rows], dtype=np.int64),
        systems=[system for _, system, *_ in rows],
        documents=np.array([document for _, _, document, *_ in rows], dtype=np.int64),
        document_keys=[key for *_, key, _ in rows],
        dimensions=(guideline or guideline_of(project, round)).scales,
        rated=rated_items(round) if round else {},
        in_development=np.array([drawn is not None for *_, drawn in rows], dtype=bool),
        with_development=with_development,
    )


def counted_judgments(*, with_corrected: bool) -> QuerySet[Judgment]:
    """Return the judgments that count in results: all, or those without corrections by people."""
    return Judgment.objects.all() if with_corrected else Judgment.objects.filter(is_corrected=False)


def samples_of(
    judges: Sequence[Judge], material: Material, *, with_corrected: bool = True
) -> dict[tuple[int, str], Samples]:
    """Return judges' samples by judge and dimension key. One query."""
    counted = counted_judgments(with_corrected=with_corrected)
    done = counted.filter(judge__in=judges, other__isnull=True, status=Judgment.Status.DONE)
    rows = _rows(done.values_list("judge", "dimension", "item", "sample", "value"), _VALUE, material)
    found = {}
    for judge in judges:
        for dimension in material.dimensions:
            own = rows[(rows["judge"] == judge.pk) & (rows["dimension"] == dimension.id)]
            # One column or more, also without any judgment: callers read the shape.
            values = np.full((len(material.items), max(int(own["sample"].max(initial=0)) + 1, 1)), np.nan)
            values[np.searchsorted(material.items, own["item"]), own["sample"]] = own["value"]
            scale = judge.own_scale
            found[judge.pk, dimension.key] = Samples(
                map_values(values, scale, dimension) if scale else values, values
            )
    return found


def scores_of(material: Material, key: str, samples: Samples) -> Scores:
    """Return people and one judge on one dimension, with the judge's value by `value_of_samples`."""
    dimension = next(each for each in material.dimensions if each.key == key)
    values = value_of_samples(dimension, samples.values)
    # Without an own scale there is one array, and its means are computed once.
    same = samples.as_read is samples.values
    return Scores(
        systems=material.systems,
        documents=material.documents,
        human=material.human(key),
        judge=values,
        as_read=values if same else value_of_samples(dimension, samples.as_read),
    )


def value_of_samples(dimension: FrozenDimension, samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (items,): a judge's aggregate value, NaN without samples.

    The mean of its samples (items, samples). Categories have no mean and use the most frequent one; ties use
    the earliest sample.
    """
    if not dimension.is_named:
        return mean_of_samples(samples)
    times = np.sum(samples[:, :, None] == samples[:, None, :], axis=2)  # a gap equals nothing: 0 times
    found = np.take_along_axis(samples, times.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(times.any(axis=1), found, np.nan)


def mean_of_samples(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (items,): the mean of the available samples (items, samples), NaN if there are none."""
    given = ~np.isnan(samples)
    means = np.full(len(samples), np.nan)
    # Unlike `nanmean` this warns of no empty row.
    np.divide(np.nansum(samples, axis=1), given.sum(axis=1), out=means, where=given.any(axis=1))
    return means


def verdicts_of(judge: Judge, material: Material, *, with_corrected: bool = True) -> dict[str, Verdicts]:
    """Return a head-to-head judge's verdicts by dimension key, unreadable ones as gaps. One query."""
    status = [Judgment.Status.DONE, Judgment.Status.UNREADABLE]
    counted = counted_judgments(with_corrected=with_corrected)
    answered = counted.filter(judge=judge, other__isnull=False, status__in=status).order_by("pk")
    values = answered.values_list("dimension", "item", "other", "item__document", "value")
    rows = _rows(values, _VERDICT, material, items=("first", "second"))
    names = np.array(material.systems)
    found = {}
    for dimension in material.dimensions:
        own = rows[rows["dimension"] == dimension.id]
        found[dimension.key] = Verdicts(
            first=names[np.searchsorted(material.items, own["first"])],
            second=names[np.searchsorted(material.items, own["second"])],
            documents=own["document"],
            points=own["value"],
        )
    return found


def _rows(
    values: "QuerySet[Judgment, tuple[object, ...]]",
    of: np.dtype[np.void],
    material: Material,
    *,
    items: Sequence[str] = ("item",),
) -> np.ndarray:
    # Rows stream into the array, without a list of all judgments in memory.
    rows = (tuple(np.nan if value is None else value for value in row) for row in values.iterator(20_000))
    found: np.ndarray = np.fromiter(rows, dtype=of)
    # Imported judgments can be about other items: an addition's bridging items.
    known = np.all([np.isin(found[name], material.items) for name in items], axis=0)
    kept: np.ndarray = found if known.all() else found[known]
    return kept


NOTHING_FROZEN = FrozenGuideline("", 1, 2, 1, ())


def guideline_of(project: Project, round: Round | None) -> FrozenGuideline:
    """Return the round's guideline, before a round the latest that a run has frozen."""
    version = round.guideline if round else project.guideline_versions.order_by("-version").first()
    return FrozenGuideline.from_json(version.content) if version else NOTHING_FROZEN


def stream_of_judge(project: Project, judge: Judge, dimension: FrozenDimension) -> Stream:
    # By names, so that a restored project has the same intervals under its new ids.
    return Stream(project.seed).of("judge", judge.name, dimension.key)


def stream_of_metric(project: Project, metric: Metric, dimension: FrozenDimension) -> Stream:
    return Stream(project.seed).of("metric", metric.name, dimension.key)


def stream_of_pair(project: Project, rts: Judge, mcq: Judge, dimension: FrozenDimension) -> Stream:
    """Return the stream for all statistics between two judges on a dimension: R, above all."""
    return Stream(project.seed).of("judges", rts.name, mcq.name, dimension.key)


def stream_of_people(project: Project, dimension: FrozenDimension) -> Stream:
    """Return the stream of people alone on a dimension, the same as on the pages about people."""
    return Stream(project.seed).of("people", dimension.key)
