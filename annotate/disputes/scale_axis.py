"""A scale as a line with the positions of the raters; pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

ALL_TICKS = 11  # A scale with up to this number of values labels each of them.
NEAR = 9.0  # Percent of the line; marks closer than this are below each other.
NEAR_ON_LONG_SCALES = 17.0  # The same if a mark shows its value too.


@dataclass(frozen=True)
class HolderMark:
    """A value and its raters, by the short names on the axis."""

    name: str
    value: float
    is_me: bool


@dataclass(frozen=True)
class Tick:
    """A labelled value of the axis, with its position in percent."""

    value: float
    at: float

    @property
    def left(self) -> str:
        """Return the position as CSS, independent of the page's language."""
        return f"{self.at:.2f}%"


@dataclass(frozen=True)
class AxisMark(Tick):
    """One rater's position on the axis; `lane` counts from the axis downwards."""

    name: str
    is_me: bool
    lane: int


@dataclass(frozen=True)
class ScaleAxis:
    """The axis: its labelled values, its raters from low to high, its number of values, and the decision."""

    ticks: tuple[Tick, ...]
    marks: tuple[AxisMark, ...]
    values: int
    decided: Tick | None = None

    @property
    def is_long(self) -> bool:
        """Return True if most values have no tick, so that a mark must show its value."""
        return self.values > len(self.ticks)

    @property
    def lanes(self) -> int:
        return 1 + max(mark.lane for mark in self.marks)

    @property
    def start(self) -> str:
        return self.marks[0].left

    @property
    def width(self) -> str:
        return f"{self.marks[-1].at - self.marks[0].at:.2f}%"


def scale_axis(
    values: Sequence[float], held: Sequence[HolderMark], *, decided: float | None = None
) -> ScaleAxis:
    """Return the axis of a scale with the raters of its values (one or more), and the adjudicated value."""
    ticks = tuple(Tick(value, _position_at(values, value)) for value in _labelled_values(values))
    near = NEAR if len(values) <= ALL_TICKS else NEAR_ON_LONG_SCALES
    last: list[float] = []  # where the last mark of each lane stands
    marks = []
    for each in sorted(held, key=lambda each: each.value):
        at = _position_at(values, each.value)
        lane = next((lane for lane, before in enumerate(last) if at - before >= near), len(last))
        last[lane : lane + 1] = [at]
        marks.append(AxisMark(each.value, at, each.name, each.is_me, lane))
    decision = None if decided is None else Tick(decided, _position_at(values, decided))
    return ScaleAxis(ticks, tuple(marks), len(values), decision)


def _position_at(values: Sequence[float], value: float) -> float:
    return 100 * (value - values[0]) / (values[-1] - values[0])


def _labelled_values(values: Sequence[float]) -> list[float]:
    """Return all values of a short scale; of a long one its ends and round numbers between them."""
    if len(values) <= ALL_TICKS:
        return list(values)
    first, last = int(values[0]), int(values[-1])
    rough = (last - first) / 5
    power = 10 ** (len(str(int(rough))) - 1)
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    inside = range(-(-first // step) * step, last + 1, step)
    return [first, *(each for each in inside if min(each - first, last - each) * 2 >= step), last]
