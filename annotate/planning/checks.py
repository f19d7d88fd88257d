"""Checks among an annotator's items: hidden gold, and items that come a second time."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
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

    def due(self) -> list[Turn]:
        """Return the checks that come now: at most one gold item and one repeat."""
        work, gold = self.counts[""], self.counts["gold"]
        every_gold, every_repeat = self.checking.gold_every, self.checking.repeat_every
        checks = []
        if every_gold and gold < min(work // every_gold, len(self.gold)):
            checks.append(Turn(self.gold[gold], "gold"))
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
    items: Sequence[int], gold: Sequence[int], checking: Checking, generator: random.Random
) -> list[Turn]:
    """Return an annotator's whole order, planned before the round, with its checks among the items."""
    walk = _Walk(gold, checking, generator)
    for item in items:
        walk.meet(Turn(item))
        for check in walk.due():
            walk.meet(check)
    return walk.order
