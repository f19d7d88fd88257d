"""Certificates and audits (`coverage.py certificates`), and cascades of judges (`coverage.py cascades`).

Cascades have simulated judges, with errors that depend on the document and are shared by all judges, or
recorded ones: five wordings of one model on SummEval's summaries.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

from agreement.data import FloatArray, IntArray
from agreement.reliability import (
    Guarantee,
    bounds,
    calibrate,
    calibrate_cascade,
    calls_of_stages,
    check_audit,
    deciding_stages,
    fit_error_model,
    more_than_one_point,
    paths_of,
    steadiness,
)
from benchmarks.simulated import on_scale

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


SEED_OF_CASCADES = 20_261_129
RISK, DELTA = 0.2, 0.1
SAMPLE = 240
PRICES = (0.1, 1.0, 5.0)
"""What 1,000 calls of each stage cost, in euros."""
PERSON = 200.0
"""What people cost for 1,000 units: three raters, 12 seconds a rating, 20 euros an hour."""


class Batch(NamedTuple):
    """Judged units. values, confidences: (judges, units). people, documents: (units,)."""

    values: FloatArray
    confidences: FloatArray
    people: FloatArray
    documents: IntArray


def simulated_batch(generator: np.random.Generator, documents: int = 96, systems: int = 11) -> Batch:
    """Return stories by 11 systems for 96 prompts, three raters, and judges of which each is better."""
    document = np.repeat(np.arange(documents), systems)
    units = len(document)
    quality = 3 + generator.normal(0, 0.6, documents)[document] + generator.normal(0, 0.7, units)
    people = on_scale(quality + generator.normal(0, 0.6, (3, units))).mean(axis=0)
    shared = generator.normal(0, 0.25, documents)[document]
    values, confidences = [], []
    for bias, spread in ((0.3, 0.75), (0.1, 0.6), (0.0, 0.45)):
        difficulty = np.exp(generator.normal(0, 0.6, units))
        said = quality + bias + shared + generator.normal(0, spread, units) * difficulty
        samples = said[:, None] + generator.normal(0, 0.5, (units, 8)) * difficulty[:, None]
        values.append(on_scale(samples).mean(axis=1))
        confidences.append(steadiness(on_scale(samples)))
    return Batch(np.array(values), np.array(confidences), people, document)


DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "news_summeval"
_FILES = {
    "responses_gpt-3.5-turbo-0301.jsonl.gz": {"rts": "rts", "mcq": "mcq"},
    "responses_gpt-3.5-alt.jsonl.gz": {"rts": "rts2", "mcq": "mcq2"},
    "responses_gpt-3.5-stareval.jsonl.gz": {"rts": "stars"},
}


@cache
def recorded_batch(dimension: str) -> Batch:
    """Return SummEval's summaries with three judges: stars, RTS, and the mean of five wordings.

    Confidences: closeness to a wording of the other kind; of the mean, steadiness over the five.
    """
    with gzip.open(DATA / "summaries.jsonl.gz", "rt") as file:
        summaries = [json.loads(line) for line in file]
    index_of = {(line["system"], line["id"]): index for index, line in enumerate(summaries)}
    read = {name: np.full(len(summaries), np.nan) for names in _FILES.values() for name in names.values()}
    for name, index, value in _readings(dimension, index_of):
        read[name][index] = value
    wordings = np.array([read[name] for name in ("rts", "mcq", "rts2", "mcq2", "stars")])
    experts = [[person[dimension] for person in line["expert_annotations"]] for line in summaries]
    _, documents = np.unique([line["id"] for line in summaries], return_inverse=True)
    return Batch(
        np.array([read["stars"], read["rts"], wordings.mean(axis=0)]),
        np.array(
            [
                -np.abs(read["stars"] - read["mcq2"]),
                -np.abs(read["rts"] - read["mcq"]),
                steadiness(wordings.T),
            ]
        ),
        np.mean(experts, axis=1),
        documents,
    )


def _readings(dimension: str, index_of: dict[tuple[str, str], int]) -> Iterator[tuple[str, int, float]]:
    from judges.methods import METHODS
    from judges.methods.base import Readable
    from tests.published.news_summeval import SCALES

    for name, judges in _FILES.items():
        with gzip.open(DATA / name, "rt") as file:
            for line in map(json.loads, file):
                if line["dimension"] == dimension:
                    judge = judges[line["method"]]
                    method = METHODS["stars" if judge == "stars" else line["method"]]
                    reading = method.read(line["response"], SCALES[dimension])
                    if isinstance(reading, Readable):
                        yield judge, index_of[line["system"], line["id"]], reading.value


class Outcome(NamedTuple):
    """What a cascade did in one split; cost in euros for 1,000 units, of what was not calibrated on."""

    kept: float
    error_rate: float
    cost: float


def run_split(
    batch: Batch, stages: list[int], generator: np.random.Generator, *, by_model: bool, size: int = SAMPLE
) -> Outcome:
    """Calibrate some stages on units drawn from the batch, let them decide it, and look at all errors."""
    values, confidences = batch.values[stages], batch.confidences[stages]
    losses = np.array([more_than_one_point(each, batch.people) for each in values])
    drawn = generator.permutation(len(batch.people))[:size]
    rest = np.arange(len(batch.people))
    if by_model:  # a third fits models of errors, whose units the certificate leaves out
        fits, drawn = drawn[: size // 3], drawn[size // 3 :]
        rest = np.setdiff1d(rest, fits)
        confidences = np.array(
            [_by_model(*each, fits) for each in zip(values, confidences, losses, strict=True)]
        )
    # Later stages are known on the sample alone, as in a project that has not asked them yet.
    known = np.full_like(confidences, np.nan)
    known[0], known[:, drawn] = confidences[0], confidences[:, drawn]
    found = calibrate_cascade(
        confidences[:, drawn],
        losses[:, drawn],
        paths_of(known[:, rest], comparable=by_model),
        Guarantee(RISK, DELTA),
        documents=batch.documents[drawn],
        batch=len(rest) if len(stages) > 1 else confidences[:, rest],
    )
    if found.thresholds is None:
        return Outcome(0.0, 0.0, PERSON)
    deciding = deciding_stages(confidences[:, rest], found.thresholds)
    kept = deciding < len(stages)
    errors = losses[:, rest][deciding[kept], np.flatnonzero(kept)]
    reached = calls_of_stages(deciding, len(stages)) / len(rest)
    prices = [*(PRICES[stage] for stage in stages), PERSON]
    return Outcome(float(kept.mean()), float(errors.mean()), float(reached @ prices))


def _by_model(values: FloatArray, confidences: FloatArray, losses: FloatArray, fits: IntArray) -> FloatArray:
    features = np.column_stack([values, (values - 3) ** 2, confidences])
    return fit_error_model(features[fits], losses[fits]).confidence(features)


CASCADES = {"1": [0], "2": [1], "3": [2], "1, 3": [0, 2], "2, 3": [1, 2], "1, 2, 3": [0, 1, 2]}


def report_cascades(simulations: int) -> None:
    print(f"Cascades at a risk of {RISK:g}, delta {DELTA:g}, {SAMPLE} units drawn; {simulations} splits each")
    most = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / simulations)
    print(f"broken: splits with more than {RISK:.0%} wrong; allowed {most:.3f}. Euros for 1,000 units,")
    print(f"where people cost {PERSON:g} and calls {', '.join(f'{price:g}' for price in PRICES)}")
    print(f"{'batch':<14}{'confidence':<14}{'judges':<10}{'broken':>8}{'kept':>7}{'wrong':>7}{'euros':>8}")
    batches: dict[str, Callable[[np.random.Generator], Batch]] = {"simulated": simulated_batch}
    for name in ("consistency", "fluency", "relevance", "coherence"):
        batches[name] = lambda _generator, name=name: recorded_batch(name)  # type: ignore[misc]
    for name, make in batches.items():
        for by_model in (False, True):
            for cascade, stages in CASCADES.items():
                generator = np.random.default_rng([SEED_OF_CASCADES, len(stages), by_model])
                outcomes = np.array(
                    [
                        run_split(make(generator), stages, generator, by_model=by_model)
                        for _ in range(simulations)
                    ]
                )
                broken = (outcomes[:, 1] > RISK).mean()
                kept, _, cost = outcomes.mean(axis=0)
                wrong = np.average(outcomes[:, 1], weights=outcomes[:, 0]) if kept else np.nan
                confidence = "error model" if by_model else "own"
                print(
                    f"{name:<14}{confidence:<14}{cascade:<10}{broken:>8.3f}{kept:>7.2f}{wrong:>7.3f}{cost:>8.0f}",
                    flush=True,
                )
