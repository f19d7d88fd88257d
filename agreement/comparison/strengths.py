"""Strengths and ranks of systems from pairwise verdicts, with ties and the preference for a position.

`PairwiseAnswers` are people's preferences between two outputs, with their agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy

from agreement import (
    Coefficient,
    ReliabilityData,
    Resampling,
    SystemDifference,
    krippendorff_alpha,
    percent_agreement,
    rank_sets,
)
from agreement.coefficient import Estimated, count
from agreement.comparison.head_to_head import Verdicts
from agreement.data import FloatArray, IntArray, index_documents, set_once
from agreement.ranks import why_no_strengths
from agreement.streams import Randomness, substream
from agreement.student import sum_by_document, t_reach
from agreement.system_differences import differences_of_estimates

LEAST_DOCUMENTS = 5
_STEPS = 60
_CLOSE = 1e-9  # the largest step of Newton's method with which it ends
_FURTHEST = 15.0  # of a strength on the logarithmic scale: beyond it the likelihood has no maximum
_ONE_ORDER = (
    "Texts were shown in one order only, so strength cannot be told from the liking for a place; compare in "
    "both orders."
)


@dataclass(frozen=True)
class SystemStrength:
    """A system by the verdicts on its outputs: the numbers of verdicts, wins and ties; its strength and
    ranks.
    """

    system: str
    verdicts: int
    won: int
    tied: int
    strength: Estimated | None
    best: int | None = None
    worst: int | None = None


@dataclass(frozen=True)
class Strengths:
    """Systems by strength, the strongest first; without estimates `reason` gives the reason.

    differences: every pair, in strength. first_wins: the probability that the output shown first wins if two
    systems are equally strong and there is no tie. ties: the share of ties between two such systems.
    """

    systems: tuple[SystemStrength, ...]
    documents: int
    differences: tuple[SystemDifference, ...] = ()
    first_wins: Estimated | None = None
    ties: float | None = None
    reason: str = ""


def system_strengths(verdicts: Verdicts, *, confidence_level: float = 0.95) -> Strengths:
    """Strengths of systems from all readable verdicts: Bradley and Terry's model with ties and an order.

    With s_i the strength of the system shown first, s_j of the one shown second, d the preference for the
    first position and e the preference for ties, the outcomes first, second and tie have probabilities
    proportional to

    exp(s_i + d / 2) exp(s_j - d / 2) exp(e + (s_i + s_j) / 2)

    by maximum likelihood, with a mean strength of 0. Without ties in the data the model excludes them.
    exp(s_i - s_j) are the odds that i wins rather than j. Verdicts on one document, both orders and all
    samples of it, are not independent: variances are the sandwich's, summed within documents, and t has one
    degree of freedom less than there are documents. Ranks invert the intervals of all pairs at once
    (Bonferroni, `rank_sets`). Source: Bradley and Terry 1952; Davidson 1970; Davidson and Beaver 1977,
    Biometrics 33, 693-702 (whose tie parameter is exp(e + d / 2)); Liang and Zeger 1986 for the variances.
    Undefined with verdicts on fewer than 5 documents, if a system, or a group of systems, has won or lost all
    comparisons with the others (Ford 1957), if one position always wins, or if the orders of display cannot
    separate strengths from the preference for a position.
    """
    read = ~np.isnan(verdicts.points)
    documents = np.unique(verdicts.documents[read], return_inverse=True)[1]
    counts = _Counts(verdicts.first[read], verdicts.second[read], documents, verdicts.points[read])
    number = int(documents.max(initial=-1)) + 1
    names = verdicts.system_names
    reason = _explain_undefined(counts, names, number)
    fit = None if reason else _fit(counts, len(names), number)
    if fit is None:
        reason = reason or "The likelihood has no maximum: one place, or one group of systems, always wins."
        found = [SystemStrength(name, *counts.of_system(at), None) for at, name in enumerate(names)]
        return Strengths(tuple(found), number, reason=reason)
    parameters, covariance = fit
    size, reach = len(names), t_reach(1.0, number - 1, confidence_level)
    differences = differences_of_estimates(
        parameters[:size], covariance[:size, :size], names, number, confidence_level
    )
    # A strength minus the mean of all: the constant that the ridge fixes adds nothing to its variance.
    centred = np.eye(size) - 1 / size
    errors = np.sqrt(np.maximum(np.diagonal(centred @ covariance[:size, :size] @ centred.T), 0))
    found = [
        SystemStrength(
            each.system,
            *counts.of_system(at),
            Estimated.within(float(centred[at] @ parameters[:size]), float(reach * errors[at])),
            each.best,
            each.worst,
        )
        for at, each in enumerate(rank_sets(names, differences))
    ]
    found.sort(key=lambda one: -one.strength.value if one.strength else 0.0)
    order_effect, error = parameters[size], np.sqrt(covariance[size, size])
    # The ends are transformed, not the error, so the interval is within 0 and 1.
    first_wins = Estimated(
        *(float(scipy.special.expit(order_effect + times * error * reach)) for times in (0, -1, 1))
    )
    ties = 0.0
    if counts.has_ties:
        # exp(e) / (exp(d / 2) + exp(-d / 2) + exp(e)), of two systems with the same strength.
        ties = float(1 / (1 + 2 * np.cosh(order_effect / 2) * np.exp(-parameters[size + 1])))
    return Strengths(tuple(found), number, differences, first_wins, ties)


@dataclass(frozen=True, eq=False)
class _Counts:
    """Readable verdicts: systems shown first and second, documents, and points of the first."""

    first: IntArray
    second: IntArray
    documents: IntArray
    points: FloatArray

    def of_system(self, index: int) -> tuple[int, int, int]:
        """The numbers of verdicts, wins and ties of a system."""
        own = (self.first == index) | (self.second == index)
        won = np.where(self.first == index, self.points == 1, self.points == 0) & own
        return int(own.sum()), int(won.sum()), int((own & (self.points == 0.5)).sum())

    @property
    def has_ties(self) -> bool:
        """Whether any verdict is a tie."""
        return bool((self.points == 0.5).any())


def _explain_undefined(counts: _Counts, names: Sequence[str], documents: int) -> str:
    if documents < LEAST_DOCUMENTS:
        return f"There are readable verdicts on {documents} documents; {LEAST_DOCUMENTS} are needed."
    size = len(names)
    # Points of each system against each other; a tie gives both one half.
    beaten = np.zeros((size, size))
    np.add.at(beaten, (counts.first, counts.second), counts.points)
    np.add.at(beaten, (counts.second, counts.first), 1 - counts.points)
    if reason := why_no_strengths(beaten, names):
        return reason
    # Contrasts of strengths have rank systems - 1; a position that they cannot imitate adds one. For verdicts
    # on A-B and B-C only, A - B = B - C = 1 has the effect of the position.
    pairs = np.unique(np.stack([counts.first, counts.second]), axis=1)
    each, position = np.eye(size), np.ones((pairs.shape[1], 1))
    contrasts = np.concatenate([each[pairs[0]] - each[pairs[1]], position], axis=1)
    return "" if np.linalg.matrix_rank(contrasts) == size else _ONE_ORDER


def _fit(counts: _Counts, systems: int, documents: int) -> tuple[FloatArray, FloatArray] | None:
    """Newton's method, then the sandwich: strengths, order, ties, and the covariance of all of them.

    None if the likelihood has no maximum.

    A ridge on the mean of strengths fixes their common constant, which changes no difference.
    """
    # Verdicts on one ordered pair have the same row of the design.
    ordered = counts.first * systems + counts.second
    kinds, one, kind = np.unique(ordered, return_index=True, return_inverse=True)
    design = _design(counts, one, systems)
    times = np.bincount(kind, minlength=len(kinds)).astype(float)
    outcome = np.select([counts.points == 1, counts.points == 0], [0, 1], 2)
    observed = design[kind, outcome]
    total = observed.sum(axis=0)
    mean = np.zeros(design.shape[2])
    mean[:systems] = 1 / systems
    parameters = np.zeros(design.shape[2])
    for _ in range(_STEPS):
        # One step of Newton's method: the score, observed minus expected, over the information.
        expected, information = _expect(design, times, parameters)
        information += np.outer(mean, mean) * len(outcome)
        step = np.linalg.solve(information, total - times @ expected)
        # Far from the maximum a full step may overshoot, so steps are cut to 2.
        parameters = parameters + step * min(1.0, 2 / max(np.abs(step).max(), _CLOSE))
        parameters[:systems] -= parameters[:systems].mean()
        # Parameters that run away show a likelihood without a maximum.
        if np.abs(parameters).max() > _FURTHEST:
            return None
        if np.abs(step).max() < _CLOSE:
            break
    else:
        # All steps are used up and the last one is still large.
        return None
    expected, information = _expect(design, times, parameters)
    inverse = np.linalg.inv(information + np.outer(mean, mean) * len(outcome))
    # The middle of the sandwich: scores summed within documents, whose verdicts depend on each other.
    sums = sum_by_document(observed - expected[kind], counts.documents, documents)
    # The sandwich, with the factor D / (D - 1) for the number of documents.
    return parameters, inverse @ (sums.T @ sums) @ inverse.T * documents / (documents - 1)


def _design(counts: _Counts, chosen: IntArray, systems: int) -> FloatArray:
    """(chosen, outcomes, parameters): the contribution of each parameter to first, second and tie (if there
    are ties).
    """
    first, second = counts.first[chosen], counts.second[chosen]
    each, ties = np.arange(len(chosen)), counts.has_ties
    design = np.zeros((len(each), 3 if ties else 2, systems + (2 if ties else 1)))
    design[each, 0, first] = 1
    design[each, 1, second] = 1
    design[:, 0, systems], design[:, 1, systems] = 0.5, -0.5
    if ties:
        design[each, 2, first] = design[each, 2, second] = 0.5
        design[:, 2, systems + 1] = 1
    return design


def _expect(design: FloatArray, times: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(ordered pairs, parameters) expectations, and the information of `times` verdicts on each pair."""
    utilities = design @ parameters
    # With a largest exponent of 0, exp does not overflow.
    shares = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    expected = np.einsum("vo,vok->vk", shares, design)
    # The information is n (E[x x'] - E[x] E[x]'), summed over ordered pairs.
    within = np.einsum("vok,vo,vol->kl", design, shares * times[:, None], design, optimize=True)
    return expected, within - (expected * times[:, None]).T @ expected


_ALL_TIES = (
    "Every answer is a tie, so agreement cannot be told from chance. Read the share of agreement, or compare "
    "outputs that differ more."
)


@dataclass(frozen=True, eq=False, init=False)
class PairwiseAnswers:
    """Raters' preferences, in comparisons that name a first and a second system.

    values: (raters, comparisons), whole numbers from -strongest to strongest, above 0 if the first system is
    better, 0 for a tie, NaN for a gap. strongest: 1 if raters name the winner alone. ties: whether 0 was
    allowed. first, second: (comparisons,), names of systems. documents: (comparisons,), any labels, kept as
    indices; a comparison without one is its own. shown_first: (raters, comparisons), whether a rater saw the
    output of the first system first; None if this is unknown.
    Raises ValueError with a message if these do not fit together.
    """

    values: FloatArray
    first: tuple[str, ...]
    second: tuple[str, ...]
    documents: IntArray
    strongest: int
    ties: bool
    shown_first: npt.NDArray[np.bool_] | None
    winners: ReliabilityData = field(init=False)
    """1, 0 or -1: whether the first system wins, neither, or the second; nominal."""

    def __init__(
        self,
        values: npt.ArrayLike,
        *,
        first: Sequence[str],
        second: Sequence[str],
        documents: npt.ArrayLike | None = None,
        strongest: int = 1,
        ties: bool = True,
        shown_first: npt.ArrayLike | None = None,
        raters: Sequence[str] = (),
    ) -> None:
        table = np.array(values, dtype=float)
        if table.ndim != 2 or not len(first) == len(second) == table.shape[1]:
            raise ValueError("Answers must be a table, raters by comparisons, with two systems for each.")
        if any(one == other for one, other in zip(first, second, strict=True)):
            raise ValueError("A comparison needs two different systems, but one names the same system twice.")
        domain = np.setdiff1d(np.arange(-strongest, strongest + 1), [] if ties else [0])
        if not np.isin(table[~np.isnan(table)], domain).all():
            scale = f"from -{strongest} to {strongest}" + ("" if ties else ", without 0")
            raise ValueError(f"Answers must be whole numbers {scale}, with NaN for a gap.")
        sides = None if shown_first is None else np.array(shown_first, dtype=bool)
        if sides is not None and sides.shape != table.shape:
            raise ValueError(f"Answers have the shape {table.shape}, but sides have {sides.shape}.")
        of_comparison = index_documents(documents, table.shape[1])
        winners = ReliabilityData(
            np.sign(table),
            measurement_level="nominal",
            value_domain=[-1, 0, 1],
            documents=of_comparison,
            raters=raters,
        )
        fields = {
            "values": table,
            "first": tuple(first),
            "second": tuple(second),
            "documents": of_comparison,
            "strongest": strongest,
            "ties": ties,
            "shown_first": sides,
            "winners": winners,
        }
        set_once(self, fields)

    @property
    def strengths(self) -> ReliabilityData:
        """The answers as interval values."""
        return ReliabilityData(
            self.values,
            measurement_level="interval",
            value_domain=np.arange(-self.strongest, self.strongest + 1),
            documents=self.documents,
            raters=self.winners.raters,
        )


def preference_alpha(
    answers: PairwiseAnswers,
    *,
    by_strength: bool = False,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`krippendorff_alpha` of comparisons, each counted in both orientations.

    Which system a comparison names first is arbitrary. With every comparison and its mirror image, first and
    second are equally frequent, so chance does not depend on the order of names. By default alpha is nominal,
    of winners, and a tie is a separate value; by_strength it is the interval alpha of -strongest to
    strongest. Names of systems as values would be wrong: a comparison has two of them, but chance agreement
    would count them all.

    The interval resamples documents, so a comparison and its mirror image stay together. Counts include each
    comparison once. Source: Krippendorff 2011.
    Undefined without a comparison that has two answers, and if all answers are ties. ValueError for
    resampling by units.
    """
    data = answers.strengths if by_strength else answers.winners
    plan = _resample_documents(resampling)
    # Alpha must not depend on which system is named first, so both orientations count.
    doubled = ReliabilityData(
        np.concatenate([data.values, -data.values], axis=1),
        measurement_level=data.measurement_level,
        value_domain=data.value_domain,
        documents=np.tile(answers.documents, 2),
        raters=data.raters,
    )
    drawn_with = substream(generator, "both_orientations")
    found = krippendorff_alpha(doubled, generator=drawn_with, resampling=plan)
    reason = _ALL_TIES if found.reason and count(data).pairable_units else found.reason
    return replace(found, name="preference_alpha", reason=reason, counts=count(data))


def share_of_agreement(
    answers: PairwiseAnswers,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`percent_agreement` on the winner: the share of pairs of raters with the same one, or with a tie.

    The interval resamples documents. Undefined without a comparison that has two answers.
    """
    found = percent_agreement(
        answers.winners, generator=generator, resampling=_resample_documents(resampling)
    )
    return replace(found, label="Agreement on the winner")


def strengths_by_preference(answers: PairwiseAnswers, *, confidence_level: float = 0.95) -> Strengths:
    """`system_strengths` from people's answers: each answer is a verdict, by the first side shown.

    How much better a system is does not count. Sets of ranks (`best`, `worst`) overlap for systems that do
    not differ. Undefined as `system_strengths`. ValueError if sides are unknown.
    """
    return system_strengths(verdicts_of_answers(answers), confidence_level=confidence_level)


def verdicts_of_answers(answers: PairwiseAnswers) -> Verdicts:
    """The answers of all raters as verdicts; ValueError without `shown_first`."""
    if answers.shown_first is None:
        raise ValueError("Strengths need to know which output each rater saw first.")
    raters, comparisons = np.nonzero(~np.isnan(answers.values))
    as_named = answers.shown_first[raters, comparisons]
    first, second = (np.array(names)[comparisons] for names in (answers.first, answers.second))
    # Answers are about the system named first, verdicts about the one shown first.
    points = (1 + np.sign(answers.values[raters, comparisons])) / 2
    return Verdicts(
        first=np.where(as_named, first, second),
        second=np.where(as_named, second, first),
        documents=answers.documents[comparisons],
        points=np.where(as_named, points, 1 - points),
    )


def _resample_documents(resampling: Resampling | None) -> Resampling:
    plan = resampling or Resampling(by="documents")
    if plan.by != "documents":
        raise ValueError("Comparisons are resampled by documents, since a document may have several.")
    return plan
