"""Comparisons for questions about several outputs: the sets of a document's outputs to compare."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb

from django.db import transaction
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.audit import record
from annotate.core.configuration import lock_configurable
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import ComparisonSide, Item, Project, System, text_digest
from annotate.questions.ranking import MOST_SIDES

BETWEEN = " | "
LONGEST_NAME = 200
MOST_COMPARISONS = 10_000
# Each choice compares all remaining sets of a document, so their number has a limit, too.
MOST_SETS = 20_000  # of the systems of one document


@transaction.atomic
def draw_comparisons(*, project: Project, size: int = 2, per_document: int | None = None) -> int:
    """Create comparisons of `size` outputs within each document, and return the number of new ones.

    Without `per_document` each document gets every set of its systems. With it, a document gets this number
    of sets: first the sets with the least compared systems, then the sets with the least compared pairs; the
    project's seed breaks ties. A document with comparisons of this size keeps them and gets no others, so
    this is safe to run twice. Locks the project. Raises InvalidValueError, FrozenError, and NotReadyError
    without a document that has enough outputs.
    """
    if not 2 <= size <= MOST_SIDES:
        raise InvalidValueError(gettext("A comparison has 2 to {most} outputs.").format(most=MOST_SIDES))
    if per_document is not None and per_document < 1:
        raise InvalidValueError(gettext("Draw at least one comparison for each document."))
    project = lock_configurable(project)
    outputs: dict[int, list[Item]] = {}
    rows = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    for item in rows.select_related("system", "document").order_by("document", "system__name"):
        outputs.setdefault(item.document_id, []).append(item)
    enough = {document: items for document, items in outputs.items() if len(items) >= size}
    if not enough:
        raise NotReadyError(gettext("No document has outputs of {size} systems.").format(size=size))
    # Counted before any set is built, because their number grows fast with the systems.
    sets = [comb(len(items), size) for items in enough.values()]
    wanted = sum(sets if per_document is None else (min(per_document, each) for each in sets))
    if wanted > MOST_COMPARISONS or max(sets) > MOST_SETS:
        raise InvalidValueError(
            gettext("These would be too many comparisons; up to {most:,} can be made. Choose fewer.").format(
                most=MOST_COMPARISONS
            )
        )
    # Documents that have comparisons of this size keep them.
    there = Item.objects.filter(document__project=project).exclude(kind=Item.Kind.OUTPUT)
    compared = {each.document_id for each in there.prefetch_related("sides") if len(each.sides.all()) == size}
    left = {document: items for document, items in enough.items() if document not in compared}
    made = 0
    for items in _draw_sets(project, left, size, per_document):
        _make_comparison(project, items)
        made += 1
    if made:
        record(project, "comparisons.drawn", project.name, after={"size": size, "comparisons": made})
    return made


@transaction.atomic
def remove_comparisons(*, project: Project) -> int:
    """Remove all comparisons and return their number. Locks the project.

    Raises FrozenError.
    """
    project = lock_configurable(project)
    comparisons = Item.objects.filter(document__project=project).exclude(kind=Item.Kind.OUTPUT)
    count = comparisons.count()
    comparisons.delete()
    # Each system here represents a set of compared systems and has no other items.
    System.objects.filter(project=project, compares=True, items__isnull=True).delete()
    if count:
        record(project, "comparisons.removed", project.name, before={"comparisons": count})
    return count


def _draw_sets(
    project: Project, outputs: dict[int, list[Item]], size: int, per_document: int | None
) -> Iterator[list[Item]]:
    chance = Stream(project.seed).of("comparisons", size).shuffler()
    times: Counter[tuple[str, ...]] = Counter()  # of a system, and of a pair

    def count_uses(chosen: tuple[Item, ...]) -> tuple[int, int]:
        names = [item.system.name for item in chosen]
        # Outputs are sorted by system, so a pair always has its names in the same order.
        return sum(times[name,] for name in names), sum(times[pair] for pair in combinations(names, 2))

    for items in outputs.values():
        sets = list(combinations(items, size))
        chance.shuffle(sets)
        for _ in range(len(sets) if per_document is None else min(per_document, len(sets))):
            # `min` returns the first of equal sets, so the shuffle decides ties.
            chosen = min(sets, key=count_uses)
            sets.remove(chosen)
            names = [item.system.name for item in chosen]
            times.update((name,) for name in names)
            times.update(combinations(names, 2))
            yield list(chosen)


def _make_comparison(project: Project, outputs: list[Item]) -> Item:
    name = BETWEEN.join(item.system.name for item in outputs)
    if len(name) > LONGEST_NAME:
        # A digest of 16 characters keeps shortened names distinct.
        name = f"{name[: LONGEST_NAME - 17]}~{text_digest(name)[:16]}"
    system, _ = System.objects.get_or_create(project=project, name=name, defaults={"compares": True})
    # A comparison has no output, so its sides identify it. Raters' orders of the sides follow from it.
    digest = text_digest([item.text for item in outputs])
    item = Item.objects.create(
        document_id=outputs[0].document_id,
        system=system,
        kind=Item.Kind.PAIR if len(outputs) == 2 else Item.Kind.COMPARISON,
        text="",
        digest=digest,
    )
    ComparisonSide.objects.bulk_create(
        ComparisonSide(item=item, position=position, output=output) for position, output in enumerate(outputs)
    )
    return item
