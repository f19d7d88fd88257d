"""What a larger study needs, on its page and by its command."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotate.agreement import intraclass_correlation
from annotate.agreement.decision_study import raters_needed, reliability_of_mean
from annotate.core.models import Assignment, Dimension, Rating
from annotate.results.queries.material import rated_rounds
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


def rated_by_two() -> Cast:
    """Twelve items in six documents, by two raters who differ by a point on some."""
    cast = make_project(documents=6, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for place, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + number % 4 + place * (number % 3 == 0))
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


def test_raters_who_do_not_agree_and_places_that_are_not_finished_count_for_nothing() -> None:
    """Two raters who go against each other: an ICC(A,1) below 0, of which no mean follows."""
    cast = make_project(documents=6, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for place, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + 4 * ((number + place) % 2))
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
    assert answer["chosen"] == {"target": "0.9", "wage": "20"}
    *_, effort = answer["sections"][0]["tables"]
    keys = [column["key"] for column in effort["columns"]]
    (two,) = [row for row in effort["rows"] if row[0]["value"] == "2"]
    assert two[keys.index("pay_1")]["value"] == pytest.approx(20 * 0.2)


def test_what_has_no_mean_or_no_time_says_so() -> None:
    cast = make_project(documents=3)
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(measurement_level="nominal")
    opened(cast)
    (row,) = cells_of(cast.project, "study", "raters-needed")
    assert row["needed"].reason
    out = StringIO()
    call_command("plan_study", cast.project.slug, "--json", stdout=out)
    tables = json.loads(out.getvalue())["sections"][0]["tables"]
    assert [each["key"] for each in tables] == ["raters-needed", "documents-needed"]
