"""The better of two systems, by points over documents, and the judge's agreement with people's
preferences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, Counts, Resampling
from agreement.bootstrap import Statistic
from agreement.comparison.scores import Scores
from agreement.data import FloatArray, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness, substream
from agreement.student import ratio_interval

SystemPair = tuple[str, str]
BoolArray = npt.NDArray[np.bool_]

_NO_PREFERENCE = 0.5  # points of either output
_ONE_DOCUMENT = "An interval needs such pairs of texts in two documents."
_DECIMALS = 9  # points are sums of fractions


@dataclass(frozen=True)
class PairPreference:
    """The points of the first of two systems; the second has the other `documents` - points.

    documents: those in which the judge and people both compare the two systems.
    """

    first: str
    second: str
    documents: int
    judge_points: float | None
    human_points: float | None

    @property
    def correct(self) -> bool | None:
        """Whether the judge prefers the system that people prefer, or neither; None without documents."""
        if self.judge_points is None or self.human_points is None:
            return None
        # Half of the points is no preference, and its sign is 0 for both sides.
        half = self.documents / 2
        return bool(np.sign(self.judge_points - half) == np.sign(self.human_points - half))


@dataclass(frozen=True)
class CorrectPreferences:
    """The pairs, and the share of the compared ones in which the judge agrees with people."""

    pairs: tuple[PairPreference, ...]
    share: Coefficient

    @property
    def compared(self) -> int:
        """The number of pairs with a document in which judge and people compare them."""
        return sum(pair.correct is not None for pair in self.pairs)

    @property
    def correct(self) -> int:
        """The number of pairs that the judge decides as people do."""
        return sum(pair.correct is True for pair in self.pairs)


def all_pairs(systems: Sequence[str]) -> tuple[SystemPair, ...]:
    """Return each pair of systems once: the full set of Shen and others 2023."""
    return tuple(combinations(systems, 2))


def neighbours(ranking: Sequence[str]) -> tuple[SystemPair, ...]:
    """Return neighbours in `human_ranking`: the challenge set of Shen and others 2023."""
    return tuple(pairwise(ranking))


def correct_preferences(
    scores: Scores,
    pairs: Sequence[SystemPair] | None = None,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> CorrectPreferences:
    """The number of pairs of systems (by default all) in which the judge and people prefer the same system.

    In each document the system with the higher score gets 1 point; equal scores give half a point each.
    Points are determined once by the judge's values and once by mean human scores. More than half of the
    points is a preference, half is none. No preference is correct if people have none either. Only documents
    with all four scores count. Source: Shen and others 2023, table 5. The interval of the share resamples
    documents. Undefined if no pair has such a document.
    """
    chosen = all_pairs(scores.system_names) if pairs is None else tuple(pairs)
    judge = points_of_scores(scores, scores.judge, chosen)
    human = points_of_scores(scores, scores.human_means, chosen)
    return compared_points(judge, human, chosen, generator, resampling)


@dataclass(frozen=True)
class TextPreferences:
    """The better of two outputs for one document: the share that a judge decides as people do.

    compared: pairs of outputs with a preference of people and a verdict of the judge. ties: the pairs among
    them in which the judge sees no difference; each counts one half.
    """

    accuracy: Coefficient
    compared: int
    ties: int


def text_preferences_of_scores(scores: Scores) -> TextPreferences:
    """`text_preferences` of a judge that gives scores, over all pairs of outputs for one document.

    Undefined if people prefer no output of any pair, or if the judge has no values of these pairs.
    """
    pairs = all_pairs(scores.system_names)
    return text_preferences(
        points_of_scores(scores, scores.judge, pairs), points_of_scores(scores, scores.human_means, pairs)
    )


def text_preferences(judge: FloatArray, human: FloatArray) -> TextPreferences:
    """The accuracy of a judge on people's preferences between outputs: the mean of 1 - |judge - human|
    points.

    judge, human: (documents, pairs), the points of the first output of each pair of systems: 1, 0.5 or 0 (the
    mean over a judge's repeated calls), NaN if not compared. Pairs without a preference of people are
    excluded. Source: Gao and others 2023 (arXiv 2304.02554), table 3. The interval is `ratio_interval`'s,
    over documents. Undefined if no pair remains.
    """
    counted = ~np.isnan(judge) & ~np.isnan(human) & (human != _NO_PREFERENCE)
    # A tie of the judge, or a change with the order, is half a hit.
    hits = np.sum(1 - np.abs(judge - human), axis=1, where=counted)
    sizes = counted.sum(axis=1).astype(float)
    number, reason = int(sizes.sum()), _explain_undefined(judge, human)
    if (~np.isnan(judge) & ~np.isnan(human)).any():
        reason = "People prefer none of these texts to another."
    accuracy = Coefficient(
        name="text_preferences",
        label="Accuracy on people’s preferences between texts",
        value=float(hits.sum()) / number if number else None,
        counts=_counts(counted),
        source="Gao and others 2023, table 3",
        reason=None if number else reason,
    )
    if number:
        interval, _ = ratio_interval(hits, sizes)
        accuracy = replace(accuracy, interval=interval, interval_reason=None if interval else _ONE_DOCUMENT)
    return TextPreferences(accuracy, number, int(np.sum(judge[counted] == _NO_PREFERENCE)))


def points_of_scores(scores: Scores, values: FloatArray, pairs: Sequence[SystemPair]) -> FloatArray:
    """(documents, pairs): 1, 0.5 or 0 points for the first system by values (items,); NaN without both.

    ValueError for a pair with a system that has no scores.
    """
    index_of = {name: index for index, name in enumerate(scores.system_names)}
    unknown = sorted({name for pair in pairs for name in pair} - set(index_of))
    if unknown:
        raise ValueError(f"There are no scores of the system {unknown[0]}.")
    table = scores.by_document(values)
    first = table[:, [index_of[one] for one, _ in pairs]]
    second = table[:, [index_of[other] for _, other in pairs]]
    return np.asarray((1 + np.sign(first - second)) / 2)


def compared_points(
    judge: FloatArray,
    human: FloatArray,
    pairs: Sequence[SystemPair],
    generator: Randomness | None,
    resampling: Resampling | None,
) -> CorrectPreferences:
    """The preferences from points (documents, pairs) of the first systems, by judge and by people."""
    both = ~np.isnan(judge) & ~np.isnan(human)
    documents = both.sum(axis=0)
    sums = [np.round(np.sum(points, axis=0, where=both), _DECIMALS) for points in (judge, human)]
    preferences = tuple(
        PairPreference(
            first=first,
            second=second,
            documents=int(number),
            judge_points=float(of_judge) if number else None,
            human_points=float(of_people) if number else None,
        )
        for (first, second), number, of_judge, of_people in zip(pairs, documents, *sums, strict=True)
    )
    # Documents without a compared pair have no part in the share, so they are not resampled.
    used = both.any(axis=1)
    weighted = Weighted(
        name="correct_preferences",
        label="Share of correct preferences",
        source="Shen and others 2023, table 5",
        statistic=correct_share(judge[used], human[used], both[used]),
        size=int(used.sum()),
        noun="documents",
        bounds=(0.0, 1.0),
    )
    why, drawn_with = _explain_undefined(judge, human), substream(generator, *pairs)
    share = weighted.coefficient(_counts(both), why, drawn_with, resampling)
    return CorrectPreferences(preferences, share)


def correct_share(judge: FloatArray, human: FloatArray, both: BoolArray) -> Statistic:
    """From weights (replicates, documents) to the share of correct pairs among those with documents."""
    # The sign of a sum of margins is the preference; documents without a comparison add 0.
    margins = [np.where(both, points - 0.5, 0) for points in (judge, human)]

    def shares(weights: FloatArray) -> FloatArray:
        compared = weights @ both > 0
        preferred = [np.sign(np.round(weights @ margin, _DECIMALS)) for margin in margins]
        correct = (preferred[0] == preferred[1]) & compared
        number = compared.sum(axis=1)
        return divide_where(number > 0, correct.sum(axis=1), number)

    return shares


def _explain_undefined(judge: FloatArray, human: FloatArray) -> str:
    if not judge.shape[1]:
        return "There is no pair of systems to compare."
    if np.isnan(human).all():
        return "People have rated no two of these systems on the same document yet."
    if np.isnan(judge).all():
        return "The judge has compared no two of these systems on the same document yet."
    return "Judge and people have compared no two of these systems on the same document."


def _counts(both: BoolArray) -> Counts:
    """A unit is a pair of systems, a rating one comparison in one document."""
    comparisons = 2 * int(both.sum())
    return Counts(
        units=both.shape[1],
        pairable_units=int(both.any(axis=0).sum()),
        raters=2 if comparisons else 0,
        ratings=comparisons,
        pairable_values=comparisons,
    )
