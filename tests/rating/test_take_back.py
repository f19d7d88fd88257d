"""Taking one's last answer to a dispute back."""

import pytest
from django.urls import reverse

from annotate.core.errors import ChangedElsewhereError, DisputeClosedError, NotYoursError
from annotate.core.models import DisputeEvent, Rating, RatingChange
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, take_back
from annotate.disputes.queries.disputes import just_answered, work_list
from annotate.disputes.queries.page import dispute_page
from tests.factories import make_member, make_project
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def scene(client):
    """One unit rated 1, 3 and 5 is discussed; the first of its raters is signed in."""
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    client.force_login(cast.annotators[0].user)
    return client, cast, dispute


def held(dispute, rater):
    mine = dispute_page(dispute, reader=rater).mine
    assert mine is not None
    return mine.value, mine.answer is not None, mine.revision


def test_undo_of_the_first_answer_restores_round_one_and_the_task(scene):
    _, cast, dispute = scene
    me = cast.annotators[0]
    answer_dispute(dispute=dispute, rater=me, value=4, comment="You are right.")
    assert work_list(me).needing_me == []
    take_back(dispute=dispute, rater=me, revision=1)
    assert held(dispute, me) == (1, False, 2)
    assert work_list(me).needing_me == [dispute]
    assert work_list(cast.annotators[2]).needing_me == [dispute]
    changes = RatingChange.objects.filter(rating__assignment__round__number=2)
    rows = changes.order_by("revision").values_list("cause", "value_before", "value_after", "comment")
    assert list(rows) == [("changed", 1, 4, "You are right."), ("undone", 4, None, "")]
    answer_dispute(dispute=dispute, rater=me, value=2, seen_revision=2)
    assert held(dispute, me) == (2, True, 3)


def test_before_a_later_answer_stood_the_earlier_one_with_its_reason(scene):
    _, cast, dispute = scene
    me = cast.annotators[0]
    answer_dispute(dispute=dispute, rater=me, value=2, comment="A little more.")
    answer_dispute(dispute=dispute, rater=me, value=5)
    for _ in ("once", "and sent again"):
        take_back(dispute=dispute, rater=me, revision=2)
    rating = Rating.objects.get(assignment__round__number=2)
    assert (rating.value, rating.comment, rating.revision) == (2, "A little more.", 3)


def test_what_settled_by_the_answer_is_open_again(scene):
    _, cast, dispute = scene
    me, second, third = cast.annotators
    answer_dispute(dispute=dispute, rater=third, value=3)
    answer_dispute(dispute=dispute, rater=me, value=3)
    dispute.refresh_from_db()
    assert dispute.status == "settled"
    take_back(dispute=dispute, rater=me, revision=1)
    dispute.refresh_from_db()
    assert dispute.status == "open"
    assert dispute.events.last().kind == DisputeEvent.Kind.REOPENED
    assert dispute_page(dispute, reader=second).apart == "You and Rater C are 2 above Rater A."


def test_undo_covers_only_the_last_answer_while_answers_are_open(scene):
    _, cast, dispute = scene
    me, other, _ = cast.annotators
    answer_dispute(dispute=dispute, rater=me, value=2)
    answer_dispute(dispute=dispute, rater=me, value=3)
    for rater, revision in ((me, 1), (me, 9), (other, 1)):
        with pytest.raises(ChangedElsewhereError):
            take_back(dispute=dispute, rater=rater, revision=revision)
    with pytest.raises(NotYoursError):
        take_back(dispute=dispute, rater=make_member(cast.project), revision=2)
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    assert just_answered(me, dispute.number) is None
    with pytest.raises(DisputeClosedError):
        take_back(dispute=dispute, rater=me, revision=2)
    assert held(dispute, me) == (3, True, 2)


# Pages


def url(name, cast):
    return reverse(name, args=[cast.project.slug, 1])


def answer(client, cast, *, headers=None, **sent):
    sent = {"seen_revision": 0, "rater": "A", "comment": "", **sent}
    return client.post(url("dispute_answer", cast), sent, headers=headers)


def test_page_after_an_answer_shows_it_and_offers_undo(scene):
    client, cast, _ = scene
    after = answer(client, cast, value=4).url
    assert after == reverse("disputes", args=[cast.project.slug]) + "?after=1"
    html = client.get(after).content.decode()
    assert "Dispute 1: you changed to 4." in html
    assert f'action="{url("dispute_undo", cast)}"' in html
    reply = client.post(url("dispute_undo", cast), {"rater": "A", "revision": 1})
    assert reply.url == url("dispute", cast)
    assert "Keep 1" in client.get(reply.url).content.decode()
    assert "you changed" not in client.get(after).content.decode()


def test_stay_option_keeps_the_dispute_and_the_typed_input(scene):
    client, cast, _ = scene
    assert answer(client, cast, keep=1, differs="on", stay="on").url == url("dispute", cast) + "?after=1"
    here = {**HTMX, "HX-Current-URL": f"http://testserver{url('dispute', cast)}?after=1"}
    reply = answer(client, cast, value=2, stay="on", seen_revision=1, headers=here)
    html = reply.content.decode()
    assert "HX-Redirect" not in reply.headers
    assert html.strip().startswith('<div id="discussion"')
    assert '<div id="answered" hx-swap-oob="true">' in html
    assert "Dispute 1: you changed to 2." in html
    assert "Keep 2" in html
    undone = client.post(url("dispute_undo", cast), {"rater": "A", "revision": 2}, headers=here)
    assert "Keep 1" in undone.content.decode()
    assert "you changed" not in undone.content.decode()


@pytest.mark.parametrize("stranger", ["outsider", "another annotator", "another rater's page"])
def test_rater_cannot_undo_the_answer_of_another(scene, stranger):
    client, cast, _ = scene
    answer(client, cast, value=4)
    user = {"outsider": cast.outsider, "another annotator": make_member(cast.project).user}.get(stranger)
    client.force_login(user or cast.annotators[1].user)
    reply = client.post(url("dispute_undo", cast), {"rater": "A", "revision": 1})
    assert reply.status_code == (404 if user else 422)
    assert Rating.objects.get(assignment__round__number=2).value == 4


@pytest.mark.parametrize("after", ["2", "x", "99999999999999999999"])
def test_url_without_an_own_answer_offers_no_undo(scene, after):
    client, cast, _ = scene
    html = client.get(url("dispute", cast), {"after": after}).content.decode()
    assert "Undo" not in html


def test_unit_settled_since_its_display_is_not_reopened_unknowingly(scene):
    client, cast, dispute = scene
    seen = {"seen_status": "open", "value": 5, "comment": "It misses two aspects."}
    for rater in cast.annotators[1:]:
        answer_dispute(dispute=dispute, rater=rater, value=2)
    reply = answer(client, cast, **seen)
    html = reply.content.decode()
    assert reply.status_code == 422
    assert "Not saved: this dispute was settled at " in html
    assert "It misses two aspects.</textarea>" in html
    assert 'name="seen_status" value="settled"' in html
    assert not Rating.objects.filter(assignment__annotator=cast.annotators[0], value=5).exists()
    assert answer(client, cast, **{**seen, "seen_status": "settled"}).status_code == 302
    dispute.refresh_from_db()
    assert dispute.status == "open"


def test_an_answer_that_leaves_it_settled_is_saved_and_told_so(scene):
    client, cast, dispute = scene
    for rater in cast.annotators[1:]:
        answer_dispute(dispute=dispute, rater=rater, value=2)
    after = answer(client, cast, keep=1, comment="I stay.", seen_status="open").url
    html = client.get(after).content.decode()
    assert "Dispute 1: you kept 1. The unit is settled." in html
