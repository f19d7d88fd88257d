"""The page of severity: raters, systems, and why there is none."""

from datetime import UTC, datetime, timedelta

import pytest

from annotate.core.models import Assignment, Dimension, Rating
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def rated_by_a_mild_and_a_severe_rater(*, documents: int = 6) -> Cast:
    """Three raters; the third gives a point less than the first."""
    cast = make_project(documents=documents, annotators=3, raters_per_item=3)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for place, annotator in enumerate(cast.annotators):
            noise = (number * (place + 2)) % 3 == 0
            rate(cast, round, annotator, item, 1 + number % 3 + number % 2 - (place == 2) + noise)
    return cast


def test_severities_and_fair_means_stand_beside_plain_means() -> None:
    cast = rated_by_a_mild_and_a_severe_rater()
    raters = cells_of(cast.project, "severity", "raters")
    severities = [row["severity"].value or 0 for row in raters]
    assert max(severities) == severities[2]
    assert sum(severities) == pytest.approx(0, abs=1e-9)
    assert all((row["severity"].low or 0) < (row["severity"].high or 0) for row in raters)
    means = [row["mean"].value or 0 for row in raters]
    assert [row["fair_mean"].value for row in raters] == pytest.approx(means, abs=0.3)
    systems = cells_of(cast.project, "severity", "fair")
    assert sorted(row["rank"].value for row in systems) == [1, 2]
    # Everybody rated everything, so no rank changes by who rated.
    assert {row["places"].value for row in systems} == {0}


def test_categories_and_few_documents_have_no_severity_and_the_row_says_why() -> None:
    few = rated_by_a_mild_and_a_severe_rater(documents=3)
    (row,) = cells_of(few.project, "severity", "raters")
    assert row["severity"].reason == "There are values on 3 documents; 5 are needed."
    cast = make_project(documents=3)
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(measurement_level="nominal")
    opened(cast)
    (row,) = cells_of(cast.project, "severity", "raters")
    assert "Categories have no order" in row["outfit"].reason


def test_severity_by_thirds_of_time_has_a_change_for_each_rater() -> None:
    cast = rated_by_a_mild_and_a_severe_rater(documents=18)
    for number, rating in enumerate(Rating.objects.order_by("pk")):
        Rating.objects.filter(pk=rating.pk).update(created_at=START + timedelta(minutes=number))
    rows = cells_of(cast.project, "severity", "drift")
    assert len(rows) == 3
    for row in rows:
        assert row["change"].value == pytest.approx(row["last_third"].value - row["first_third"].value)
        assert (row["change"].low or 0) < row["change"].value < (row["change"].high or 0)
        assert 0 < row["p_adjusted"].value <= 1


def test_recorded_ratings_have_no_times_and_the_row_says_so() -> None:
    cast = rated_by_a_mild_and_a_severe_rater()
    Assignment.objects.update(plan=Assignment.Plan.IMPORTED)
    (row,) = cells_of(cast.project, "severity", "drift")
    assert "imported ratings have no times" in row["change"].reason


def test_drift_of_few_documents_is_not_measured() -> None:
    rows = cells_of(rated_by_a_mild_and_a_severe_rater().project, "severity", "drift")
    assert {row["change"].reason for row in rows} == {"Timed values are on 6 documents; 18 are needed."}
