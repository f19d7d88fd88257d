"""How an annotator's values on one dimension lie to the reference values of the same items. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotate.core.scale import normalize


@dataclass(frozen=True)
class ReferenceSide:
    """Values on one side of their reference: how many, and by how many points at least and at most."""

    count: int
    least: float
    most: float


@dataclass(frozen=True)
class RaterCalibration:
    """Values beside their references.

    `above`, `below` and `bias` are None where the values are names, which have no distance; each side is None
    also where nothing lies on it. bias: mean of value minus reference, in points of the scale.
    """

    pairs: int
    same: int
    above: ReferenceSide | None
    below: ReferenceSide | None
    bias: float | None

    @property
    def others(self) -> int:
        """How many values are not the reference."""
        return self.pairs - self.same

    @property
    def distance(self) -> float:
        """How far the values lie from their references on average, whichever the side; 0 for names."""
        return abs(self.bias or 0)


def calibrate(pairs: Sequence[tuple[float, float]], *, is_named: bool) -> RaterCalibration | None:
    """Return how values lie to their references, None without any: a share of nothing says nothing.

    pairs: each a value and its reference, on one scale. is_named: whether the values are codes of categories.
    """
    if not pairs:
        return None
    apart = [normalize(value - reference) for value, reference in pairs]
    same = apart.count(0)
    if is_named:
        return RaterCalibration(len(pairs), same, None, None, None)
    above, below = _side(each for each in apart if each > 0), _side(-each for each in apart if each < 0)
    return RaterCalibration(len(pairs), same, above, below, fmean(apart))


def _side(distances: Iterable[float]) -> ReferenceSide | None:
    found = sorted(distances)
    return ReferenceSide(len(found), found[0], found[-1]) if found else None
