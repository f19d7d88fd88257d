"""How often certificates break their promise, and audits raise an alarm (`coverage.py certificates`)."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray, IntArray
from agreement.reliability import Guarantee, calibrate

SEED = 20_261_128
RISK, DELTA = 0.2, 0.1
CONFIDENCES = np.array([2.0, 1.0, 0.0])
ERRORS = np.array([0.12, 0.281, 0.4])
"""Error rates at each confidence: the risk of the units at 1 and above is .2005, just above `RISK`."""


@dataclass(frozen=True)
class ErringJudge:
    """A judge whose errors on the texts of one document correlate by `alike` (of what decides an error)."""

    documents: int
    items: int
    alike: float

    def errors(self, generator: np.random.Generator, rates: FloatArray) -> FloatArray:
        """(documents, items): 1 for an error; rates: their probabilities, of the same shape."""
        shape = self.documents, self.items
        shared = generator.normal(size=(self.documents, 1))
        decides = np.sqrt(self.alike) * shared + np.sqrt(1 - self.alike) * generator.normal(size=shape)
        return np.asarray(scipy.special.ndtr(decides) < rates, dtype=float)

    def sample(self, generator: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return confidences, losses and documents of all units."""
        levels = generator.integers(len(CONFIDENCES), size=(self.documents, self.items))
        losses = self.errors(generator, ERRORS[levels])
        documents = np.repeat(np.arange(self.documents), self.items)
        return CONFIDENCES[levels].ravel(), losses.ravel(), documents


def broken_promises(kind: ErringJudge, simulations: int) -> tuple[float, float, float]:
    """Return the shares of broken certificates: by documents, as if independent, and in a closed batch.

    In a closed batch of three times as many documents, a third of the units is drawn one by one.
    """
    generator = np.random.default_rng([SEED, kind.documents, kind.items, round(100 * kind.alike)])
    guarantee, broken = Guarantee(RISK, DELTA), np.zeros(3)
    batch_kind = ErringJudge(3 * kind.documents, kind.items, kind.alike)
    for _ in range(simulations):
        sure, losses, documents = kind.sample(generator)
        for index, given in enumerate((documents, None)):
            found = calibrate(sure, losses, CONFIDENCES, guarantee, documents=given)
            broken[index] += found.threshold is not None and found.threshold < CONFIDENCES[0]
        sure, losses, documents = batch_kind.sample(generator)
        drawn = generator.choice(len(sure), len(sure) // 3, replace=False)
        found = calibrate(
            sure[drawn], losses[drawn], CONFIDENCES, guarantee, documents=documents[drawn], batch=sure
        )
        broken[2] += found.threshold is not None and losses[sure >= found.threshold].mean() > RISK
    first, second, third = (float(each) for each in broken / simulations)
    return first, second, third


def report_certificates(simulations: int) -> None:
    """Print a line for each number of documents, of items of each, and dependence within documents."""
    print(
        f"Share of certificates that break a risk of {RISK:g}; delta {DELTA:g}; {simulations:,} samples each"
    )
    print(f"{'documents':>9}{'items':>7}{'alike':>7}", end="")
    print(f"{'by document':>13}{'as independent':>16}{'closed batch':>14}")
    for documents in (12, 40, 100):
        for items in (1, 4, 12):
            for alike in (0.0, 0.3, 0.6, 0.9):
                shares = broken_promises(ErringJudge(documents, items, alike), simulations)
                print(f"{documents:>9}{items:>7}{alike:>7.1f}", end="")
                print(
                    "".join(f"{share:>{n}.3f}" for share, n in zip(shares, (13, 16, 14), strict=True)),
                    flush=True,
                )
