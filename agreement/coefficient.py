"""A computed number with everything needed to read it, or the reason why there is none."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from agreement.data import IntArray, ReliabilityData, UnitParts

Parameter = str | int | float | bool | None
UNDEFINED = "The coefficient is undefined."
"""Why a coefficient without a value has no interval."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval and its method.

    replicates: the number of resamples (or units left out in turn) it rests on; None for an analytic
    interval. replicates_without_variation: the number of replicates without variation, which are excluded.
    """

    low: float
    high: float
    method: str
    confidence_level: float
    replicates: int | None = None
    replicates_without_variation: int = 0


@dataclass(frozen=True)
class Counts:
    """The data of a coefficient.

    pairable_units: units with values from two raters or more; pairable_values: the values in them.
    units_left_out: pairable units that the coefficient cannot use, because it needs a value from every rater.
    groups, undefined_groups: for an average within groups, the number of groups, and the number in which it
    is undefined.
    """

    units: int
    pairable_units: int
    raters: int
    ratings: int
    pairable_values: int
    units_left_out: int = 0
    groups: int | None = None
    undefined_groups: int | None = None

    @classmethod
    def of_answers(cls, per_unit: IntArray, raters: int) -> "Counts":
        """The counts of units with these numbers of answers (units,)."""
        pairable = per_unit[per_unit >= 2]
        return cls(len(per_unit), len(pairable), raters, int(per_unit.sum()), int(pairable.sum()))

    @classmethod
    def of_pairs(cls, units: int, pairs: int, raters: int = 2) -> "Counts":
        """The counts of units of which some have one value on each of two sides."""
        return cls(units, pairs, raters, 2 * pairs, 2 * pairs)


@dataclass(frozen=True)
class Coefficient:
    """A value, or None with a `reason` that a person can act upon; its interval follows the same rule.

    warning: the reason for caution with the value; shown wherever the value is.
    """

    name: str
    label: str
    value: float | None
    counts: Counts
    source: str
    reason: str | None = None
    interval: Interval | None = None
    interval_reason: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    warning: str = ""

    def __post_init__(self) -> None:
        # NaN and infinity are no values: readers and JSON need a number or a reason.
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(
                f"{self.label} is {self.value}; where it is undefined it must be None with a reason."
            )
        if (self.value is None) != bool(self.reason):
            raise ValueError(f"{self.label} needs a reason exactly where it has no value.")

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, ready for JSON."""
        return asdict(self)


def count(data: ReliabilityData, *, units_left_out: int = 0) -> Counts:
    """The numbers of units, raters and ratings in the data, and the numbers of pairable ones."""
    whole = data.once("count", lambda: counts_of_parts(data, UnitParts.whole(data))[0])
    return replace(whole, units_left_out=units_left_out) if units_left_out else whole


def counts_of_parts(data: ReliabilityData, parts: UnitParts) -> list[Counts]:
    """`count` of each part of the data."""
    per_unit = data.ratings_per_unit[parts.units]
    rated = data.codes[:, parts.units] < len(data.value_domain)
    columns = [
        parts.sums(np.ones(len(parts.units))),
        parts.sums(per_unit >= 2),
        # A rater counts with any value in the part.
        sum((parts.sums(of_rater) > 0 for of_rater in rated), np.zeros(parts.number)),
        parts.sums(per_unit),
        parts.sums(np.where(per_unit >= 2, per_unit, 0)),
    ]
    return [Counts(*row) for row in np.stack(columns, axis=1).astype(int).tolist()]


def why_not_pairable(counts: Counts) -> str | None:
    """The reason why nothing can be compared, or None if something can."""
    if not counts.ratings:
        return "There are no ratings yet."
    if counts.raters < 2:
        return "Only one rater gave values; have a second rater rate the same units."
    if not counts.pairable_units:
        return "No unit has values from two raters; have the raters rate some of the same units."
    return None


def no_variation(data: ReliabilityData) -> str:
    """The reason to give where every value is the same and chance agreement is therefore complete."""
    used = data.codes[:, data.ratings_per_unit >= 2]
    # A gap has the largest code, so the smallest one belongs to the only value.
    value = data.value_domain[int(used.min())]
    return (
        f"Every value is {value:g}: without variation, agreement cannot be told from chance. "
        "Read percent agreement and Gwet's AC beside it, or rate units that differ more."
    )


@dataclass(frozen=True)
class Estimated:
    """A number with its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def within(cls, value: float, reach: float) -> "Estimated":
        """The number, with an interval that reaches as far to either side."""
        return cls(value, value - reach, value + reach)
