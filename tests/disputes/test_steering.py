"""What an admin does about many disputes: rules with a preview, filters, nudges, units answered again."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import DisputeClosedError, FrozenError, InvalidValueError, NotReadyError
from annotate.core.jobs import run_job
from annotate.core.models import Dimension, Dispute, DisputeRater, Nudge, Role, System
from annotate.disputes import views
from annotate.disputes.commands.digests import nudge_raters
from annotate.disputes.commands.disputes import (
    OwnRule,
    answer_dispute,
    ask_again,
    post_message,
    set_dispute_rules,
)
from annotate.disputes.queries.disputes import work_list
from annotate.disputes.queries.rules import Rule, rule_of
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from tests.factories import make_member, make_project
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def get(client, cast, route="disputes", *args, user=None, **query):
    client.force_login(user or cast.admin)
    return client.get(reverse(route, args=[cast.project.slug, *args]), query)


def page(client, cast, route="disputes", *args, **how):
    return text(get(client, cast, route, *args, **how).content.decode())


def numbers(client, cast, **query):
    html = get(client, cast, all=1, **query).content.decode()
    return [int(number) for number in re.findall(r'<th scope="row"><a href="[^"]*">(\d+)</a>', html)]


def rate_items(cast, *rows):
    """Rate the items, each with one value of each annotator, in an open Round I."""
    round = opened(cast)
    for item, values in zip(cast.items, rows, strict=True):
        for annotator, value in zip(cast.annotators, values, strict=True):
            rate(cast, round, annotator, item, value)
    return round


# Rules


@pytest.mark.parametrize(
    ("own", "level", "expected"),
    [
        ((None, None), "interval", Rule(2, 1)),
        ((3, None), "interval", Rule(3, 1)),
        ((4, 3), "ordinal", Rule(4, 3)),
        ((1, None), "interval", Rule(1, 0)),  # the project's tolerance would settle what is disputed
        ((None, 0), "interval", Rule(2, 0)),
        ((4, 3), "nominal", Rule(1, 0)),
    ],
)
def test_a_dimension_follows_its_own_rule_or_the_projects(own, level, expected):
    cast = make_project()
    dimension = Dimension(dispute_threshold=own[0], tolerance=own[1], measurement_level=level)
    assert rule_of(cast.project, dimension) == expected


def test_a_dispute_keeps_the_rule_that_opened_it_and_settles_by_it(client):
    cast = make_project(documents=1)
    rate_items(cast, (1, 3, 3), (1, 4, 4))
    [fluency] = cast.dimensions
    set_dispute_rules(project=cast.project, rule=Rule(2, 1), own={fluency.pk: OwnRule(3, 2)}, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    assert (dispute.spread, dispute.threshold, dispute.tolerance) == (3, 3, 2)
    open_round_two(project=cast.project, by=cast.admin)
    assert (
        "3 apart in Round I; 3 or more opened a dispute, and it settles when all values lie within 2"
        in page(client, cast, "dispute", 1)
    )
    assert answer_dispute(dispute=dispute, rater=cast.annotators[0], value=2).status == "settled"


def test_before_closing_the_page_counts_what_each_threshold_would_open(client):
    cast = make_project()
    rate_items(cast, (3, 3, 3), (3, 3, 4), (2, 3, 4), (1, 3, None))
    html = page(client, cast, "dispute_rules")
    assert "1 point: 3 · 2 points: 2 (the rule) · 3 points: 0 of 4 units with two values or more" in html


def test_rules_are_set_on_their_page_until_round_one_is_closed(client):
    cast = make_project()
    rate_items(cast, *4 * [(1, 2, 3)])
    [fluency] = cast.dimensions
    client.force_login(cast.admin)
    url = reverse("dispute_rules", args=[cast.project.slug])
    sent = {"threshold": 3, "tolerance": 1, f"threshold_{fluency.pk}": 4, f"tolerance_{fluency.pk}": ""}
    assert client.post(url, sent).url == url
    fluency.refresh_from_db()
    cast.project.refresh_from_db()
    assert (fluency.dispute_threshold, fluency.tolerance, cast.project.dispute_threshold) == (4, None, 3)
    close_round_one(project=cast.project, by=cast.admin)
    assert not Dispute.objects.exists()
    assert "Save the rules" not in page(client, cast, "dispute_rules")
    with pytest.raises(FrozenError, match="keep the rules that opened them"):
        set_dispute_rules(project=cast.project, rule=Rule(2, 1), own={}, by=cast.admin)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"threshold": 2, "tolerance": 2}, "The tolerance must be less than the threshold."),
        (
            {"threshold": 2, "tolerance": 1, "own_tolerance": 2},
            "The tolerance must be less than the threshold.",
        ),
        ({"threshold": 2, "tolerance": 1, "own_threshold": 5}, "The scale is only 4 long"),
        ({"threshold": 0, "tolerance": 0}, "greater than or equal to 1"),
    ],
)
def test_impossible_rules_are_rejected(client, sent, says):
    cast = make_project()
    key = cast.dimensions[0].pk
    client.force_login(cast.admin)
    sent = {name.replace("own_tolerance", f"tolerance_{key}"): value for name, value in sent.items()}
    sent = {name.replace("own_threshold", f"threshold_{key}"): value for name, value in sent.items()}
    reply = client.post(reverse("dispute_rules", args=[cast.project.slug]), sent)
    assert reply.status_code == 422
    assert says in reply.content.decode()
    cast.project.refresh_from_db()
    assert (cast.project.dispute_threshold, cast.project.tolerance) == (2, 1)


def test_an_admin_who_also_rates_sets_rules_without_counts(client):
    cast = make_project()
    rate_items(cast, *4 * [(1, 2, 3)])
    make_member(cast.project, Role.ADMIN, user=cast.annotators[0].user)
    html = page(client, cast, "dispute_rules", user=cast.annotators[0].user)
    assert "shown to you when Round I is closed" in html
    assert "units with two values" not in html
    assert get(client, cast, "dispute_rules", user=cast.researcher).status_code == 404


# The list


def four_disputes(cast):
    rate_items(cast, *4 * [(1, 3, 5)])
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return list(Dispute.objects.order_by("number"))


def test_the_list_is_filtered_by_dimension_state_silence_and_who_is_waited_for(client, monkeypatch):
    cast = make_project()
    first, second, *_ = four_disputes(cast)
    for rater in cast.annotators:
        answer_dispute(dispute=first, rater=rater, value=3, comment="Agreed.")
    answer_dispute(dispute=second, rater=cast.annotators[0], value=None, comment="Because.")
    assert numbers(client, cast, status="settled") == [1]
    assert numbers(client, cast, rater="A") == [3, 4]
    label = cast.annotators[0].label
    assert (
        f'<option value="A">{label}</option>' in get(client, cast, all=1).content.decode()
    )  # as in the list
    assert ">Rater A</option>" in get(client, cast, all=1, user=cast.researcher).content.decode()
    assert numbers(client, cast, rater="B") == []  # between the others, so that B's moving settles nothing
    assert numbers(client, cast, rater="C") == [2, 3, 4]
    assert numbers(client, cast, dimension="fluency", silent="") == [1, 2, 3, 4]
    assert numbers(client, cast, dimension="nonsense", silent="x", rater="<b>") == [1, 2, 3, 4]
    assert numbers(client, cast, silent=3) == []
    later = timezone.now() + timedelta(days=3)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert numbers(client, cast, silent=3) == [2, 3, 4]
    post_message(dispute=second, author=cast.annotators[1], text="Why?")
    assert numbers(client, cast, silent=3) == [3, 4]


def test_systems_are_visible_once_no_decision_is_open(client):
    cast = make_project()
    four_disputes(cast)
    System.objects.filter(name="system-1").update(name="UNSEEN-SYSTEM")
    assert "UNSEEN-SYSTEM" not in page(client, cast, all=1)
    close_round_two(project=cast.project, by=cast.admin)
    assert "UNSEEN-SYSTEM" in page(client, cast, all=1)


# Nudges


def nudge(client, cast, **sent):
    client.force_login(cast.admin)
    return text(
        client.post(reverse("dispute_nudge", args=[cast.project.slug]), sent, follow=True).content.decode()
    )


def test_reminder_reaches_pending_raters_once_a_day(client):
    cast = make_project()
    first, *_ = four_disputes(cast)
    a, b, c = cast.annotators
    for dispute in Dispute.objects.all():
        answer_dispute(dispute=dispute, rater=a, value=None, comment="Because.")
    assert f"Nudged {c.label}: they read it" in nudge(client, cast)
    assert f"Nudged today already: {c.label}." in nudge(client, cast)
    assert list(Nudge.objects.values_list("rater__alias", "disputes")) == [("C", 4)]
    for route in ("project", "disputes"):
        read = page(client, cast, route, user=c.user)
        assert "The admin asked you" in read
        assert "to answer the disputes" in read
        assert "The admin asked you" not in page(client, cast, route, user=a.user)
    assert work_list(c).counts.nudge is not None
    post_message(dispute=first, author=b, text="Why?")
    assert "Nudged " + a.label in nudge(client, cast, rater="A")


def test_the_database_keeps_a_second_nudge_of_a_day_out():
    cast = make_project()
    four_disputes(cast)
    [made] = nudge_raters(project=cast.project, waiting={cast.annotators[0].pk: 2}, by=cast.admin).now
    with pytest.raises(IntegrityError), transaction.atomic():
        Nudge.objects.create(rater=made.rater, day=made.day, at=made.at, disputes=1)


LINK = "https://concord.example/disputes/"


def test_a_nudge_is_mailed_once(settings):
    cast = make_project()
    four_disputes(cast)
    membership = cast.annotators[0]
    [made] = nudge_raters(project=cast.project, waiting={membership.pk: 2}, by=cast.admin, link=LINK).now
    for _ in range(2):
        run_job("nudge", made.pk)
    [message] = mail.outbox
    assert membership.user
    assert message.to == [membership.user.email]
    assert "2 wait for your answer" in message.body
    assert LINK in message.body
    made.refresh_from_db()
    assert made.mailed_at


def test_without_a_mail_server_a_nudge_is_not_called_mailed(settings):
    cast = make_project()
    four_disputes(cast)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    waiting = {cast.annotators[0].pk: 1}
    [made] = nudge_raters(project=cast.project, waiting=waiting, by=cast.admin, link=LINK).now
    run_job("nudge", made.pk)
    made.refresh_from_db()
    assert made.mailed_at is None


def test_no_reminder_goes_out_outside_round_two(client):
    cast = make_project()
    with pytest.raises(NotReadyError, match="Round II is not open"):
        nudge_raters(project=cast.project, waiting={}, by=cast.admin)
    client.force_login(cast.researcher)
    assert client.post(reverse("dispute_nudge", args=[cast.project.slug])).status_code == 404


# Answered again


def test_a_settled_unit_is_answered_again_by_everyone_before_it_settles(client):
    cast = make_project()
    dispute = discussed(cast, 3, 4, 5)
    first, second, third = cast.annotators
    assert answer_dispute(dispute=dispute, rater=first, value=4).status == "settled"
    client.force_login(cast.admin)
    decide = reverse("dispute_decide", args=[cast.project.slug, 1])
    assert client.post(decide, {"ask_again": "on", "note": ""}).status_code == 422
    client.post(decide, {"ask_again": "on", "note": "The guideline was read differently."})
    dispute.refresh_from_db()
    assert dispute.status == "open"
    assert "To be answered again : The guideline was read differently." in page(
        client, cast, "dispute", 1, user=first.user
    )
    assert all(work_list(membership).needing_me == [dispute] for membership in cast.annotators)
    assert answer_dispute(dispute=dispute, rater=first, value=None, comment="Because.").status == "open"
    assert answer_dispute(dispute=dispute, rater=second, value=None, comment="Because.").status == "open"
    assert answer_dispute(dispute=dispute, rater=third, value=None, comment="Because.").status == "settled"
    assert answer_dispute(dispute=dispute, rater=third, value=1).status == "open"
    assert list(dispute.events.values_list("kind", flat=True))[-3:] == ["asked_again", "settled", "reopened"]


def test_only_a_settled_unit_is_answered_again():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    assert ask_again(dispute=dispute, note="Please.", by=cast.admin).status == "open"
    assert not dispute.events.filter(kind="asked_again").exists()
    with pytest.raises(InvalidValueError, match="why"):
        ask_again(dispute=dispute, note=" ", by=cast.admin)
    Dispute.objects.update(status="left_open")
    DisputeRater.objects.update(since=None)  # a dispute that ended waits for nobody
    with pytest.raises(DisputeClosedError, match="open it again instead"):
        ask_again(dispute=dispute, note="Please.", by=cast.admin)


@pytest.mark.parametrize("documents", [1, 5])
def test_queries_of_the_rules_are_fixed(client, documents):
    cast = make_project(documents=documents)
    rate_items(cast, *2 * documents * [(1, 3, 5)])
    client.force_login(cast.admin)
    client.get(reverse("dispute_rules", args=[cast.project.slug]))  # what thresholds open is kept from now on
    with CaptureQueriesContext(connection) as counted:
        client.get(reverse("dispute_rules", args=[cast.project.slug]))
    # session, user, place, rounds, whether this person rates, kept spreads and their version (3), dimensions,
    # roles, set-up
    assert len(counted) == 11


def test_pages_of_the_list_follow_each_other_by_number(client, monkeypatch):
    monkeypatch.setattr(views, "PER_PAGE", 2)
    cast = make_project(documents=3)
    rate_items(cast, *[(1, 3, 5)] * 6)
    close_round_one(project=cast.project, by=cast.admin)
    shown = [numbers(client, cast, page=number) for number in (1, 2, 3)]
    assert shown == [[1, 2], [3, 4], [5, 6]]
