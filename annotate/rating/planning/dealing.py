"""Assignment plans computed from the items: everyone everything, N of M balanced, and a shared block.

Items are assigned in bundles, such as the items of a document, which have the same raters. `bundles` holds
the bundle of each item; with `range(items)` each item is its own bundle.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil, comb

from agreement.streams import Stream
from annotate.core.translation import gettext, ngettext
from annotate.rating.planning.plan import CannotBeMetError, DealtPlan


def everyone(items: int, annotators: int) -> DealtPlan:
    """Return the plan in which everyone rates every item. Raises CannotBeMetError without annotators."""
    _refuse_too_few(1, annotators)
    return DealtPlan(annotators, (tuple(range(annotators)),) * items)


def deal_balanced(bundles: Sequence[int], annotators: int, raters_per_item: int, seed: int) -> DealtPlan:
    """Return a plan with exactly `raters_per_item` raters an item and nearly equal loads.

    bundles: (items,). Loads differ by up to the largest bundle. Bundles are assigned by size, the largest
    first, to the annotators with the lowest load. Ties go to annotators who have shared fewest items, so that
    pairs share nearly equal numbers. Raises CannotBeMetError with fewer annotators than raters per item.
    """
    _refuse_too_few(raters_per_item, annotators)
    dealt = _deal(Counter(bundles), annotators, raters_per_item, _stream(seed).shuffler())
    return DealtPlan(annotators, tuple(dealt[bundle] for bundle in bundles))


def sharing(
    bundles: Sequence[int], annotators: int, raters_per_item: int, share: float, seed: int
) -> DealtPlan:
    """Return a plan in which every pair of annotators shares at least `share` (0 to 1) of the items.

    bundles: (items,). Everyone rates a block of the minimum size for that share, rounded up to a bundle. The
    other items have exactly `raters_per_item` raters. The block is a random sample of whole bundles, so that
    a coefficient computed from it represents all items. Loads differ by up to the largest bundle. Raises
    CannotBeMetError with fewer than two annotators, with fewer than raters per item, and for a share outside
    0 to 1.
    """
    if not 0 <= share <= 1:
        raise CannotBeMetError(gettext("A share of items lies between 0 and 100 percent."))
    _refuse_too_few(max(raters_per_item, 2), annotators)
    items, sizes = len(bundles), Counter(bundles)
    promised = ceil(round(share * items, 6))
    for block in _block_sizes(promised, items, annotators, raters_per_item):
        generator = _stream(seed).shuffler()
        together = _draw_bundles(sizes, block, generator)
        rest = {bundle: size for bundle, size in sizes.items() if bundle not in together}
        dealt = _deal(rest, annotators, raters_per_item, generator)
        everybody = tuple(range(annotators))
        plan = DealtPlan(annotators, tuple(dealt.get(bundle, everybody) for bundle in bundles))
        if (plan.smallest_overlap or 0) >= promised:
            return plan
    raise AssertionError("a block of the promised size keeps the promise")


def _stream(seed: int) -> Stream:
    return Stream(seed).of("plan")


def _block_sizes(promised: int, items: int, annotators: int, raters_per_item: int) -> list[int]:
    """Return sizes to try, smallest first: what balanced dealing lacks on average, then larger ones."""
    by_chance = comb(raters_per_item, 2) / comb(annotators, 2)
    lacking = 0.0 if by_chance >= 1 else (promised - by_chance * items) / (1 - by_chance)
    smallest = min(max(ceil(lacking), 0), promised)
    steps = (smallest + 2**step - 1 for step in range(promised.bit_length() + 1))
    return [*(size for size in steps if size < promised), promised]


def _draw_bundles(sizes: Mapping[int, int], items: int, generator: random.Random) -> set[int]:
    """Return a random sample of bundles with a total of `items` items or more."""
    order = list(sizes)
    generator.shuffle(order)
    before = accumulate((sizes[bundle] for bundle in order), initial=0)
    return {bundle for bundle, drawn in zip(order, before, strict=False) if drawn < items}


def _deal(
    sizes: Mapping[int, int], annotators: int, raters_per_item: int, generator: random.Random
) -> dict[int, tuple[int, ...]]:
    loads = [0] * annotators
    shared = [[0] * annotators for _ in range(annotators)]
    dealt = {}
    order = list(sizes)
    generator.shuffle(order)
    for bundle in sorted(order, key=lambda each: -sizes[each]):
        chosen: list[int] = []
        free = generator.sample(range(annotators), annotators)
        for _ in range(raters_per_item):
            taker = min(free, key=lambda each: (loads[each], sum(shared[each][other] for other in chosen)))
            free.remove(taker)
            chosen.append(taker)
        for one in chosen:
            loads[one] += sizes[bundle]
            for other in chosen:
                shared[one][other] += sizes[bundle]
        dealt[bundle] = tuple(sorted(chosen))
    return dealt


def _refuse_too_few(needed: int, annotators: int) -> None:
    if annotators < needed:
        plan = ngettext(
            "This plan needs at least {count} annotator.",
            "This plan needs at least {count} annotators.",
            needed,
        ).format(count=needed)
        there = (
            ngettext("There is {count}.", "There are only {count}.", annotators).format(count=annotators)
            if annotators
            else gettext("There is none.")
        )
        way_out = gettext(
            "Invite more people, ask for fewer raters per item, or choose the shared queue, "
            "which people can still join while the round is open."
        )
        raise CannotBeMetError(f"{plan} {there} {way_out}")
