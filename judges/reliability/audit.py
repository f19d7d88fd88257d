"""Which units are drawn for humans: by a stored seed, with a known probability, in any order."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray

Unit = int | str
BoolArray = npt.NDArray[np.bool_]

_POINTS = 2**53  # doubles in [0, 1) that are equally far apart


@dataclass(frozen=True)
class DrawnUnit:
    """A unit that was drawn, with the probability that it had of being drawn."""

    unit: Unit
    probability: float


def draw_audit(units: Sequence[Unit], *, share: float, seed: int) -> tuple[DrawnUnit, ...]:
    """The audited ones among units that stay with the judge, in the order given.

    Each is drawn with probability `share`, independently: its uniform number comes from a hash of seed and
    unit, so neither the order of the units nor which others are there matters, and units that join later do
    not move those already drawn. How many are drawn therefore varies; by chance it can be none.
    Source: Poisson sampling, Saerndal, Swensson and Wretman 1992, section 3.5.
    ValueError where the share is not above 0 and at most 1, or a unit occurs twice.
    """
    if not 0 < share <= 1:
        raise ValueError(f"The audit share must be above 0 and at most 1, but is {share}.")
    return draw(units, np.full(len(units), share), seed=seed)


def draw(units: Sequence[Unit], probabilities: npt.ArrayLike, *, seed: int) -> tuple[DrawnUnit, ...]:
    """Units drawn independently, each with its own probability (units,), as `draw_audit`.

    ValueError where a probability is not above 0 and at most 1 (what is never drawn can never be estimated).
    """
    wanted = np.asarray(probabilities, dtype=float)
    if wanted.shape != (len(units),):
        raise ValueError(f"There are {len(units)} units, but probabilities of the shape {wanted.shape}.")
    if not ((wanted > 0) & (wanted <= 1)).all():
        raise ValueError("Every probability must be above 0 and at most 1.")
    chosen = np.flatnonzero(uniform_numbers(units, seed=seed) < wanted).tolist()
    return tuple(DrawnUnit(units[index], float(wanted[index])) for index in chosen)


def draw_sample(units: Sequence[Unit], *, size: int, seed: int) -> tuple[DrawnUnit, ...]:
    """A simple random sample of exactly `size` units, in the order given; for calibration.

    The units with the smallest uniform numbers; a larger size with the same seed keeps those already drawn.
    Each has the probability size / units. ValueError where there are fewer units than that.
    """
    if not 0 <= size <= len(units):
        raise ValueError(f"A sample of {size} cannot be drawn from {len(units)} units.")
    order = np.argsort(uniform_numbers(units, seed=seed), kind="stable")
    chosen = np.sort(order[:size]).tolist()
    return tuple(DrawnUnit(units[index], size / len(units)) for index in chosen)


def uniform_numbers(units: Sequence[Unit], *, seed: int) -> FloatArray:
    """(units,): a number in [0, 1) for each unit, a function of the seed and the unit alone.

    A number and its text are the same unit. ValueError where a unit occurs twice.
    """
    names = [str(unit) for unit in units]
    if len(set(names)) < len(names):
        raise ValueError("A unit occurs twice.")
    return np.array([_uniform(f"{seed}:{name}") for name in names], dtype=float)


def size_of_audit(units: int, share: float) -> tuple[float, float]:
    """How many units an audit is expected to draw, and the standard deviation of that number."""
    return units * share, math.sqrt(units * share * (1 - share))


def _uniform(text: str) -> float:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / _POINTS
