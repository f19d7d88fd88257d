"""May a judge replace an annotator? The alternative annotator test, beside judges that know nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from annotate.agreement.data import FloatArray
from annotate.agreement.group_means import means_by_group
from annotate.agreement.pairs import mean_values
from annotate.agreement.streams import Randomness, generator_of
from judges.comparison.scores import index_labels, numbers
from judges.reliability.audit import BoolArray

Alignment = Callable[[FloatArray, FloatArray], FloatArray]
"""From values (units,) and the others' (others, units) to how well they fit (units,), larger is better."""

_DECIMALS = 9
_LEAST_ANNOTATORS = 3


def minus_root_mean_squared_error(values: FloatArray, others: FloatArray) -> FloatArray:
    """(units,): -sqrt(mean over the others of (value - other)^2), for ordered scales; NaN without others.

    values: (units,) of one rater; others: (raters, units), NaN where missing.
    """
    return np.asarray(-np.sqrt(mean_values((values - others) ** 2)))


def share_of_equal_values(values: FloatArray, others: FloatArray) -> FloatArray:
    """(units,): the share of the others who gave the same value, for categories; NaN without others.

    values: (units,) of one rater; others: (raters, units), NaN where missing.
    """
    return mean_values(np.where(np.isnan(others), np.nan, values == others))


class Verdict(StrEnum):
    """What the test comes to: omega below .5; .5 or more, but a constant answer does as well; neither."""

    FAILS = "fails"
    LIKE_A_CONSTANT = "passes, but so would a constant"
    PASSES = "passes"


@dataclass(frozen=True)
class AnnotatorComparison:
    """The judge against one annotator, both measured by the other annotators.

    units: rated by the annotator and by another. judge_wins, annotator_wins: in which share of them the judge
    (the annotator) fits the others at least as well; ties count for both. p_value: for "the annotator wins
    by epsilon or more often than the judge". judge_replaces: whether that is rejected.
    """

    annotator: str
    units: int
    judge_wins: float
    annotator_wins: float
    p_value: float
    judge_replaces: bool


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """The test for one judge on one dimension.

    winning_rate: omega, the share of annotators that the judge may replace. advantage: rho, the mean over
    annotators of `judge_wins`. Both None with a `reason` where no annotator can be compared. left_out:
    the annotators with too few units. verdict: what it comes to, in words in `verdict_reason`; None where the
    test has nothing to say. constant_value, constant: the constant answer with the largest
    advantage, under the same test; shuffled: the judge's values dealt to other units. beyond_constant:
    the interval of the mean difference in wins over the constant judge.
    """

    winning_rate: float | None
    advantage: float | None
    reason: str | None
    annotators: tuple[AnnotatorComparison, ...]
    left_out: tuple[str, ...]
    verdict: "Verdict | None"
    verdict_reason: str
    constant_value: float | None = None
    constant: "AlternativeAnnotatorTest | None" = None
    shuffled: "AlternativeAnnotatorTest | None" = None
    beyond_constant: tuple[float, float] | None = None


def alternative_annotator_test(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    epsilon: float,
    generator: Randomness,
    documents: npt.ArrayLike | None = None,
    annotators: tuple[str, ...] = (),
    alignment: Alignment = minus_root_mean_squared_error,
    false_discovery_rate: float = 0.05,
    least_units: int = 30,
    confidence_level: float = 0.95,
) -> AlternativeAnnotatorTest:
    """Whether a judge fits the other annotators about as well as each of them does, on one dimension.

    human: (annotators, units), NaN for a gap; only people who never saw a judge's value. judge: (units,).
    For each annotator j and unit i rated by j, by another and by the judge, W^f = [S(f) >= S(h_j)],
    W^h = [S(h_j) >= S(f)], S the alignment with the other annotators; d = W^h - W^f. Rejected by a one-sided
    t test (below 30 values one that allows for skewness, `p_value_below`) is "mean d >= epsilon", where
    epsilon is what a person costs more: .2 for experts, .15 for skilled annotators, .1 for a crowd; over
    annotators by Benjamini and Yekutieli.
    documents: (units,), any labels; then d is averaged within each, since units of one document are not
    independent. Annotators with fewer than `least_units` units are left out.

    Beside it the constant judge and the shuffled one. Where one value is most of a scale, a judge that always
    gives it passes; so a judge that passes is told apart by whether the interval for the mean over annotators
    of W^f - W^constant (paired, by documents where given) lies above 0. No verdict is given with fewer than
    three annotators: each is measured by the others, of whom there should be two.
    Source: Calderon, Reichart and Dror 2025, The Alternative Annotator Test, sections 3 and 4; the controls
    are Concord's. Undefined where no annotator has enough units.
    """
    table, values = _check_input(human, judge, epsilon)
    names = annotators or tuple(str(number) for number in range(1, len(table) + 1))
    groups = (
        np.arange(len(values)) if documents is None else index_labels(documents, "documents", len(values))[1]
    )
    setting = _TestSetting(table, names, groups, epsilon, alignment, false_discovery_rate, least_units)
    plain = _run_test(setting, values)
    if plain.winning_rate is None:
        return plain
    constant_value, constant = _best_constant(setting, values)
    judged = np.flatnonzero(~np.isnan(values))
    dealt = np.full(len(values), np.nan)
    dealt[judged] = generator_of(generator, "shuffled judge").permutation(values[judged])
    beyond = _beyond(setting, values, np.where(np.isnan(values), np.nan, constant_value), confidence_level)
    beats = beyond is not None and beyond[0] > 0
    verdict, why = _verdict(plain, constant_value, beats=beats)
    return replace(
        plain,
        verdict=verdict,
        verdict_reason=why,
        constant_value=constant_value,
        constant=constant,
        shuffled=_run_test(setting, dealt),
        beyond_constant=beyond,
    )


def benjamini_yekutieli(p_values: npt.ArrayLike, false_discovery_rate: float) -> BoolArray:
    """(tests,): which are rejected: all up to the largest i with p_(i) <= (i / m) q / (1 + 1/2 + ... + 1/m).

    Valid under any dependence. Source: Benjamini and Yekutieli 2001, theorem 1.3.
    """
    adjusted = scipy.stats.false_discovery_control(np.asarray(p_values, dtype=float), method="by")
    return np.asarray(adjusted <= false_discovery_rate, dtype=bool)


@dataclass(frozen=True, eq=False)
class _TestSetting:
    """What stays the same for the judge and its controls."""

    human: FloatArray
    names: tuple[str, ...]
    groups: npt.NDArray[np.intp]
    epsilon: float
    alignment: Alignment
    false_discovery_rate: float
    least_units: int

    def compared_units(self, annotator: int, judge: FloatArray) -> BoolArray:
        """(units,): whether the annotator, another one and the judge have a value."""
        others = np.delete(self.human, annotator, axis=0)
        has_other = ~np.isnan(others).all(axis=0) if len(others) else np.zeros(len(judge), dtype=bool)
        return np.asarray(~np.isnan(self.human[annotator]) & ~np.isnan(judge) & has_other)

    def wins(self, annotator: int, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(units,): W^f and W^h, NaN where nothing is compared."""
        chosen = self.compared_units(annotator, judge)
        others = np.delete(self.human, annotator, axis=0)[:, chosen]
        fits = [
            np.round(self.alignment(values[chosen], others), _DECIMALS)
            for values in (judge, self.human[annotator])
        ]
        first, second = np.full(len(judge), np.nan), np.full(len(judge), np.nan)
        first[chosen], second[chosen] = fits[0] >= fits[1], fits[1] >= fits[0]
        return first, second


def _run_test(setting: _TestSetting, judge: FloatArray) -> AlternativeAnnotatorTest:
    sizes = [int(setting.compared_units(index, judge).sum()) for index in range(len(setting.human))]
    enough = [index for index, size in enumerate(sizes) if size >= max(setting.least_units, 1)]
    left_out = tuple(name for index, name in enumerate(setting.names) if index not in enough)
    if not enough:
        reason = (
            f"No annotator has {setting.least_units} units that another annotator and the judge rated too."
        )
        return AlternativeAnnotatorTest(None, None, reason, (), left_out, None, reason)
    comparisons = [_compare_annotator(setting, index, judge, sizes[index]) for index in enough]
    rejected = benjamini_yekutieli([each.p_value for each in comparisons], setting.false_discovery_rate)
    decided = tuple(
        replace(each, judge_replaces=bool(out)) for each, out in zip(comparisons, rejected, strict=True)
    )
    winning_rate = float(rejected.mean())
    advantage = float(np.mean([each.judge_wins for each in decided]))
    return AlternativeAnnotatorTest(
        winning_rate, advantage, None, decided, left_out, None, "The plain test, without its controls."
    )


def _compare_annotator(
    setting: _TestSetting, annotator: int, judge: FloatArray, units: int
) -> AnnotatorComparison:
    judge_wins, annotator_wins = setting.wins(annotator, judge)
    differences = _by_group(annotator_wins - judge_wins, setting.groups)
    return AnnotatorComparison(
        annotator=setting.names[annotator],
        units=units,
        judge_wins=float(np.nanmean(judge_wins)),
        annotator_wins=float(np.nanmean(annotator_wins)),
        p_value=p_value_below(differences, setting.epsilon),
        judge_replaces=False,
    )


def _by_group(values: FloatArray, groups: npt.NDArray[np.intp]) -> FloatArray:
    """(groups with a value,): the mean of the values (units,) in each."""
    means = means_by_group(values, groups, int(groups.max(initial=-1)) + 1)
    return means[~np.isnan(means)]


def _best_constant(setting: _TestSetting, judge: FloatArray) -> tuple[float, AlternativeAnnotatorTest]:
    """The value of the scale which, always given, has the largest advantage, and its test."""
    judged = ~np.isnan(judge)
    points = np.unique(setting.human[~np.isnan(setting.human)])
    tests = [(float(point), _run_test(setting, np.where(judged, point, np.nan))) for point in points]
    return max(tests, key=lambda found: found[1].advantage or 0)


def _beyond(
    setting: _TestSetting, judge: FloatArray, constant: FloatArray, confidence_level: float
) -> tuple[float, float] | None:
    """Student's interval for the mean of W^f - W^constant; None without two documents or without spread."""
    enough = [
        index
        for index in range(len(setting.human))
        if setting.compared_units(index, judge).sum() >= max(setting.least_units, 1)
    ]
    gains = np.stack([setting.wins(index, judge)[0] - setting.wins(index, constant)[0] for index in enough])
    each = _by_group(mean_values(gains), setting.groups)
    if len(each) < 2 or np.ptp(each) == 0:
        return None
    reach = (
        scipy.special.stdtrit(len(each) - 1, (1 + confidence_level) / 2)
        * each.std(ddof=1)
        / np.sqrt(len(each))
    )
    return float(each.mean() - reach), float(each.mean() + reach)


def _verdict(
    test: AlternativeAnnotatorTest, constant_value: float, *, beats: bool
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
    if beats:
        return Verdict.PASSES, f"Passes: {says}."
    constant = f"it does not surely do better than always answering {constant_value:g}"
    return Verdict.LIKE_A_CONSTANT, f"Passes, but so would a constant: {says}, and {constant}."


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

    From 30 on Student's t. Below, t after Hall's transformation, which takes the skewness out: with m the
    mean, s the standard deviation (divisor n), g the skewness and T = (m - bound) / s, sqrt(n) times T +
    g T^2 / 3 + g^2 T^3 / 27 + g / (6 n), which rises with T throughout. Wilcoxon's test asks whether values
    lie evenly about the bound, which skewed ones do not, and rejected up to 47 % instead of 5 %. Equal
    differences c have no spread: were the mean `bound` or more, each would be c with a probability of
    (1 - bound) / (1 - c) at the most. Sources: Student 1908; Hall 1992, Journal of the Royal Statistical
    Society B 54, 221-228.
    """
    size, mean = len(differences), float(differences.mean())
    if np.ptp(differences) == 0:
        return float(((1 - bound) / (1 - mean)) ** size) if mean < bound else 1.0
    if size >= LEAST_FOR_T:
        return float(scipy.stats.ttest_1samp(differences, bound, alternative="less").pvalue)
    deviation = float(differences.std())
    skewness = float(np.mean((differences - mean) ** 3)) / deviation**3
    distance = (mean - bound) / deviation
    straight = distance + skewness * distance**2 / 3 + skewness**2 * distance**3 / 27 + skewness / (6 * size)
    return float(scipy.special.stdtr(size - 1, np.sqrt(size) * straight))
