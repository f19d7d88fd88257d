"""Agreement on sets of labels and on each label, rates of labels by system, and yes or no to parts."""

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.alpha import Distance, alpha_by_distance, krippendorff_alpha
from agreement.bootstrap import Resampling
from agreement.coefficient import Coefficient, Counts, count, why_not_pairable
from agreement.data import FloatArray, IntArray, ReliabilityData, divide_where, index_documents, set_once
from agreement.streams import Randomness, substream
from agreement.student import RatioName, column_ratios, ratio_coefficient, sum_by_document

LabelSet = AbstractSet[Hashable]
BoolArray = npt.NDArray[np.bool_]


def jaccard_distance(first: LabelSet, second: LabelSet) -> float:
    """1 - |A and B| / |A or B|; 0 for two empty sets. Source: Jaccard 1912, New Phytologist 11, 37-50."""
    either = len(first | second)
    return 1 - len(first & second) / either if either else 0.0


def masi_distance(first: LabelSet, second: LabelSet) -> float:
    """1 - J M, with J the Jaccard similarity and M how the sets contain each other; 0 for two empty sets.

    M = 1 for equal sets, 2/3 if one contains the other, 1/3 if they only overlap, 0 if they share no label.
    An empty set and another share no label. Source: Passonneau 2006, Measuring agreement on set-valued items
    (MASI), LREC, 831-836.
    """
    if first == second:
        return 0.0
    if not first & second:
        return 1.0
    contained = first <= second or second <= first
    return 1 - (1 - jaccard_distance(first, second)) * (2 if contained else 1) / 3


@dataclass(frozen=True, eq=False, init=False)
class LabelAnswers:
    """The set of labels that each rater gave to each unit.

    labels: every label on offer, also unused ones. sets: the distinct sets in the answers.
    codes: (raters, units), positions in `sets`, NaN for a gap, with the documents of the units.
    given: (raters, units, labels), whether a rater gave a label; False in gaps.
    documents: (units,), the document of each unit as an index; a unit without one is its own.
    Raises ValueError for rows of different lengths, and for labels outside `labels`.
    """

    labels: tuple[Hashable, ...]
    sets: tuple[frozenset[Hashable], ...]
    codes: ReliabilityData
    given: BoolArray
    documents: IntArray

    def __init__(
        self,
        answers: Sequence[Sequence[LabelSet | None]],
        *,
        labels: Sequence[Hashable],
        documents: npt.ArrayLike | None = None,
        raters: Sequence[str] = (),
    ) -> None:
        """answers: (raters, units), None for a gap. documents: (units,), any labels of theirs."""
        units = len(answers[0]) if answers else 0
        if any(len(row) != units for row in answers):
            raise ValueError("Each rater needs as many answers as there are units, with None for a gap.")
        index_of = {label: index for index, label in enumerate(labels)}
        position: dict[frozenset[Hashable], int] = {}
        codes = np.full((len(answers), units), np.nan)
        given = np.zeros((len(answers), units, len(labels)), dtype=bool)
        for rater, row in enumerate(answers):
            for unit, answer in enumerate(row):
                if answer is None:
                    continue
                if unknown := sorted(map(str, answer - index_of.keys())):
                    raise ValueError(f"The label {unknown[0]} is not one of: {', '.join(map(str, labels))}.")
                # Equal sets share a number, in the order in which they first occur.
                codes[rater, unit] = position.setdefault(frozenset(answer), len(position))
                given[rater, unit, [index_of[label] for label in answer]] = True
        data = ReliabilityData(
            codes,
            measurement_level="nominal",
            value_domain=np.arange(max(len(position), 1)),
            documents=documents,
            raters=raters,
        )
        fields = {
            "labels": tuple(labels),
            "sets": tuple(position),
            "codes": data,
            "given": given,
            "documents": index_documents(documents, units),
        }
        set_once(self, fields)

    @property
    def answered(self) -> BoolArray:
        """(raters, units): whether a rater answered, be it with an empty set."""
        return ~np.isnan(self.codes.values)

    def of_label(self, index: int) -> ReliabilityData:
        """Whether each rater gave one label, as nominal values 1 and 0."""
        return ReliabilityData(
            np.where(self.answered, self.given[:, :, index], np.nan),
            measurement_level="nominal",
            value_domain=[0, 1],
            documents=self.codes.documents,
            raters=self.codes.raters,
        )


def label_alpha(
    answers: LabelAnswers,
    distance: Distance[LabelSet] = masi_distance,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`alpha_by_distance` of sets of labels; by default with the distance MASI.

    Undefined without a unit that has two answers, and if these are all the same set.
    """
    return alpha_by_distance(
        answers.codes.values,
        answers.sets,
        distance,
        documents=answers.codes.documents,
        generator=generator,
        resampling=resampling,
    )


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement on one label, over the units that two raters answered.

    given: the number of answers with it. alpha: nominal, of giving it or not. f1: the mean over pairs of
    raters. f1_of_raters: (raters,), the mean over a rater's pairs; None without a unit shared.
    """

    label: Hashable
    given: int
    alpha: Coefficient
    f1: Coefficient
    f1_of_raters: tuple[float | None, ...]


def agreement_by_label(
    answers: LabelAnswers,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[LabelAgreement, ...]:
    """Alpha and F1 of each label, in the order of the labels.

    F1 of two raters is 2 both / (one + other) over the units that both answered, and 1 if neither gave the
    label. It is not corrected for chance. A label that no rater gives has an F1 but no alpha.
    Alpha's interval is `krippendorff_alpha`'s; F1's interval is `mean_ratio_interval`'s over documents.
    Source: van Rijsbergen 1979, chapter 7; of pairs of raters Hripcsak and Rothschild 2005, JAMIA 12,
    296-298. Undefined if no unit has two answers; alpha also if all or none of these contain the label.
    """
    plan = resampling or Resampling(by="units" if answers.codes.documents is None else "documents")
    # Raters without a common unit have no F1.
    pairs = [
        (one, other)
        for one, other in combinations(range(len(answers.given)), 2)
        if (answers.answered[one] & answers.answered[other]).any()
    ]
    both, mean = _pair_sums(answers, pairs)
    found = []
    for index, label in enumerate(answers.labels):
        data = answers.of_label(index)
        counts = count(data)
        hits, sizes = both[:, :, index], mean[:, :, index]
        named_f1 = RatioName(
            "f1_of_label",
            "F1 of the label, mean of pairs of raters",
            "Hripcsak and Rothschild 2005",
            why_not_pairable(counts) or "",
            "An interval needs the label in two documents.",
        )
        values = column_ratios(hits, sizes)
        raters = len(answers.given)
        of_rater = [
            [value for pair, value in zip(pairs, values, strict=True) if rater in pair]
            for rater in range(raters)
        ]
        found.append(
            LabelAgreement(
                label=label,
                given=int(answers.given[:, :, index].sum()),
                alpha=krippendorff_alpha(
                    data, generator=substream(generator, "label", label), resampling=plan
                ),
                f1=ratio_coefficient(named_f1, hits, sizes, counts, confidence_level=plan.confidence_level),
                f1_of_raters=tuple(float(np.mean(each)) if each else None for each in of_rater),
            )
        )
    return tuple(found)


def _pair_sums(answers: LabelAnswers, pairs: Sequence[tuple[int, int]]) -> tuple[FloatArray, FloatArray]:
    """(documents, pairs, labels): units with a label by both raters, and the mean of either's units."""
    documents = int(answers.documents.max(initial=-1)) + 1
    both, mean = np.zeros((2, documents, len(pairs), len(answers.labels)))
    for index, (one, other) in enumerate(pairs):
        shared = answers.answered[one] & answers.answered[other]
        first, second = answers.given[one, shared], answers.given[other, shared]
        of_unit = answers.documents[shared]
        both[:, index] = sum_by_document((first & second).astype(float), of_unit, documents)
        # F1 = 2 both / (one + other), so its divisor is the mean of the two.
        mean[:, index] = sum_by_document((first.astype(float) + second) / 2, of_unit, documents)
    return both, mean


@dataclass(frozen=True)
class LabelRate:
    """The share of a system's outputs with a label."""

    system: str
    label: Hashable
    rate: Coefficient


def label_rates(
    answers: LabelAnswers, systems: Sequence[str], *, confidence_level: float = 0.95
) -> tuple[LabelRate, ...]:
    """The rate of each label for each system, systems in order of first occurrence.

    systems: (units,), the system of each unit. With p the share of a unit's raters with the label, the rate
    is the mean of p over the system's units with an answer. The interval is `ratio_interval`'s over
    documents. Undefined for a system without answers. Raises ValueError for another number of systems.
    """
    units = answers.given.shape[1]
    if len(systems) != units:
        raise ValueError(f"There are {units} units, but {len(systems)} systems.")
    raters = answers.answered.sum(axis=0)
    shares = divide_where(raters[:, None] > 0, answers.given.sum(axis=0), raters[:, None])
    of_unit, found = np.array(systems, dtype=object), []
    for system in dict.fromkeys(systems):
        own = (of_unit == system) & (raters > 0)
        # Numbered again, because documents without an answer about the system do not count.
        documents = np.unique(answers.documents[own], return_inverse=True)[1]
        hits = sum_by_document(shares[own], documents)
        sizes = sum_by_document(np.ones(int(own.sum())), documents)[:, None]
        counts = count(answers.codes.of_units(of_unit == system))
        # Without columns the rate is undefined, with the reason that _RATE gives.
        columns = slice(None) if own.any() else slice(0)
        for index, label in enumerate(answers.labels):
            rate = ratio_coefficient(
                _RATE, hits[:, [index]][:, columns], sizes[:, columns], counts, confidence_level
            )
            found.append(LabelRate(system, label, rate))
    return tuple(found)


_RATE = RatioName(
    "label_rate",
    "Rate of the label",
    "Korn and Graubard 1998, Survey Methodology 24, 193-201",
    "No rater has answered for an output of this system yet.",
    "An interval needs answers on two documents.",
)


_NAMED = RatioName(
    "share_of_yes",
    "Share of yes",
    "Korn and Graubard 1998, Survey Methodology 24, 193-201",
    "No part has an answer yet.",
)


def shares_by_item(
    answers: npt.ArrayLike, items: Sequence[Hashable]
) -> tuple[tuple[Hashable, ...], FloatArray]:
    """The items in the order in which they first occur, and (raters, items): a rater's share of yes.

    answers: (raters, parts), 1 for yes, 0 for no, NaN for a gap. items: (parts,), the item of each part. The
    share is over the parts that the rater answered, NaN without any. It is a number on an interval scale, so
    alpha, differences of systems and all functions for scales apply to it.
    ValueError for other answers, or another number of items.
    """
    names, of_part, table = _read(answers, items)
    given = ~np.isnan(table)
    # (raters, items): sums over the parts of each item.
    yes, parts = (
        sum_by_document(each.T.astype(float), of_part, len(names)).T
        for each in (np.where(given, table, 0), given)
    )
    return names, divide_where(parts > 0, yes, parts)


def share_of_yes(
    answers: npt.ArrayLike,
    items: Sequence[Hashable],
    *,
    documents: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Coefficient:
    """The mean over items of the share of yes, itself the mean over raters of `shares_by_item`.

    answers, items: as for `shares_by_item`, of one system or of all. documents: (parts,), any labels; an item
    without one is its own. An item counts once, however many parts it has. The interval is `ratio_interval`'s
    over documents, with all items and parts in them. Counts are of parts.
    Undefined without answers. ValueError also for an item in two documents.
    """
    names, shares = shares_by_item(answers, items)
    _, of_part, table = _read(answers, items)
    number = (~np.isnan(shares)).sum(axis=0)
    known = number > 0
    values = divide_where(known, np.nansum(shares, axis=0), number)[known]
    labels = of_part if documents is None else index_documents(documents, len(of_part))
    # The last part decides an item's document, and the comparison finds parts that differ.
    of_item = np.zeros(len(names), dtype=np.intp)
    of_item[of_part] = labels
    if (of_item[of_part] != labels).any():
        raise ValueError("The parts of an item must be in one document.")
    of_item = np.unique(of_item[known], return_inverse=True)[1]
    hits, sizes = (sum_by_document(each, of_item)[:, None] for each in (values, np.ones(len(values))))
    columns = slice(None) if known.any() else slice(0)
    answered = ~np.isnan(table)
    counts = Counts.of_answers(answered.sum(axis=0), int(answered.any(axis=1).sum()))
    return ratio_coefficient(_NAMED, hits[:, columns], sizes[:, columns], counts, confidence_level)


def _read(
    answers: npt.ArrayLike, items: Sequence[Hashable]
) -> tuple[tuple[Hashable, ...], IntArray, FloatArray]:
    """The items, (parts,) the index of each part's, and the answers (raters, parts)."""
    table = np.array(answers, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(items):
        raise ValueError(f"Answers must be a table, raters by {len(items)} parts.")
    if not np.isin(table[~np.isnan(table)], (0, 1)).all():
        raise ValueError("Answers must be 1 for yes or 0 for no, with NaN for a gap.")
    index_of: dict[Hashable, int] = {}
    of_part = np.array([index_of.setdefault(item, len(index_of)) for item in items], dtype=np.intp)
    return tuple(index_of), of_part, table
