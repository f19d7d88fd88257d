"""Tables of ratings that papers and books work through, and a short way to make one."""

import csv
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agreement import ReliabilityData, observed_domain
from tests.reference import reference_data

Table = Sequence[Sequence[float]] | npt.NDArray[np.float64]

GAP = float("nan")

KRIPPENDORFF_A = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
"""Krippendorff 2011, section A: two raters, ten units, no gaps."""

KRIPPENDORFF_B = [[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]]
"""Krippendorff 2011, section B: Ben and Gerry, twelve units, values a to e as 1 to 5."""

SHROUT_FLEISS = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
"""Shrout and Fleiss 1979, table 2: four judges, six targets."""

FLEISS_COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""Wikipedia, "Fleiss' kappa": how many of 14 raters gave each of 5 values to 10 units."""

GWET_FIVE_OBSERVERS: Table = [
    [1, 1, 2, GAP, 0, 0, 1, 1, 2, 2, GAP, 0, 1, 3, 1],
    [1, 1, 3, 0, 0, 0, 0, GAP, 2, 1, 1, 0, 2, 3, 1],
    [2, 0, 3, 0, 0, 0, 2, 2, 2, 1, 0, 0, 2, 2, 1],
    [GAP, 1, 3, GAP, GAP, GAP, GAP, 0, GAP, 1, 0, 0, 2, 2, GAP],
    [2, GAP, GAP, 0, 0, 0, 1, GAP, 2, GAP, GAP, GAP, GAP, 3, 1],
]
"""Gwet 2014, page 120: five observers, 15 units, values 0 to 3."""


def ratings(values: Table, level: str = "interval", domain: npt.ArrayLike | None = None) -> ReliabilityData:
    """Reliability data over the values that occur, unless a domain is given."""
    return ReliabilityData(
        values,
        measurement_level=level,
        value_domain=observed_domain(values) if domain is None else domain,
    )


def pairs(*units: Sequence[float]) -> npt.NDArray[np.float64]:
    """A table from units, each with its raters' values."""
    return np.array(units, dtype=float).T


def from_counts(counts: Sequence[Sequence[int]]) -> npt.NDArray[np.float64]:
    """A table from how many raters gave each value 1, 2, ... to each unit."""
    values = range(1, len(counts[0]) + 1)
    return pairs(*(np.repeat(values, unit).tolist() for unit in counts))


def published(name: str) -> npt.NDArray[np.float64]:
    """A table of the reference data, raters by units; letters become numbers in alphabetical order."""
    path = reference_data() / "reliability" / f"{name}.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    table = np.array([[_number(cell) for cell in row] for row in rows[1:]])
    return table.T if rows[0][0] == "obs1" else table


def _number(cell: str) -> float:
    if cell == "NA":
        return GAP
    return float("abcd".index(cell)) if cell.isalpha() else float(cell)
