"""May a judge replace an annotator? The alternative annotator test, with controls that know less."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from agreement.comparison.scores import index_labels, numbers
from agreement.data import FloatArray
from agreement.groups import mean_values, means_by_group
from agreement.reliability.confidence import values_by_group, values_by_length
from agreement.reliability.sample import BoolArray
from agreement.streams import Randomness, generator_of
from agreement.student import standard_error, t_reach

Alignment = Callable[[FloatArray, FloatArray], FloatArray]
"""From values (units,) and the others' (others, units) to how well they fit (units,), larger is better."""

_DECIMALS = 9
_LEAST_ANNOTATORS = 3


def minus_root_mean_squared_error(values: FloatArray, others: FloatArray) -> FloatArray:
    """(units,): -sqrt(mean over the others of (value - other)^2), for ordered scales; NaN without others.

    values: (units,) of one rater; others: (raters, units), NaN if missing.
    """
    return np.asarray(-np.sqrt(mean_values((values - others) ** 2)))


def share_of_equal_values(values: FloatArray, others: FloatArray) -> FloatArray:
    """(units,): the share of the others with the same value, for categories; NaN without others.

    values: (units,) of one rater; others: (raters, units), NaN if missing.
    """
    return mean_values(np.where(np.isnan(others), np.nan, values == others))


class Verdict(StrEnum):
    """The result of the test: omega below .5; .5 or more, but a control is not beaten; all are beaten."""

    FAILS = "fails"
    LIKE_A_CONTROL = "passes, but so would a control"
    PASSES = "passes"


@dataclass(frozen=True)
class AnnotatorComparison:
    """The judge against one annotator, both measured by the other annotators.

    units: rated by the annotator and by another. judge_wins, annotator_wins: the share of them in which the
    judge (the annotator) fits the others at least as well; ties count for both. p_value: for "the annotator
    wins by epsilon or more often than the judge". judge_replaces: True if that hypothesis is rejected.
    by_document: (documents,), the annotator's wins minus the judge's, NaN without a comparison.
    """

    annotator: str
    units: int
    judge_wins: float
    annotator_wins: float
    p_value: float
    judge_replaces: bool
    by_document: FloatArray = field(default_factory=lambda: np.empty(0), compare=False, repr=False)


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """The test for one judge on one dimension.

    winning_rate: omega, the share of annotators that the judge may replace. advantage: rho, the mean over
    annotators of `judge_wins`. Both None with a `reason` if no annotator can be compared. left_out: the
    annotators with too few units. verdict: the result, in words in `verdict_reason`; None if the test has no
    result. controls: by name, answers with less information than a judge should have.
    """

    winning_rate: float | None
    advantage: float | None
    reason: str | None
    annotators: tuple[AnnotatorComparison, ...]
    left_out: tuple[str, ...]
    verdict: "Verdict | None"
    verdict_reason: str
    controls: "Mapping[str, ReplacementControl]" = field(default_factory=dict)


@dataclass(frozen=True)
class ReplacementControl:
    """Answers with less information than a judge should have, under the same test.

    answers: the rule of the control, in words. test: its plain test. gain: the mean over documents of the
    judge's wins minus its own, paired. interval: of the gain; None without two documents or without spread.
    by_document: (documents,), the gain on each, NaN without a comparison.
    """

    answers: str
    test: AlternativeAnnotatorTest
    gain: float
    interval: tuple[float, float] | None
    by_document: FloatArray = field(default_factory=lambda: np.empty(0), compare=False, repr=False)

    @property
    def is_beaten(self) -> bool:
        """Return True if the judge surely does better: the interval is above 0."""
        return self.interval is not None and self.interval[0] > 0


def alternative_annotator_test(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    epsilon: float,
    generator: Randomness,
    documents: npt.ArrayLike | None = None,
    systems: npt.ArrayLike | None = None,
    lengths: npt.ArrayLike | None = None,
    annotators: tuple[str, ...] = (),
    alignment: Alignment = minus_root_mean_squared_error,
    false_discovery_rate: float = 0.05,
    least_units: int = 30,
    confidence_level: float = 0.95,
) -> AlternativeAnnotatorTest:
    """Test whether a judge fits the other annotators about as well as each of them does, on one dimension.

    human: (annotators, units), NaN for a gap; only people who never saw a judge's value. judge: (units,). For
    each annotator j and unit i rated by j, by another and by the judge, W^f = [S(f) >= S(h_j)], W^h = [S(h_j)
    >= S(f)], S the alignment with the other annotators; d = W^h - W^f. Rejected by a one-sided t test (below
    30 values one that allows for skewness, `p_value_below`) is "mean d >= epsilon", where epsilon is the
    additional cost of a person: .2 for experts, .15 for skilled annotators, .1 for a crowd; over annotators
    by Benjamini and Yekutieli. documents: (units,), any labels; then d is averaged within each, since units
    of one document are not independent. Annotators with fewer than `least_units` units are excluded.

    A judge that passes must also beat controls, each under the same test. It beats a control if the interval
    for the mean over annotators of W^f - W^control (paired, by documents where given) is above 0:

        constant  one value for all units, the best of them: it passes if one value dominates a scale
        system    one value for each system, fitted on the other documents; needs systems (units,), any labels
        length    a value by the output's length alone, fitted in the same way; needs lengths (units,)
        shuffled  the judge's values permuted among units

    Several rules fit the controls for systems and lengths (`values_by_group`); the rule with the largest
    advantage is used. There is no verdict with fewer than three annotators: each is measured by the others,
    and there should be two others. Source: Calderon, Reichart and Dror 2025, The Alternative Annotator Test,
    sections 3 and 4; the controls are Concord's. Undefined if no annotator has enough units.
    """
    table, values = _check_input(human, judge, epsilon)
    names = annotators or tuple(str(number) for number in range(1, len(table) + 1))
    groups = (
        np.arange(len(values)) if documents is None else index_labels(documents, "documents", len(values))[1]
    )
    # Controls could answer every unit; only those with a value of the judge make them comparable.
    judged = ~np.isnan(values)
    table, values, groups = table[:, judged], values[judged], groups[judged]
    setting = _TestSetting(table, names, groups, epsilon, alignment, false_discovery_rate, least_units)
    plain = _run_test(setting, values)
    if plain.winning_rate is None:
        return plain
    points = np.unique(table[~np.isnan(table)])
    # The answers of each control, several rules for some.
    constant = max(points, key=lambda point: setting.advantage(np.full(len(values), point)))
    dealt = generator_of(generator, "shuffled judge").permutation(values)
    kinds = {"constant": (f"always {constant:g}", [np.full(len(values), constant)])}
    # Two ways to find the best point of a group: the most wins, or the closest fit to people.
    scores = [
        lambda point: setting.mean_wins(np.full(len(values), point)),
        lambda point: setting.mean_fit(np.full(len(values), point)),
    ]
    if systems is not None:
        of_system = index_labels(systems, "systems", len(judged))[1][judged]
        kinds["system"] = ("one value for each system", values_by_group(table, scores, of_system, groups))
    if lengths is not None:
        sizes = numbers(lengths, "Lengths", dimensions=1)
        if len(sizes) != len(judged) or np.isnan(sizes).any():
            raise ValueError(f"There are {len(judged)} units, and each needs the length of its text.")
        by_length = values_by_length(table, scores, sizes[judged], groups, generator)
        kinds["length"] = ("the length alone", by_length)
    kinds["shuffled"] = ("shuffled", [dealt])
    controls = {
        name: _strongest_control(setting, values, answers, rules, confidence_level)
        for name, (answers, rules) in kinds.items()
    }
    verdict, why = _verdict(plain, controls)
    return replace(plain, verdict=verdict, verdict_reason=why, controls=controls)


def benjamini_yekutieli(p_values: npt.ArrayLike, false_discovery_rate: float) -> BoolArray:
    """(tests,): which are rejected: all up to the largest i with p_(i) <= (i / m) q / (1 + 1/2 + ... + 1/m).

    Valid under any dependence. Source: Benjamini and Yekutieli 2001, theorem 1.3.
    """
    adjusted = scipy.stats.false_discovery_control(np.asarray(p_values, dtype=float), method="by")
    return np.asarray(adjusted <= false_discovery_rate, dtype=bool)


@dataclass(frozen=True, eq=False)
class _TestSetting:
    """The common settings of the judge and its controls."""

    human: FloatArray
    names: tuple[str, ...]
    groups: npt.NDArray[np.intp]
    epsilon: float
    alignment: Alignment
    false_discovery_rate: float
    least_units: int

    def enough(self, judge: FloatArray) -> list[int]:
        """The annotators with enough units to be compared on."""
        sizes = [int(self.compared_units(index, judge).sum()) for index in range(len(self.human))]
        # Without any unit there is no mean, even if `least_units` is 0.
        return [index for index, size in enumerate(sizes) if size >= max(self.least_units, 1)]

    def compared_units(self, annotator: int, judge: FloatArray) -> BoolArray:
        """(units,): whether the annotator, another one and the judge have a value."""
        others = np.delete(self.human, annotator, axis=0)
        has_other = ~np.isnan(others).all(axis=0) if len(others) else np.zeros(len(judge), dtype=bool)
        return np.asarray(~np.isnan(self.human[annotator]) & ~np.isnan(judge) & has_other)

    def wins(self, annotator: int, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(units,): W^f and W^h, NaN without a comparison."""
        chosen = self.compared_units(annotator, judge)
        others = np.delete(self.human, annotator, axis=0)[:, chosen]
        # Ties count for both sides; without rounding, the last digits of a float would decide them.
        fits = [
            np.round(self.alignment(values[chosen], others), _DECIMALS)
            for values in (judge, self.human[annotator])
        ]
        first, second = np.full(len(judge), np.nan), np.full(len(judge), np.nan)
        first[chosen], second[chosen] = fits[0] >= fits[1], fits[1] >= fits[0]
        return first, second

    def mean_wins(self, judge: FloatArray) -> FloatArray:
        """(units,): the mean of W^f over annotators with enough units."""
        return mean_values(np.stack([self.wins(index, judge)[0] for index in self.enough(judge)]))

    def mean_fit(self, judge: FloatArray) -> FloatArray:
        """(units,): the mean over annotators of how well the judge fits the other annotators."""
        fits = [self.alignment(judge, np.delete(self.human, each, axis=0)) for each in self.enough(judge)]
        return mean_values(np.stack(fits))

    def advantage(self, judge: FloatArray) -> float:
        """Rho: the mean over annotators of the share of units on which the judge wins."""
        return float(np.mean([np.nanmean(self.wins(index, judge)[0]) for index in self.enough(judge)]))


def _run_test(setting: _TestSetting, judge: FloatArray) -> AlternativeAnnotatorTest:
    enough = setting.enough(judge)
    left_out = tuple(name for index, name in enumerate(setting.names) if index not in enough)
    if not enough:
        reason = (
            f"No annotator has {setting.least_units} units that another annotator and the judge rated too."
        )
        return AlternativeAnnotatorTest(None, None, reason, (), left_out, None, reason)
    comparisons = []
    for index in enough:
        judge_wins, annotator_wins = setting.wins(index, judge)
        # d = W^h - W^f; the mean of a document is one observation of the t test.
        differences = _average_by_group(annotator_wins - judge_wins, setting.groups)
        comparisons.append(
            AnnotatorComparison(
                annotator=setting.names[index],
                units=int(np.sum(~np.isnan(judge_wins))),
                judge_wins=float(np.nanmean(judge_wins)),
                annotator_wins=float(np.nanmean(annotator_wins)),
                p_value=p_value_below(differences[~np.isnan(differences)], setting.epsilon),
                judge_replaces=False,
                by_document=differences,
            )
        )
    rejected = benjamini_yekutieli([each.p_value for each in comparisons], setting.false_discovery_rate)
    decided = tuple(
        replace(each, judge_replaces=bool(out)) for each, out in zip(comparisons, rejected, strict=True)
    )
    winning_rate = float(rejected.mean())
    advantage = float(np.mean([each.judge_wins for each in decided]))
    return AlternativeAnnotatorTest(
        winning_rate, advantage, None, decided, left_out, None, "The plain test, without its controls."
    )


def _average_by_group(values: FloatArray, groups: npt.NDArray[np.intp]) -> FloatArray:
    """(groups,): the mean of the values (units,) in each, NaN for one without values."""
    return means_by_group(values, groups, int(groups.max(initial=-1)) + 1)


def _strongest_control(
    setting: _TestSetting,
    judge: FloatArray,
    answers: str,
    rules: list[FloatArray],
    confidence_level: float,
) -> ReplacementControl:
    """The rule with the largest advantage, and Student's interval of the judge's gain over it."""
    # A rule with a gap would be compared on fewer units than the judge.
    control = max((each for each in rules if not np.isnan(each).any()), key=setting.advantage)
    # Paired by unit, so what makes a unit easy for both cancels.
    by_document = _average_by_group(setting.mean_wins(judge) - setting.mean_wins(control), setting.groups)
    gains = by_document[~np.isnan(by_document)]
    gain, size, interval = float(gains.mean()), len(gains), None
    if size > 1 and np.ptp(gains) > 0:
        reach = t_reach(standard_error(gains), size - 1, confidence_level)
        interval = gain - reach, gain + reach
    return ReplacementControl(answers, _run_test(setting, control), gain, interval, by_document)


def _verdict(
    test: AlternativeAnnotatorTest, controls: Mapping[str, ReplacementControl]
) -> tuple[Verdict | None, str]:
    share = test.winning_rate or 0.0
    if len(test.annotators) < _LEAST_ANNOTATORS:
        return None, "No verdict with fewer than three annotators: each is measured by two others at least."
    if share < 0.5:
        return (
            Verdict.FAILS,
            f"Fails: the judge may stand in for {share:.0%} of the annotators, fewer than half.",
        )
    says = f"the judge may stand in for {share:.0%} of the annotators, half or more"
    unbeaten = [each.answers for each in controls.values() if not each.is_beaten]
    if not unbeaten:
        return Verdict.PASSES, f"Passes: {says}, and it beats every control."
    return (
        Verdict.LIKE_A_CONTROL,
        f"Passes, but so would a control: {says}, but it does not surely beat these controls: "
        f"{', '.join(unbeaten)}.",
    )


def _check_input(human: npt.ArrayLike, judge: npt.ArrayLike, epsilon: float) -> tuple[FloatArray, FloatArray]:
    table, values = (
        numbers(human, "Human values", dimensions=2),
        numbers(judge, "The judge's values", dimensions=1),
    )
    if table.shape[1] != len(values):
        raise ValueError(f"There are {len(values)} values of the judge, but {table.shape[1]} units.")
    if not 0 <= epsilon < 1:
        raise ValueError(f"Epsilon must be at least 0 and below 1, but is {epsilon}.")
    return table, values


LEAST_FOR_T = 30


def p_value_below(differences: FloatArray, bound: float) -> float:
    """One-sided p value for "the mean is `bound` or more", from differences (n,) from -1 to 1, at least one.

    From 30 on Student's t. Below, t after Hall's transformation, which removes the skewness: with m the mean,
    s the standard deviation (divisor n), g the skewness and T = (m - bound) / s, sqrt(n) times T + g T^2 / 3
    + g^2 T^3 / 27 + g / (6 n), which increases with T everywhere. Wilcoxon's test assumes that values are
    symmetric about the bound, which skewed ones are not, and rejected up to 47 % instead of 5 %. Equal
    differences c have no spread: were the mean `bound` or more, each would be c with a maximum probability of
    (1 - bound) / (1 - c). Sources: Student 1908; Hall 1992, Journal of the Royal Statistical Society B 54,
    221-228.
    """
    size, mean = len(differences), float(differences.mean())
    if np.ptp(differences) == 0:
        return float(((1 - bound) / (1 - mean)) ** size) if mean < bound else 1.0
    if size >= LEAST_FOR_T:
        return float(scipy.stats.ttest_1samp(differences, bound, alternative="less").pvalue)
    # Hall's transformation, whose standard deviation and skewness have the divisor n.
    deviation = float(differences.std())
    skewness = float(np.mean((differences - mean) ** 3)) / deviation**3
    distance = (mean - bound) / deviation
    straight = distance + skewness * distance**2 / 3 + skewness**2 * distance**3 / 27 + skewness / (6 * size)
    return float(scipy.special.stdtr(size - 1, np.sqrt(size) * straight))
