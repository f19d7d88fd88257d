"""Which systems differ: raters as a sample unless these raters are asked for, or there is no other way."""

from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotate.agreement import CrossedDifferences, ErrorVariances, crossed_differences, system_differences
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import GoldItem
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.commands import current_page
from annotate.results.queries.resolution import resolution_section
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
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS, annotators=raters, raters_per_item=raters)
    round, values = opened(cast), values_of(raters)
    documents = sorted({item.document_id for item in cast.items})
    for item in cast.items:
        place = documents.index(item.document_id), NAMES.index(item.system.name)
        for number, annotator in enumerate(cast.annotators):
            if (number, *place) != without:
                rate(cast, round, annotator, item, int(values[number, *place]))
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


def test_raters_are_a_sample_unless_these_are_asked_for(client: Client) -> None:
    cast = rated()
    crossed = crossed_differences(values_of(3), NAMES)
    assert crossed.variances.rater_by_system > 0
    assert np.array(differences_of(cast)) == pytest.approx(np.array(as_rows(crossed)))
    paired = system_differences(values_of(3).mean(axis=0), NAMES)
    of_these = [[each.value, each.low, each.high, each.adjusted_p_value] for each in paired]
    assert np.array(differences_of(cast, about="documents")) == pytest.approx(np.array(of_these))
    client.force_login(cast.researcher)
    address = reverse("results_page", args=[cast.project.slug, "systems"])
    assert "one that other raters like these would find" in client.get(address).content.decode()
    these = client.get(address, {"about": "documents"}).content.decode()
    assert "Documents are a sample, raters are these" in these
    assert "What more raters or documents would tell apart" not in these


def test_after_discussion_the_page_says_that_raters_came_nearer_to_each_other() -> None:
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


def test_about_these_texts_only_there_is_nothing_to_test_and_there_are_no_ranks() -> None:
    cast = rated()
    first, *_ = cells_of(cast.project, "systems", "differences", about="texts")
    means = values_of(3).mean(axis=(0, 1))
    assert first["difference"].value == pytest.approx(means[0] - means[1])
    says = "Every text is rated, so the difference is known and nothing is tested."
    assert [first["difference"].interval_reason, first["p"].reason, first["p_adjusted"].reason] == [says] * 3
    assert (first["difference"].low, first["p"].value) == (None, None)
    for row in cells_of(cast.project, "systems", "ranks", about="texts"):
        assert row["fluency"].value is None
        assert "nothing to test" in row["fluency"].reason
    mean, *_ = cells_of(cast.project, "systems", "means", about="texts")
    assert mean["fluency"].interval_reason == "Every text is rated, so this mean is known."
    assert "About these texts only" in says_of(cast, "Which systems differ", about="texts")


def test_about_these_texts_only_those_that_are_not_rated_leave_an_error() -> None:
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
    differences = np.array([rows[place, 0] - rows[place, 1] for place in range(1, DOCUMENTS)], dtype=float)
    (found,) = differences_of(cast, about="texts")
    reach = 2.446912 * differences.std(ddof=1) / np.sqrt(7) * np.sqrt(1 - 7 / 8)
    assert found[1] == pytest.approx(differences.mean() - reach, abs=1e-6)


def test_one_rater_is_no_sample_and_the_page_says_so() -> None:
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
    assert rows[0]["raters_2"].reason == "Larger than the scale is long: so few cannot tell systems apart."
    assert rows[0]["points"].value == 0.5
    assert rows[2]["raters_needed"].reason == "More than 50 raters with so many documents."
    (sources,) = cells_of(cast.project, "systems", "error-sources")
    assert sources["rater_by_system"].value == pytest.approx(variances.rater_by_system**0.5)
    assert (sources["raters"].value, sources["documents"].value) == (3, 8)


def test_how_many_raters_find_an_eighth_of_the_scale() -> None:
    found = crossed_differences(values_of(3)[:, :, :2], NAMES[:2])
    fewer = replace(found, variances=ErrorVariances(0.01, 0.02, 0.2))
    (dimension,) = FrozenGuideline.from_json(opened(make_project()).guideline.content).dimensions
    (_, table) = resolution_section([dimension], {"fluency": fewer}, 4).tables
    assert [column.key for column in table.columns[2:7]] == [f"raters_{each}" for each in (2, 3, 4, 5, 8)]
    needed = table.rows[0][-1].value
    assert isinstance(needed, int)
    assert fewer.variances.smallest_difference(2, needed, 8, significance_level=0.05) <= 0.5
    assert fewer.variances.smallest_difference(2, needed - 1, 8, significance_level=0.05) > 0.5


def test_before_the_first_rating_there_are_reasons_and_no_figures() -> None:
    cast = make_project(documents=3, annotators=2, raters_per_item=2)
    opened(cast)
    (row,) = cells_of(cast.project, "systems", "differences")
    assert row["difference"].value is None
    assert row["difference"].reason == "Only 0 documents were rated for both; 3 or more are needed."
    assert "Fewer than two raters gave values." in says_of(cast, "Which systems differ")
