"""Assignment plans: the raters of each item, decided before a round opens. Pure: no Django.

Items and annotators are numbered from 0. A plan keeps its guarantees exactly, or is rejected with a
suggestion.
"""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import accumulate, chain, groupby
from math import ceil, comb
from operator import itemgetter

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
    # A row of `shares` has the part n_ar / n_a of each rater in a system's ratings.
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
        # Each size restarts the stream, so the result does not depend on the sizes tried before.
        generator = _stream(seed).shuffler()
        together = _draw_bundles(sizes, block, generator)
        rest = {bundle: size for bundle, size in sizes.items() if bundle not in together}
        dealt = _deal(rest, annotators, raters_per_item, generator)
        # The bundles of the block are not in `dealt`: everybody rates their items.
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
    # A bundle belongs to the sample if the bundles before it do not fill it yet.
    before = accumulate((sizes[bundle] for bundle in order), initial=0)
    return {bundle for bundle, drawn in zip(order, before, strict=False) if drawn < items}


def _deal(
    sizes: Mapping[int, int], annotators: int, raters_per_item: int, generator: random.Random
) -> dict[int, tuple[int, ...]]:
    # The load of each annotator, and the number of items that each pair shares.
    loads = [0] * annotators
    shared = [[0] * annotators for _ in range(annotators)]
    dealt = {}
    order = list(sizes)
    generator.shuffle(order)
    # The sort is stable, so bundles of equal size keep their random order.
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
    # A byte order mark, as spreadsheets write it, would become part of the first column's name.
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


GAP = 10
"""How many items lie at least between an item and its repeat, so that it is rated and not remembered."""


@dataclass(frozen=True)
class Turn:
    """An item in an annotator's order; `check` is "gold" or "repeat", or empty for ordinary work."""

    item: int
    check: str = ""


@dataclass(frozen=True)
class Checking:
    """Frequency of checks: one after each number of ordinary items; 0 switches them off."""

    gold_every: int = 0
    repeat_every: int = 0


class _Walk:
    """An annotator's order during construction: the past turns, and the items old enough for a repeat."""

    def __init__(
        self,
        gold: Sequence[int],
        checking: Checking,
        generator: random.Random,
        document_of: Mapping[int, int] | None = None,
    ) -> None:
        self.gold, self.checking, self.generator = gold, checking, generator
        self.document_of = document_of or {}
        self.kept: dict[int, int] = {}  # by document: an item in reserve for a repeat
        self.order: list[Turn] = []
        self.counts = Counter[str]()
        self.far_back: list[int] = []

    def meet(self, turn: Turn) -> None:
        self.order.append(turn)
        self.counts[turn.check] += 1
        if turn.check == "repeat" and turn.item in self.far_back:  # it may have been handed over since
            self.far_back.remove(turn.item)
        # An ordinary item is old enough for a repeat when GAP turns have followed it.
        if len(self.order) > GAP and not self.order[-GAP - 1].check:
            self.far_back.append(self.order[-GAP - 1].item)

    def due(self, fitting: Sequence[int] | None = None) -> list[Turn]:
        """Return the due checks: up to one gold item, of the `fitting` ones, and one repeat."""
        checks = self.due_gold(fitting)
        if self.is_repeat_due and self.far_back:
            checks += self.come_back() or [Turn(self.generator.choice(self.far_back), "repeat")]
        return checks

    def come_back(self) -> list[Turn]:
        far = [document for document in self.kept if self._repeatable(document)]
        if not far:
            return []
        document = self.generator.choice(far)
        repeat = Turn(self.generator.choice(self._repeatable(document)), "repeat")
        # In random order, so that the position does not tell the repeat from the reserve item.
        pair = [repeat, Turn(self.kept.pop(document))]
        self.generator.shuffle(pair)
        return pair

    def _repeatable(self, document: int) -> list[int]:
        return [item for item in self.far_back if self.document_of[item] == document]

    def due_gold(self, fitting: Sequence[int] | None = None) -> list[Turn]:
        every, gold = self.checking.gold_every, self.counts["gold"]
        # One gold item is due for each `gold_every` ordinary items, until all are used up.
        if not every or gold >= min(self.counts[""] // every, len(self.gold)):
            return []
        met = {turn.item for turn in self.order if turn.check == "gold"}
        left = [item for item in (self.gold if fitting is None else fitting) if item not in met]
        return [Turn(item, "gold") for item in left[:1]]

    @property
    def is_repeat_due(self) -> bool:
        every = self.checking.repeat_every
        return bool(every) and self.counts["repeat"] < self.counts[""] // every

    def keep_one_back(self, document: list[int], to_come: int, work: int) -> list[int]:
        """Return the items of a document for now; one stays in reserve if a return is due.

        to_come, work: the numbers of items after this document, and of all.
        """
        every = self.checking.repeat_every
        is_wanted = bool(every) and self.counts["repeat"] + len(self.kept) < work // every
        # With fewer than GAP items to come, nothing of this document gets old enough for a repeat.
        if len(document) < 2 or len(self.kept) >= MOST_KEPT_BACK or to_come < GAP or not is_wanted:
            return document
        kept = self.generator.choice(document)
        self.kept[self.document_of[kept]] = kept
        return [item for item in document if item != kept]

    def return_once(self) -> bool:
        pair = self.come_back()
        for turn in pair:
            self.meet(turn)
        return bool(pair)


def due(
    order: Iterable[Turn],
    gold: Sequence[int],
    checking: Checking,
    generator: random.Random,
    kept: Collection[int] = (),
    document_of: Mapping[int, int] | None = None,
) -> list[Turn]:
    """Return the checks due after an order, and the reserve items for repeats.

    Gold items keep the given order until they are used up. A repeat is sampled from the ordinary items that
    are old enough and not yet repeated; documents with a reserve item come first.
    """
    walk = _Walk(gold, checking, generator, document_of)
    # The past order is walked again: it decides about counts and about items old enough for a repeat.
    walk.kept = {walk.document_of[item]: item for item in kept}
    for turn in order:
        walk.meet(turn)
    there = len(walk.order)
    while found := walk.due():
        for check in found:
            walk.meet(check)
    return walk.order[there:]


def insert_checks(
    items: Sequence[int],
    gold: Sequence[int],
    checking: Checking,
    generator: random.Random,
    document_of: Mapping[int, int] | None = None,
) -> list[Turn]:
    """Return an annotator's whole order, planned before the round, with its checks among the items.

    With documents a check comes only after a document, so that none divides one. A gold item waits for its
    own document if that is still to come: alone it would be read for one item and be recognised. A repeat
    comes with an item of its document that was kept back, so that both look like a return to a document.
    """
    walk = _Walk(gold, checking, generator, document_of)
    # In mixed order checks may follow any item.
    if not document_of:
        for item in items:
            walk.meet(Turn(item))
            for check in walk.due():
                walk.meet(check)
        return walk.order
    # By document they come between documents.
    of = document_of
    documents = [list(group) for _, group in groupby(items, key=of.__getitem__)]
    for number, document in enumerate(documents):
        to_come = [item for later in documents[number + 1 :] for item in later]
        for item in walk.keep_one_back(document, len(to_come), len(items)):
            walk.meet(Turn(item))
        # Checks follow the document: gold items that fit, then returns to earlier documents.
        fitting = _fitting(gold, of, of[document[0]], [of[each] for each in to_come])
        while found := walk.due_gold(fitting):
            walk.meet(found[0])
        while walk.is_repeat_due and walk.return_once():
            pass
    # The remaining documents come again, each with a repeat while repeats are due.
    while walk.kept:
        if not (walk.is_repeat_due and walk.return_once()):
            walk.meet(Turn(walk.kept.pop(next(iter(walk.kept)))))
    # Documents of one item keep nothing back, so their repeats come alone, and at the end.
    if all(len(document) == 1 for document in documents):
        while found := [check for check in walk.due([]) if check.check == "repeat"]:
            walk.meet(found[0])
    return walk.order


MOST_KEPT_BACK = 3
"""From how many documents an item is kept back at the same time."""


def keep_back(
    items: Sequence[tuple[int, int]], passed: Collection[int], last: int | None
) -> tuple[list[int], list[int]]:
    """Return the next items of a shared queue by document, and the items in reserve for a repeat.

    items: (item, document) in the annotator's order. passed: the documents that the annotator has left. last:
    the last document. The next items are of one document, so that checks may follow each. Reserve items come
    last.
    """
    # Items of documents that the annotator has left can only be in reserve.
    kept = [item for item, document in items if document in passed]
    ahead = [each for each in items if each[1] not in passed]
    for document, group in groupby(ahead, key=itemgetter(1)):
        found = [item for item, _ in group]
        ends = document != ahead[-1][1]  # the last document may continue beyond the requested number
        if ends and len(kept) < MOST_KEPT_BACK and (len(found) > 1 or document == last):
            kept.append(found.pop())
        if found:
            return found, kept
    return kept, []


def _fitting(gold: Sequence[int], of: Mapping[int, int], ending: int, to_come: Sequence[int]) -> list[int]:
    """Return the possible gold items: of the document that ends, of the next, then of none to come."""
    # The nearest documents first: there the gold item continues or precedes ordinary items.
    near = [ending, *to_come[:1]]
    beside = [item for document in near for item in gold if of.get(item) == document]
    later = set(to_come)
    return [*beside, *(item for item in gold if of.get(item) not in {*near, *later})]


def sort_by_group(items: Sequence[int], group_of: Mapping[int, int]) -> list[int]:
    """Return the items by group: groups in the order of their first item, items in the original order."""
    groups = defaultdict[int, list[int]](list)
    for item in items:
        groups[group_of[item]].append(item)
    return [item for group in groups.values() for item in group]
