"""Severity, a part of the agreement page: raters, systems, and why there is none."""

from datetime import UTC, datetime, timedelta

import pytest

from agreement.severity import NO_VARIANCE
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
        for index, annotator in enumerate(cast.annotators):
            noise = (number * (index + 2)) % 3 == 0
            rate(cast, round, annotator, item, 1 + number % 3 + number % 2 - (index == 2) + noise)
    return cast


def test_means_of_raters_who_rated_everything_are_fair_already() -> None:
    cast = rated_by_a_mild_and_a_severe_rater()
    raters = cells_of(cast.project, "severity", "raters")
    severities = [row["severity"].value or 0 for row in raters]
    assert max(severities) == severities[2]
    assert sum(severities) == pytest.approx(0, abs=1e-9)
    assert all((row["severity"].low or 0) < (row["severity"].high or 0) for row in raters)
    systems = cells_of(cast.project, "severity", "fair")
    assert [row for row in (*raters, *systems) if "fair_mean" in row] == []
    (fit,) = cells_of(cast.project, "severity", "fit")
    p_values = [row["p_adjusted"].value for row in (*raters, *systems) if row["p_adjusted"].value is not None]
    assert fit["p_adjusted"].value == min(p_values)
    assert fit["misfit"].value == ("yes" if min(p_values) < 0.05 else "no")


def test_mean_of_a_system_with_one_value_is_not_tested() -> None:
    cast = rated_by_a_mild_and_a_severe_rater(documents=12)
    same = cast.items[0].system
    Rating.objects.filter(assignment__item__system=same).update(value=5)
    tested = {row["system"].value: row["p_adjusted"] for row in cells_of(cast.project, "severity", "fair")}
    assert tested.pop(same.name).reason == NO_VARIANCE
    assert all(each.value is not None for each in tested.values())


def test_system_that_a_severe_rater_did_not_get_has_a_fair_mean() -> None:
    cast = rated_by_a_mild_and_a_severe_rater(documents=12)
    spared = cast.items[0].system
    severe = Rating.objects.filter(assignment__annotator=cast.annotators[2])
    severe.filter(assignment__item__system=spared).update(value=None, cannot_rate=True)
    systems = {row["system"].value: row for row in cells_of(cast.project, "severity", "fair")}
    own = systems[spared.name]
    assert own["fair_mean"].value < own["mean"].value
    (fit,) = cells_of(cast.project, "severity", "fit")
    assert bool(own["fair_mean"].warning) == (fit["misfit"].value == "yes")


def test_reason_without_a_fair_mean_reports_the_rated_share() -> None:
    cast = make_project(documents=18, annotators=3, raters_per_item=3, dimensions=("fluency", "coherence"))
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            for key in ("fluency", "coherence"):
                rate(cast, round, annotator, item, 1 + (number + index * (number % 3)) % 5, key=key)
    own = Rating.objects.filter(assignment__annotator=cast.annotators[2])
    own.filter(dimension__key="coherence", assignment__item__system=cast.items[0].system).update(
        value=None, cannot_rate=True
    )

    def reasons() -> set[str]:
        rows = cells_of(cast.project, "severity", "raters")
        return {row["fair_mean"].reason for row in rows if row["dimension"].key == "fluency"}

    assert reasons() == {"Every rater rated everything: the mean is fair."}
    one = own.filter(dimension__key="fluency").earliest("pk")
    Rating.objects.filter(pk=one.pk).update(value=None, cannot_rate=True)
    # 107 of 108 values are left.
    assert reasons() == {"Raters rated at least 99 % of all outputs: the mean is fair."}


def test_categories_and_few_documents_have_no_severity_but_a_reason() -> None:
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


def test_recorded_ratings_have_no_times_and_the_row_states_it() -> None:
    cast = rated_by_a_mild_and_a_severe_rater()
    Assignment.objects.update(plan=Assignment.Plan.IMPORTED)
    (row,) = cells_of(cast.project, "severity", "drift")
    assert "imported ratings have no times" in row["change"].reason


def test_drift_of_few_documents_is_not_measured() -> None:
    rows = cells_of(rated_by_a_mild_and_a_severe_rater().project, "severity", "drift")
    assert {row["change"].reason for row in rows} == {"Timed values are on 6 documents; 18 are needed."}
