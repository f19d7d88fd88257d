"""An annotator's order of items in blocks, after each of which they learn how consistent they are. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate

BLOCK_ITEMS = 50
"""Long enough that the figures of a block do not tell which of its items were checks."""


def ends_of_blocks(
    completed: Sequence[datetime | None], *, is_last: bool, size: int = BLOCK_ITEMS
) -> list[datetime]:
    """Return, for each item of the blocks that are complete from the first on, when its block ended.

    completed: when each item, in the annotator's order, was completely rated; None where it is not. is_last:
    nothing more will come, so that the rest is a block of its own. None ends before the one before it.
    """
    ends = [max(times) for times in _complete_blocks(completed, size, is_last=is_last)]
    in_order = list(accumulate(ends, max))
    return [end for at, end in enumerate(in_order) for _ in completed[at * size : (at + 1) * size]]


def _complete_blocks(
    completed: Sequence[datetime | None], size: int, *, is_last: bool
) -> Iterator[list[datetime]]:
    for start in range(0, len(completed), size):
        block = completed[start : start + size]
        times = [each for each in block if each is not None]
        if len(times) < len(block) or (len(block) < size and not is_last):
            return
        yield times
