"""Error rates of tests and coverage of intervals, on simulated ratings.

python benchmarks/coverage.py crossed [--simulations 1000]
python benchmarks/coverage.py unequal [--simulations 1000]
python benchmarks/coverage.py skewed [--simulations 1000]
python benchmarks/coverage.py kappas [--simulations 300]
python benchmarks/coverage.py judges [--simulations 1000]
python benchmarks/coverage.py strengths [--simulations 1000]
python benchmarks/coverage.py severity [--simulations 1000]
python benchmarks/coverage.py passages [--simulations 300]
python benchmarks/coverage.py stopping [--simulations 300]
python benchmarks/coverage.py routing [--simulations 600]
python benchmarks/coverage.py corrected [--simulations 1000]
python benchmarks/coverage.py replacement [--simulations 2000]
python benchmarks/coverage.py certificates [--simulations 1000]
python benchmarks/coverage.py cascades [--simulations 200]
python benchmarks/coverage.py controls [--simulations 400]
python benchmarks/coverage.py one_more_rater [--simulations 400]
python benchmarks/coverage.py spread [--simulations 2000]
python benchmarks/coverage.py meta [--simulations 600]
python benchmarks/coverage.py by_system [--simulations 600]
python benchmarks/coverage.py others [--simulations 600]
python benchmarks/coverage.py questions [--simulations 400]
python benchmarks/coverage.py errors [--simulations 300]
python benchmarks/coverage.py power [--simulations 2000]
python benchmarks/coverage.py splits [--simulations 200]
python benchmarks/coverage.py calibration [--simulations 400]
python benchmarks/coverage.py drift [--simulations 100]

crossed: shares of true nulls that are rejected at the 5 % level, by the crossed model of ratings and by the
paired t test over documents; every project has a new random panel of raters.
unequal: shares of intervals of differences that cover, and family-wise errors, if raters or texts vary more
on one system than on the others, with variances by system and with one for all.
skewed: shares of 95 % intervals that cover the true alpha if about nine of ten values are equal, of Concord's
interval and of one that only resamples the sample, if it exists.
kappas: the same shares of intervals of Fleiss' and weighted kappa.
judges: shares of pairs of judges found different although they agree with people equally well.
strengths: shares of 95 % intervals of strengths, and of sets of ranks, that cover the true value.
severity: shares of 95 % intervals of raters' severities and of systems' fair means that cover the true value,
and of panels that the model is said not to fit.
passages: shares of 95 % intervals of agreement on marked passages that cover the true value.
stopping: shares of projects in which alpha's interval covers at every look, always valid and usual; in which
any look excludes a true difference of systems or judges; and the documents until a difference is sure.
routing: shares of 95 % intervals of mean scores, differences and ranks after routing that cover the truth, by
estimate, size of a system and minimum number of audited units, of all and of those without a warning.
corrected: shares of 95 % intervals of means and differences that a judge corrects that cover the true value,
and of groups and ranks that are wrong; every project has new raters and documents.
replacement: shares of judges that lose by just epsilon and are reported to replace an annotator.
certificates: shares of certificates that break their risk, by dependence within documents; of audits with a
false alarm at any look, and after how many units audits detect twice and three times the risk.
cascades: shares of cascades of judges that break their risk, and what they cost beside single judges.
controls: shares of judges that beat the controls, with knowledge of a system, a length or an item.
one_more_rater: shares of judges that lower agreement, or do not lower it, by their noise.
spread: shares of 95 % intervals that cover the true value, for standard deviations, the ratio of a judge's
and people's, one category's F1, and the accuracy on preferences between outputs.
meta: shares of 95 % intervals of the meta-correlation M that cover its mean over samples of this size, and
its value for infinitely many documents.
by_system: shares of 95 % intervals of P and R of one system that cover the true value.
others: shares of 95 % intervals that cover, for every other coefficient of ratings and for values compared
with people's; and the share of order effects found in data without one.
questions: shares of 95 % intervals of labels, preferences, rankings, spans and parts that cover.
errors: shares of judges, with known truth, that are granted each use.
power: powers and widths of intervals that plans promise, and those that simulated studies reach.
splits: shares of panels without split units in which one is marked, and of split units that are found.
calibration: shares of 95 % intervals of a judge's calibration error and distribution that cover.
drift: shares of watches of a judge with an alarm, and the checks from a change to its alarm.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import (
    Interval,
    ReliabilityData,
    Resampling,
    SystemDifference,
    crossed_differences,
    krippendorff_alpha,
    mean_values,
    system_differences,
)
from agreement.alpha import alpha_statistic
from agreement.bootstrap import population, resampled_interval
from agreement.data import FloatArray
from agreement.patterns import by_value
from benchmarks.coverage_by_system import report_by_system
from benchmarks.coverage_calibration import report_calibration
from benchmarks.coverage_cascades import report_cascades
from benchmarks.coverage_certificates import report_certificates
from benchmarks.coverage_controls import report_controls
from benchmarks.coverage_corrected import report_corrected
from benchmarks.coverage_drift import report_drift
from benchmarks.coverage_errors import report_errors
from benchmarks.coverage_judges import report_biases, report_judges
from benchmarks.coverage_kappas import held_kappas
from benchmarks.coverage_meta import report_meta
from benchmarks.coverage_one_more_rater import report_one_more_rater
from benchmarks.coverage_others import report_others
from benchmarks.coverage_passages import report_passages
from benchmarks.coverage_power import report_power
from benchmarks.coverage_questions import report_questions
from benchmarks.coverage_replacement import report_replacement
from benchmarks.coverage_routing import report_routing
from benchmarks.coverage_severity import report_severity
from benchmarks.coverage_splits import report_splits
from benchmarks.coverage_spread import report_spread
from benchmarks.coverage_stopping import report_stopping
from benchmarks.coverage_strengths import report_strengths
from benchmarks.coverage_unequal import report_unequal

SEED = 20_261_123
LEVEL = 0.05


@dataclass(frozen=True)
class Panel:
    """Ratings of equally good systems; the standard deviation of rater by system is in points.

    The other deviations are near to those of SummEval-OP. rounded: to the points of a scale from 1 to 5.
    """

    rater_by_system: float = 0.2
    raters: int = 3
    documents: int = 32
    systems: int = 6
    gaps: float = 0.0
    rounded: bool = False

    def ratings(self, generator: np.random.Generator) -> FloatArray:
        """(raters, documents, systems): one project."""
        size = self.raters, self.documents, self.systems
        values = 3.8 + 0.55 * generator.normal(size=size)
        values += 0.3 * generator.normal(size=(self.raters, 1, 1))
        values += self.rater_by_system * generator.normal(size=(self.raters, 1, self.systems))
        values += 0.3 * generator.normal(size=(self.raters, self.documents, 1))
        values += 0.25 * generator.normal(size=(1, self.documents, self.systems))
        if self.rounded:
            values = np.clip(np.round(values), 1, 5)
        values[generator.random(size) < self.gaps] = np.nan
        return values


def crossed_model(panel: Panel, simulations: int) -> tuple[float, float]:
    """Return which share of true nulls the crossed model rejects, and which the paired t test."""
    generator = np.random.default_rng(SEED)
    names = [str(each) for each in range(panel.systems)]
    shares = np.zeros(2)
    for _ in range(simulations):
        values = panel.ratings(generator)
        means = mean_values(values.reshape(panel.raters, -1)).reshape(values.shape[1:])
        paired = system_differences(means, names)
        shares += [_rejected(crossed_differences(values, names).differences), _rejected(paired)]
    return float(shares[0] / simulations), float(shares[1] / simulations)


def _rejected(found: tuple[SystemDifference, ...]) -> float:
    return float(np.mean([each.p_value is not None and each.p_value <= LEVEL for each in found]))


def report_crossed(simulations: int) -> None:
    """Print a line for each kind of panel."""
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} projects of each kind")
    print(f"{'panel':<88}{'nominal':>8}{'crossed':>9}{'paired t':>9}")
    for panel in (
        *(Panel(spread) for spread in (0.0, 0.1, 0.2, 0.3)),
        Panel(rounded=True),
        Panel(raters=2, documents=20, systems=3),
        Panel(raters=5, documents=20),
        Panel(systems=3, documents=15, gaps=0.2),
    ):
        crossed, paired = crossed_model(panel, simulations if not panel.gaps else simulations // 4)
        print(f"{', '.join(f'{name} {value:g}' for name, value in vars(panel).items()):<88}", end="")
        print(f"{LEVEL:>8.3f}{crossed:>9.3f}{paired:>9.3f}")


@dataclass(frozen=True)
class Ceiling:
    """Ratings of which nearly all are a 5. rare: the share of units that are not; how often a rater misses
    one of these, and says of a 5 that it is none. items: of a document, which has shares of its own.
    """

    name: str
    rare: float
    missed: float
    false: float
    values: tuple[int, ...] = (3, 4)
    raters: int = 3
    level: str = "ordinal"
    items: int = 1

    def ratings(self, units: int, generator: np.random.Generator) -> FloatArray:
        """(raters, units)."""
        shape = self.raters + 1, -(-units // self.items)
        factors = np.ones(shape) if self.items == 1 else generator.standard_gamma(2, shape) / 2
        factors = np.repeat(factors, self.items, axis=1)[:, :units]
        is_rare = generator.random(units) < self.rare * factors[0]
        wrong = generator.random((self.raters, units)) < factors[1:] * np.where(
            is_rare, self.missed, self.false
        )
        truth = np.where(is_rare, generator.choice(self.values, size=units), 5)
        others = generator.choice(self.values, size=wrong.shape)
        return np.where(wrong, np.where(is_rare, 5, others), truth).astype(float)

    def data(self, units: int, generator: np.random.Generator) -> ReliabilityData:
        """The same as reliability data."""
        values = self.ratings(units, generator)
        return ReliabilityData(
            values,
            measurement_level=self.level,
            value_domain=[1, 2, 3, 4, 5],
            documents=np.arange(units) // self.items,
        )


_PLAN = Resampling(by="documents", replicates=500)  # a document is a unit where it has one item
CEILINGS = (
    Ceiling("by chance", rare=0.0, missed=0.0, false=0.08),
    Ceiling("hardly found", rare=0.07, missed=0.5, false=0.05, values=(4,)),
    Ceiling("found by half", rare=0.05, missed=0.4, false=0.02),
    Ceiling("usually found", rare=0.09, missed=0.2, false=0.02, values=(1, 2, 3, 4)),
    Ceiling("surely found", rare=0.09, missed=0.1, false=0.01, values=(4,)),
    Ceiling("two raters, nominal", rare=0.1, missed=0.3, false=0.03, raters=2, level="nominal"),
    Ceiling("documents of 5", rare=0.09, missed=0.2, false=0.02, items=5),
    Ceiling("interval", rare=0.09, missed=0.2, false=0.02, values=(1, 2, 3, 4), level="interval"),
)


def skewed_alpha(ceiling: Ceiling, units: int, simulations: int) -> tuple[float, float, float]:
    """Return how often Concord's intervals hold alpha, how often plain ones do, and how often these exist."""
    generator = np.random.default_rng([SEED, units])
    true = krippendorff_alpha(ceiling.data(300_000, generator)).value or 0.0
    given, plain = [], []
    for _ in range(simulations):
        data = ceiling.data(units, generator)
        alpha = krippendorff_alpha(data, generator=generator, resampling=_PLAN)
        if alpha.defined:
            given.append(alpha.interval is not None and alpha.interval.low <= true <= alpha.interval.high)
            usual = _plain_interval(data, generator)
            if usual:
                plain.append(usual.low <= true <= usual.high)
    return float(np.mean(given)), float(np.mean(plain)) if plain else np.nan, len(plain) / simulations


def _plain_interval(data: ReliabilityData, generator: np.random.Generator) -> Interval | None:
    patterns = by_value(data)
    statistic = alpha_statistic(patterns, data.measurement_level)
    drawn_from = population(patterns, data.documents, "documents")
    return resampled_interval(statistic, drawn_from, generator, _PLAN, (-1.0, 1.0))[0]


def report_skewed(simulations: int) -> None:
    """Print a line for each kind of scale and number of units."""
    print(f"Share of 95 % intervals that hold alpha; {simulations:,} samples of each kind")
    print(
        f"{'rare values are':<22}{'alpha':>7}{'units':>7}{'nominal':>9}{'given':>8}{'plain':>8}{'exists':>8}"
    )
    for ceiling in CEILINGS:
        alpha = krippendorff_alpha(ceiling.data(300_000, np.random.default_rng(SEED))).value or 0.0
        for units in (10, 20, 50, 150) if ceiling.items == 1 else (50, 150):
            given, plain, exists = skewed_alpha(ceiling, units, simulations)
            print(
                f"{ceiling.name:<22}{alpha:>7.2f}{units:>7}{0.95:>9.3f}{given:>8.3f}{plain:>8.3f}{exists:>8.2f}"
            )


def report_kappas(simulations: int) -> None:
    """Print a line for each kind of scale and number of units."""
    print(f"Share of 95 % intervals that hold kappa (nominal .95); {simulations:,} samples of each kind")
    for ceiling in CEILINGS:
        for units in (20, 50, 150) if ceiling.items == 1 else (50, 150):
            found = held_kappas(ceiling.data, units, simulations)
            shares = "  ".join(f"{name} {kappa:.2f}: {held:.3f}" for name, (kappa, held) in found.items())
            print(f"{ceiling.name:<22}{units:>7}  {shares}", flush=True)


REPORTS = {
    "kappas": report_kappas,
    "crossed": report_crossed,
    "unequal": report_unequal,
    "skewed": report_skewed,
    "judges": report_judges,
    "biases": report_biases,
    "replacement": report_replacement,
    "cascades": report_cascades,
    "certificates": report_certificates,
    "controls": report_controls,
    "one_more_rater": report_one_more_rater,
    "spread": report_spread,
    "meta": report_meta,
    "by_system": report_by_system,
    "splits": report_splits,
    "calibration": report_calibration,
    "drift": report_drift,
    "others": report_others,
    "questions": report_questions,
    "errors": report_errors,
    "power": report_power,
    "routing": report_routing,
    "corrected": report_corrected,
    "passages": report_passages,
    "stopping": report_stopping,
    "strengths": report_strengths,
    "severity": report_severity,
}


def main() -> None:
    """Run the simulations of one name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=REPORTS)
    parser.add_argument("--simulations", type=int, default=1_000)
    options = parser.parse_args()
    REPORTS[options.name](options.simulations)


if __name__ == "__main__":
    main()
