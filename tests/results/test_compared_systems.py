"""Which systems differ: raters as a sample unless these raters are asked for, or there is no other way."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from agreement import (
    CrossedDifferences,
    ErrorVariances,
    crossed_differences,
    holm,
    rank_sets,
    system_differences,
)
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Dimension, GoldItem
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.commands import current_page
from annotate.results.queries.systems import resolution_section
from annotate.results.registry import result_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db

DOCUMENTS, SYSTEMS = 8, 3
NAMES = [f"system-{number + 1}" for number in range(SYSTEMS)]


def values_of(raters: int) -> np.ndarray:
    """(raters, documents, systems): values from 1 to 5; each rater favours another system."""
    rater, document, system = np.indices((raters, DOCUMENTS, SYSTEMS))
    favoured = (rater + 1) % SYSTEMS == system
    values = 1 + system + favoured + (rater * document + document * system) % 3
    return np.asarray(np.clip(values, 1, 5), dtype=float)


def rated(raters: int = 3, *, without: tuple[int, int, int] | None = None) -> Cast:
    """A project with these values; `without` one of them (rater, document, system)."""
    values = values_of(raters)
    if without:
        values[without] = np.nan
    return rated_with({"fluency": values})


def rated_with(values: Mapping[str, np.ndarray], *, named: str = "") -> Cast:
    """A project with values (raters, documents, systems) by dimension; `named` has names for values."""
    raters, documents, systems = next(iter(values.values())).shape
    cast = make_project(
        dimensions=tuple(values),
        documents=documents,
        systems=systems,
        annotators=raters,
        raters_per_item=raters,
    )
    Dimension.objects.filter(key=named).update(measurement_level="nominal")
    round, order = opened(cast), sorted({item.document_id for item in cast.items})
    names = sorted({item.system.name for item in cast.items})
    for item in cast.items:
        positions = order.index(item.document_id), names.index(item.system.name)
        for number, annotator in enumerate(cast.annotators):
            for key, own in values.items():
                if not np.isnan(own[number, *positions]):
                    rate(cast, round, annotator, item, int(own[number, *positions]), key=key)
    return cast


def says_of(cast: Cast, title: str, **chosen: str) -> str:
    page = current_page(project=cast.project, result=result_of(cast.project, "systems", chosen))
    return next(section.says for section in page.sections if section.title == title)


def differences_of(cast: Cast, **chosen: str) -> list[list[float | None]]:
    return [
        [row["difference"].value, row["difference"].low, row["difference"].high, row["p_adjusted"].value]
        for row in cells_of(cast.project, "systems", "differences", **chosen)
    ]


def as_rows(found: CrossedDifferences) -> list[list[float | None]]:
    return [[each.value, each.low, each.high, each.adjusted_p_value] for each in found.differences]


def test_raters_are_a_sample_unless_fixed_on_request(client: Client) -> None:
    cast = rated()
    crossed = crossed_differences(values_of(3), NAMES)
    assert crossed.variances.rater_by_system > 0
    assert np.array(differences_of(cast)) == pytest.approx(np.array(as_rows(crossed)))
    paired = system_differences(values_of(3).mean(axis=0), NAMES)
    of_these = [[each.value, each.low, each.high, each.adjusted_p_value] for each in paired]
    assert np.array(differences_of(cast, about="documents")) == pytest.approx(np.array(of_these))
    client.force_login(cast.researcher)
    address = reverse("results_page", args=[cast.project.slug, "systems"])
    page = client.get(address, {"table": "differences"}).content.decode()
    assert "one that other raters like these would find" in page
    these = client.get(address, {"table": "differences", "about": "documents"}).content.decode()
    assert "Documents are a sample, raters are these" in these
    assert "Sources of error" in page
    assert "Sources of error" not in these


def test_p_values_can_be_adjusted_over_all_dimensions(client: Client) -> None:
    one, other = values_of(3), np.roll(values_of(3), 1, axis=2)
    cast = rated_with({"fluency": one, "relevance": other})
    within, across = (
        cells_of(cast.project, "systems", "differences", across=family) for family in ("pairs", "dimensions")
    )
    p_values = [row["p"].value for row in within]
    assert [row["p"].value for row in across] == p_values
    expected = [*holm(p_values[:3]), *holm(p_values[3:])]
    assert [row["p_adjusted"].value for row in within] == pytest.approx(expected)
    assert [row["p_adjusted"].value for row in across] == pytest.approx(list(holm(p_values)))
    assert holm(p_values).max() > max(expected) or holm(p_values).sum() > sum(expected)
    client.force_login(cast.researcher)
    address = reverse("results_page", args=[cast.project.slug, "systems"])
    asked = {"table": "differences", "across": "dimensions"}
    assert "corrected over all pairs of all dimensions" in client.get(address, asked).content.decode()
    rows = crossed_differences(one, NAMES, tests=6).differences
    sets = {each.system: each for each in rank_sets(NAMES, rows)}
    ranks = [row["fluency"].value for row in cells_of(cast.project, "systems", "ranks", across="dimensions")]
    assert ranks == [f"{sets[name].best}–{sets[name].worst}" for name in NAMES]


def test_summary_names_the_system_that_splits_raters(client: Client) -> None:
    rater, document, system = np.indices((3, DOCUMENTS, 6))
    values = 3.0 + np.where(system == 1, 2 * (rater - 1), (3 * document + 2 * rater + system) % 5 == 0)
    cast = rated_with({"fluency": values})
    (found,) = crossed_differences(values, [f"system-{each}" for each in range(1, 7)]).outlying
    assert found.system == "system-2"
    assert found.ratio > 100
    named = "system-2 (over 100 times the variance)"
    says = f"Fluency: raters differ more about {named} than about the other systems."
    assert says in says_of(cast, "Which systems differ")
    assert says not in says_of(cast, "Which systems differ", about="documents")
    (sources,) = cells_of(cast.project, "systems", "error-sources")
    assert (sources["outlying_raters"].value, sources["outlying_documents"].value) == (named, "–")
    client.force_login(cast.researcher)
    page = client.get(reverse("results_page", args=[cast.project.slug, "systems"])).content.decode()
    assert f"Raters differ more about some systems than about others: {named} on Fluency." in page


def test_page_states_that_discussion_brings_raters_closer() -> None:
    cast = rated()
    says = "These values follow a discussion"
    assert says not in says_of(cast, "Which systems differ")
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    assert says in says_of(cast, "Which systems differ")
    assert says not in says_of(cast, "Which systems differ", about="documents")


def test_ranks_follow_the_reading() -> None:
    cast = rated()
    sample, these = (
        [row["fluency"].value for row in cells_of(cast.project, "systems", "ranks", about=about)]
        for about in ("raters", "documents")
    )
    assert sample == ["1–3", "1–3", "1–3"]
    assert these == ["3", "2", "1"]


def test_with_a_gap_the_model_is_fitted_by_its_likelihood() -> None:
    cast = rated(without=(1, 2, 0))
    values = values_of(3)
    values[1, 2, 0] = np.nan
    expected = as_rows(crossed_differences(values, NAMES))
    assert np.array(differences_of(cast)) == pytest.approx(np.array(expected))
    (how, *_) = [row["difference"].how for row in cells_of(cast.project, "systems", "differences")]
    assert "restricted maximum likelihood" in how


@pytest.mark.parametrize(
    ("of_systems", "difference"), [((3, 3, 3), 0), ((1, 2, 4), -1)], ids=["constant", "same difference"]
)
def test_dimension_without_error_leaves_the_others(of_systems: tuple[int, ...], difference: float) -> None:
    even = np.broadcast_to(np.array(of_systems, dtype=float), (3, DOCUMENTS, SYSTEMS)).copy()
    even[1, 2, 0] = np.nan
    cast = rated_with({"fluency": even, "relevance": values_of(3)})
    found = differences_of(cast)
    assert [row[0] for row in found[:1]] == pytest.approx([difference])
    assert np.array(found[3:]) == pytest.approx(np.array(as_rows(crossed_differences(values_of(3), NAMES))))
    assert (
        "Fluency: by these raters only. Every rater gives the same differences on every document."
        in says_of(cast, "Which systems differ")
    )
    means = cells_of(cast.project, "systems", "means")
    assert [row["fluency"].value for row in means] == pytest.approx(list(of_systems))
    sources = cells_of(cast.project, "systems", "error-sources")
    assert [row["dimension"].value for row in sources] == ["Relevance"]


def test_unused_category_in_an_unfinished_round_has_a_reason() -> None:
    """Raters choose categories 1 and 2 only; one rater has not finished."""
    values = 1.0 + np.indices((3, DOCUMENTS, 2)).sum(axis=0) % 2
    values[2, 3:, 1] = np.nan
    cast = rated_with({"fluency": values}, named="fluency")
    rows = cells_of(cast.project, "systems", "share-differences")
    assert len(rows) == 5
    assert rows[0]["difference"].value is not None
    same = "Both have the same score on every document."
    assert [row["p_adjusted"].reason for row in rows[2:]] == [same] * 3
    assert "Every rater gives the same differences" in says_of(cast, "Shares of categories")


def test_fixed_outputs_have_no_tests_and_no_ranks() -> None:
    cast = rated()
    first, *_ = cells_of(cast.project, "systems", "differences", about="texts")
    means = values_of(3).mean(axis=(0, 1))
    assert first["difference"].value == pytest.approx(means[0] - means[1])
    says = "Every output is rated, so the difference is known and nothing is tested."
    assert [first["difference"].interval_reason, first["p"].reason, first["p_adjusted"].reason] == [says] * 3
    assert (first["difference"].low, first["p"].value) == (None, None)
    for row in cells_of(cast.project, "systems", "ranks", about="texts"):
        assert row["fluency"].value is None
        assert "nothing to test" in row["fluency"].reason
    mean, *_ = cells_of(cast.project, "systems", "means", about="texts")
    assert mean["fluency"].interval_reason == "Every output is rated, so this mean is known."
    assert "About these outputs only" in says_of(cast, "Which systems differ", about="texts")


def test_only_unrated_outputs_leave_an_error_for_fixed_outputs() -> None:
    """One of eight documents is not rated for one system; a gold item is not among the texts."""
    cast = make_project(documents=DOCUMENTS + 1, systems=2, annotators=1, raters_per_item=1)
    round = opened(cast)
    rows: dict[tuple[int, int], int] = {}
    *used, gold = sorted({item.document_id for item in cast.items})
    for item in cast.items:
        if item.document_id == gold:
            GoldItem.objects.create(item=item, use="hidden")
            continue
        place = used.index(item.document_id)
        if (place, item.system.name) != (0, "system-2"):
            system = NAMES.index(item.system.name)
            rows[place, system] = 1 + (3 * place + 2 * system) % 5
            rate(cast, round, cast.annotators[0], item, rows[place, system])
    differences = np.array([rows[index, 0] - rows[index, 1] for index in range(1, DOCUMENTS)], dtype=float)
    (found,) = differences_of(cast, about="texts")
    reach = 2.446912 * differences.std(ddof=1) / np.sqrt(7) * np.sqrt(1 - 7 / 8)
    assert found[1] == pytest.approx(differences.mean() - reach, abs=1e-6)


def test_one_rater_is_no_sample_and_the_page_states_it() -> None:
    cast = rated(raters=1)
    paired = system_differences(values_of(1)[0], NAMES)
    assert [row[3] for row in differences_of(cast)] == pytest.approx(
        [each.adjusted_p_value for each in paired]
    )
    says = says_of(cast, "Which systems differ")
    assert "Fluency: by these raters only. Fewer than two raters gave values." in says


def test_more_raters_or_documents_find_smaller_differences() -> None:
    cast = rated()
    variances = crossed_differences(values_of(3), NAMES).variances
    rows = cells_of(cast.project, "systems", "smallest-differences")
    assert [row["documents"].value for row in rows] == ["8", "16", "32"]
    expected = variances.smallest_difference(SYSTEMS, 8, 16, significance_level=0.05 / 3)
    assert rows[1]["raters_8"].value == pytest.approx(expected)
    assert rows[0]["raters_2"].reason == "Larger than the scale: this many cannot distinguish systems."
    assert rows[0]["points"].value == 0.5
    assert rows[2]["raters_needed"].reason == "More than 50 raters with this number of documents."
    (sources,) = cells_of(cast.project, "systems", "error-sources")
    assert sources["rater_by_system"].value == pytest.approx(variances.rater_by_system**0.5)
    assert (sources["raters"].value, sources["documents"].value) == (3, 8)


def test_table_shows_the_raters_that_detect_an_eighth_of_the_scale() -> None:
    found = crossed_differences(values_of(3)[:, :, :2], NAMES[:2])
    fewer = replace(found, variances=ErrorVariances(0.01, 0.02, 0.2))
    (dimension,) = FrozenGuideline.from_json(opened(make_project()).guideline.content).dimensions
    (_, table) = resolution_section([dimension], {"fluency": fewer}, 4).tables
    assert [column.key for column in table.columns[2:7]] == [f"raters_{each}" for each in (2, 3, 4, 5, 8)]
    needed = table.rows[0][-1].value
    assert isinstance(needed, int)
    assert fewer.variances.smallest_difference(2, needed, 8, significance_level=0.05) <= 0.5
    assert fewer.variances.smallest_difference(2, needed - 1, 8, significance_level=0.05) > 0.5


def test_tables_before_the_first_rating_have_reasons_and_no_values() -> None:
    cast = make_project(documents=3, annotators=2, raters_per_item=2)
    opened(cast)
    (row,) = cells_of(cast.project, "systems", "differences")
    assert row["difference"].value is None
    assert row["difference"].reason == "Only 0 documents were rated for both; 3 or more are needed."
    assert "Fewer than two raters gave values." in says_of(cast, "Which systems differ")
