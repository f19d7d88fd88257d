"""Intervals: what is resampled, that they are right, and when there is none."""

from collections.abc import Callable
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from scipy import stats

from agreement import (
    Coefficient,
    Interval,
    ReliabilityData,
    Resampling,
    bootstrap,
    estimate,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlation,
    krippendorff_alpha,
    pearson,
    percent_agreement,
    weighted_kappa,
)
from agreement.alpha import alphas_of_parts
from agreement.bootstrap import KeptArrays
from agreement.patterns import by_value
from agreement.streams import Stream
from tests.agreement.tables import GAP, published, ratings

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def noisy(units: int, seed: int, raters: int = 3) -> np.ndarray:
    """Ratings of 1 to 5 that agree partly."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(1, 6, (1, units))
    return np.asarray(np.clip(truth + generator.integers(-1, 2, (raters, units)), 1, 5), dtype=float)


def interval_of(data: ReliabilityData, seed: int = 0, **plan: object) -> Interval:
    resampling = Resampling(**plan)  # type: ignore[arg-type]
    coefficient = krippendorff_alpha(data, generator=np.random.default_rng(seed), resampling=resampling)
    assert coefficient.interval is not None
    return coefficient.interval


def test_without_a_generator_there_is_no_interval() -> None:
    coefficient = krippendorff_alpha(ratings(noisy(30, 0)))
    assert (coefficient.interval, coefficient.interval_reason) == (None, "No interval was asked for.")


def test_hayes_and_krippendorff_by_units() -> None:
    # a loop that resamples the 40 columns gave [.631, .843]; the limits themselves vary by about .01
    interval = interval_of(ratings(published("hayes-krippendorff-2007"), "ordinal"), replicates=20_000)
    assert (interval.low, interval.high) == pytest.approx((0.631, 0.843), abs=0.01)
    assert (interval.method, interval.replicates) == ("percentile bootstrap of units", 20_000)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_agrees_with_a_loop_over_resampled_columns(level: Level) -> None:
    table = noisy(40, 1)
    table[0, :10] = GAP
    generator = np.random.default_rng(2)
    loop = [
        krippendorff.alpha(table[:, generator.integers(0, 40, 40)], level_of_measurement=level)
        for _ in range(1500)
    ]
    interval = interval_of(ratings(table, level), replicates=20_000)
    assert (interval.low, interval.high) == pytest.approx(np.quantile(loop, [0.025, 0.975]), abs=0.03)


def test_many_values_resample_in_blocks_as_few_do() -> None:
    table = np.random.default_rng(4).normal(size=(1, 3000)) + np.random.default_rng(5).normal(size=(3, 3000))
    interval = interval_of(ratings(table), replicates=400)
    # one-way random effects with equal variances: alpha tends to 1/2
    assert interval.low < 0.5 < interval.high
    assert interval.high - interval.low < 0.06


def test_documents_are_resampled_whole() -> None:
    # ten copies of each unit in a document: as uncertain as one unit per document, not as ten
    table, copies = noisy(40, 6), 10
    documents = np.repeat(np.arange(40), copies)
    copied = ReliabilityData(
        np.repeat(table, copies, axis=1),
        measurement_level="interval",
        value_domain=range(1, 6),
        documents=documents,
    )
    single = interval_of(ratings(table), replicates=5000)
    whole = interval_of(copied, by="documents", replicates=5000)
    by_units = interval_of(copied, by="units", replicates=5000)
    width = single.high - single.low
    assert whole.high - whole.low == pytest.approx(width, rel=0.1)
    assert by_units.high - by_units.low == pytest.approx(width / np.sqrt(copies), rel=0.15)
    assert whole.method == "percentile bootstrap of documents"


def test_units_that_cannot_be_paired_do_not_change_the_interval_by_documents() -> None:
    table, documents = noisy(100, 12), np.arange(100) // 4
    lone = np.full((3, 50), GAP)
    lone[0, :25] = 1.0
    level, domain = "ordinal", range(1, 6)
    paired = ReliabilityData(table, measurement_level=level, value_domain=domain, documents=documents)
    mixed = ReliabilityData(
        np.hstack([lone, table]),
        measurement_level=level,
        value_domain=domain,
        documents=np.concatenate([np.arange(50) + 200, documents]),
    )
    assert interval_of(mixed, by="documents") == interval_of(paired, by="documents")


@pytest.mark.parametrize(("groups", "method"), [(30, "percentile bootstrap of"), (10, "jackknife of")])
def test_plan_names_the_groups_in_the_interval(groups: int, method: str) -> None:
    data = ratings(noisy(30, 4)).in_documents(np.arange(30) % groups)
    named, plain = (interval_of(data, by="documents", noun=noun) for noun in ("pairs", ""))
    assert named.method.startswith(f"{method} pairs")
    assert plain.method.startswith(f"{method} documents")
    assert (named.low, named.high) == (plain.low, plain.high)


def test_documents_must_be_known() -> None:
    with pytest.raises(ValueError, match="needs the document of each unit"):
        interval_of(ratings(noisy(30, 0)), by="documents")


def jackknife(table: np.ndarray, level: Level) -> tuple[float, float]:
    """Alpha -+ t times the jackknife's standard error, by a loop over the other package."""
    units = table.shape[1]
    alpha = krippendorff.alpha(table, level_of_measurement=level)
    without = [
        krippendorff.alpha(np.delete(table, unit, axis=1), level_of_measurement=level)
        for unit in range(units)
    ]
    error = np.sqrt((units - 1) ** 2 / units * np.var(without, ddof=1))
    reach = stats.t.ppf(0.975, units - 1) * error
    return alpha - reach, min(alpha + reach, 1)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_few_units_use_the_jackknife(level: Level) -> None:
    table = noisy(12, 7)
    interval = interval_of(ratings(table, level))
    assert (interval.low, interval.high) == pytest.approx(jackknife(table, level), abs=1e-12)
    assert interval.method == "jackknife of units, t with 11 degrees of freedom"


def test_jackknife_error_of_hayes_and_krippendorff() -> None:
    interval = interval_of(ratings(published("hayes-krippendorff-2007"), "ordinal"), jackknife_below=41)
    error = (interval.high - interval.low) / 2 / stats.t.ppf(0.975, 39)
    assert error == pytest.approx(0.054, abs=5e-4)


def test_few_documents_use_the_jackknife() -> None:
    data = ReliabilityData(
        noisy(60, 8), measurement_level="interval", value_domain=range(1, 6), documents=np.arange(60) % 6
    )
    assert interval_of(data, by="documents").method == "jackknife of documents, t with 5 degrees of freedom"


def test_an_interval_of_shares_stays_within_0_and_1() -> None:
    table = ratings(np.array([[1, 2, 3, 4, 5, 1], [1, 2, 3, 4, 5, 2]]))
    interval = percent_agreement(table, generator=np.random.default_rng(0)).interval
    assert interval is not None
    assert interval.high == 1.0
    assert interval.low > 0


def test_interval_reports_the_number_of_resamples_without_variation() -> None:
    table = np.full((2, 40), 5.0)
    table[:, :4] = 1.0
    table[0, 4] = 1.0
    plan = Resampling(replicates=10_000)
    found = pearson(*table, generator=np.random.default_rng(0), resampling=plan)
    assert found.interval is not None
    # A resample misses the second rater's four units of forty with probability (36/40)^40 = .0148.
    assert found.interval.replicates_without_variation == pytest.approx(148, abs=36)


def test_with_too_many_of_them_there_is_no_interval() -> None:
    table = np.full((2, 40), 5.0)
    table[:, 0] = 1.0
    coefficient = pearson(*table, generator=np.random.default_rng(0))
    assert coefficient.value is not None
    assert coefficient.interval is None
    assert coefficient.interval_reason is not None
    assert "resamples of units had no variation" in coefficient.interval_reason


def test_full_agreement_has_no_interval() -> None:
    coefficient = krippendorff_alpha(
        ratings(np.tile([1.0, 2.0, 3.0], (2, 20))), generator=np.random.default_rng(0)
    )
    assert coefficient.value == 1.0
    assert coefficient.interval_reason == (
        "The coefficient is the same in every resample of units, so they do not tell how much it may vary."
    )


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"by": "raters"}, "by units or by documents, not by 'raters'"),
        ({"replicates": 10}, "at least 100 replicates"),
        ({"confidence_level": 95}, "between 0 and 1, but is 95"),
    ],
)
def test_invalid_plan_is_rejected(plan: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Resampling(**plan)


def test_correlations_have_intervals_too() -> None:
    generator = np.random.default_rng(9)
    first = generator.normal(size=500)
    second = 0.6 * first + 0.8 * generator.normal(size=500)
    interval = pearson(first, second, generator=generator).interval
    assert interval is not None
    low, high = stats.pearsonr(first, second).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.02)


COVERED_BY_CHANCE = (0.90, 0.99)  # of 300 intervals at 95%: about four standard errors either way


@pytest.mark.parametrize("units", [15, 100])
def test_intervals_cover_the_alpha_of_the_population(units: int) -> None:
    population = krippendorff_alpha(ratings(noisy(200_000, 10))).value
    assert population is not None
    covered = 0
    for seed in range(300):
        interval = interval_of(ratings(noisy(units, 100 + seed)), seed)
        covered += interval.low <= population <= interval.high
    low, high = COVERED_BY_CHANCE
    assert low <= covered / 300 <= high


def test_icc_without_a_generator_has_the_analytic_interval() -> None:
    data = ratings(noisy(30, 11))
    analytic = intraclass_correlation(data).interval
    resampled = intraclass_correlation(data, generator=np.random.default_rng(0)).interval
    assert analytic is not None
    assert resampled is not None
    assert (analytic.method, analytic.replicates) == ("F distribution (McGraw and Wong 1996)", None)
    assert resampled.method == "percentile bootstrap of units"


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("by", ["units", "documents"])
def test_alphas_of_parts_equal_the_separate_alphas(level: Level, by: Literal["units", "documents"]) -> None:
    table = noisy(120, 4)
    table[0, ::3] = GAP
    table[:, 100:110] = 3  # no variation
    table[:, 110:119] = 4  # nearly none
    table[1:, 119] = GAP  # one value only
    whole = ReliabilityData(
        table, measurement_level=level, value_domain=range(1, 6), documents=np.arange(120) // 4
    )
    parts = [np.arange(0, 60), *np.split(np.arange(60, 110), 5), np.r_[105, 110:118, 0], np.array([119])]
    generators = [Stream(1).of(part) for part in range(len(parts))]
    together = alphas_of_parts(whole, parts, generators=generators, resampling=Resampling(by=by))
    for units, generator, found in zip(parts, generators, together, strict=True):
        alone = krippendorff_alpha(whole.of_units(units), generator=generator, resampling=Resampling(by=by))
        assert rounded(found.to_dict()) == rounded(alone.to_dict())


def test_values_on_the_same_documents_share_their_resamples() -> None:
    data = ratings(noisy(120, 5)).in_documents(np.arange(120) // 5)
    first, other = Stream(1).of("people", "fluency"), Stream(1).of("judge", "coherence")
    by_documents, by_units = (
        [
            krippendorff_alpha(data, generator=stream, resampling=Resampling(by=by)).interval
            for stream in (first, other, Stream(2).of("people", "fluency"))
        ]
        for by in ("documents", "units")
    )
    assert by_documents[0] == by_documents[1] != by_documents[2]
    assert by_units[0] != by_units[1]


def test_document_resamples_are_equal_in_memory_and_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator, plan = Stream(4), Resampling(by="documents")

    def intervals() -> list[Interval | None]:
        data = ratings(noisy(90, 6)).in_documents(np.arange(90) // 3)
        return [
            figure(data, generator=generator, resampling=plan).interval
            for figure in (krippendorff_alpha, percent_agreement, weighted_kappa)
        ]

    kept = intervals()
    monkeypatch.setattr(bootstrap, "_BLOCK", 90 * 70)
    in_blocks = intervals()
    monkeypatch.setattr(bootstrap, "_MOST_DRAWS", 0)
    drawn = intervals()
    for one, *others in zip(kept, in_blocks, drawn, strict=True):
        assert one is not None
        for again in others:
            assert again is not None
            assert (one.low, one.high) == pytest.approx((again.low, again.high), abs=1e-12)


def test_kept_arrays_stay_within_their_limit_and_the_last_used_stay() -> None:
    made: list[str] = []
    kept = KeptArrays(most=3 * 80)

    def find(key: str, numbers: int = 10) -> np.ndarray:
        def make() -> np.ndarray:
            made.append(key)
            return np.ones(numbers)

        return kept.find_or_make(key, make)

    for key in ("a", "b", "c", "a", "d", "a", "c", "b"):  # "b" goes when "d" comes
        assert find(key).sum() == 10
    assert made == ["a", "b", "c", "d", "b"]
    assert find("large", numbers=31).sum() == find("large", numbers=31).sum() == 31
    assert made[-2:] == ["large", "large"]
    with pytest.raises(ValueError, match="read-only"):
        find("b")[0] = 2


def rounded(value: object) -> object:
    """The same with twelve digits of each number."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return round(value, 12) if isinstance(value, float) else value


@pytest.mark.parametrize("replicates", [100, 999, 1000])
@pytest.mark.parametrize("confidence_level", [0.8, 0.9, 0.95])
def test_limits_are_numpys_quantiles_to_the_last_digit(replicates: int, confidence_level: float) -> None:
    drawn: list[np.ndarray] = []

    def statistic(weights: np.ndarray) -> np.ndarray:
        drawn.append(weights @ np.arange(50) / 7)
        return drawn[-1]

    plan = Resampling(replicates=replicates, confidence_level=confidence_level)
    population = bootstrap.independent(50, "units")
    interval, _ = bootstrap.resampled_interval(statistic, population, Stream(1), plan, (0, np.inf))
    assert interval is not None
    tail = (1 - confidence_level) / 2
    assert (interval.low, interval.high) == tuple(np.quantile(np.concatenate(drawn), [tail, 1 - tail]))


@pytest.mark.parametrize("documents", [3, 300])
def test_document_unit_counts_match_for_any_number_of_documents(documents: int) -> None:
    groups = np.random.default_rng(2).integers(0, documents, 60)
    patterns = by_value(ratings(noisy(60, seed=3), "interval"))
    counts = bootstrap.count_patterns(groups, documents, patterns) @ np.eye(len(patterns.unit_counts))
    for document in range(documents):
        own = patterns.of_unit[groups == document]
        assert np.array_equal(counts[document], [np.sum(own == each) for each in range(counts.shape[1])])


@pytest.mark.parametrize("points", [5, 300])
@pytest.mark.parametrize("coefficient", [krippendorff_alpha, percent_agreement, fleiss_kappa, gwet_ac])
def test_adding_up_documents_is_the_same_as_adding_up_their_patterns(
    coefficient: Callable[..., Coefficient], points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(8)
    table = generator.integers(1, points + 1, (3, 240)).astype(float)
    table[1, :40] = GAP
    data = ReliabilityData(
        table,
        measurement_level="interval",
        value_domain=np.arange(1, points + 1),
        documents=np.repeat(np.arange(60), 4),
    )
    by_documents = Resampling(by="documents")
    added_up = coefficient(data, generator=np.random.default_rng(9), resampling=by_documents).interval
    monkeypatch.setattr(estimate, "resampled_interval", of_patterns)
    assert added_up is not None
    by_pattern = coefficient(data, generator=np.random.default_rng(9), resampling=by_documents).interval
    assert by_pattern is not None
    assert (added_up.low, added_up.high) == pytest.approx((by_pattern.low, by_pattern.high), abs=1e-12)


def of_patterns(statistic: bootstrap.Statistic, *drawn: Any) -> object:
    """Return the interval of a statistic that cannot be told from any other: patterns stay patterns."""
    return bootstrap.resampled_interval(lambda weights: statistic(weights), *drawn)
