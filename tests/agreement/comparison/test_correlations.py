"""A judge's correlation with people at every level, worked out by hand on six items."""

import numpy as np
import pytest
from scipy import stats

from agreement import Coefficient, PairMeasure, Resampling, kendall_tau_b, pearson, spearman
from agreement.comparison import (
    CORRELATIONS,
    Level,
    Scores,
    SystemCoefficient,
    coefficient_values,
    correlation_by_system,
    correlation_of_systems,
    correlation_with_humans,
    meta_correlation,
    reliability_and_correlation,
    reliability_by_system,
    reliability_of_systems,
)
from agreement.streams import Stream
from tests.agreement.comparison.tables import GAP, grid, scores


def by_name(results: tuple[SystemCoefficient, ...]) -> dict[str, float | None]:
    return {each.system: each.coefficient.value for each in results}


@pytest.mark.oracle("fraction worked by hand", of="correlation_with_humans", within=1e-06)
def test_all_items_are_pooled_at_the_level_of_the_data_set() -> None:
    coefficient = correlation_with_humans(scores(), kendall_tau_b)
    # 15 pairs: 7 concordant, 5 discordant, 1 tied among people, 3 tied by the judge
    assert coefficient.value == pytest.approx((7 - 5) / np.sqrt((15 - 1) * (15 - 3)))
    assert coefficient.name == "kendall_tau_b_dataset_level"
    assert coefficient.counts.pairable_units == 6


def test_means_are_compared_at_the_level_of_systems() -> None:
    # people 1.5 2.5 4.5, judge 2.5 3 2.5
    coefficient = correlation_with_humans(scores(), pearson, Level.SYSTEM)
    assert coefficient.value == pytest.approx(
        (-4 / 3 * -1 / 6 + -1 / 3 * 1 / 3 + 5 / 3 * -1 / 6) / np.sqrt(14 / 3 / 6)
    )
    assert correlation_with_humans(scores(), kendall_tau_b, Level.SYSTEM).value == 0
    assert coefficient.counts.pairable_units == 3


def test_documents_are_averaged_at_their_level() -> None:
    # document one: people 1 2 4, judge 2 3 4; document two: people 2 3 5, judge 3 3 1
    coefficient = correlation_with_humans(scores(), kendall_tau_b, Level.DOCUMENT)
    assert coefficient.value == pytest.approx((1 - 2 / np.sqrt(3 * 2)) / 2)
    assert (coefficient.counts.groups, coefficient.counts.undefined_groups) == (2, 0)


def test_document_with_one_judge_value_is_excluded_and_counted() -> None:
    coefficient = correlation_with_humans(scores(judge=[2, 3, 3, 3, 4, 3]), spearman, Level.DOCUMENT)
    assert coefficient.value == pytest.approx(1)
    assert (coefficient.counts.groups, coefficient.counts.undefined_groups) == (2, 1)


@pytest.mark.oracle("fraction worked by hand", of="correlation_by_system", within=1e-06)
def test_each_system_has_its_own_correlation_or_a_reason() -> None:
    results = correlation_by_system(scores(), spearman)
    assert by_name(results) == {"A": pytest.approx(1), "B": None, "C": pytest.approx(-1)}
    assert results[1].coefficient.reason == (
        "Every value of the judge is 3; a correlation needs values that differ."
    )


@pytest.mark.oracle("fraction worked by hand", of="meta_correlation", within=1e-06)
def test_meta_correlation_leaves_out_systems_without_a_correlation() -> None:
    coefficient = meta_correlation(scores(), spearman)  # P is 1 and -1 where people give 1.5 and 4.5
    assert coefficient.value == pytest.approx(-1)
    assert (coefficient.counts.groups, coefficient.counts.undefined_groups) == (3, 1)


@pytest.mark.oracle("fraction worked by hand", of="reliability_by_system", within=1e-06)
def test_the_indicator_compares_two_judges_and_needs_no_people() -> None:
    alone = scores(human=np.empty((0, 6)))
    results = reliability_by_system(alone, [1, 2, 1, 2, 2, 1], pearson)
    assert by_name(results) == {"A": pytest.approx(1), "B": None, "C": pytest.approx(1)}
    assert "equation 4" in results[0].coefficient.source


@pytest.mark.oracle("fraction worked by hand", of="reliability_and_correlation", within=1e-06)
def test_indicator_is_correlated_with_the_system_correlation() -> None:
    coefficient = reliability_and_correlation(scores(), [1, 2, 1, 2, 1, 2], spearman)
    assert coefficient.value == pytest.approx(1)  # R is 1 and -1, P is 1 and -1
    assert coefficient.counts.undefined_groups == 1


def test_constant_indicator_has_no_correlation() -> None:
    coefficient = reliability_and_correlation(scores(), [1, 2, 1, 2, 2, 1], spearman)
    assert coefficient.value is None
    assert coefficient.reason == "Every reliability indicator is 1; a correlation needs values that differ."


def test_gaps_are_excluded_on_both_sides() -> None:
    table = scores(judge=[2, 3, 3, 3, 4, GAP], human=[[1, 2, GAP, 4, 4, 5], [1, 2, GAP, 2, 4, 5]])
    coefficient = correlation_with_humans(table, pearson)
    assert coefficient.counts.pairable_units == 4
    assert coefficient.value == pytest.approx(stats.pearsonr([1, 2, 3, 4], [2, 3, 3, 4]).statistic)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (scores(human=np.empty((0, 6))), "No person has rated these items yet."),
        (scores(human=np.full((2, 6), GAP)), "No person has rated these items yet."),
        (scores(judge=[GAP] * 6), "The judge has no value for these items yet."),
        (scores().of_items([]), "No person has rated these items yet."),
        (
            scores(human=[[1, 2, 3, GAP, GAP, GAP]], judge=[GAP, GAP, GAP, 1, 2, 3]),
            "No item has both a mean human score and a value of the judge.",
        ),
        (
            scores(judge=[1, *[GAP] * 5]),
            "Only one item has both a mean human score and a value of the judge; "
            "a correlation needs two or more.",
        ),
        (scores(judge=[5] * 6), "Every value of the judge is 5; a correlation needs values that differ."),
        (scores(human=[[4] * 6]), "Every mean human score is 4; a correlation needs values that differ."),
    ],
)
def test_undefined_correlation_names_the_missing_data(level: Level, table: Scores, reason: str) -> None:
    for measure in CORRELATIONS.values():
        coefficient = correlation_with_humans(table, measure, level, generator=np.random.default_rng(0))
        assert coefficient.value is None
        assert coefficient.reason == reason
        assert coefficient.interval is None
    assert meta_correlation(table, spearman).reason == reason


def test_one_system_has_no_correlation_between_systems() -> None:
    table = scores().of_items([0, 1])
    between = correlation_with_humans(table, spearman, Level.SYSTEM)
    assert between.reason == (
        "Only one system has both a mean human score and a value of the judge; "
        "a correlation needs two or more."
    )
    assert meta_correlation(table, spearman).reason == (
        "Only one system has both a correlation with humans and a mean human score; "
        "a correlation needs two or more."
    )
    assert correlation_with_humans(table, spearman).value == pytest.approx(1)


def test_one_item_a_document_has_no_correlation_within_documents() -> None:
    table = scores().of_items([0, 1])
    coefficient = correlation_with_humans(table, spearman, Level.DOCUMENT)
    assert coefficient.value is None
    assert coefficient.reason


def random_scores(seed: int, *, systems: int = 25, documents: int = 12) -> Scores:
    generator = np.random.default_rng(seed)
    quality = np.repeat(generator.normal(scale=0.7, size=systems), documents)
    human = np.clip(np.round(3 + quality + generator.normal(size=(3, systems * documents))), 1, 5)
    judge = np.clip(np.round(3 + quality + generator.normal(size=systems * documents)), 1, 5)
    return grid(human, judge, documents)


@pytest.mark.parametrize("measure", CORRELATIONS.values(), ids=CORRELATIONS)
def test_the_order_of_items_does_not_matter(measure: PairMeasure) -> None:
    table = random_scores(1)
    shuffled = table.of_items(np.random.default_rng(5).permutation(len(table.judge)))
    for level in Level:
        first = correlation_with_humans(table, measure, level).value
        second = correlation_with_humans(shuffled, measure, level).value
        assert first == pytest.approx(second, abs=1e-12)
    assert meta_correlation(table, measure).value == pytest.approx(
        meta_correlation(shuffled, measure).value,
        abs=1e-12,
    )


@pytest.mark.parametrize("level", Level)
def test_a_stricter_judge_correlates_as_well(level: Level) -> None:
    table = random_scores(2)
    stricter = table.of_judge(table.judge / 2 - 1)
    for measure in CORRELATIONS.values():
        value = correlation_with_humans(table, measure, level).value
        assert correlation_with_humans(stricter, measure, level).value == pytest.approx(value)


def test_intervals_resample_the_unit_of_each_level() -> None:
    table = random_scores(3, documents=30)
    drawn = "percentile bootstrap of documents"
    expected = {Level.DATASET: drawn, Level.DOCUMENT: drawn, Level.SYSTEM: "Fisher’s z of 25 systems"}
    for level, method in expected.items():
        coefficient = correlation_with_humans(table, pearson, level, generator=np.random.default_rng(0))
        assert coefficient.interval is not None
        assert coefficient.interval.method == method
        assert coefficient.interval.low < (coefficient.value or 0) < coefficient.interval.high


def test_every_system_and_overall_value_can_have_an_interval() -> None:
    table = random_scores(4, documents=30)
    generator, plan = np.random.default_rng(0), Resampling(by="documents", replicates=200)
    coefficients: list[Coefficient] = [
        *(
            each.coefficient
            for each in correlation_by_system(table, spearman, generator=generator, resampling=plan)
        ),
        reliability_and_correlation(
            table, random_scores(5, documents=30).judge, spearman, generator=generator, resampling=plan
        ),
    ]
    assert all(each.interval is not None for each in coefficients)


@pytest.mark.oracle(
    "the same systems one by one", of=("correlation_of_systems", "reliability_of_systems"), within=1e-06
)
@pytest.mark.parametrize("measure", CORRELATIONS.values(), ids=CORRELATIONS)
def test_all_systems_at_once_have_the_values_of_each(measure: PairMeasure) -> None:
    generator = np.random.default_rng(5)
    human, judge, other = generator.integers(1, 6, (3, 90)).astype(float)
    judge[:40], other[80:] = 3, GAP  # one system without variation, one with gaps
    table = grid([human], judge, documents=30)
    of_people, of_pair = correlation_by_system(table, measure), reliability_by_system(table, other, measure)
    assert correlation_of_systems(table, measure) == pytest.approx(coefficient_values(of_people), nan_ok=True)
    assert reliability_of_systems(table, other, measure) == pytest.approx(
        coefficient_values(of_pair), nan_ok=True
    )
    assert of_people[0].coefficient.value is None


def test_the_interval_of_a_system_is_the_same_whichever_other_systems_there_are() -> None:
    generator = np.random.default_rng(6)
    human, judge = generator.integers(1, 6, (2, 90)).astype(float)
    table = grid([human], judge, documents=30)
    alone = table.of_items(table.systems == 2)
    found = correlation_by_system(table, spearman, generator=Stream(4))[2].coefficient
    assert found.interval is not None
    assert found.interval.method == "Fisher’s z, jackknife of documents, t with 29 degrees of freedom"
    assert correlation_by_system(alone, spearman, generator=Stream(4))[0].coefficient == found


def test_another_judge_has_a_value_or_a_gap_for_every_item() -> None:
    with pytest.raises(ValueError, match="5 values of the other judge, but 6 items"):
        reliability_by_system(scores(), [1, 2, 3, 4, 5], spearman)
