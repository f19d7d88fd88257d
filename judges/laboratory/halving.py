"""Successive halving of a search's candidates over stages of documents."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeVar

LEAST_DOCUMENTS = 2
LEAST_SHARE = 0.9
"""Of the items of a stage, on which a candidate must have a value to be held against others."""
Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True)
class Stage:
    """The number of candidates and of documents in a stage, including documents of earlier stages."""

    candidates: int
    documents: int


@dataclass(frozen=True)
class CandidateRank:
    """A candidate of `parts` proposals after a stage, compared with the unchanged judge.

    gain: alpha with people's mean, the candidate's minus the judge's, on the items with values of both; None
    if undefined. share: the share of these among the items with values of the judge and people. alpha, base:
    both alphas, on these items.
    """

    candidate: int
    gain: float | None
    share: float
    parts: int
    alpha: float | None = None
    base: float | None = None
    items: int = 0

    @property
    def counts(self) -> bool:
        """Return True if it can be compared with others: its gain is known, and covers nearly all items."""
        return self.gain is not None and self.share >= LEAST_SHARE

    @property
    def _rank(self) -> tuple[bool, float, int, int]:
        """Sort by gain; ties by simplicity, then by sequence."""
        # Candidates that do not count come last, so an unknown gain never competes as 0.
        return not self.counts, -(self.gain or 0.0), self.parts, self.candidate


def combine_parts(wordings: Sequence[Part], additions: Sequence[Part], most: int) -> list[tuple[Part, ...]]:
    """Return up to `most` combinations of up to one wording and any additions.

    Each part alone comes first, then all additions together, then pairs and larger ones.
    """
    heads: list[tuple[Part, ...]] = [(), *((each,) for each in wordings)]
    subsets = [subset for size in range(len(additions) + 1) for subset in combinations(additions, size)]
    found = [(*head, *subset) for subset, head in product(subsets, heads) if head or subset]

    # Single parts first, then all additions together, then the other combinations by size.
    def rank(parts: tuple[Part, ...]) -> tuple[bool, bool, int]:
        is_joined = len(parts) > 1
        return is_joined, is_joined and parts != tuple(additions), len(parts)

    return sorted(found, key=rank)[:most]


def plan_stages(candidates: int, documents: int) -> list[Stage]:
    """Return the stages of sequential halving: each has half the candidates and twice the documents.

    There are ceil(log2 n) stages for n candidates, the last one on all documents, so that every stage takes
    about the same number of calls (Karnin, Koren and Somekh 2013, algorithm 1). Values of earlier stages are
    reused, because a judge's value of an item is not sampled again. The smallest number of documents is two.
    Raises ValueError for no candidate or fewer documents.
    """
    if candidates < 1 or documents < LEAST_DOCUMENTS:
        raise ValueError("A search needs a candidate and two documents.")
    # One candidate still needs a stage to be compared with the judge.
    count = max(1, math.ceil(math.log2(candidates)))
    stages = []
    for stage in range(count):
        stages.append(
            Stage(candidates, max(LEAST_DOCUMENTS, math.ceil(documents / 2 ** (count - 1 - stage))))
        )
        candidates = math.ceil(candidates / 2)
    return stages


def largest_plan(
    candidates: int, documents: int, fits: Callable[[Sequence[Stage]], bool]
) -> list[Stage] | None:
    """Return the stages on the largest number of documents that fits, None if two documents do not fit."""
    # A generator: it stops at the first plan that fits.
    plans = (plan_stages(candidates, count) for count in range(documents, LEAST_DOCUMENTS - 1, -1))
    return next((stages for stages in plans if fits(stages)), None)


def keep_half(standings: Sequence[CandidateRank]) -> list[int]:
    """Return the better half of the candidates, rounded up, the best first; at the last stage that is one."""
    ranked = sorted(standings, key=lambda each: each._rank)
    return [each.candidate for each in ranked[: math.ceil(len(ranked) / 2)]]


def choose_best(standings: Sequence[CandidateRank]) -> int | None:
    """Return the best candidate if it is better than the unchanged judge, else None."""
    best = min(standings, key=lambda each: each._rank, default=None)
    return best.candidate if best and best.counts and best.gain and best.gain > 0 else None
