"""All units of a closed batch with the judge's values, and the few that people rated."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agreement.comparison.scores import index_labels, numbers, set_once
from agreement.data import FloatArray, IntArray
from agreement.reliability.audit import BoolArray

_DECIMALS = 12


@dataclass(frozen=True, eq=False, init=False)
class RatedSample:
    """A batch of N units (one system on one dimension, say), n of them rated by people.

    judge: (units,), its value for each; a gap is replaced by the mean of the others, which biases no
    estimate. human: (units,), the panel's mean if the unit was rated, NaN otherwise. probabilities: (units,),
    of having been sampled for rating; None for a simple random sample. 1 for units that a rule sent to
    people, the audit share for units that stay with the judge. assigned: (units,), True if the unit was
    sampled; a sampled unit without a value is a skip. Within units of one probability skips count as random:
    the probability is multiplied by the share that was rated. documents: (units,), any labels, for intervals
    that allow for documents. strata: (units,), any labels, for `stratified_estimate`. Raises ValueError with
    one message if these do not fit together.
    """

    judge: FloatArray
    human: FloatArray
    probabilities: FloatArray | None
    documents: IntArray | None
    strata: IntArray | None
    skipped: int = field(init=False)
    """Units that were drawn and have no value."""
    unjudged: int = field(init=False)
    """Units without a value of the judge."""
    stratum_names: tuple[str, ...] = field(init=False)

    def __init__(
        self,
        *,
        judge: npt.ArrayLike,
        human: npt.ArrayLike,
        probabilities: npt.ArrayLike | None = None,
        assigned: npt.ArrayLike | None = None,
        documents: npt.ArrayLike | None = None,
        strata: npt.ArrayLike | None = None,
    ) -> None:
        values = numbers(judge, "The judge's values", dimensions=1)
        people = np.round(numbers(human, "Human scores", dimensions=1), _DECIMALS)
        if len(values) != len(people):
            raise ValueError(f"There are {len(values)} values of the judge, but {len(people)} units.")
        unjudged = np.isnan(values)
        if not unjudged.all():
            values[unjudged] = values[~unjudged].mean()
        drawn = _sampled_units(people, probabilities, assigned)
        names, of_stratum = ((), None) if strata is None else index_labels(strata, "strata", len(values))
        set_once(
            self,
            {
                "judge": values,
                "human": people,
                "probabilities": _probabilities(people, probabilities, drawn),
                "documents": None
                if documents is None
                else index_labels(documents, "documents", len(values))[1],
                "strata": of_stratum,
                "skipped": int(np.sum(drawn & np.isnan(people))),
                "unjudged": int(unjudged.sum()),
                "stratum_names": tuple(str(name) for name in names),
            },
        )

    @property
    def rated(self) -> BoolArray:
        """(units,): whether people rated the unit."""
        return np.asarray(~np.isnan(self.human))

    @property
    def units(self) -> int:
        """N, the size of the batch."""
        return len(self.human)

    @property
    def ratings(self) -> int:
        """n, the number of rated units."""
        return int(self.rated.sum())

    @property
    def unequal(self) -> bool:
        """True if units were sampled with different probabilities."""
        return self.probabilities is not None and len(np.unique(self.probabilities)) > 1

    @property
    def judged(self) -> bool:
        """Whether the judge has values."""
        return self.units > self.unjudged

    def of_units(self, chosen: npt.ArrayLike) -> "RatedSample":
        """These units only, a mask, without strata; a simple random sample if they share a probability."""
        kept = np.asarray(chosen)
        documents = None if self.documents is None else self.documents[kept]
        chances = None if self.probabilities is None else self.probabilities[kept]
        if chances is not None and len(np.unique(chances)) == 1:
            chances = None
        return RatedSample(
            judge=self.judge[kept], human=self.human[kept], probabilities=chances, documents=documents
        )


def _sampled_units(
    people: FloatArray, probabilities: npt.ArrayLike | None, assigned: npt.ArrayLike | None
) -> BoolArray:
    """(units,): True for each sampled unit, from the known arguments."""
    drawn = ~np.isnan(people)
    if assigned is not None:
        given = np.asarray(assigned, dtype=bool)
        if given.shape != people.shape:
            raise ValueError("Say of each unit whether it was assigned.")
        if (drawn & ~given).any():
            raise ValueError("A unit has a rating, but was not assigned.")
        drawn = given
    if probabilities is not None:
        drawn = drawn | (np.asarray(probabilities, dtype=float) == 1)
    return np.asarray(drawn)


def _probabilities(
    people: FloatArray, probabilities: npt.ArrayLike | None, drawn: BoolArray
) -> FloatArray | None:
    """(units,): the probability of a rating:

    the sampling probability times the share rated among units with the same one.
    """
    if probabilities is None:
        return None
    wanted = numbers(probabilities, "Probabilities", dimensions=1)
    if wanted.shape != people.shape or not ((wanted > 0) & (wanted <= 1)).all():
        raise ValueError("Every unit needs a probability above 0 and at most 1.")
    kinds, of_unit = np.unique(np.round(wanted, _DECIMALS), return_inverse=True)
    assigned = np.bincount(of_unit[drawn], minlength=len(kinds))
    rated = np.bincount(of_unit[~np.isnan(people)], minlength=len(kinds))
    share = np.ones(len(kinds))
    np.divide(rated, assigned, out=share, where=(assigned > 0) & (rated > 0))
    return np.asarray(wanted * share[of_unit])
