"""An export, read with pandas and SciPy alone, gives the coefficients of the agreement page."""

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Three raters near each other, 1 to 5, on four systems' texts about five documents; one left a gap."""
    chance = random.Random(7)
    cast = make_project(documents=5, systems=4)
    round = opened(cast)
    for item in cast.items:
        quality = chance.randint(2, 4)
        for annotator in cast.annotators:
            if (item, annotator) != (cast.items[3], cast.annotators[2]):
                rate(cast, round, annotator, item, quality + chance.choice((-1, 0, 0, 1)))
    return cast


def interval_alpha(table: pd.DataFrame) -> float:
    """Return 1 - observed / expected disagreement over units with two values or more."""
    units = [row[~np.isnan(row)] for row in table.to_numpy(dtype=float)]
    units = [unit for unit in units if len(unit) > 1]
    values = np.concatenate(units)
    observed = sum(np.subtract.outer(unit, unit).__pow__(2).sum() / (len(unit) - 1) for unit in units)
    expected = (np.subtract.outer(values, values) ** 2).sum() / (len(values) - 1)
    return float(1 - observed / expected)


@pytest.mark.parametrize("format", [Format.CSV, Format.PARQUET])
def test_alpha_rmse_and_spearman_match_the_page(cast: Cast, tmp_path: Path, format: Format) -> None:
    close_round_one(project=cast.project, by=cast.admin)
    write_folder(cast.project, ExportChoice(format), tmp_path)
    read = pd.read_csv if format == Format.CSV else pd.read_parquet
    ratings = read(tmp_path / f"ratings.{format}")
    table = ratings.pivot_table(index=["document", "system"], columns="rater", values="value")
    (levels,) = cells_of(cast.project, "agreement", "round-1-alpha")
    assert interval_alpha(table) == pytest.approx(levels["interval"].value, abs=1e-12)
    own = {f"Rater {membership.alias}": membership.pseudonym for membership in cast.annotators}
    pairs = list(combinations(own, 2))
    for key, compute in (("rmse", root_mean_square), ("spearman", within_documents)):
        measured = cells_of(cast.project, "agreement", f"round-1-{key}")
        found = {row["pair"].value: row["fluency"].value for row in measured}
        for first, second in pairs:
            expected = compute(table, own[first], own[second])
            assert expected == pytest.approx(found[f"{first} – {second}"], abs=1e-12)


def root_mean_square(table: pd.DataFrame, first: str, second: str) -> float:
    """Return the root of the mean squared difference of two raters."""
    apart = (table[first] - table[second]).dropna()
    return float(np.sqrt((apart**2).mean()))


def within_documents(table: pd.DataFrame, first: str, second: str) -> float:
    """Return the mean over documents of Spearman's correlation, where it is defined."""
    found = []
    for _, rows in table.groupby(level="document"):
        both = rows[[first, second]].dropna()
        if (both.nunique() > 1).all():
            found.append(stats.spearmanr(both[first], both[second]).statistic)
    return float(np.mean(found))
