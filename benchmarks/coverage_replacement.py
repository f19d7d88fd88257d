"""How often a judge that loses by just epsilon may replace an annotator (`coverage.py replacement`)."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray
from agreement.reliability.alternative_annotator import p_value_below

SEED = 20_261_124
LEVEL = 0.05
EPSILON = 0.2


@dataclass(frozen=True)
class LosingJudge:
    """A judge whom an annotator beats in the share `wins` of items, and who beats the annotator in `losses`.

    items: of a document, alike by a correlation of .36 of what decides.
    """

    documents: int
    items: int
    wins: float
    losses: float

    def differences(self, generator: np.random.Generator) -> FloatArray:
        """(documents,): mean of annotator's minus judge's wins; its expectation is wins - losses."""
        shape = self.documents, self.items
        decides = 0.6 * generator.normal(size=(self.documents, 1)) + 0.8 * generator.normal(size=shape)
        rank = scipy.special.ndtr(decides)
        return np.asarray(((rank > 1 - self.wins).astype(float) - (rank < self.losses)).mean(axis=1))


KINDS = ((0.3, 0.1), (0.25, 0.05), (0.5, 0.3), (0.2, 0.0), (0.4, 0.2))
SIZES = ((12, 1), (12, 4), (12, 12), (20, 1), (20, 4), (20, 12), (29, 1), (29, 4), (100, 4))


def rejected_true_nulls(kind: LosingJudge, simulations: int) -> float:
    """Return the share of samples in which "loses by epsilon or more" is rejected, though it is just true."""
    generator = np.random.default_rng(SEED)
    rejected = [p_value_below(kind.differences(generator), EPSILON) <= LEVEL for _ in range(simulations)]
    return float(np.mean(rejected))


def report_replacement(simulations: int) -> None:
    """Print a line for each number of documents and of items, a column for each share of wins and losses."""
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} samples of each kind")
    print(f"{'documents, items':<18}" + "".join(f"{f'{wins:g}, {losses:g}':>12}" for wins, losses in KINDS))
    for documents, items in SIZES:
        shares = [rejected_true_nulls(LosingJudge(documents, items, *kind), simulations) for kind in KINDS]
        print(f"{f'{documents}, {items}':<18}" + "".join(f"{share:>12.3f}" for share in shares), flush=True)
