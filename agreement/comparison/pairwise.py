"""People's preferences between two systems' outputs: agreement, and the strengths of systems."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, ReliabilityData, Resampling, krippendorff_alpha, percent_agreement
from agreement.coefficient import count
from agreement.comparison.head_to_head import Verdicts
from agreement.comparison.scores import set_once
from agreement.comparison.strengths import Strengths, system_strengths
from agreement.data import FloatArray, IntArray, index_documents
from agreement.streams import Randomness, substream

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
