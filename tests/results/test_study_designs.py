"""The cheapest design of a study, on its page and by its command."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from agreement.design import width_of_difference
from annotate.core.models import Dimension, Project
from annotate.results.answers import answer_design
from annotate.results.commands import current_page
from annotate.results.queries.study_variances import TYPICAL
from annotate.results.registry import result_of
from tests.factories import make_project
from tests.rating.rounds import opened
from tests.results.reading import cells_of
from tests.results.test_study_page import rated_by_two

pytestmark = pytest.mark.django_db


def power(raters: int, documents: int) -> float:
    return TYPICAL.of_differences.power(0.5, 3, raters, documents, significance_level=0.05 / 3)


def test_cheapest_design_is_that_of_trying_all() -> None:
    cast = make_project(documents=10, systems=3)
    rows = cells_of(cast.project, "study", "designs", seconds="60", wage="12")
    tried = [
        (raters * documents * 3, raters, documents)
        for raters in range(2, 21)
        for documents in range(3, 400)
        if power(raters, documents) >= 0.8
    ]
    ratings, raters, documents = min(tried)
    first = rows[0]
    assert first["design"].key == "cheapest"
    assert [first[key].value for key in ("raters", "documents", "systems", "ratings")] == [
        *(raters, documents, 3, ratings)
    ]
    assert first["hours"].value == pytest.approx(ratings / 60)
    assert first["pay"].value == pytest.approx(ratings / 60 * 12)
    assert first["reached"].value == pytest.approx(power(raters, documents))
    assert len(rows) == 4
    assert len({row["raters"].value for row in rows}) == 4
    assert min(row["raters"].value for row in rows) == min(each for _, each, _ in tried)
    assert [row["hours"].value for row in rows] == sorted(row["hours"].value for row in rows)


def test_training_makes_designs_with_fewer_raters_cheaper() -> None:
    cast = make_project(documents=10, systems=3)
    (without, *_) = cells_of(cast.project, "study", "designs", seconds="60")
    (trained, *_) = cells_of(cast.project, "study", "designs", seconds="60", training="600")
    assert trained["raters"].value < without["raters"].value
    expected = (trained["ratings"].value * 60 + trained["raters"].value * 36_000) / 3600
    assert trained["hours"].value == pytest.approx(expected)
    assert without["pay"].reason == "Enter the pay for an hour."


def test_width_of_a_difference_is_reached_and_one_document_less_is_not_enough() -> None:
    cast = make_project(documents=10, systems=2)
    (row, *_) = cells_of(cast.project, "study", "designs", goal="difference", reach="0.8", systems="5")
    raters, documents = row["raters"].value, row["documents"].value
    assert row["systems"].value == 5
    assert row["reached"].value <= 0.8
    assert width_of_difference(TYPICAL.of_differences, 5, raters, documents - 1) > 0.8


def test_width_of_alpha_starts_from_the_one_measured() -> None:
    cast = rated_by_two()
    (alpha,) = cells_of(cast.project, "study", "documents-needed")
    width = alpha["alpha"].high - alpha["alpha"].low
    rows = cells_of(cast.project, "study", "designs", goal="alpha", reach=f"{width / 2:.4g}")
    (two,) = [row for row in rows if row["raters"].value == 2]
    # As many raters as today: half the width needs four times the six documents.
    assert two["documents"].value == pytest.approx(24, abs=1)
    assert two["hours"].value == pytest.approx(two["ratings"].value * 30 / 3600)


def test_some_raters_of_each_document_need_more_documents_and_fewer_ratings() -> None:
    cast = make_project(documents=10, systems=3)
    (row,) = cells_of(cast.project, "study", "designs", panel="10", per_document="3", seconds="60", wage="12")
    (all_ten,) = cells_of(cast.project, "study", "designs", panel="10")
    assert [row[key].value for key in ("raters", "per_document")] == [10, 3]
    assert row["documents"].value > all_ten["documents"].value
    assert row["ratings"].value == 3 * row["documents"].value * 3
    assert row["ratings"].value < all_ten["ratings"].value
    chosen = {"panel": "10", "per_document": "3", "seconds": "60", "wage": "12"}
    page = current_page(project=cast.project, result=result_of(cast.project, "study", chosen))
    hours, pay = row["hours"].value, row["pay"].value
    designs = page.table("designs")
    assert designs is not None
    assert answer_design({"designs": designs}) == (
        f"3 of 10 raters × {row['documents'].value} documents find 0.5 points with 80 % power: "
        f"{hours:,.1f} hours, {pay:,.0f} of pay."
    )


def test_more_raters_of_each_document_than_raters_have_their_reason() -> None:
    cast = make_project(documents=10, systems=3)
    (row,) = cells_of(cast.project, "study", "designs-by-dimension", panel="2", per_document="3")
    assert row["raters"].reason == "Enter at least as many raters as raters of each document."


def test_a_goal_that_no_design_reaches_has_its_reason() -> None:
    cast = make_project(documents=10, systems=2)
    (row,) = cells_of(cast.project, "study", "designs-by-dimension", find="0.01")
    assert row["raters"].reason == "Not reached with 20 raters and 10,000 documents."
    page = current_page(project=cast.project, result=result_of(cast.project, "study", {"find": "0.01"}))
    assert page.table("designs") is None


def test_dimension_without_variances_has_its_reason() -> None:
    cast = make_project(documents=3)
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(measurement_level="nominal")
    opened(cast)
    (row,) = cells_of(cast.project, "study", "designs-by-dimension")
    assert row["raters"].reason == "Categories have no distance, so ratings have no variance."


def test_the_command_has_the_designs_as_json() -> None:
    project: Project = make_project(documents=10, systems=3).project
    out = StringIO()
    call_command("plan_study", project.slug, "--goal", "difference", "--systems", "4", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    tables = [table for section in answer["sections"] for table in section["tables"]]
    (designs,) = [table for table in tables if table["key"] == "designs"]
    systems = [column["key"] for column in designs["columns"]].index("systems")
    assert [row[systems]["value"] for row in designs["rows"]] == [4] * 4
    assert answer["chosen"]["goal"] == "difference"
