"""A leaderboard, the JSON that versions store of it, and what apps with judges add to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from annotate.core.models import Project

# Versions store this JSON for good, so later code must know which form it reads.
FORMAT = 1
ALL = "all"
"""The key of the board over all dimensions."""
PEOPLE, CORRECTED = "people", "judge corrected by people"


@dataclass(frozen=True)
class ListedSystem:
    """A system on a board. Its mean is on the scale of the benchmark's own raters.

    source: PEOPLE or CORRECTED. addition: the number of the addition that added it, None for the benchmark's
    own. severity_correction: the correction of the mean for the severity of the addition's raters. best,
    worst: possible ranks, 0 if no pair was compared. reason: the reason why there is no mean or interval.
    """

    system: str
    mean: float | None
    low: float | None
    high: float | None
    documents: int
    ratings: int
    source: str = PEOPLE
    addition: int | None = None
    severity_correction: float | None = None
    best: int = 0
    worst: int = 0
    letters: str = ""
    reason: str = ""

    @property
    def is_judged(self) -> bool:
        return self.source == CORRECTED


@dataclass(frozen=True)
class Board:
    """The systems on a dimension, or over all, the highest mean first.

    values: by name of metadata and then by value the systems on the documents with that value.
    """

    key: str
    name: str
    definition: str
    least: float
    most: float
    systems: Sequence[ListedSystem]
    values: Mapping[str, Mapping[str, Sequence[ListedSystem]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Effort:
    """The benchmark (addition None) or an addition: its raters, their active hours, money spent on judges."""

    addition: int | None
    systems: Sequence[str]
    raters: int
    hours: float
    money: str


@dataclass(frozen=True)
class Leaderboard:
    """The standings of a benchmark. notes: cautions about the means."""

    boards: Sequence[Board]
    parts: Sequence[Effort]
    documents: int
    notes: Sequence[str] = ()

    def board(self, key: str) -> Board | None:
        return next((each for each in self.boards if each.key == key), None)

    @property
    def hours(self) -> float:
        return sum(each.hours for each in self.parts)

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Leaderboard":
        boards = [
            Board(
                **{
                    **each,
                    "systems": _systems(each["systems"]),
                    "values": {
                        name: {value: _systems(own) for value, own in by_value.items()}
                        for name, by_value in each["values"].items()
                    },
                }
            )
            for each in plain["boards"]
        ]
        return cls(boards, [Effort(**each) for each in plain["parts"]], plain["documents"], plain["notes"])


def _systems(plain: Sequence[Mapping[str, Any]]) -> list[ListedSystem]:
    return [ListedSystem(**each) for each in plain]


@dataclass(frozen=True)
class JudgedScores:
    """Data of an app with judges about a project.

    scores: by dimension key, if a judge decides a part of the units, the score of each item by its key; the
    mean of a system's scores is an unbiased estimate of people's mean. money: spent on judges. version: a
    value that changes whenever these can change.
    """

    scores: Callable[[Project], Mapping[str, Mapping[int, float]]]
    money: Callable[[Project], Decimal]
    version: Callable[[Project], Sequence[object]]


JUDGED: dict[str, JudgedScores] = {}
"""By app."""
