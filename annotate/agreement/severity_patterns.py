"""Rated values by what makes units alike: one system, and the same values of the same raters."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from annotate.agreement.data import IntArray
from annotate.agreement.severity_values import RatedPoints

_BLOCK = 20_000
"""How many values are looked at at once, so that memory does not grow with all of them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some patterns. cells: sparse (patterns, cells), 1 where a pattern has a cell's value.

    times: (patterns,), how many units have it; documents: sparse (patterns, documents), of which document.
    """

    cells: Any
    times: IntArray
    documents: Any
    system_of_pattern: IntArray


class RatedPatterns:
    """Units counted by pattern. A cell is a point that a rater gave to a system's units.

    system_of_pair, rater_of_pair: (pairs,), a rater and a system that the rater has values of.
    pair_of_cell, code_of_cell: (cells,), the pair and the point as indices.
    """

    def __init__(self, rated: RatedPoints) -> None:
        points, raters = len(rated.points), len(rated.rater_indices)
        system = rated.system_of_unit[rated.unit]
        cells, self._cell = np.unique(
            (system * raters + rated.rater) * points + rated.code, return_inverse=True
        )
        self.code_of_cell = cells % points
        pairs, self.pair_of_cell = np.unique(cells // points, return_inverse=True)
        self.system_of_pair, self.rater_of_pair = pairs // raters, pairs % raters
        self._rated = rated

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All patterns, some at a time."""
        return tuple(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        rated = self._rated
        chosen, pattern, times = self._distinct()
        kept = np.isin(rated.unit, chosen)
        ones = np.ones(int(kept.sum()))
        place = pattern[rated.unit[kept]], self._cell[kept]
        cells = scipy.sparse.csr_array((ones, place), shape=(len(chosen), len(self.code_of_cell)))
        of_document = scipy.sparse.csr_array(
            (np.ones(len(pattern)), (pattern, rated.document_of_unit)),
            shape=(len(chosen), rated.number_of_documents),
        )
        size = max(1, _BLOCK * len(chosen) // len(ones))
        for start in range(0, len(chosen), size):
            rows = slice(start, start + size)
            yield Block(cells[rows], times[rows], of_document[rows], rated.system_of_unit[chosen[rows]])

    def _distinct(self) -> tuple[IntArray, IntArray, IntArray]:
        """A unit of each pattern, the pattern of each unit, and how many units each has."""
        rated = self._rated
        table = np.full((len(rated.system_of_unit), 1 + len(rated.rater_indices)), -1, dtype=np.int16)
        table[:, 0] = rated.system_of_unit
        table[rated.unit, 1 + rated.rater] = rated.code
        _, chosen, pattern, times = np.unique(
            table, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        return chosen, pattern.reshape(-1), times
