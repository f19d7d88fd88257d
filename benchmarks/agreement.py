"""Time and memory of Krippendorff's alpha with its bootstrap interval, beside a loop over another package.

python benchmarks/agreement.py [--units 1000000] [--replicates 1000] [--loop-replicates 20]
python benchmarks/agreement.py --coverage 1000

Each timed case runs in a process of its own, so that its peak memory is its own. With --coverage it simulates
that many projects instead and counts how many intervals hold the alpha that a very large project would have.
"""

import argparse
import multiprocessing
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import krippendorff
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import ReliabilityData, Resampling, krippendorff_alpha

RATERS, SCALE = 3, (1, 2, 3, 4, 5)
SMALL = 2_912  # the units of SummEval-OP: 416 items, 7 dimensions
ITEMS = 13  # of one document, as in SummEval-OP
SEED = 20_261_121
MEBIBYTE = 2**20

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Table = npt.NDArray[np.float64]
Maker = Callable[[int, np.random.Generator], Table]
Way = Literal["units", "documents"]


def ratings(units: int) -> Table:
    """(raters, units): values 1 to 5 that agree partly, one in ten missing."""
    generator = np.random.default_rng(SEED)
    truth = generator.integers(1, 6, (1, units), dtype=np.int8)
    noise = generator.integers(-1, 2, (RATERS, units), dtype=np.int8)
    table: Table = np.clip(truth + noise, 1, 5).astype(float)
    table[generator.random(table.shape, dtype=np.float32) < 0.1] = np.nan
    return table


def alpha_with_interval(table: Table, level: str, replicates: int) -> None:
    """What is measured: checking the table, alpha, and its interval."""
    data = ReliabilityData(table, measurement_level=level, value_domain=SCALE)
    coefficient = krippendorff_alpha(
        data, generator=np.random.default_rng(SEED), resampling=Resampling(replicates=replicates)
    )
    if coefficient.interval is None:
        raise RuntimeError(f"There is no interval: {coefficient.interval_reason}")


def seconds(work: Callable[[], None], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(units: int, level: str, replicates: int) -> tuple[float, float, float, float]:
    """Seconds; MiB of the table; MiB allocated at most beyond it; MiB of the whole process at most."""
    table = ratings(units)

    def work() -> None:
        alpha_with_interval(table, level, replicates)

    work()
    elapsed = seconds(work, repeats=25 if units < 100_000 else 5)
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux reports KiB
    tracemalloc.start()
    work()
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return elapsed, table.nbytes / MEBIBYTE, allocated / MEBIBYTE, process


def loop_seconds(units: int, level: Level, replicates: int) -> float:
    """Seconds of a bootstrap that resamples columns and calls `krippendorff.alpha` each time."""
    table = ratings(units)
    generator = np.random.default_rng(SEED)

    def work() -> None:
        for _ in range(replicates):
            columns = generator.integers(0, units, units)
            krippendorff.alpha(table[:, columns], value_domain=SCALE, level_of_measurement=level)

    return seconds(work, repeats=1)


def report_case(units: int, replicates: int) -> dict[Level, float]:
    print(f"\n{RATERS} raters x {units:,} units, values 1 to 5, a tenth missing; {replicates:,} replicates")
    print(f"{'level':<10}{'time':>12}{'table':>12}{'allocated':>12}{'process':>12}")
    elapsed: dict[Level, float] = {}
    for level in get_args(Level):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            took, *memory = pool.apply(measure, (units, level, replicates))
        elapsed[level] = took
        print(f"{level:<10}{1000 * took:>9.1f} ms" + "".join(f"{size:>8.1f} MiB" for size in memory))
    return elapsed


def report_ratio(elapsed: dict[Level, float], replicates: int, loop_replicates: int) -> None:
    print(f"\nA bootstrap loop over krippendorff.alpha, {RATERS} raters x {SMALL:,} units.")
    print(f"The loop ran {loop_replicates} replicates; its time for {replicates:,} is extrapolated")
    print("in proportion, since every replicate costs the same.")
    print(f"{'level':<10}{'measured':>12}{'extrapolated':>16}{'ours':>12}{'ratio':>10}")
    for level, ours in elapsed.items():
        measured = loop_seconds(SMALL, level, loop_replicates)
        extrapolated = measured * replicates / loop_replicates
        print(
            f"{level:<10}{1000 * measured:>9.1f} ms{extrapolated:>14.2f} s{1000 * ours:>9.1f} ms"
            f"{extrapolated / ours:>9.0f}x"
        )


def balanced(units: int, generator: np.random.Generator) -> Table:
    """All points used alike; each rating is the truth or one point off, cut to the scale."""
    truth = generator.integers(1, 6, (1, units))
    return np.asarray(np.clip(truth + generator.integers(-1, 2, (RATERS, units)), 1, 5), dtype=float)


def skewed(units: int, generator: np.random.Generator) -> Table:
    """Four truths of five are a 5; one rating in five is one point off, cut to the scale."""
    truth = generator.choice([3, 4, 5], p=[0.05, 0.15, 0.8], size=(1, units))
    noise = generator.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=(RATERS, units))
    return np.asarray(np.clip(truth + noise, 1, 5), dtype=float)


def clustered(units: int, generator: np.random.Generator) -> Table:
    """As balanced with less noise, and each rater shifted by up to one point throughout a document."""
    documents = np.arange(units) // ITEMS
    truth = generator.integers(1, 6, (1, units))
    shift = generator.integers(-1, 2, (RATERS, documents[-1] + 1))[:, documents]
    noise = generator.integers(-1, 2, (RATERS, units)) * (generator.random((RATERS, units)) < 0.3)
    return np.asarray(np.clip(truth + shift + noise, 1, 5), dtype=float)


def as_project(table: Table) -> ReliabilityData:
    """Ordinal ratings of documents with 13 items each."""
    documents = np.arange(table.shape[1]) // ITEMS
    return ReliabilityData(table, measurement_level="ordinal", value_domain=SCALE, documents=documents)


def report_coverage(simulations: int) -> None:
    print(
        f"Share of 95% intervals that hold the true ordinal alpha; {RATERS} raters, {simulations:,} projects"
    )
    print(f"{'ratings':<11}{'alpha':>7}{'units':>7}  {'resampled':<11}{'coverage':>9}{'width':>8}{'none':>6}")
    cases: tuple[tuple[Maker, tuple[int, ...], tuple[Way, ...]], ...] = (
        (balanced, (10, 15, 30, 100, 416), ("units",)),
        (skewed, (10, 15, 30, 100, 416), ("units",)),
        (clustered, (416,), ("units", "documents")),
    )
    for make, sizes, ways in cases:
        true = krippendorff_alpha(as_project(make(40_000 * ITEMS, np.random.default_rng(SEED)))).value
        if true is None:
            raise RuntimeError("The simulated ratings do not vary.")
        for units in sizes:
            for by in ways:
                found = simulate(make, units, Resampling(by=by), simulations)
                coverage = np.mean([low <= true <= high for low, high in found])
                width = np.mean([high - low for low, high in found])
                ratings_and_units = f"{make.__name__:<11}{true:>7.3f}{units:>7}  {by:<11}"
                print(f"{ratings_and_units}{coverage:>9.3f}{width:>8.3f}{simulations - len(found):>6}")


def simulate(make: Maker, units: int, plan: Resampling, simulations: int) -> list[tuple[float, float]]:
    """The intervals of simulated projects that have one."""
    generator = np.random.default_rng([SEED, units])
    found = []
    for _ in range(simulations):
        data = as_project(make(units, generator))
        interval = krippendorff_alpha(data, generator=generator, resampling=plan).interval
        if interval is not None:
            found.append((interval.low, interval.high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=1_000_000, help="units of the large case")
    parser.add_argument("--replicates", type=int, default=1_000, help="bootstrap resamples")
    parser.add_argument("--loop-replicates", type=int, default=20, help="resamples of the compared loop")
    parser.add_argument("--coverage", type=int, metavar="PROJECTS", help="simulate coverage instead")
    options = parser.parse_args()
    if options.coverage:
        report_coverage(options.coverage)
        return
    print("Krippendorff's alpha with a 95% percentile bootstrap interval over units.")
    print(
        "time: median, checking the table included; table: the ratings; allocated: at most, beyond the table;"
    )
    print("process: peak resident memory of a fresh process with Python, NumPy and SciPy in it.")
    elapsed = report_case(SMALL, options.replicates)
    report_case(options.units, options.replicates)
    report_ratio(elapsed, options.replicates, options.loop_replicates)


if __name__ == "__main__":
    main()
