"""The parts of every measure of a bias: a value with an interval, and a control without the bias."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, Counts, Resampling
from agreement.bootstrap import Statistic, ratio_of_sums
from agreement.comparison import Scores
from agreement.data import FloatArray, IntArray
from agreement.estimate import Weighted
from agreement.streams import Randomness

CONTROLS = 39
"""How many control judges there are: beyond the least and the largest of 39 a fortieth is in 5 % of cases."""
DEALT = "the judge’s own errors, dealt to other items at random"
PEOPLE = "each person beside the others"
NO_SECOND_RATER = "A second rater is needed for a control."
NEITHER = "No item has both a value of the judge and one of people; let both judge the same items."


@dataclass(frozen=True)
class Control:
    """The measure of judges without the bias, or of people: mean, least and largest, and who they are."""

    mean: float
    least: float
    largest: float
    of: str


@dataclass(frozen=True)
class Bias:
    """A measure of a bias.

    measured: the value, or the missing data. without: the value without bias. control: the measure of judges
    without the bias; None if the measure needs no control, has no value, or has no control for the reason in
    control_reason. one_sided: True if the measure, such as a distance, is above `without` by chance alone:
    only a value above the control counts. beyond: the measure minus the control's, if both are resampled.
    """

    measured: Coefficient
    without: float
    control: Control | None = None
    one_sided: bool = False
    control_reason: str | None = None
    beyond: Coefficient | None = None

    @property
    def is_tested(self) -> bool:
        """Whether the measure has a value, and the control that it needs."""
        return self.measured.defined and self.control_reason is None

    @property
    def is_apart(self) -> bool | None:
        """Whether the interval leaves out the value without bias; None without an interval."""
        interval = self.measured.interval
        return None if interval is None else not interval.low <= self.without <= interval.high

    @property
    def is_found(self) -> bool:
        """Return True if the interval excludes the value without bias, and the value is outside the control.

        One-sided: True if the whole interval is above the largest control, or the interval of `beyond` is
        above 0.
        """
        value, interval, control = self.measured.value, self.measured.interval, self.control
        if value is None or interval is None or not self.is_tested:
            return False
        if self.beyond is not None:
            return self.beyond.interval is not None and self.beyond.interval.low > 0
        if self.one_sided:
            return control is not None and interval.low > control.largest
        return bool(self.is_apart) and not (control and control.least <= value <= control.largest)


@dataclass(frozen=True)
class BiasMeasure:
    """The name and source of a bias; `without` is its value without bias."""

    name: str
    label: str
    source: str
    without: float = 0.0
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def mean_of_items(
        self, values: FloatArray, documents: npt.NDArray[Any], why: str, generator: Randomness | None
    ) -> Coefficient:
        """The mean of values (items,), each of one of the documents (items,), any labels."""
        labels, number = np.unique(documents, return_inverse=True)
        sums, items = (sums_by_document(each, number, len(labels)) for each in (values, np.ones(len(values))))
        return self.of_documents(ratio_of_sums(sums, items), len(labels), len(values), why, generator)

    def of_documents(
        self, statistic: Statistic, size: int, items: int, why: str, generator: Randomness | None
    ) -> Coefficient:
        """The statistic of weighted documents (replicates, size) as a coefficient over `items` items."""
        weighted = Weighted(self.name, self.label, self.source, statistic, size, "documents", self.bounds)
        counts = Counts(items, items, 2, 2 * items, 2 * items)
        return weighted.coefficient(counts, why, generator, Resampling(by="documents"))


def beside_people(measured: Coefficient, without: float, people: Iterable[float]) -> Bias:
    """The measure with the control of people; without a second rater it cannot be tested."""
    control = control_of(people, PEOPLE) if measured.defined else None
    reason = NO_SECOND_RATER if measured.defined and control is None else None
    return Bias(measured, without, control, control_reason=reason)


def judged_by_both(scores: Scores) -> Scores:
    """The items that have a value of the judge and one of people."""
    return scores.of_items(~np.isnan(scores.judge) & ~np.isnan(scores.human_means))


def errors_of(both: Scores) -> FloatArray:
    """(items,): the judge's value minus the mean of people."""
    return both.judge - both.human_means


def control_of(values: Iterable[float], of: str) -> Control | None:
    """The control of these values; undefined ones are excluded. None without any."""
    known = [value for value in values if not np.isnan(value)]
    return Control(float(np.mean(known)), min(known), max(known), of) if known else None


def sums_by_document(values: FloatArray, documents: IntArray, size: int) -> FloatArray:
    """(size, ...): values (items, ...) summed by document."""
    found = np.zeros((size, *values.shape[1:]))
    np.add.at(found, documents, values)
    return found


def nothing(weights: FloatArray) -> FloatArray:
    """A statistic without a value: NaN for each of the replicates."""
    return np.full(len(weights), np.nan)
