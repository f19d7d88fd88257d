"""Assignment plans and their properties."""

import csv
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import accumulate, chain
from math import ceil, comb

import numpy as np
import numpy.typing as npt

from agreement.streams import Stream
from annotate.core.translation import gettext, ngettext


class CannotBeMetError(ValueError):
    """A plan that these items and annotators cannot satisfy; the message suggests a solution."""


@dataclass(frozen=True)
class DealtPlan:
    """The raters of each item: `raters` holds one tuple of distinct annotators an item."""

    annotators: int
    raters: tuple[tuple[int, ...], ...]

    @cached_property
    def table(self) -> npt.NDArray[np.int64]:
        """(items, annotators): 1 if an annotator rates an item."""
        table = np.zeros((len(self.raters), self.annotators), dtype=np.int64)
        sizes = np.fromiter(map(len, self.raters), np.int64, len(self.raters))
        rated_by = np.fromiter(chain.from_iterable(self.raters), np.int64, int(sizes.sum()))
        table[np.repeat(np.arange(len(sizes)), sizes), rated_by] = 1
        return table

    @cached_property
    def overlap(self) -> npt.NDArray[np.int64]:
        """(annotators, annotators): items that two share; the diagonal holds each annotator's own number."""
        return self.table.T @ self.table

    @property
    def loads(self) -> list[int]:
        return list(map(int, self.table.sum(axis=0)))

    @property
    def smallest_overlap(self) -> int | None:
        """Items shared by the pair that shares fewest, None without a pair."""
        pairs = self.overlap[~np.eye(self.annotators, dtype=bool)]
        return int(pairs.min()) if pairs.size else None

    @property
    def ratings(self) -> int:
        return sum(map(len, self.raters))

    @property
    def raters_per_item(self) -> dict[int, int]:
        """Number of items for each number of raters, fewest raters first."""
        return dict(sorted(Counter(map(len, self.raters)).items()))


def severity_between_systems(plan: DealtPlan, systems: Sequence[int]) -> tuple[float, float] | None:
    """Return the average and the largest difference between two systems due to severity alone.

    systems: (items,), the system of each item. In points of a mean score for each point of standard deviation
    between raters: sqrt(sum_r (n_ar / n_a - n_br / n_b)^2) for systems a and b with n_ar ratings by rater r;
    the average is the root of the mean square. 0 if every rater has the same share in each system, sqrt(2) if
    each system has a separate rater. None with fewer than two systems with raters. Why it matters: Steen and
    Markert 2021, How to Evaluate a Summarizer, sections 5 and 6.
    """
    of = np.unique(np.asarray(systems, dtype=np.int64), return_inverse=True)[1]
    ratings = np.zeros((int(of.max(initial=-1)) + 1, plan.annotators))
    # Plain `ratings[of] += ...` would count one item of each system.
    np.add.at(ratings, of, plan.table)
    ratings = ratings[ratings.sum(axis=1) > 0]
    if len(ratings) < 2:
        return None
    shares = ratings / ratings.sum(axis=1, keepdims=True)
    products = shares @ shares.T
    own = np.diag(products)
    # |a - b|^2 = aa + bb - 2ab for every pair of systems; rounding may leave it below 0.
    squares = np.maximum(own[:, None] + own - 2 * products, 0)[np.triu_indices(len(shares), 1)]
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))


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
    # Rounded first: .07 * 100 is a little more than 7 in floats, and would promise 8.
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
    # Dealt at random, a pair shares c of the other items: b + c (n - b) = promised, solved for the block b.
    by_chance = comb(raters_per_item, 2) / comb(annotators, 2)
    lacking = 0.0 if by_chance >= 1 else (promised - by_chance * items) / (1 - by_chance)
    smallest = min(max(ceil(lacking), 0), promised)
    # Balanced dealing varies around its average, so steps double until a plan keeps the promise.
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
        # `min` takes the first of equals, so this order breaks the remaining ties at random.
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


Pair = tuple[int, int]
MOST_REASONS = 20


class ListRefusedError(ValueError):
    """An invalid list file, with a reason for each of its first invalid lines."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(reasons[0])
        self.reasons = list(reasons)


def read_list(text: str, *, items: Mapping[str, int], annotators: Mapping[str, int]) -> list[Pair]:
    """Return the pairs of item and annotator in a CSV file with columns item and annotator.

    `items` and `annotators` map names to keys. A pair listed twice counts once. Raises ListRefusedError.
    """
    rows = csv.DictReader(StringIO(text.removeprefix("\ufeff")))
    named = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
    if not {"item", "annotator"} <= named.keys():
        raise ListRefusedError([gettext("The first line must name the columns: item,annotator.")])
    pairs: dict[Pair, None] = {}
    reasons: list[str] = []
    for row in rows:
        item, annotator = ((row[named[column]] or "").strip() for column in ("item", "annotator"))
        if item in items and annotator.lower() in annotators:
            pairs[items[item], annotators[annotator.lower()]] = None
        elif item not in items:
            reasons.append(
                gettext("Line {line}: there is no item “{item}”.").format(line=rows.line_num, item=item)
            )
        else:
            reasons.append(
                gettext("Line {line}: there is no annotator “{annotator}”.").format(
                    line=rows.line_num, annotator=annotator
                )
            )
    if reasons or not pairs:
        raise ListRefusedError(
            reasons[:MOST_REASONS] or [gettext("The file lists nothing below its first line.")]
        )
    return list(pairs)


def plan_from_list(pairs: Iterable[Pair], items: Sequence[int], annotators: Sequence[int]) -> DealtPlan:
    """Return the plan of a list, by the keys of the existing items and annotators.

    Raises CannotBeMetError if the list names an item or annotator that no longer exists.
    """
    item_of = {key: number for number, key in enumerate(items)}
    annotator_of = {key: number for number, key in enumerate(annotators)}
    raters: list[set[int]] = [set() for _ in items]
    for item, annotator in pairs:
        if item not in item_of or annotator not in annotator_of:
            raise CannotBeMetError(
                gettext(
                    "The list names an item that was removed or an annotator who is no longer active. "
                    "Upload it again."
                )
            )
        raters[item_of[item]].add(annotator_of[annotator])
    return DealtPlan(len(annotators), tuple(tuple(sorted(each)) for each in raters))
