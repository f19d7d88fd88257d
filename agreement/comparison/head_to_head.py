"""A judge that compares two systems' outputs, in both orders: points, and the effect of the order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, Counts, Resampling
from agreement.bootstrap import ratio_of_sums
from agreement.comparison.preferences import (
    CorrectPreferences,
    SystemPair,
    TextPreferences,
    compared_points,
    points_of_scores,
    text_preferences,
)
from agreement.comparison.scores import Scores, index_labels, numbers
from agreement.data import FloatArray, IntArray, divide_where, set_once
from agreement.estimate import Weighted
from agreement.streams import Randomness, substream

_DECIMALS = 9  # points are means over samples


@dataclass(frozen=True, eq=False, init=False)
class Verdicts:
    """Verdicts of one judge on one dimension, one entry for each call; unreadable is NaN.

    first, second: (verdicts,), the systems of the first and second output; documents: (verdicts,), the
    document; any labels, stored as indices into `system_names` and `document_labels`. points: (verdicts,), 1
    if the first output won, 0 if the second did, 0.5 for a tie. Raises ValueError with one message if these
    do not fit together.
    """

    first: IntArray
    second: IntArray
    documents: IntArray
    points: FloatArray
    system_names: tuple[str, ...] = field(init=False)
    document_labels: tuple[Any, ...] = field(init=False)

    def __init__(
        self,
        *,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        documents: npt.ArrayLike,
        points: npt.ArrayLike,
    ) -> None:
        values = numbers(points, "Points", dimensions=1)
        if not np.isin(values[~np.isnan(values)], (0, 0.5, 1)).all():
            raise ValueError("Points must be 1, 0.5 or 0, with NaN for a verdict that cannot be read.")
        shown = [np.asarray(systems) for systems in (first, second)]
        if shown[0].shape != values.shape or shown[1].shape != values.shape:
            raise ValueError(
                f"There are {len(values)} points, but not as many systems shown first and second."
            )
        # Both sides together: the same system has one index on either side.
        labels, indices = index_labels(np.stack(shown, axis=1).ravel(), "systems", 2 * len(values))
        of_first, of_second = indices.reshape(-1, 2).T
        if (of_first == of_second).any():
            raise ValueError("A verdict compares two different systems, but one names the same system twice.")
        document_labels, of_document = index_labels(documents, "documents", len(values))
        fields = {
            "first": of_first,
            "second": of_second,
            "documents": of_document,
            "points": values,
            "system_names": tuple(str(label) for label in labels),
            "document_labels": document_labels,
        }
        set_once(self, fields)

    @property
    def pairs(self) -> tuple[SystemPair, ...]:
        """The pairs of systems in order of first occurrence, named in the order of their first display."""
        shown: dict[frozenset[int], tuple[int, int]] = {}
        # A set of two systems is the same key in both orders.
        for first, second in zip(self.first.tolist(), self.second.tolist(), strict=True):
            shown.setdefault(frozenset((first, second)), (first, second))
        return tuple((self.system_names[one], self.system_names[other]) for one, other in shown.values())


@dataclass(frozen=True)
class PositionConsistency:
    """The frequency with which the same system wins (or ties) after a swap of the outputs.

    consistent, favours_first, favours_second: the numbers of comparisons of a pair in a document whose
    outcome is the same, moves towards the output shown first, or towards the output shown second. share:
    consistent over the sum of the three.
    """

    share: Coefficient
    consistent: int
    favours_first: int
    favours_second: int


@dataclass(frozen=True)
class PairPoints:
    """The points of the first of two systems; the second has the other `documents` - points.

    documents: those with readable verdicts in both orders. left_out: the other documents of the judge's
    calls.
    """

    first: str
    second: str
    points: Coefficient
    documents: int
    left_out: int
    consistency: PositionConsistency


def head_to_head_points(
    verdicts: Verdicts,
    pairs: Sequence[SystemPair] | None = None,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[PairPoints, ...]:
    """The points of each pair of systems (by default all pairs of the verdicts): 1 for the winner, 0.5 each
    for a tie.

    A document's points are the mean over both orders, each the mean over its samples; a document without a
    readable verdict in each order is excluded, since one order alone would count the judge's preference for a
    position. Source: Shen and others 2023, table 22. Intervals resample documents. Undefined if no document
    remains.
    """
    chosen = verdicts.pairs if pairs is None else tuple(pairs)
    by_order = points_by_order(verdicts, chosen)
    results = []
    for index, pair in enumerate(chosen):
        orders, drawn_with = by_order[:, :, [index]], substream(generator, *pair)
        # NaN in one order gives NaN, so a document without both orders has no points.
        points = orders.mean(axis=0)[:, 0]
        given = points[~np.isnan(points)]
        number = len(given)
        weighted = Weighted(
            name="head_to_head_points",
            label="Points of the first system",
            source="Shen and others 2023, table 22",
            # Left-out documents make a sum smaller, so it is scaled to the number of all.
            statistic=partial(_scaled_sum, given),
            size=number,
            noun="documents",
            bounds=(0.0, float(number)),
        )
        counts = Counts.of_pairs(len(points), number, 2 if number else 0)
        shown = _in_order(verdicts, pair, forward=True) | _in_order(verdicts, pair, forward=False)
        left_out = len(np.unique(verdicts.documents[shown])) - number
        of_pair = weighted.coefficient(counts, _NO_BOTH_ORDERS, drawn_with, resampling)
        consistency = _consistency(orders, drawn_with, resampling)
        results.append(PairPoints(*pair, of_pair, number, left_out, consistency))
    return tuple(results)


def _scaled_sum(given: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(weights @ given / weights.sum(axis=1) * len(given))


def position_consistency(
    verdicts: Verdicts,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> PositionConsistency:
    """The share of comparisons (pair, document) with the same winner, or a tie, in both orders.

    With several samples an order's winner is the one with more than half of its points. Source: Shi and
    others 2024, Judging the Judges, position consistency. The interval resamples documents. Undefined if no
    pair was compared in both orders.
    """
    return _consistency(points_by_order(verdicts, verdicts.pairs), generator, resampling)


def correct_verdicts(
    verdicts: Verdicts,
    scores: Scores,
    pairs: Sequence[SystemPair] | None = None,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> CorrectPreferences:
    """`correct_preferences` with the judge's points from its verdicts; `scores` give people's points.

    pairs: by default the pairs of the verdicts. Documents and systems are matched by label.
    """
    chosen = verdicts.pairs if pairs is None else tuple(pairs)
    judge, human = _points_of_both(verdicts, scores, chosen)
    return compared_points(judge, human, chosen, generator, resampling)


def text_preferences_of_verdicts(verdicts: Verdicts, scores: Scores) -> TextPreferences:
    """`text_preferences` of a judge that compares outputs, by its mean over both orders.

    scores: people's scores; documents and systems are matched by label. Undefined as `text_preferences`.
    """
    return text_preferences(*_points_of_both(verdicts, scores, verdicts.pairs))


def _points_of_both(
    verdicts: Verdicts, scores: Scores, pairs: Sequence[SystemPair]
) -> tuple[FloatArray, FloatArray]:
    """(documents, pairs): the points of each pair's first system by the judge and by people."""
    human = points_of_scores(scores, scores.human_means, pairs)
    judge = np.full(human.shape, np.nan)
    rows = {label: row for row, label in enumerate(scores.document_labels)}
    for points, label in zip(
        points_by_order(verdicts, pairs).mean(axis=0), verdicts.document_labels, strict=True
    ):
        if label in rows:
            judge[rows[label]] = points
    return judge, human


def points_by_order(verdicts: Verdicts, pairs: Sequence[SystemPair]) -> FloatArray:
    """(2, documents, pairs): the mean points of each pair's first system, shown first and shown second.

    NaN if that order has no readable verdict.
    """
    totals = np.zeros((2, len(verdicts.document_labels), len(pairs)))
    counts = np.zeros_like(totals)
    for index, pair in enumerate(pairs):
        for order, forward in enumerate((True, False)):
            chosen = _in_order(verdicts, pair, forward=forward) & ~np.isnan(verdicts.points)
            # Verdicts count for the output shown first; totals are of the pair's first system.
            points, documents = verdicts.points[chosen], verdicts.documents[chosen]
            of_first = points if forward else 1 - points
            totals[order, :, index] = np.bincount(documents, of_first, totals.shape[1])
            counts[order, :, index] = np.bincount(documents, minlength=totals.shape[1])
    return divide_where(counts > 0, totals, counts)


def _in_order(verdicts: Verdicts, pair: SystemPair, *, forward: bool) -> npt.NDArray[np.bool_]:
    """(verdicts,): which compare the pair with its first system shown first, or shown second."""
    # The empty name makes this an array of text even without any verdict.
    names = np.array([*verdicts.system_names, ""])
    first, second = pair if forward else pair[::-1]
    return np.asarray((names[verdicts.first] == first) & (names[verdicts.second] == second))


_NO_BOTH_ORDERS = "No document has a readable verdict in both orders; ask the judge in both."


def _consistency(
    by_order: FloatArray, generator: Randomness | None, resampling: Resampling | None
) -> PositionConsistency:
    both = ~np.isnan(by_order).any(axis=0)
    # Who wins in each order: 1 for the first system, -1 for the second, 0 for neither.
    forward, backward = np.sign(np.round(np.where(both, by_order, 0.5) - 0.5, _DECIMALS))
    same = (forward == backward) & both
    compared = both.sum(axis=1)
    # Only documents with a comparison are resampled.
    used = compared > 0
    weighted = Weighted(
        name="position_consistency",
        label="Position consistency",
        source="Shi and others 2024, Judging the Judges (arXiv 2406.07791)",
        statistic=ratio_of_sums(same.sum(axis=1)[used].astype(float), compared[used].astype(float)),
        size=int(used.sum()),
        noun="documents",
        bounds=(0.0, 1.0),
    )
    # A unit is one pair in one document; its two ratings are the outcomes in the two orders.
    counts = Counts.of_pairs(both.size, int(both.sum()), 2 if both.any() else 0)
    return PositionConsistency(
        share=weighted.coefficient(counts, _NO_BOTH_ORDERS, generator, resampling),
        consistent=int(same.sum()),
        favours_first=int(np.sum(forward > backward)),
        favours_second=int(np.sum(forward < backward)),
    )
