"""What a larger study needs, on its page and by its command."""

import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from agreement import intraclass_correlation, variance_components
from agreement.variance_components import raters_needed, reliability_of_mean
from annotate.core.models import Assignment, ComputedResult, Dimension, Rating
from annotate.quality.commands import mark_gold
from annotate.results.commands import current_page
from annotate.results.queries.by_system import values_by_document
from annotate.results.queries.material import items_of, rated_rounds
from annotate.results.queries.study_variances import TYPICAL
from annotate.results.registry import UnknownChoiceError, result_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


def rated_by_two() -> Cast:
    """Twelve items in six documents, by two raters who differ by a point on some."""
    cast = make_project(documents=6, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + number % 4 + index * (number % 3 == 0))
    Rating.objects.update(active_seconds=30)
    return cast


def test_raters_documents_hours_and_pay_follow_from_round_one() -> None:
    cast = rated_by_two()
    (rated,) = rated_rounds(cast.project, "documents")
    one = intraclass_correlation(rated.data(rated.dimensions[0]), form="A,1")
    assert one.value is not None
    assert one.interval is not None
    (row,) = cells_of(cast.project, "study", "raters-needed")
    assert row["raters_3"].value == pytest.approx(reliability_of_mean(one.value, 3))
    assert row["needed"].value == raters_needed(one.value, 0.8)
    assert row["needed"].low == raters_needed(one.interval.high, 0.8)
    (alpha,) = cells_of(cast.project, "study", "documents-needed")
    width = (alpha["alpha"].high or 0) - (alpha["alpha"].low or 0)
    assert [alpha["documents"].value, alpha["times_4"].value] == [6, pytest.approx(width / 2)]
    curve = cells_of(cast.project, "study", "reliability-curve")
    assert [each["reliability"].value for each in curve][2] == row["raters_3"].value
    widths = {
        each["documents"].value: each["width"].value
        for each in cells_of(cast.project, "study", "width-curve")
    }
    assert widths[24] == alpha["times_4"].value
    effort = {row["raters"].value: row for row in cells_of(cast.project, "study", "effort")}
    # Two raters, twelve items, half a minute each.
    assert effort["2"]["hours_1"].value == pytest.approx(0.2)


def test_disagreeing_raters_and_unfinished_assignments_do_not_count() -> None:
    """Two raters who go against each other: an ICC(A,1) below 0, of which no mean follows."""
    cast = make_project(documents=6, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + 4 * ((number + index) % 2))
    Rating.objects.update(active_seconds=30)
    Assignment.objects.filter(annotator=cast.annotators[0]).update(completed_at=None)
    Rating.objects.filter(assignment__annotator=cast.annotators[0]).update(active_seconds=1)
    (row,) = cells_of(cast.project, "study", "raters-needed")
    assert (row["single"].value or 0) < 0
    for key in ("needed", "raters_2", "raters_12"):
        assert row[key].reason == "Raters agree no more than by chance, so more of them do not help."
    effort = {row["raters"].value: row for row in cells_of(cast.project, "study", "effort")}
    assert effort["2"]["hours_1"].value == pytest.approx(0.2)


def test_the_command_takes_target_and_pay() -> None:
    cast, out = rated_by_two(), StringIO()
    call_command("plan_study", cast.project.slug, "--target", "0.9", "--wage", "20", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    given = {name: value for name, value in answer["chosen"].items() if value}
    assert given == {"target": "0.9", "wage": "20", "goal": "power"}
    *_, effort = answer["sections"][0]["tables"]
    keys = [column["key"] for column in effort["columns"]]
    (two,) = [row for row in effort["rows"] if row[0]["value"] == "2"]
    assert two[keys.index("pay_1")]["value"] == pytest.approx(20 * 0.2)


def test_missing_mean_or_time_has_a_reason() -> None:
    cast = make_project(documents=3)
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(measurement_level="nominal")
    opened(cast)
    (row,) = cells_of(cast.project, "study", "raters-needed")
    assert row["needed"].reason
    out = StringIO()
    call_command("plan_study", cast.project.slug, "--json", stdout=out)
    tables = json.loads(out.getvalue())["sections"][0]["tables"]
    assert [each["key"] for each in tables] == ["raters-needed", "documents-needed"]


def test_variances_come_from_round_one_unless_overridden() -> None:
    cast = rated_by_two()
    (rated,) = rated_rounds(cast.project, "documents")
    items, dimension = items_of(cast.project), rated.dimensions[0]
    found = variance_components(values_by_document(rated, items, dimension, ["system-1", "system-2"]))
    (row,) = cells_of(cast.project, "study", "variances")
    assert row["rest"].value == pytest.approx(found.rest**0.5)
    assert row["basis"].value == "Round I"
    phi = cells_of(cast.project, "study", "dependability")
    assert phi[1]["documents"].value == "12"
    assert phi[1]["raters_3"].value == pytest.approx(found.dependability(3, 12))
    (assumed,) = cells_of(cast.project, "study", "variances", sd_rs="0.25")
    assert (assumed["raters_by_systems"].value, assumed["basis"].value) == (0.25, "Round I, 1 assumed")
    assert assumed["rest"].value == row["rest"].value


def test_power_and_cost_before_round_one_rest_on_assumptions() -> None:
    cast = make_project(documents=10, systems=3)
    (row,) = cells_of(cast.project, "study", "variances", sd_e="0.7")
    assert row["basis"].value == "SummEval-OP, 1 assumed"
    power = cells_of(cast.project, "study", "power", find="0.4", sd_e="0.7")[0]
    expected = replace(TYPICAL, rest=0.7**2).of_differences.power(0.4, 3, 5, 10, significance_level=0.05 / 3)
    assert (power["find"].value, power["raters_5"].value) == (0.4, pytest.approx(expected))
    (one, *_) = cells_of(cast.project, "study", "effort", seconds="60", wage="12.5")
    assert (one["hours_1"].value, one["pay_1"].value) == pytest.approx((0.5, 6.25))
    page = current_page(project=cast.project, result=result_of(cast.project, "study"))
    assert {"dependability-curve", "power-curve"} <= {table.key for table in page.tables}


def test_document_of_gold_items_alone_is_no_part_of_a_plan() -> None:
    cast = make_project(documents=3, systems=2)
    for item in cast.items[:2]:
        mark_gold(project=cast.project, item=item, use="hidden")
    page = current_page(project=cast.project, result=result_of(cast.project, "study", {"seconds": "60"}))
    effort = page.table("effort")
    assert effort is not None
    assert "hours, 2 documents" in [column.name for column in effort.columns]


@pytest.mark.parametrize("asked", ["many", "-1", "nan", "inf", "1e9"])
def test_invalid_number_is_rejected_with_a_message(asked: str) -> None:
    with pytest.raises(UnknownChoiceError, match="Seconds for an item is a number from 1 to 100000, not"):
        result_of(make_project().project, "study", {"seconds": asked})


def test_only_the_latest_assumption_pages_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotate.results.commands.MOST_ASSUMPTIONS", 2)
    cast = make_project(documents=3)
    for seconds in ("10", "20", "30", "40.00001"):
        current_page(project=cast.project, result=result_of(cast.project, "study", {"seconds": seconds}))
    kept = ComputedResult.objects.filter(project=cast.project).values_list("name", flat=True)
    assert sorted(kept) == [
        "study?target=0.8&goal=power&seconds=30",
        "study?target=0.8&goal=power&seconds=40",
    ]


def test_the_page_has_a_field_for_each_number(client: Client) -> None:
    cast = make_project(documents=3)
    client.force_login(cast.admin)
    address = reverse("results_page", args=[cast.project.slug, "study"])
    html = client.get(address, {"sd_rs": "0.25"}).content.decode()
    assert client.get(address, {"sd_rs": "wide"}).status_code == 404
    assert 'name="sd_rs"' in html
    assert 'value="0.25"' in html


def test_goals_knowns_and_costs_are_groups_of_fields(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    page = client.get(reverse("results_page", args=[cast.project.slug, "study"])).content.decode()
    groups = {
        legend: re.findall(r'name="(\w+)"', fields)
        for legend, fields in re.findall(r"<legend>(.*?)</legend>(.*?)</fieldset>", page, re.DOTALL)
    }
    assert groups == {
        "What is wanted": ["target", "find", "goal", "reach", "systems", "panel", "per_document"],
        "Known standard deviations (SD)": [*("sd_s", "sd_d", "sd_ds", "sd_r", "sd_rs", "sd_rd", "sd_e")],
        "What it costs": ["seconds", "wage", "training"],
    }
