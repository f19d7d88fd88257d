"""How often certificates break their promise, and audits raise an alarm (`coverage.py certificates`)."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray, IntArray
from agreement.reliability import Guarantee, bounds, calibrate, check_audit

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

    In a closed batch of three times as many documents, a third of the units is sampled individually.
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


ACCEPTED, LEVEL = 0.1, 0.05


@dataclass(frozen=True)
class AuditedJudge(ErringJudge):
    """A batch of which a share is audited; people rate the audited units document by document."""

    share: float = 0.25

    def audited(self, generator: np.random.Generator, rate: float) -> tuple[FloatArray, IntArray]:
        """Return losses and documents of audited units in the order of rating; `rate` of all are wrong."""
        shape = self.documents, self.items
        errors = self.errors(generator, np.full(shape, rate)).ravel()
        documents = np.repeat(np.arange(self.documents), self.items)
        drawn = np.sort(generator.choice(len(errors), round(self.share * len(errors)), replace=False))
        return errors[drawn], documents[drawn]


def false_alarms(kind: AuditedJudge, simulations: int) -> dict[str, float]:
    """Return the shares of audits of a judge at the accepted risk with an alarm at any look.

    bets: `check_audit`; binomial: the exact test at the same level. Both look after every rating.
    """
    generator = np.random.default_rng([SEED, kind.documents, kind.items, round(100 * kind.alike)])
    alarms = {"bets": 0, "binomial": 0}
    for _ in range(simulations):
        losses, documents = kind.audited(generator, ACCEPTED)
        number = len(losses)
        rated = np.arange(1, number + 1)
        unrated = np.where(np.tri(number, dtype=bool), losses, np.nan)
        alarms["bets"] += any(
            check_audit(seen, ACCEPTED, documents=documents, significance_level=LEVEL).contradicts
            for seen in unrated
        )
        right = bounds.binomial_cdf(rated - np.cumsum(losses), rated, 1 - ACCEPTED)
        alarms["binomial"] += bool((right <= LEVEL).any())
    return {name: count / simulations for name, count in alarms.items()}


def units_to_alarm(kind: AuditedJudge, times: float, simulations: int) -> tuple[float, float]:
    """Return the audited units at half and four fifths of the alarms; `times` the accepted risk."""
    generator = np.random.default_rng([SEED, kind.documents, kind.items, round(100 * kind.alike)])
    found = []
    for _ in range(simulations):
        losses, documents = kind.audited(generator, times * ACCEPTED)
        finding = check_audit(losses, ACCEPTED, documents=documents, significance_level=LEVEL)
        found.append(np.inf if finding.alarm_after is None else finding.alarm_after)
    median, most = np.quantile(found, [0.5, 0.8], method="higher")
    return float(median), float(most)


def _report_audits(simulations: int) -> None:
    print(f"Audits at an accepted risk of {ACCEPTED:g}, level {LEVEL:g}, a look after every rating")
    print(f"{'items':>5}{'audited':>9}{'alike':>7}{'false alarms':>14}{'binomial':>10}", end="")
    print("  units until half, four fifths of the alarms at twice; at three times the risk")
    for items, share in ((1, 0.25), (4, 0.25), (12, 0.25), (4, 1.0)):
        for alike in (0.0, 0.3, 0.6):
            number = round(100 / items / share)  # 100 audited units
            alarms = false_alarms(AuditedJudge(number, items, alike, share), simulations)
            long = AuditedJudge(20 * number, items, alike, share)
            caught = [units_to_alarm(long, times, simulations) for times in (2, 3)]
            print(
                f"{items:>5}{share:>9.2f}{alike:>7.1f}{alarms['bets']:>14.3f}{alarms['binomial']:>10.3f}",
                end="",
            )
            print("".join(f"{median:>8.0f},{most:>5.0f}" for median, most in caught), flush=True)


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
    _report_audits(simulations)
