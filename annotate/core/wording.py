from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension, FrozenGuideline


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
    if not after.is_scale:
        yield from _changes_of_options(before, after)
        return
    for value in after.whole_values:
        texts = [_text_of_point(each, value) for each in (before, after)]
        if texts[0] != texts[1]:
            yield Change(f"{after.name}, {value}", *texts)


def _changes_of_options(before: FrozenDimension, after: FrozenDimension) -> Iterator[Change]:
    for name, rows in (after.options or {}).items():
        if isinstance(rows, list):
            old = {row["key"]: row for row in (before.options or {}).get(name, ())}
            for row in rows:
                texts = [
                    ": ".join(str(each[name]) for name in ("name", "description") if each.get(name))
                    for each in (old.get(row["key"], {}), row)
                ]
                if texts[0] != texts[1]:
                    yield Change(f"{after.name}, {row['name']}", *texts)


def _text_of_point(dimension: FrozenDimension, value: int) -> str:
    point = dimension.point(value)
    return ": ".join(part for part in (point.label, point.description) if part) if point else ""
