from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from annotate.core.models import Project


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
