"""Checks among an annotator's items: hidden gold, and items that come a second time."""

import random
from collections.abc import Sequence
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


def due(
    order: Sequence[Turn], gold: Sequence[int], checking: Checking, generator: random.Random
) -> list[Turn]:
    """Return the checks that are due after an order so far: at most one gold item and one repeat.

    Gold comes in the given order until it is used up. A repeat is drawn from the ordinary items that lie
    far enough back and were not repeated.
    """
    work = sum(not turn.check for turn in order)
    gold_done = sum(turn.check == "gold" for turn in order)
    repeated = {turn.item for turn in order if turn.check == "repeat"}
    checks = []
    if checking.gold_every and gold_done < min(work // checking.gold_every, len(gold)):
        checks.append(Turn(gold[gold_done], "gold"))
    far_back = [turn.item for turn in order[: max(len(order) - GAP, 0)] if not turn.check]
    candidates = [item for item in far_back if item not in repeated]
    if checking.repeat_every and len(repeated) < work // checking.repeat_every and candidates:
        checks.append(Turn(generator.choice(candidates), "repeat"))
    return checks


def with_checks(
    items: Sequence[int], gold: Sequence[int], checking: Checking, generator: random.Random
) -> list[Turn]:
    """Return an annotator's whole order, planned before the round, with its checks among the items."""
    order: list[Turn] = []
    for item in items:
        order.append(Turn(item))
        order += due(order, gold, checking, generator)
    return order
