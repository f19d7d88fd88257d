"""A number with the interval that its standard error gives."""

from dataclasses import dataclass


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
