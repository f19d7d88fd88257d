"""What an admin watches: needs, pace, deadlines, agreement so far and drift."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import Assignment, DataImport, Dispute, Membership, Rating, Role, Round
from annotate.rating.commands.rounds import close_round_one
from annotate.watching.queries.round_progress import round_progress
from tests.factories import make_member, make_project
from tests.rating.rounds import discussed, opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def noon(clock):
    """Let no day begin in the middle of a test."""
    return clock


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def get(client, cast, route="project", *args, headers=None, user=None):
    client.force_login(user or cast.admin)
    return client.get(reverse(route, args=[cast.project.slug, *args]), headers=headers)


def page(client, cast, route="project", *args, **how):
    return text(get(client, cast, route, *args, **how).content.decode())


def rated_items(cast, *values):
    round = opened(cast)
    for item in cast.items:
        for annotator, value in zip(cast.annotators, values, strict=True):
            rate(cast, round, annotator, item, value)
    return round


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def test_admin_tasks_are_a_list_of_messages_with_links(client):
    cast = make_project()
    round = opened(cast)
    DataImport.objects.create(
        project=cast.project, name="more.csv", size=1, mapping={}, status="refused", touched_at=timezone.now()
    )
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    Assignment.objects.filter(completed_at__isnull=False).update(completed_at=days_ago(8))
    Round.objects.update(opened_at=days_ago(9), deadline=timezone.localdate() - timedelta(days=1))
    Membership.objects.update(joined_at=days_ago(9))
    html = page(client, cast)
    assert "The file more.csv was rejected" in html
    assert "Round I is still open after its deadline" in html
    first, second, third = (membership.label for membership in cast.annotators)
    assert f"Not started for 3 days: {second}, {third}." in html
    assert f"Unfinished items, but no ratings for 7 days: {first}." in html
    assert "What needs you now" not in page(client, cast, user=cast.researcher)


def test_new_round_needs_nothing_from_an_admin(client):
    cast = make_project()
    opened(cast)
    assert "What needs you now" not in page(client, cast)


def test_disputes_inactive_for_three_days_are_grouped_by_age(client, noon):
    cast = make_project()
    discussed(cast, 1, 3, 5)
    assert "1 for less than a day" in page(client, cast)
    assert "had no activity" not in page(client, cast)
    noon.advance(days=4)
    html = page(client, cast)
    assert "1 for 3 to 7 days" in html
    assert "1 open dispute has had no activity for 3 days" in html
    assert f"Waiting on: {cast.annotators[0].label} (1 of 1)" in html


def test_pace_and_forecast_follow_the_days_with_ratings(client):
    cast = make_project(documents=4, systems=1, annotators=3)
    round = opened(cast)
    assert "No forecast, 12 ratings are left. The forecast needs two days with ratings" in page(client, cast)
    for item, days in zip(cast.items[:2], (1, 2), strict=True):
        rate(cast, round, cast.annotators[0], item, 3)
        Assignment.objects.filter(item=item, started_at__isnull=False).update(completed_at=days_ago(days))
    html = page(client, cast)
    assert "1 rating a day on each of the last 2 days. 10 are left;" in html
    ends = f"{timezone.localdate() + timedelta(days=10):%-d %B %Y}"
    assert f"at this pace Round I ends about {ends} ." in html


def test_partial_rating_counts_on_its_day_and_for_its_rater(client):
    cast = make_project(dimensions=("fluency", "coherence"), documents=3, systems=1)
    round = opened(cast)
    for item, days in zip(cast.items[:2], (1, 2), strict=True):
        rate(cast, round, cast.annotators[0], item, 3)
        at = days_ago(days)
        Rating.objects.filter(assignment__item=item).update(created_at=at, updated_at=at)
    html = page(client, cast)
    assert "1 rating a day on each of the last 2 days. 16 are left;" in html
    assert round_progress(round, with_labels=False).raters[0].last_rated == days_ago(1)


def test_progress_has_a_row_per_dimension(client):
    cast = make_project(dimensions=("fluency", "coherence"), documents=1)
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], 3)
    assert "Fluency 1 of 6 ratings Coherence 0 of 6 ratings" in page(client, cast)


def test_current_agreement_has_its_interval_or_its_reason(client):
    cast = make_project()
    empty = get(client, cast, "so_far", headers={"HX-Request": "true"}).content.decode()
    assert "Round I has not been opened" in empty
    rated_items(cast, 1, 3, 5)
    part = get(client, cast, "so_far", headers={"HX-Request": "true"})
    assert "HX-Request" in part.headers["Vary"]
    assert part.content.decode().strip().startswith('<section id="so-far"')
    (alpha,) = cells_of(cast.project, "so-far", "alpha")
    assert alpha["alpha"].reason or alpha["alpha"].value is not None
    assert get(client, cast, "so_far").url == reverse("results_page", args=[cast.project.slug, "so-far"])
    drift = {row["of"].value: row["first_third"].value for row in cells_of(cast.project, "so-far", "drift")}
    assert drift["Rater A"] == -3


def test_drift_of_imported_ratings_is_unknown(client):
    cast = make_project()
    rated_items(cast, 1, 3, 5)
    Assignment.objects.update(plan="imported")
    (alpha,) = cells_of(cast.project, "so-far", "drift")
    assert "have no times" in alpha["first_third"].reason


def test_who_also_rates_sees_no_agreement_before_round_one_is_closed(client):
    cast = make_project()
    rated_items(cast, 1, 3, 5)
    make_member(cast.project, Role.ADMIN, user=cast.annotators[0].user)
    both = cast.annotators[0].user
    assert get(client, cast, "so_far", user=both).status_code == 403
    assert "Agreement so far" not in page(client, cast, user=both)
    close_round_one(project=cast.project, by=cast.admin)
    assert get(client, cast, "so_far", user=both, headers={"HX-Request": "true"}).status_code == 200
    assert "Agreement of Round I" in page(client, cast, user=both)


@pytest.mark.parametrize("documents", [1, 6])
def test_current_agreement_uses_a_fixed_number_of_queries(client, documents):
    cast = make_project(documents=documents)
    rated_items(cast, 1, 3, 5)
    client.force_login(cast.admin)
    with CaptureQueriesContext(connection) as counted:
        address = reverse("so_far", args=[cast.project.slug])
        assert client.get(address, headers={"HX-Request": "true"}).status_code == 200
    assert len(counted) == 25


def send(client, cast, number, **sent):
    return client.post(reverse("deadline", args=[cast.project.slug, number]), sent, follow=True)


def test_deadline_is_visible_to_raters_and_closes_nothing(client):
    cast = make_project()
    opened(cast)
    client.force_login(cast.admin)
    day = timezone.localdate() + timedelta(days=5)
    assert "The deadline is saved" in send(client, cast, 1, deadline=day.isoformat()).content.decode()
    shown = page(client, cast, user=cast.annotators[0].user)
    assert f"Please be done by the end of {day:%-d %B %Y} . Nothing closes by itself" in shown
    Round.objects.update(deadline=timezone.localdate() - timedelta(days=1))
    assert "has passed: please finish soon." in page(client, cast, user=cast.annotators[0].user)
    client.force_login(cast.admin)
    send(client, cast, 1, deadline="")
    assert Round.objects.get().deadline is None
    assert Round.objects.get().is_open


@pytest.mark.parametrize(
    ("sent", "says"),
    [("2001-01-01", "This day is over; choose today"), ("soon", "Write the day as 2026-12-31.")],
)
def test_impossible_deadline_is_rejected(client, sent, says):
    cast = make_project()
    opened(cast)
    client.force_login(cast.admin)
    reply = send(client, cast, 1, deadline=sent)
    assert reply.status_code == 422
    assert says in reply.content.decode()
    assert Round.objects.get().deadline is None


def test_a_closed_round_and_one_that_was_never_opened_take_no_deadline(client):
    cast = make_project()
    rated_items(cast, 3, 3, 3)
    close_round_one(project=cast.project, by=cast.admin)
    client.force_login(cast.admin)
    day = (timezone.localdate() + timedelta(days=5)).isoformat()
    assert "is closed, so it needs no deadline" in send(client, cast, 1, deadline=day).content.decode()
    assert send(client, cast, 2, deadline=day).status_code == 404
    assert get(client, cast, "deadline", 1, user=cast.researcher).status_code == 404
    assert not Dispute.objects.exists()
