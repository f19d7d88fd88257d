"""How a judge goes with people where values are categories: accuracy and F1; closeness of other answers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, Counts, Resampling
from agreement.bootstrap import Statistic
from agreement.comparison.scores import Scores
from agreement.data import FloatArray, divide_where
from agreement.estimate import Weighted
from agreement.ratios import ratio_interval
from agreement.streams import Randomness

_NO_ITEM = "No item has a value of the judge and one of a person."
_NEVER = "Neither the judge nor a person gave this category."


@dataclass(frozen=True)
class CategoryAgreement:
    """A judge compared with people on one nominal dimension.

    f1, judged, people: by category, in the requested order: F1, the number of items to which the judge gave
    it, and the number to which people gave it, an item divided among its raters.
    """

    accuracy: Coefficient
    macro_f1: Coefficient
    f1: tuple[Coefficient, ...]
    judged: tuple[int, ...]
    people: tuple[float, ...]


def category_agreement(
    scores: Scores, categories: Sequence[float], *, generator: Randomness | None = None
) -> CategoryAgreement:
    """Accuracy, F1 of each category and their mean, over the items with a value of both.

    With p_ic the share of an item's raters with category c: accuracy is the mean of p_ic at the judge's
    category, F1_c = 2 sum_i p_ic [judge gave c] / (sum_i p_ic + sum_i [judge gave c]). So every item counts
    once, ties of raters need no rule, and no judge reaches 1 if people differ. Macro-F1: the mean of F1_c
    over the categories that anyone gave. Intervals resample documents; F1 of one category, which may be rare,
    has `ratio_interval`. Undefined without such an item, F1 also for a category without any value. Source:
    van Rijsbergen 1979, Information Retrieval, chapter 7.
    """
    both = ~np.isnan(scores.human).all(axis=0) & ~np.isnan(scores.judge)
    people, judge = _shares_of_people(scores, both, categories), _judge_indicators(scores, both, categories)
    documents = np.unique(scores.documents[both], return_inverse=True)[1]
    # (documents, 3 x categories): agreed, given by people, given by the judge.
    sums = np.stack(
        [np.bincount(documents, each) for part in (people * judge, people, judge) for each in part], axis=1
    )
    counts, of = _counts(scores, both), _Sums(np.asarray(sums, dtype=float))

    def coefficient(
        name: str, label: str, statistic: Statistic, why: str, drawn_with: Randomness | None = None
    ) -> Coefficient:
        source = "van Rijsbergen 1979, Information Retrieval, chapter 7"
        weighted = Weighted(name, label, source, statistic, len(sums), "documents", (0.0, 1.0))
        return weighted.coefficient(counts, why, drawn_with, Resampling(by="documents"))

    def f1(index: int) -> Coefficient:
        found = coefficient("f1", "F1", _column(of.f1, index), _NEVER if len(sums) else _NO_ITEM)
        if generator is None or not found.defined:
            return found
        agreed, people, judged = sums[:, index :: len(categories)].T
        interval, reason = ratio_interval(agreed, (people + judged) / 2)
        return replace(found, interval=interval, interval_reason=reason)

    return CategoryAgreement(
        coefficient("accuracy", "Accuracy", of.accuracy, _NO_ITEM, generator),
        coefficient("macro_f1", "Macro-F1", of.macro_f1, _NO_ITEM, generator),
        tuple(map(f1, range(len(categories)))),
        tuple(judge.sum(axis=1).astype(int).tolist()),
        tuple(people.sum(axis=1).tolist()),
    )


def _shares_of_people(scores: Scores, both: npt.NDArray[np.bool_], categories: Sequence[float]) -> FloatArray:
    """(categories, items): p_ic, the share of an item's raters with this category."""
    people = np.array([(scores.human[:, both] == each).sum(axis=0) for each in categories], dtype=float)
    return np.asarray(people / np.maximum((~np.isnan(scores.human[:, both])).sum(axis=0), 1))


def _judge_indicators(scores: Scores, both: npt.NDArray[np.bool_], categories: Sequence[float]) -> FloatArray:
    """(categories, items): 1 at the judge's category, else 0."""
    return np.array([scores.judge[both] == each for each in categories], dtype=float)


@dataclass(frozen=True)
class _Sums:
    """Statistics of weights of documents (replicates, documents) over sums (documents, 3 x categories)."""

    sums: FloatArray

    def f1(self, weights: FloatArray) -> FloatArray:
        """(replicates, categories); NaN for a category without any value."""
        agreed, *given = np.split(weights @ self.sums, 3, axis=1)
        either = given[0] + given[1]
        return divide_where(either > 0, 2 * agreed, either)

    def accuracy(self, weights: FloatArray) -> FloatArray:
        """(replicates,)."""
        agreed, _, judged = np.split(weights @ self.sums, 3, axis=1)
        return np.asarray(agreed.sum(axis=1) / judged.sum(axis=1))

    def macro_f1(self, weights: FloatArray) -> FloatArray:
        """(replicates,): the mean over the categories that anyone gave."""
        found = self.f1(weights)
        return np.asarray(np.nansum(found, axis=1) / np.sum(~np.isnan(found), axis=1))


def _column(statistics: Statistic, index: int) -> Statistic:
    return lambda weights: statistics(weights)[:, index]


def _counts(scores: Scores, both: np.ndarray) -> Counts:
    ratings = int((~np.isnan(scores.human[:, both])).sum())
    items = int(both.sum())
    return Counts(
        len(both), items, raters=len(scores.human), ratings=ratings, pairable_values=ratings + items
    )


_NOTHING = "No item has two answers to compare."


def mean_closeness(
    closeness: FloatArray,
    documents: Sequence[Hashable],
    *,
    answers: int,
    raters: int,
    generator: Randomness | None = None,
) -> Coefficient:
    """The mean of 1 - distance over items, from 0 to 1; it is not corrected for chance.

    closeness: (items,), of each item the mean of 1 - distance over its pairs of answers, NaN for an item
    without a pair. documents: (items,), which the interval resamples. answers, raters: their numbers.
    Each item counts once, whatever its number of raters. Undefined if all items lack a pair.
    Source: observed agreement, as in Artstein and Poesio 2008, Computational Linguistics 34, 555-596.
    """
    compared = ~np.isnan(closeness)
    labels = [each for each, is_compared in zip(documents, compared.tolist(), strict=True) if is_compared]
    index_of = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    group = np.array([index_of[each] for each in labels], dtype=np.intp)
    sums = np.bincount(group, closeness[compared], len(index_of)).astype(float)
    sizes = np.bincount(group, minlength=len(index_of)).astype(float)

    def statistic(weights: FloatArray) -> FloatArray:
        return np.asarray((weights @ sums) / (weights @ sizes))

    source = "Artstein and Poesio 2008, Computational Linguistics 34, 555-596"
    weighted = Weighted(
        "mean_closeness", "Mean closeness", source, statistic, len(index_of), "documents", (0.0, 1.0)
    )
    items = int(compared.sum())
    counts = Counts(len(closeness), items, raters=raters, ratings=answers, pairable_values=answers)
    return weighted.coefficient(counts, _NOTHING, generator, Resampling(by="documents"))
