"""Every figure that is published about the Round I ratings of SummEval-OP, from its ratings."""

import csv
import json
from functools import cache

import numpy as np
import pytest

from annotate.agreement import (
    ReliabilityData,
    between_raters,
    kendall_tau_b,
    krippendorff_alpha,
    root_mean_squared_error,
    spearman,
    value_ranges,
    with_mean,
)
from tests.reference import reference_data

DIMENSIONS = {
    "fluency": "fl",
    "coherence": "co",
    "relevance": "re",
    "faithfulness": "fa",
    "aspect coverage": "ac",
    "sentiment consistency": "sc",
    "specificity": "sp",
}
LEVELS = ("nominal", "ordinal", "interval", "ratio")
CORRELATIONS = {"spearman": spearman, "kendall": kendall_tau_b}

Key = tuple[str, str, str]  # quantity, raters, coefficient


@cache
def round_one(dimension: str) -> ReliabilityData:
    path = reference_data() / "summeval_op" / "summeval-op-detailed.jsonl"
    products = [json.loads(line)[DIMENSIONS[dimension]] for line in path.read_text().splitlines()]
    return ReliabilityData(
        np.array(products).reshape(-1, 3).T,
        measurement_level="interval",
        value_domain=[1, 2, 3, 4, 5],
        documents=np.repeat(np.arange(len(products)), 13),
        raters=["A1", "A2", "A3"],
    )


@cache
def computed(dimension: str) -> dict[Key, float | None]:
    data = round_one(dimension)
    figures: dict[Key, float | None] = {
        ("krippendorff_alpha", "", level): krippendorff_alpha(data.at_level(level)).value for level in LEVELS
    }
    figures["units_with_range_2_or_more", "", ""] = int(np.sum(value_ranges(data) >= 2))
    for pair in between_raters(data, root_mean_squared_error):
        figures["rmse", f"{pair.first}-{pair.second}", ""] = pair.coefficient.value
    for name, measure in CORRELATIONS.items():
        for pair in (
            *between_raters(data, measure, within=data.documents),
            *with_mean(data, measure, within=data.documents),
        ):
            key = ("summary_level_correlation", f"{pair.first}-{pair.second}", name)
            figures[key] = pair.coefficient.value
    return figures


@cache
def published() -> dict[tuple[str, Key], float]:
    path = reference_data() / "published" / "summeval_op_round1.csv"
    rows = csv.DictReader(path.read_text().splitlines())
    return {
        (row["dimension"], (row["quantity"], row["raters"], row["coefficient"])): float(row["recomputed"])
        for row in rows
    }


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_published_figure_is_reproduced(dimension: str) -> None:
    expected = {key: value for (of, key), value in published().items() if of == dimension}
    assert len(expected) == 20
    figures = computed(dimension)
    assert {key: figures[key] for key in expected} == pytest.approx(expected, abs=5.1e-7)


def test_nothing_published_is_left_out() -> None:
    assert {dimension for dimension, _ in published()} == set(DIMENSIONS)
    assert len(published()) == 20 * len(DIMENSIONS)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_products_where_a_rater_gave_one_value_throughout_are_counted_and_left_out(dimension: str) -> None:
    data = round_one(dimension)
    constant = np.ptp(data.values.reshape(3, 32, 13), axis=2) == 0
    for pair in between_raters(data, spearman, within=data.documents):
        first, second = data.raters.index(pair.first), data.raters.index(pair.second)
        assert pair.coefficient.counts.groups == 32
        assert pair.coefficient.counts.undefined_groups == np.sum(constant[first] | constant[second])
