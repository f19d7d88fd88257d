"""The cheapest design of a study, on its page and by its command."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agreement.design import width_of_difference
from annotate.core.models import Dimension, Project
from annotate.results.answers import answer_design
from annotate.results.commands import current_page
from annotate.results.queries.study_variances import TYPICAL
from annotate.results.registry import UnknownChoiceError, result_of
from tests.factories import make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of
from tests.results.test_study_page import rated_by_two

pytestmark = pytest.mark.django_db


def power(raters: int, documents: int) -> float:
    return TYPICAL.of_differences.power(0.5, 3, raters, documents, significance_level=0.05 / 3)


def test_cheapest_design_matches_the_exhaustive_search() -> None:
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


def test_one_rater_of_each_document_is_rejected_with_its_limits() -> None:
    project = make_project(documents=10, systems=3).project
    says = "Raters of each document is a number from 2 to 20, not “1”."
    with pytest.raises(UnknownChoiceError, match=says):
        result_of(project, "study", {"per_document": "1"})
    with pytest.raises(CommandError, match=says):
        call_command("plan_study", project.slug, "--per-document", "1")


def test_summary_names_the_hardest_dimension_if_goals_differ() -> None:
    cast = make_project(documents=6, annotators=2, raters_per_item=2, dimensions=("fluency", "coherence"))
    Dimension.objects.filter(project=cast.project, key="coherence").update(scale_maximum=9)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            for key in ("fluency", "coherence"):
                rate(cast, round, annotator, item, 1 + number % 4 + index * (number % 3 == 0), key=key)
    (row, *_) = cells_of(cast.project, "study", "designs")
    assert row["reaches"].value == (f"find 0.5 points with 80 % power on {row['hardest'].value}, the hardest")
    (same, *_) = cells_of(cast.project, "study", "designs", find="0.5")
    assert same["reaches"].value == "find 0.5 points with 80 % power"


def test_width_of_alpha_counts_the_raters_of_a_document() -> None:
    """Of four raters two rated each document: with as many, half the width needs four times the documents."""
    cast = make_project(documents=12, annotators=4, raters_per_item=4)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index in range(2):
            annotator = cast.annotators[2 * (number // 2 % 2) + index]
            rate(cast, round, annotator, item, 1 + number % 4 + index * (number % 3 == 0))
    (alpha,) = cells_of(cast.project, "study", "documents-needed")
    width = alpha["alpha"].high - alpha["alpha"].low
    known = {"sd_s": 0.8, "sd_d": 0.3, "sd_ds": 0.4, "sd_r": 0.4, "sd_rs": 0.2, "sd_rd": 0.3, "sd_e": 0.6}
    chosen = {"goal": "alpha", "reach": f"{width / 2:.4g}", "panel": "4", "per_document": "2"}
    (row,) = cells_of(cast.project, "study", "designs", **chosen, **{k: str(v) for k, v in known.items()})
    assert row["documents"].value == pytest.approx(48, abs=1)


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
