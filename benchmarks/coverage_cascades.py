"""How often a cascade of judges breaks its promise, and what it saves (`coverage.py cascades`).

Judges are simulated, with errors that depend on the document and are shared by all judges, or are recorded
ones: five wordings of one model on SummEval's summaries.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agreement.data import FloatArray, IntArray
from agreement.reliability import (
    Guarantee,
    calibrate_cascade,
    calls_of_stages,
    deciding_stages,
    fit_error_model,
    more_than_one_point,
    paths_of,
    steadiness,
)

SEED = 20_261_129
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
    people = _on_scale(quality + generator.normal(0, 0.6, (3, units))).mean(axis=0)
    shared = generator.normal(0, 0.25, documents)[document]
    values, confidences = [], []
    for bias, spread in ((0.3, 0.75), (0.1, 0.6), (0.0, 0.45)):
        difficulty = np.exp(generator.normal(0, 0.6, units))
        said = quality + bias + shared + generator.normal(0, spread, units) * difficulty
        samples = said[:, None] + generator.normal(0, 0.5, (units, 8)) * difficulty[:, None]
        values.append(_on_scale(samples).mean(axis=1))
        confidences.append(steadiness(_on_scale(samples)))
    return Batch(np.array(values), np.array(confidences), people, document)


def _on_scale(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.round(values), 1, 5), dtype=float)


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
    """Print a line for each batch, confidence and cascade."""
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
                generator = np.random.default_rng([SEED, len(stages), by_model])
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
