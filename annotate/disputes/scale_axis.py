"""A scale drawn as a line, with who stands where; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

ALL_TICKS = 11  # a scale of so many values names each of them
NEAR = 9.0  # percent of the line; marks that are nearer than this stand below each other
NEAR_ON_LONG_SCALES = 17.0  # where a mark names its value too


@dataclass(frozen=True)
class Held:
    """A value and who holds it, by the short name that stands at the line."""

    name: str
    value: float
    is_me: bool


@dataclass(frozen=True)
class Tick:
    """A value that is named at the line, and how far along it stands, in percent."""

    value: float
    at: float

    @property
    def left(self) -> str:
        """The place as CSS writes it, whatever the language of the page."""
        return f"{self.at:.2f}%"


@dataclass(frozen=True)
class AxisMark(Tick):
    """One rater's place on the line; `lane` counts from the line downwards."""

    name: str
    is_me: bool
    lane: int


@dataclass(frozen=True)
class ScaleAxis:
    """The line: its named values, raters on it from low to high, its number of values, what was decided."""

    ticks: tuple[Tick, ...]
    marks: tuple[AxisMark, ...]
    values: int
    decided: Tick | None = None

    @property
    def is_long(self) -> bool:
        """Whether most values have no tick, so that a mark must name its value."""
        return self.values > len(self.ticks)

    @property
    def lanes(self) -> int:
        """How many marks stand below each other at most."""
        return 1 + max(mark.lane for mark in self.marks)

    @property
    def start(self) -> str:
        """Where the lowest value that anyone holds stands."""
        return self.marks[0].left

    @property
    def width(self) -> str:
        """How far the highest stands from it."""
        return f"{self.marks[-1].at - self.marks[0].at:.2f}%"


def scale_axis(values: Sequence[float], held: Sequence[Held], *, decided: float | None = None) -> ScaleAxis:
    """Return the line of a scale with those who hold its values, one at least, and the adjudicated value."""
    ticks = tuple(Tick(value, _at(values, value)) for value in _labelled_values(values))
    near = NEAR if len(values) <= ALL_TICKS else NEAR_ON_LONG_SCALES
    last: list[float] = []  # where the last mark of each lane stands
    marks = []
    for each in sorted(held, key=lambda each: each.value):
        at = _at(values, each.value)
        lane = next((lane for lane, before in enumerate(last) if at - before >= near), len(last))
        last[lane : lane + 1] = [at]
        marks.append(AxisMark(each.value, at, each.name, each.is_me, lane))
    decision = None if decided is None else Tick(decided, _at(values, decided))
    return ScaleAxis(ticks, tuple(marks), len(values), decision)


def _at(values: Sequence[float], value: float) -> float:
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
