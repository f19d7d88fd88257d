"""Whether planned power and widths are reached (`coverage.py power`)."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement import (
    ReliabilityData,
    Resampling,
    VarianceComponents,
    crossed_differences,
    krippendorff_alpha,
)
from agreement.data import FloatArray
from agreement.design import deviation_of_alpha, documents_needed, width_of_alpha, width_of_difference
from agreement.reliability import (
    Verdict,
    alternative_annotator_test,
    minus_root_mean_squared_error,
    plan_replacement,
)
from agreement.reliability.alternative_annotator import AlternativeAnnotatorTest
from benchmarks.simulated import on_scale

SEED = 20_261_128
LEVEL = 0.05
POWER = 0.8
TEXTS = 4
EPSILON = 0.2


@dataclass(frozen=True)
class Judged:
    """Documents of four texts of four systems that three raters and two judges rate from 1 to 5.

    errors: the judges' error deviations in points; raters' are .7. ceiling: shifts all texts up.
    """

    errors: tuple[float, float]
    ceiling: float = 0.0

    def draw(self, documents: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Simulate values of people (3, documents, texts) and of judges (2, documents, texts)."""
        truth = 3.0 + self.ceiling + np.array([-0.3, -0.1, 0.1, 0.3])
        truth = truth + 0.4 * generator.normal(size=(documents, 1))
        truth = truth + 0.8 * generator.normal(size=(documents, TEXTS))
        people = truth + 0.7 * generator.normal(size=(3, documents, TEXTS))
        spread = np.array(self.errors)[:, None, None]
        judges = truth + spread * generator.normal(size=(2, documents, TEXTS))
        return on_scale(people), on_scale(judges)


def _error_differences(judged: Judged, documents: int, generator: np.random.Generator) -> FloatArray:
    """(documents,): the first judge's mean squared error minus the second's."""
    people, judges = judged.draw(documents, generator)
    errors = (judges - people.mean(axis=0)) ** 2
    return np.asarray((errors[0] - errors[1]).mean(axis=1))


def power_of_judges(judged: Judged, simulations: int) -> tuple[int, float]:
    """Return the documents planned from the true spread for a power of .8, and the power reached."""
    generator = np.random.default_rng(SEED)
    truth = _error_differences(judged, 100_000, generator)
    documents = documents_needed(float(truth.mean()), float(truth.std()), significance_level=LEVEL)
    assert documents is not None
    drawn = np.array([_error_differences(judged, documents, generator) for _ in range(simulations)])
    found = scipy.stats.ttest_1samp(drawn, 0, axis=1)
    right = np.sign(found.statistic) == np.sign(truth.mean())
    return documents, float(np.mean((found.pvalue < LEVEL) & right))


def _test(judged: Judged, documents: int, generator: np.random.Generator) -> AlternativeAnnotatorTest:
    people, judges = judged.draw(documents, generator)
    return alternative_annotator_test(
        people.reshape(3, -1),
        judges[0].ravel(),
        epsilon=EPSILON,
        generator=generator,
        documents=np.repeat(np.arange(documents), TEXTS),
        systems=np.tile(np.arange(TEXTS), documents),
        alignment=minus_root_mean_squared_error,
        least_units=1,
    )


def power_of_replacement(judged: Judged, simulations: int, *, pilot: int = 2_000) -> tuple[int, float]:
    """Return the documents planned from a pilot for the replacement test, and the share of tests passed."""
    generator = np.random.default_rng(SEED)
    found = plan_replacement(_test(judged, pilot, generator), epsilon=EPSILON, generator=generator)
    assert found.documents is not None, found.reason
    passed = [_test(judged, found.documents, generator).verdict == Verdict.PASSES for _ in range(simulations)]
    return found.documents, float(np.mean(passed))


@dataclass(frozen=True)
class Study:
    """Systems that raters rate on documents, normal with these variances; the first and last differ by .5.

    per_document: how many of the raters, in turn, rate a document; None for all.
    """

    components: VarianceComponents
    raters: int
    documents: int
    systems: int = 4
    rounded: bool = False
    per_document: int | None = None

    def draw(self, generator: np.random.Generator) -> FloatArray:
        """(raters, documents, systems), NaN where a rater does not rate a document."""
        size = self.raters, self.documents, self.systems
        known = self.components
        values = 3.0 + np.linspace(-0.25, 0.25, self.systems)[::-1] * np.ones(size)
        for variance, shape in (
            (known.documents, (1, self.documents, 1)),
            (known.documents_by_systems, (1, self.documents, self.systems)),
            (known.raters, (self.raters, 1, 1)),
            (known.raters_by_systems, (self.raters, 1, self.systems)),
            (known.raters_by_documents, (self.raters, self.documents, 1)),
            (known.rest, size),
        ):
            values = values + np.sqrt(variance) * generator.normal(size=shape)
        if self.per_document is not None:
            positions = np.arange(self.raters)[:, None] - self.per_document * np.arange(self.documents)
            values[positions % self.raters >= self.per_document] = np.nan
        return on_scale(values) if self.rounded else values


@dataclass(frozen=True)
class Reached:
    """A power or mean width promised, and the one reached."""

    promised: float
    reached: float


def design_of_differences(
    study: Study, simulations: int, *, by_system: bool = False
) -> tuple[Reached, Reached]:
    """Return the power to find that the first system is .5 above the last, and the width of the interval."""
    generator = np.random.default_rng(SEED)
    size = study.systems, study.raters, study.documents
    variances, level = study.components.of_differences, LEVEL
    each = study.per_document
    power = variances.power(0.5, *size, significance_level=level, per_document=each)
    width = width_of_difference(variances, *size, per_document=each)
    names = [str(each) for each in range(study.systems)]
    widths, rejected = [], []
    for _ in range(simulations):
        compared = crossed_differences(study.draw(generator), names, by_system=by_system)
        found = compared.differences[study.systems - 2]
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
        rejected.append(found.low > 0)
    return Reached(power, float(np.mean(rejected))), Reached(width, float(np.mean(widths)))


def design_of_alpha(study: Study, simulations: int) -> Reached:
    """Return the width of alpha's interval promised by the variances, and the mean width of bootstraps."""
    generator = np.random.default_rng(SEED)
    spread = np.var(np.linspace(-0.25, 0.25, study.systems), ddof=1)
    components = VarianceComponents(**{**vars(study.components), "systems": float(spread)})
    _, deviation = deviation_of_alpha(components, study.systems, study.raters, study.per_document)
    plan, widths = Resampling(by="documents", replicates=300), []
    for _ in range(simulations):
        values = np.round(4 * study.draw(generator)) / 4
        data = ReliabilityData(
            values.reshape(study.raters, -1),
            measurement_level="interval",
            value_domain=np.unique(values[~np.isnan(values)]).tolist(),
            documents=np.repeat(np.arange(study.documents), study.systems),
        )
        found = krippendorff_alpha(data, generator=generator, resampling=plan).interval
        assert found is not None
        widths.append(found.high - found.low)
    return Reached(width_of_alpha(deviation, study.documents), float(np.mean(widths)))


TYPICAL = VarianceComponents(0.0, 0.04**2, 0.27**2, 0.42**2, 0.23**2, 0.32**2, 0.59**2)
PAIRS = (Judged((0.7, 1.0)), Judged((0.7, 0.9)), Judged((0.5, 1.2)), Judged((0.7, 1.0), ceiling=1.2))
CANDIDATES = (Judged((0.5, 1.0)), Judged((0.7, 1.0)), Judged((0.8, 1.0)))
STUDIES = (
    Study(TYPICAL, 5, 20),
    Study(TYPICAL, 8, 40),
    Study(TYPICAL, 13, 18),
    Study(TYPICAL, 5, 40, rounded=True),
    Study(TYPICAL, 10, 40, per_document=3),
    Study(TYPICAL, 6, 30, per_document=2),
)


def report_power(simulations: int) -> None:
    print(f"Power promised {POWER:g}: documents planned, and the share found; {simulations:,} samples")
    for judged in PAIRS:
        documents, reached = power_of_judges(judged, simulations)
        print(f"two judges, {judged}: {documents} documents, {reached:.3f}", flush=True)
    for judged in CANDIDATES:
        documents, reached = power_of_replacement(judged, simulations // 5, pilot=10_000)
        print(f"replacement test, {judged}: {documents} documents, {reached:.3f}", flush=True)
    print("Designs: promised and reached")
    for study in STUDIES:
        of = f"{study.per_document} of " if study.per_document else ""
        name = f"{of}{study.raters} raters, {study.documents} documents{', rounded' * study.rounded}"
        power, width = design_of_differences(study, simulations)
        own, _ = design_of_differences(study, simulations, by_system=True)
        alpha = design_of_alpha(study, simulations // 5)
        print(
            f"{name}: power {power.promised:.3f}, {power.reached:.3f} (with variances by system "
            f"{own.reached:.3f}); width of a difference "
            f"{width.promised:.2f}, {width.reached:.2f}; of alpha {alpha.promised:.2f}, {alpha.reached:.2f}",
            flush=True,
        )
