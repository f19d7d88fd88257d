"""Comparison of an annotator's values on one dimension with the reference values of the same items. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotate.core.scale import normalize


@dataclass(frozen=True)
class ReferenceSide:
    """The values on one side of their reference; least, most: differences in points."""

    count: int
    least: float
    most: float


@dataclass(frozen=True)
class RaterCalibration:
    """Values compared with their references.

    `above`, `below` and `bias` are None for categories, which have no distance. Each side is also None
    without values on it. bias: mean of value minus reference, in points of the scale.
    """

    pairs: int
    same: int
    above: ReferenceSide | None
    below: ReferenceSide | None
    bias: float | None

    @property
    def others(self) -> int:
        return self.pairs - self.same

    @property
    def distance(self) -> float:
        return abs(self.bias or 0)


def calibrate(pairs: Sequence[tuple[float, float]], *, is_named: bool) -> RaterCalibration | None:
    """Return the comparison of values with their references; None without any, as a share of 0 is undefined.

    pairs: each a value and its reference, on one scale. is_named: True if the values are codes of categories.
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
