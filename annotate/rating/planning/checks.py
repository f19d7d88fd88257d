"""Checks among an annotator's items: hidden gold, and items that come a second time."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

GAP = 10
"""How many items lie at least between an item and its repeat, so that it is rated and not remembered."""


@dataclass(frozen=True)
class Turn:
    """An item in an annotator's order; `check` is "gold" or "repeat", or empty for ordinary work."""

    item: int
    check: str = ""


@dataclass(frozen=True)
class Checking:
    """How often checks come: one after every so many ordinary items, never where it is 0."""

    gold_every: int = 0
    repeat_every: int = 0


class _Walk:
    """An annotator's order as it grows: what was met, and which items lie far enough back to be repeated."""

    def __init__(self, gold: Sequence[int], checking: Checking, generator: random.Random) -> None:
        self.gold, self.checking, self.generator = gold, checking, generator
        self.order: list[Turn] = []
        self.counts = Counter[str]()
        self.far_back: list[int] = []

    def meet(self, turn: Turn) -> None:
        """Add what comes next."""
        self.order.append(turn)
        self.counts[turn.check] += 1
        if turn.check == "repeat" and turn.item in self.far_back:  # it may have been handed over since
            self.far_back.remove(turn.item)
        if len(self.order) > GAP and not self.order[-GAP - 1].check:
            self.far_back.append(self.order[-GAP - 1].item)

    def due(self, fitting: Sequence[int] | None = None) -> list[Turn]:
        """Return the checks that come now: at most one gold item, of the `fitting` ones, and one repeat."""
        work, gold = self.counts[""], self.counts["gold"]
        every_gold, every_repeat = self.checking.gold_every, self.checking.repeat_every
        checks = []
        if every_gold and gold < min(work // every_gold, len(self.gold)):
            met = {turn.item for turn in self.order if turn.check == "gold"}
            left = [item for item in (self.gold if fitting is None else fitting) if item not in met]
            checks += [Turn(item, "gold") for item in left[:1]]
        if every_repeat and self.counts["repeat"] < work // every_repeat and self.far_back:
            checks.append(Turn(self.generator.choice(self.far_back), "repeat"))
        return checks


def due(
    order: Iterable[Turn], gold: Sequence[int], checking: Checking, generator: random.Random
) -> list[Turn]:
    """Return the checks that are due after an order so far.

    Gold comes in the given order until it is used up. A repeat is drawn from the ordinary items that lie
    far enough back and were not repeated.
    """
    walk = _Walk(gold, checking, generator)
    for turn in order:
        walk.meet(turn)
    there = len(walk.order)
    while found := walk.due():
        for check in found:
            walk.meet(check)
    return walk.order[there:]


def with_checks(
    items: Sequence[int],
    gold: Sequence[int],
    checking: Checking,
    generator: random.Random,
    document_of: Mapping[int, int] | None = None,
) -> list[Turn]:
    """Return an annotator's whole order, planned before the round, with its checks among the items.

    With documents a check comes only where a document ends, so that none tears one apart, and a gold item
    waits for its own document where that is still to come: alone it would be read for one item and stand out.
    """
    of = document_of or {}
    walk = _Walk(gold, checking, generator)
    for number, item in enumerate(items, start=1):
        walk.meet(Turn(item))
        if of and number < len(items) and of[items[number]] == of[item]:
            continue
        fitting = _fitting(gold, of, of[item], [of[each] for each in items[number:]]) if of else None
        found = walk.due(fitting)
        while found:
            for check in found:
                walk.meet(check)
            found = walk.due(fitting) if of else []  # a document may have made more than one due
    return walk.order


def _fitting(gold: Sequence[int], of: Mapping[int, int], ending: int, to_come: Sequence[int]) -> list[int]:
    """Gold that may stand here: of the document that ends or begins, then of none that is still to come."""
    near = [ending, *to_come[:1]]
    beside = [item for document in near for item in gold if of.get(item) == document]
    later = set(to_come)
    return [*beside, *(item for item in gold if of.get(item) not in {*near, *later})]


def by_group(items: Sequence[int], group_of: Mapping[int, int]) -> list[int]:
    """Return the items group by group: groups in the order of their first item, each one's items in order."""
    groups = defaultdict[int, list[int]](list)
    for item in items:
        groups[group_of[item]].append(item)
    return [item for group in groups.values() for item in group]
