"""Checks among an annotator's items: hidden gold, and repeated items."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

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
        pair = [repeat, Turn(self.kept.pop(document))]
        self.generator.shuffle(pair)
        return pair

    def _repeatable(self, document: int) -> list[int]:
        return [item for item in self.far_back if self.document_of[item] == document]

    def due_gold(self, fitting: Sequence[int] | None = None) -> list[Turn]:
        every, gold = self.checking.gold_every, self.counts["gold"]
        if not every or gold >= min(self.counts[""] // every, len(self.gold)):
            return []
        met = {turn.item for turn in self.order if turn.check == "gold"}
        left = [item for item in (self.gold if fitting is None else fitting) if item not in met]
        return [Turn(item, "gold") for item in left[:1]]

    @property
    def is_repeat_due(self) -> bool:
        every = self.checking.repeat_every
        return bool(every) and self.counts["repeat"] < self.counts[""] // every


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
    if not document_of:
        for item in items:
            walk.meet(Turn(item))
            for check in walk.due():
                walk.meet(check)
        return walk.order
    of = document_of
    documents = [list(group) for _, group in groupby(items, key=of.__getitem__)]
    returns = _Returns(walk, len(items))
    for number, document in enumerate(documents):
        to_come = [item for later in documents[number + 1 :] for item in later]
        for item in returns.keep_one_back(document, len(to_come)):
            walk.meet(Turn(item))
        fitting = _fitting(gold, of, of[document[0]], [of[each] for each in to_come])
        while found := walk.due_gold(fitting):
            walk.meet(found[0])
        while walk.is_repeat_due and returns.come():
            pass
    returns.end()
    # Documents of one item keep nothing back, so their repeats come alone, and at the end.
    if all(len(document) == 1 for document in documents):
        while found := [check for check in walk.due([]) if check.check == "repeat"]:
            walk.meet(found[0])
    return walk.order


MOST_KEPT_BACK = 3
"""From how many documents an item is kept back at the same time."""


class _Returns:
    def __init__(self, walk: _Walk, work: int) -> None:
        self.walk = walk
        self.wanted = work // walk.checking.repeat_every if walk.checking.repeat_every else 0

    def keep_one_back(self, document: list[int], to_come: int) -> list[int]:
        """Return the items of a document for now; one stays in reserve if a return is due."""
        walk = self.walk
        is_wanted = walk.counts["repeat"] + len(walk.kept) < self.wanted
        # With fewer than GAP items to come, nothing of this document gets old enough for a repeat.
        if len(document) < 2 or len(walk.kept) >= MOST_KEPT_BACK or to_come < GAP or not is_wanted:
            return document
        kept = walk.generator.choice(document)
        walk.kept[walk.document_of[kept]] = kept
        return [item for item in document if item != kept]

    def come(self) -> bool:
        pair = self.walk.come_back()
        for turn in pair:
            self.walk.meet(turn)
        return bool(pair)

    def end(self) -> None:
        """Return to the remaining documents; add a repeat to each while repeats are due."""
        kept = self.walk.kept
        while kept:
            if self.walk.is_repeat_due and self.come():
                continue
            self.walk.meet(Turn(kept.pop(next(iter(kept)))))


def keep_back(
    items: Sequence[tuple[int, int]], passed: Collection[int], last: int | None
) -> tuple[list[int], list[int]]:
    """Return the next items of a shared queue by document, and the items in reserve for a repeat.

    items: (item, document) in the annotator's order. passed: the documents that the annotator has left. last:
    the last document. The next items are of one document, so that checks may follow each. Reserve items come
    last.
    """
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
