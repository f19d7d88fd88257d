"""What a plan is, and what can be read off it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt


class CannotBeMetError(ValueError):
    """A plan whose promise these items and annotators cannot keep; the sentence names the way out."""


@dataclass(frozen=True)
class DealtPlan:
    """Who rates each item: `raters` holds one tuple of annotators an item, none twice in a tuple."""

    annotators: int
    raters: tuple[tuple[int, ...], ...]

    @cached_property
    def overlap(self) -> npt.NDArray[np.int64]:
        """Items that annotators share, (annotators, annotators); the diagonal holds each one's own items."""
        table = np.zeros((len(self.raters), self.annotators), dtype=np.int64)
        for item, raters in enumerate(self.raters):
            table[item, list(raters)] = 1
        return table.T @ table

    @property
    def loads(self) -> list[int]:
        """Items of each annotator."""
        counts = Counter(annotator for raters in self.raters for annotator in raters)
        return [counts[annotator] for annotator in range(self.annotators)]

    @property
    def smallest_overlap(self) -> int | None:
        """Items shared by the pair that shares fewest, None where there is no pair."""
        pairs = self.overlap[~np.eye(self.annotators, dtype=bool)]
        return int(pairs.min()) if pairs.size else None

    @property
    def ratings(self) -> int:
        """Places for raters in all."""
        return sum(map(len, self.raters))

    @property
    def raters_per_item(self) -> dict[int, int]:
        """How many items have how many raters, fewest raters first."""
        return dict(sorted(Counter(map(len, self.raters)).items()))
