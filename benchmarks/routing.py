"""Do the guarantees of agreement.reliability hold, what do they keep with the judge, how long does it take?

python benchmarks/routing.py [--splits 1000] [--samples 1000] [--no-timing]

On SummEval's 1,200 abstractive summaries with experts' scores and ChatGPT's recorded RTS and MCQ replies:
random calibration samples, and how often the set that is then kept breaks its risk; random samples of
ratings, and how often intervals hold the mean of all. Ends with 1 where a guarantee is broken more often
than chance explains, or where 100,000 units x 10 judges take more than 5 s or 1 GB.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import spearman
from agreement.comparison import Scores
from agreement.reliability import (
    DecidedBy,
    Estimate,
    Guarantee,
    IndicatorRule,
    RatedSample,
    another_point,
    calibrate,
    closeness,
    cross_fitted_loss,
    decide,
    fit_error_model,
    fold_numbers,
    grid_of,
    guaranteed_mean,
    humans_only,
    indicator,
    more_than_one_point,
    prediction_powered,
    regression_estimate,
)
from tests.published.news_summeval import DIMENSIONS, scores

SEED = 20_261_122
RATED = 300
FOR_THE_MODEL = 100
DELTA = 0.1
RISKS = (0.1, 0.2, 0.3)
LEVEL = 0.9
SIZES = (20, 40, 100)
DISTANCES = np.arange(0, -4.5, -0.5)
LOSSES = {"another point": another_point, "more than one": more_than_one_point}

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    dimension: str
    loss: str
    confidence: str
    risk: float
    exact: bool = True
    """Whether the guarantee is exact, so that breaking it is a mistake and not an approximation."""


@dataclass(frozen=True)
class Splits:
    """What came of a setting: how often it was certified, what was kept, how often the risk was broken."""

    setting: Setting
    splits: int
    certified: int
    kept: float
    broken: int

    @property
    def honest(self) -> bool:
        """Whether so many broken ones are explained by delta (one time in a thousand they are not)."""
        return not self.setting.exact or self.broken <= stats.binom.ppf(0.999, self.splits, DELTA)


@dataclass(frozen=True)
class Cover:
    """How often an interval held the mean of all units, how wide it was, how many ratings it was worth."""

    dimension: str
    ratings: int
    estimate: str
    samples: int
    without: int
    covered: int
    width: float
    effective: float | None
    guaranteed: bool

    @property
    def honest(self) -> bool:
        """Whether a guaranteed interval covers as often as it says, up to chance; others are only shown."""
        return not self.guaranteed or self.covered >= stats.binom.ppf(0.001, self.samples, LEVEL)


def settings() -> Iterator[Setting]:
    for dimension in DIMENSIONS:
        for loss in LOSSES:
            for risk in RISKS:
                yield Setting(dimension, loss, "-|RTS-MCQ|, batch", risk)
                yield Setting(dimension, loss, "-|RTS-MCQ|, open", risk)
                yield Setting(dimension, loss, "error model, batch", risk)
                yield Setting(dimension, loss, "cross-fitted, batch", risk, exact=False)


def material(dimension: str, loss: str) -> tuple[Values, Values, Values]:
    """(units,) losses of RTS, -|RTS - MCQ|, and (units, features) for the error model."""
    rts, mcq = scores("rts", dimension), scores("mcq", dimension)
    found = indicator(rts, mcq.judge, spearman)
    r = np.array([0.0 if each.coefficient.value is None else each.coefficient.value for each in found])
    distance = closeness(rts.judge, mcq.judge)
    features = np.column_stack([distance, rts.judge, mcq.judge, r[rts.systems]])
    return LOSSES[loss](rts.judge, rts.human_means), distance, features


def try_splits(setting: Setting, splits: int) -> Splits:
    """Calibrate on `splits` random samples and look at all units of the kept set, which is possible here."""
    losses, distance, features = material(setting.dimension, setting.loss)
    generator = np.random.default_rng([SEED, DIMENSIONS.index(setting.dimension), int(100 * setting.risk)])
    kept, certified, broken = 0.0, 0, 0
    for _ in range(splits):
        chosen = generator.choice(len(losses), RATED, replace=False)
        accepted, within = accepted_units(setting, chosen, losses, distance, features, generator)
        if not accepted.any():
            continue
        certified += 1
        kept += accepted.sum() / within
        broken += bool(losses[accepted].mean() > setting.risk + 1e-9)
    return Splits(setting, splits, certified, kept / splits, broken)


def accepted_units(
    setting: Setting,
    chosen: npt.NDArray[np.intp],
    losses: Values,
    distance: Values,
    features: Values,
    generator: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], int]:
    """(units,): what stays with the judge, and how many units the certificate speaks of."""
    guarantee, within = Guarantee(setting.risk, DELTA), np.ones(len(losses), dtype=bool)
    confidence, sample, grid = distance, chosen, DISTANCES
    if setting.confidence.startswith("error model"):
        training, sample = chosen[:FOR_THE_MODEL], chosen[FOR_THE_MODEL:]
        within[training] = False
        confidence = fit_error_model(features[training], losses[training]).confidence(features)
        grid = grid_of(confidence[within], thresholds=20)
    elif setting.confidence.startswith("cross-fitted"):
        known = np.full(len(losses), np.nan)
        known[chosen] = losses[chosen]
        confidence = -cross_fitted_loss(features, known, fold_numbers(len(losses), 5, generator))
        grid = grid_of(confidence, thresholds=20)
    batch = confidence[within] if setting.confidence.endswith("batch") else None
    certificate = calibrate(confidence[sample], losses[sample], grid, guarantee, documents=None, batch=batch)
    if certificate.threshold is None:
        return np.zeros(len(losses), dtype=bool), int(within.sum())
    return within & (confidence >= certificate.threshold), int(within.sum())


def papers_rule(dimension: str, threshold: float, by: DecidedBy) -> tuple[float, float | None, float | None]:
    """The share of units kept by R > r, and their mean losses by both losses."""
    rts, mcq = scores("rts", dimension), scores("mcq", dimension)
    found = indicator(rts, mcq.judge, spearman, generator=np.random.default_rng(SEED))
    rule = IndicatorRule(threshold, by)
    stays = [not decide(rule, each.system, dimension, each.coefficient).to_humans for each in found]
    kept = np.array(stays)[rts.systems]
    if not kept.any():
        return 0.0, None, None
    first, second = (loss(rts.judge, rts.human_means)[kept].mean() for loss in LOSSES.values())
    return float(kept.mean()), float(first), float(second)


def cover(dimension: str, ratings: int, samples: int) -> list[Cover]:
    """Draw samples of ratings from all units of a dimension and see which intervals hold their mean."""
    of = scores("rts", dimension)
    truth = of.human_means.mean()
    generator = np.random.default_rng([SEED, DIMENSIONS.index(dimension), ratings])
    found: dict[str, list[Estimate]] = {}
    for _ in range(samples):
        human = np.full(len(of.judge), np.nan)
        chosen = generator.choice(len(human), ratings, replace=False)
        human[chosen] = of.human_means[chosen]
        sample = RatedSample(judge=of.judge, human=human)
        for estimate in (
            humans_only(sample, confidence_level=LEVEL),
            regression_estimate(sample, confidence_level=LEVEL),
            prediction_powered(sample, confidence_level=LEVEL),
            guaranteed_mean(sample, low=1, high=5, generator=generator, confidence_level=LEVEL),
        ):
            found.setdefault(estimate.label, []).append(estimate)
    return [_covered(dimension, ratings, label, each, truth) for label, each in found.items()]


def _covered(dimension: str, ratings: int, label: str, estimates: Sequence[Estimate], truth: float) -> Cover:
    intervals = [each.interval for each in estimates if each.interval is not None]
    effective = [each.effective_sample_size for each in estimates if each.effective_sample_size is not None]
    return Cover(
        dimension=dimension,
        ratings=ratings,
        estimate=label,
        samples=len(estimates),
        without=len(estimates) - len(intervals),
        covered=sum(each.low <= truth <= each.high for each in intervals),
        width=float(np.mean([each.high - each.low for each in intervals])) if intervals else np.nan,
        effective=float(np.median(effective)) if effective else None,
        guaranteed=label.startswith("Guaranteed"),
    )


JUDGES, LARGE_DIMENSIONS, SYSTEMS, DOCUMENTS = 10, 5, 20, 1_000


def large(generator: np.random.Generator) -> tuple[Values, Values]:
    """(dimensions, items) people's means and (judges, dimensions, items) judges' values, 1 to 5."""
    shape = (LARGE_DIMENSIONS, SYSTEMS * DOCUMENTS)
    people = generator.integers(3, 16, shape) / 3
    noise = generator.integers(-1, 2, (JUDGES, *shape))
    return people, np.clip(np.round(people) + noise, 1, 5).astype(float)


def everything(people: Values, judges: Values) -> None:
    """Indicators with intervals, certificates and estimates for 100,000 units x 10 judges."""
    generator = np.random.default_rng(SEED)
    systems = np.repeat(np.arange(SYSTEMS), DOCUMENTS)
    documents = np.tile(np.arange(DOCUMENTS), SYSTEMS)
    rated = generator.permutation(len(systems)) < 2_000
    for dimension in range(LARGE_DIMENSIONS):
        human = np.where(rated, people[dimension], np.nan)
        for judge in range(0, JUDGES, 2):
            rts, mcq = judges[judge, dimension], judges[judge + 1, dimension]
            table = Scores(systems=systems, documents=documents, human=human[None], judge=rts)
            indicator(table, mcq, spearman, generator=generator)
            confidence = closeness(rts, mcq)
            for values in (rts, mcq):
                losses = more_than_one_point(values, human)[rated]
                calibrate(
                    confidence[rated],
                    losses,
                    DISTANCES,
                    Guarantee(0.2, DELTA),
                    documents=None,
                    batch=confidence,
                )
                _estimates(values, human, systems)
        for system in range(SYSTEMS):
            own = systems == system
            sample = RatedSample(judge=judges[0, dimension][own], human=human[own])
            guaranteed_mean(sample, low=1, high=5, generator=generator)


def _estimates(values: Values, human: Values, systems: npt.NDArray[np.intp]) -> None:
    for system in range(SYSTEMS):
        own = systems == system
        sample = RatedSample(judge=values[own], human=human[own])
        for estimate in (humans_only, regression_estimate, prediction_powered):
            estimate(sample)


def timed() -> tuple[float, float, float]:
    """Seconds for everything, MiB of the process at most, seconds for one indicator with its interval."""
    people, judges = large(np.random.default_rng(SEED))
    start = time.perf_counter()
    everything(people, judges)
    elapsed = time.perf_counter() - start
    one = slice(0, DOCUMENTS)
    repeats = 20
    start = time.perf_counter()
    for _ in range(repeats):
        spearman(judges[0, 0, one], judges[1, 0, one], generator=np.random.default_rng(SEED))
    each = (time.perf_counter() - start) / repeats
    return elapsed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, each


def loop_seconds(replicates: int = 100) -> float:
    """Seconds of 1,000 replicates of scipy.stats.spearmanr on one cell, extrapolated from fewer."""
    _, judges = large(np.random.default_rng(SEED))
    first, second = judges[0, 0, :DOCUMENTS], judges[1, 0, :DOCUMENTS]
    generator = np.random.default_rng(SEED)
    start = time.perf_counter()
    for _ in range(replicates):
        drawn = generator.integers(0, DOCUMENTS, DOCUMENTS)
        stats.spearmanr(first[drawn], second[drawn])
    return (time.perf_counter() - start) * 1_000 / replicates


def _in_processes(work: Callable[..., object], jobs: Sequence[tuple[object, ...]]) -> list[object]:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.starmap(work, jobs)


def report_splits(splits: int) -> bool:
    """Print the share kept and the share broken of every setting; whether all guarantees held."""
    print(f"Certificates: {splits:,} random samples of {RATED} of 1,200 units, delta {DELTA}; judge: RTS.")
    print("kept: mean share of units that stay; broken: share of splits whose kept set breaks the risk.")
    print(f"The error model is fitted on {FOR_THE_MODEL} of the {RATED}, and speaks of the other units.")
    print(
        f"{'dimension':<12}{'loss':<15}{'confidence':<21}{'risk':>5}{'certified':>11}{'kept':>7}{'broken':>8}"
    )
    honest = True
    for found in _in_processes(try_splits, [(setting, splits) for setting in settings()]):
        assert isinstance(found, Splits)
        of, note = found.setting, "" if found.setting.exact else "  not exact"
        if not found.honest:
            note = "  BROKEN"
        print(
            f"{of.dimension:<12}{of.loss:<15}{of.confidence:<21}{of.risk:>5}{found.certified / splits:>11.3f}"
            f"{found.kept:>7.3f}{found.broken / splits:>8.3f}{note}"
        )
        honest = honest and found.honest
    return honest


def report_papers_rule() -> None:
    print("\nThe paper's rule by Spearman: share kept, and the judge's loss on what is kept")
    print(f"{'dimension':<12}{'decided by':<13}{'r':>4}{'kept':>7}{'another point':>15}{'more than one':>15}")
    for dimension in DIMENSIONS:
        for by in DecidedBy:
            for threshold in (0.3, 0.4, 0.5):
                kept, *losses = papers_rule(dimension, threshold, by)
                shown = "".join(f"{'-' if loss is None else f'{loss:.3f}':>15}" for loss in losses)
                print(f"{dimension:<12}{by:<13}{threshold:>4}{kept:>7.3f}{shown}")


def report_coverage(samples: int) -> bool:
    """Print coverage, width and effective sample size; whether the guaranteed intervals kept their word."""
    print(f"\n{LEVEL:.0%} intervals for the mean of 1,200 units; {samples:,} random samples; judge: RTS")
    print("covered: share of all samples; none: samples without an interval, which do not cover")
    print(
        f"{'dimension':<12}{'ratings':>8}  {'estimate':<22}{'covered':>8}{'none':>6}{'width':>8}{'worth':>8}"
    )
    honest = True
    jobs = [(dimension, size, samples) for dimension in DIMENSIONS for size in SIZES]
    for found in _in_processes(cover, jobs):
        assert isinstance(found, list)
        for each in found:
            worth = "-" if each.effective is None else f"{each.effective:.1f}"
            share, note = each.covered / each.samples, "" if each.honest else "  BROKEN"
            print(
                f"{each.dimension:<12}{each.ratings:>8}  {each.estimate:<22}{share:>8.3f}"
                f"{each.without:>6}{each.width:>8.3f}{worth:>8}{note}"
            )
            honest = honest and each.honest
    return honest


def report_timing() -> bool:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        elapsed, memory, each = pool.apply(timed)
    loop, cells = loop_seconds(), LARGE_DIMENSIONS * SYSTEMS
    print(f"\n100,000 units x {JUDGES} judges: {JUDGES // 2 * cells} indicators with 1,000 resamples,")
    print(
        f"{JUDGES * LARGE_DIMENSIONS} certificates, {3 * JUDGES * cells:,} estimates and {cells} guaranteed"
    )
    print(f"intervals: {elapsed:.2f} s, {memory:.0f} MiB.")
    print(f"One indicator over {DOCUMENTS:,} items with its interval: {1000 * each:.1f} ms. A loop over")
    print(
        f"scipy.stats.spearmanr: {loop:.2f} s (100 resamples, extrapolated), {loop / each:.0f} times as long."
    )
    return elapsed <= 5 and memory <= 1024


def main() -> None:
    """Run all parts; exit with 1 where one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=1_000, help="random calibration samples a setting")
    parser.add_argument("--samples", type=int, default=1_000, help="random samples of ratings")
    parser.add_argument("--no-timing", action="store_true", help="leave the large case out")
    options = parser.parse_args()
    held = [report_splits(options.splits)]
    report_papers_rule()
    held.append(report_coverage(options.samples))
    if not options.no_timing:
        held.append(report_timing())
    print("\nEvery guarantee held." if all(held) else "\nNot everything held.")
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
