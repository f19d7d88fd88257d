"""The guideline of a round, and its scales, values and changes of wording as pages write them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.formats import localize
from django.utils.translation import gettext

from annotate.core.guideline import DIMENSION_FIELDS, FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.models import Dimension, Guideline, Project, Round, ScalePoint
from annotate.fastpath.queries import NUMBERS, compile_once


def guideline_of(round: Round) -> FrozenGuideline:
    """Return the guideline in force. One query the first time; a version never changes."""
    return frozen_guideline(round.guideline_id, round.guideline.digest)


@lru_cache(maxsize=256)
def frozen_guideline(pk: int, digest: str) -> FrozenGuideline:
    """Return a version of a guideline, remembered by this process. One query the first time."""
    # With the digest in the key of the cache, a reused primary key cannot return another version.
    content = Guideline.objects.filter(digest=digest).values_list("content", flat=True).get(pk=pk)
    return FrozenGuideline.from_json(content)


def current_guideline(project: Project) -> FrozenGuideline:
    """Return the guideline that a round would freeze if it opened now. Two queries."""
    dimensions = _DIMENSIONS.all(project.pk)
    points: defaultdict[int, list[FrozenPoint]] = defaultdict(list)
    for each in _POINTS.all(project.pk) if dimensions else ():
        points[each.dimension_id].append(FrozenPoint(each.value, each.label, each.description))
    return FrozenGuideline(
        guidelines=project.guidelines,
        raters_per_item=project.raters_per_item,
        dispute_threshold=project.dispute_threshold,
        tolerance=project.tolerance,
        dimensions=tuple(_dimension(each, points[each.pk]) for each in dimensions),
    )


_DIMENSIONS = compile_once(lambda project: Dimension.objects.filter(project=project), NUMBERS[0])
_POINTS = compile_once(lambda project: ScalePoint.objects.filter(dimension__project=project), NUMBERS[0])


def guideline_at(project: Project, round: Round | None) -> FrozenGuideline:
    return FrozenGuideline.from_json(round.guideline.content) if round else current_guideline(project)


def _dimension(dimension: Dimension, points: Sequence[FrozenPoint]) -> FrozenDimension:
    return FrozenDimension(
        id=dimension.pk,
        key=dimension.key,
        **{field: getattr(dimension, field) for field in DIMENSION_FIELDS},
        points=tuple(points),
    )


@dataclass(frozen=True)
class Change:
    where: str
    before: str
    after: str


def changes_of_wording(before: FrozenGuideline, after: FrozenGuideline) -> Iterator[Change]:
    """Yield the differences: the guidelines for all dimensions first, then each dimension."""
    if before.guidelines != after.guidelines:
        yield Change(gettext("Guidelines for all dimensions"), before.guidelines, after.guidelines)
    old = {each.id: each for each in before.dimensions}
    for dimension in after.dimensions:
        if dimension.id in old:
            yield from _changes_of_dimension(old[dimension.id], dimension)


def _changes_of_dimension(before: FrozenDimension, after: FrozenDimension) -> Iterator[Change]:
    if before.definition != after.definition:
        where = gettext("{name}, definition").format(name=after.name)
        yield Change(where, before.definition, after.definition)
    if before.guidelines != after.guidelines:
        where = gettext("{name}, guidelines").format(name=after.name)
        yield Change(where, before.guidelines, after.guidelines)
    # Other kinds have their words in their options, scales in their points.
    if not after.is_scale:
        yield from _changes_of_options(before, after)
        return
    # Only whole values can have a point with words.
    for value in after.whole_values:
        points = [each.point(value) for each in (before, after)]
        texts = [": ".join(filter(None, (each.label, each.description))) if each else "" for each in points]
        if texts[0] != texts[1]:
            yield Change(f"{after.name}, {value}", *texts)


def _changes_of_options(before: FrozenDimension, after: FrozenDimension) -> Iterator[Change]:
    for name, rows in (after.options or {}).items():
        if isinstance(rows, list):
            # By key, which stays when the words of an option change.
            old = {row["key"]: row for row in (before.options or {}).get(name, ())}
            for row in rows:
                texts = [
                    ": ".join(str(each[name]) for name in ("name", "description") if each.get(name))
                    for each in (old.get(row["key"], {}), row)
                ]
                if texts[0] != texts[1]:
                    yield Change(f"{after.name}, {row['name']}", *texts)


def extent(lowest: int, highest: int, step: float) -> str:
    """Return "1 to 5", or "1 to 5 in steps of 0.5", in the reader's language."""
    if step == 1:
        return gettext("{low} to {high}").format(low=lowest, high=highest)
    return gettext("{low} to {high} in steps of {step}").format(
        low=lowest, high=highest, step=format_value(step)
    )


def off_scale_sentence(name: str, value: float | str, lowest: int, highest: int, step: float) -> str:
    if step == 1:
        return gettext("{name} is rated from {low} to {high}; {value} is not on this scale.").format(
            name=name, low=lowest, high=highest, value=format_value(value)
        )
    return gettext(
        "{name} is rated from {low} to {high} in steps of {step}; {value} is not on this scale."
    ).format(name=name, low=lowest, high=highest, step=format_value(step), value=format_value(value))


def format_value(value: float | str) -> str:
    """Return a value as pages write it in the reader's language: 3, 3.5 or 3,5; strings unchanged."""
    return str(localize(value))


def name_on_page(dimension: FrozenDimension, value: float) -> str:
    """Return the name of a value on pages: the label of a category, the number of an amount."""
    return dimension.name_of(value) if dimension.is_named else format_value(value)
