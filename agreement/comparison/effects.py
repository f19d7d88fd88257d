"""Effects of factors on judges: variants that cross several factors, judged on the same items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise, product

import numpy as np

from agreement import MeasurementLevel, PairedDifference, difference_of_figures, holm_by_key
from agreement.bootstrap import Statistic, ratio_of_sums
from agreement.comparison.between_judges import accuracy_with_people, alpha_with_mean
from agreement.comparison.scores import Scores
from agreement.data import FloatArray
from agreement.streams import Randomness, substream

Variant = tuple[int, ...]
"""The level of each factor, 0 for the base level."""


@dataclass(frozen=True)
class FactorEffect:
    """The change that one level of a factor, or two levels of two factors together, make against the base
    levels.

    levels: by factor, the level. items: the items for which its variants and people have values. differences:
    by statistic. adjusted: by statistic, p values after Holm over all effects, if there is one.
    """

    levels: Mapping[int, int]
    items: int
    differences: Mapping[str, PairedDifference]
    adjusted: Mapping[str, float]


def factor_effects(
    variants: Mapping[Variant, Scores],
    shape: Sequence[int],
    *,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness,
    replicates: int = 2000,
) -> tuple[FactorEffect, ...]:
    """Return main effects, then interactions of two factors, of variants that cross factors.

    variants: the same items and people with each judge, by its levels. shape: levels of each factor, the base
    level included. generator: for the resamples. replicates: the number of resamples.

    The main effect of a level is the mean over all combinations of the other factors of the statistic at the
    level minus that at the base level. The interaction of levels a and b is the mean of s(a, b) - s(a, 0) -
    s(0, b) + s(0, 0). Statistics:

        alpha     of the judge and the mean human score, at this level
        shift     the mean of judge minus people's mean
        accuracy  instead of these at the nominal level, see `compare_two_judges`

    An effect uses the items that all its variants and people have values for; each resample of documents
    serves all variants (`difference_of_figures`). Undefined if one of its variants has no values. Source:
    contrasts of a factorial design (Montgomery 2017, Design and analysis of experiments, chapters 5 and 6).
    Raises ValueError if variants do not have the same items and people, or have levels outside `shape`.
    """
    for each in variants:
        if len(each) != len(shape) or any(not 0 <= own < of for own, of in zip(each, shape, strict=True)):
            raise ValueError(f"The levels {each} of a variant are outside the shape {tuple(shape)}.")
    if not all(_has_the_same_items(one, other) for one, other in pairwise(variants.values())):
        raise ValueError("Effects are measured on the same items and people.")
    level = MeasurementLevel(measurement_level)
    statistics = _OF_NAMES if level is MeasurementLevel.NOMINAL else _OF_AMOUNTS
    known = {each: ~np.isnan(scores.judge) for each, scores in variants.items()}

    @cache
    def statistic_of(name: str, variant: Variant, kept: bytes) -> Statistic:
        # The mask arrives as bytes, since a cache needs hashable arguments.
        chosen = variants[variant].of_items(np.frombuffer(kept, dtype=bool))
        return _remember(statistics[name](chosen, level))

    found = []
    # For each effect the variants that count for it minus those against it, on their common items.
    for levels in _effects(shape):
        sides = _sides(levels, shape)
        needed = [*sides[0], *sides[1]]
        missing = sum(each not in variants or not known[each].any() for each in needed)
        if missing:
            reason = f"{missing} of the {len(needed)} variants of this effect have no values."
            undefined = PairedDifference(None, 0, reason=reason)
            found.append(FactorEffect(levels, 0, dict.fromkeys(statistics, undefined), {}))
            continue
        some = variants[needed[0]]
        kept = np.logical_and.reduce([~np.isnan(some.human_means), *(known[each] for each in needed)])
        size = len(some.of_items(kept).document_labels)
        differences = {
            name: difference_of_figures(
                (
                    _mean([statistic_of(name, each, kept.tobytes()) for each in sides[0]], len(levels)),
                    _mean([statistic_of(name, each, kept.tobytes()) for each in sides[1]], len(levels)),
                ),
                size,
                substream(generator, "effects", name),
                replicates=replicates,
            )
            if size
            else PairedDifference(None, 0, reason="These variants and people have no item in common.")
            for name in statistics
        }
        found.append(FactorEffect(levels, int(kept.sum()), differences, {}))
    names = list(statistics)
    # Holm over all effects, for each statistic.
    adjusted = {
        name: holm_by_key({index: each.differences[name].p_value for index, each in enumerate(found)})
        for name in names
    }
    return tuple(
        replace(each, adjusted={name: adjusted[name][index] for name in names if index in adjusted[name]})
        for index, each in enumerate(found)
    )


def _has_the_same_items(one: Scores, other: Scores) -> bool:
    return (
        (one.system_names, one.document_labels) == (other.system_names, other.document_labels)
        and np.array_equal(one.systems, other.systems)
        and np.array_equal(one.documents, other.documents)
        and np.array_equal(one.human, other.human, equal_nan=True)
    )


def _remember(statistic: Statistic) -> Statistic:
    """Return the statistic with its last values kept: all effects of a variant share their resamples."""
    last: list[FloatArray] = []

    def values(weights: FloatArray) -> FloatArray:
        # One row is the value itself, and would displace the resamples that the next effect needs.
        if len(weights) == 1:
            return statistic(weights)
        if not last or not np.array_equal(last[0], weights):
            last[:] = [weights, statistic(weights)]
        return last[1]

    return values


def _effects(shape: Sequence[int]) -> Iterator[dict[int, int]]:
    for factor, levels in enumerate(shape):
        yield from ({factor: level} for level in range(1, levels))
    for first, second in combinations(range(len(shape)), 2):
        for one, other in product(range(1, shape[first]), range(1, shape[second])):
            yield {first: one, second: other}


def _sides(levels: Mapping[int, int], shape: Sequence[int]) -> tuple[list[Variant], list[Variant]]:
    """Return the variants that count for an effect, and equally many variants that count against it."""
    others = [[0, levels[each]] if each in levels else range(count) for each, count in enumerate(shape)]
    sides: tuple[list[Variant], list[Variant]] = ([], [])
    for variant in product(*others):
        # Each base level changes the sign: s(a, b) - s(a, 0) - s(0, b) + s(0, 0).
        at_base = sum(variant[each] == 0 for each in levels)
        sides[at_base % 2].append(variant)
    return sides


def _mean(statistics: Sequence[Statistic], times: int) -> Statistic:
    # An interaction has two variants on each side for each combination of the other factors.
    return lambda weights: times * np.mean([each(weights) for each in statistics], axis=0)


def _shift(scores: Scores, _level: MeasurementLevel) -> Statistic:
    sums = np.bincount(scores.documents, scores.judge - scores.human_means).astype(float)
    return ratio_of_sums(sums, np.bincount(scores.documents).astype(float))


_OF_AMOUNTS = {"alpha": alpha_with_mean, "shift": _shift}
_OF_NAMES = {"accuracy": accuracy_with_people}
