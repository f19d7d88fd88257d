import re
from dataclasses import asdict
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.models import Dimension, Dispute, Document, Item, Membership, Post, Rating, Role, System
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, ask_again, post_message, take_back
from annotate.disputes.queries import disputes as dispute_queries
from annotate.disputes.queries.disputes import count_remaining
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.rating.evidence import Passage
from tests.factories import make_member, make_project
from tests.rating.rounds import assigned, discussed, frozen, opened, rate

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def make_scene():
    """Open round II about one unit, rated 1, 3 and 5."""
    cast = make_project()
    return cast, discussed(cast, 1, 3, 5)


@pytest.fixture
def scene(client, cast):
    """The first of the dispute's raters is signed in."""
    cast, dispute = cast
    client.force_login(cast.annotators[0].user)
    return client, cast, dispute


def all_disputed(cast):
    """Rate every item 1, 3 and 5, so that each is disputed, and open Round II."""
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value, comment=f"Reason of {annotator.alias}.")
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return list(Dispute.objects.filter(round=round).order_by("number"))


def url(name, cast, number=1):
    return reverse(name, args=[cast.project.slug, number])


def page(client, cast, number=1):
    return client.get(url("dispute", cast, number)).content.decode()


def answer(client, cast, number=1, *, headers=None, **sent):
    """Send what a page sends that shows the value of Round I."""
    sent = {"seen_revision": 0, "rater": alias(client, cast), **sent}
    return client.post(url("dispute_answer", cast, number), sent, headers=headers)


def post(client, cast, text, *, headers=None):
    return answer(client, cast, only_send="on", comment=text, headers=headers)


def alias(client, cast):
    user = client.session.get("_auth_user_id")
    return next((membership.alias for membership in cast.annotators if str(membership.user_id) == user), "")


def decide(client, cast, **sent):
    return client.post(url("dispute_decide", cast), sent)


def work(client, cast, **query):
    return client.get(reverse("disputes", args=[cast.project.slug]), query).content.decode()


def without_blanks(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace(" .", ".").strip()


# Work list


def test_work_list_shows_own_pending_and_finished_disputes(client):
    cast = make_project()
    first, second, third, _ = all_disputed(cast)
    me, other, another = cast.annotators
    answer_dispute(dispute=first, rater=me, value=None, comment="Because.")
    for rater in (me, other, another):
        answer_dispute(dispute=second, rater=rater, value=4)
    adjudicate(dispute=third, value=3, note="Two of three say so.", by=cast.admin)
    client.force_login(me.user)
    html = work(client, cast)
    assert "1 need you · 1 wait for others · 2 ended" in without_blanks(html)
    needs, waits, done = re.findall(r"<h2>(.*?)(?=<h2>|</main>)", html, flags=re.S)
    assert re.findall(r"Dispute (\d)", needs) == ["4"]
    assert re.findall(r"Dispute (\d)", waits) == ["1"]
    assert sorted(re.findall(r"Dispute (\d)", done)) == ["2", "3"]
    assert "4 apart in Round I · settled" in without_blanks(done)
    assert "4 apart in Round I · adjudicated" in without_blanks(done)


def test_work_list_hides_round_one_before_round_two(client):
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    client.force_login(cast.annotators[0].user)
    for _ in ("Round I is open", "Round I is closed and has a dispute"):
        html = work(client, cast)
        assert "Round II is not open yet." in html
        for telling in ("apart", "need you", "Dispute 1"):
            assert telling not in html
        close_round_one(project=cast.project, by=cast.admin)
    assert Dispute.objects.exists()
    open_round_two(project=cast.project, by=cast.admin)
    assert "1 need you" in work(client, cast)
    assert "Round II is not open yet." not in work(client, cast)


@pytest.mark.parametrize("who", ["admin", "researcher"])
def test_who_does_not_rate_sees_all_disputes_and_can_choose_a_status(client, who):
    cast = make_project()
    first, *_ = all_disputed(cast)
    adjudicate(dispute=first, value=3, note="So it is.", by=cast.admin)
    post_message(dispute=Dispute.objects.get(number=2), author=cast.annotators[0], text="Why?")
    client.force_login(getattr(cast, who))
    rows = re.findall(r'<tr>\s*<th scope="row"><a.*?</tr>', work(client, cast), flags=re.S)
    rows = [re.sub(r'<span class="soft.*?</span>', "", row) for row in rows]
    assert [re.findall(r">([^<>]+)</(?:a|td|strong|span)>", row)[:6] for row in rows] == [
        ["1", "Fluency", str(first.item.document), "4", "adjudicated", "0"],
        *(
            [str(n), "Fluency", str(Dispute.objects.get(number=n).item.document), "4", "open", str(posts)]
            for n, posts in ((2, 1), (3, 0), (4, 0))
        ),
    ]
    chosen = work(client, cast, all=1, status="adjudicated")
    assert re.findall(r'<th scope="row"><a href="[^"]*">(\d)</a>', chosen) == ["1"]
    assert "No dispute matches these filters" in work(client, cast, all=1, status="settled")


def test_rater_with_admin_role_can_see_own_and_all_disputes(client):
    cast = make_project()
    all_disputed(cast)
    make_member(cast.project, Role.ADMIN, user=cast.annotators[0].user)
    client.force_login(cast.annotators[0].user)
    assert "Begin with the first" in work(client, cast)
    assert "<caption" not in work(client, cast, all=1)
    assert "Range in Round I" in work(client, cast, all=1)


# The page


def test_rater_sees_the_own_value_and_other_values_under_aliases(scene):
    client, cast, _ = scene
    html = page(client, cast)
    rows = re.search(r'<ul class="standpoints".*?</ul>', html, flags=re.S)
    assert rows is not None
    assert [without_blanks(row) for row in rows[0].split("</li>")[:3]] == [
        "You 1 fluency 1: What 1 means. Reason of A.",
        "Rater B 3 Reason of B.",
        "Rater C 5 fluency 5: What 5 means. Reason of C.",
    ]
    assert "You and Rater C are 4 apart." in html
    for other in cast.annotators[1:]:
        assert other.label not in html
        assert other.user.email not in html


def test_the_page_shows_item_document_and_dimension(scene):
    client, cast, dispute = scene
    html = page(client, cast)
    assert dispute.item.text in html
    assert "Review 2 of product 1." in html
    assert "How good the fluency is." in html
    assert "What 5 means." in html
    assert 'aria-label="change to 5, fluency 5"' in html  # screen readers hear what the digit means


def test_scale_has_a_verbal_description_too(scene):
    client, cast, _ = scene
    label = re.search(r'role="img"[^>]*aria-label="([^"]*)"', page(client, cast))
    assert label is not None
    assert label[1] == "Scale from 1 to 5: you 1, B 3, C 5"


def test_categories_appear_with_their_raters(client):
    cast = make_project()
    Dimension.objects.update(measurement_level="nominal", scale_minimum=0, scale_maximum=2)
    cast.dimensions[0].points.filter(value=1).update(value=0, label="supported")
    discussed(cast, 0, 2, 2)
    client.force_login(cast.annotators[0].user)
    html = page(client, cast)
    rows = re.search(r'<ul class="categories".*?</ul>', html, flags=re.S)
    assert rows is not None
    assert [without_blanks(row) for row in rows[0].split("</li>")[:3]] == [
        "supported What 1 means. you",
        "1 nobody",
        "2 B C",
    ]
    assert "The raters chose different categories." in html
    assert "supported" in re.findall(r'data-keys="k 0">Keep (\w+)', html)
    adjudicate(dispute=Dispute.objects.get(), value=1, note="Between them.", by=cast.admin)
    assert "1 decided nobody" in without_blanks(page(client, cast))


def test_rater_with_not_applicable_is_listed_and_takes_no_side(client):
    cast = make_project(annotators=4, raters_per_item=4)
    Dimension.objects.update(not_applicable=True)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5, 3), strict=False):
        rate(cast, round, annotator, cast.items[0], value)
    save_rating(
        assignment=assigned(cast, round, cast.annotators[3], cast.items[0]),
        dimension=frozen(round),
        answer=Answer(not_applicable=True, comment="It names no price."),
        by=cast.annotators[3].user,
    )
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    client.force_login(cast.annotators[0].user)
    words = without_blanks(page(client, cast))
    assert "Rater D said that it does not apply, and takes no part. It names no price." in words


def test_reopened_unit_with_equal_values_lists_the_missing_answers(scene):
    client, cast, dispute = scene
    for rater in cast.annotators:
        answer_dispute(dispute=dispute, rater=rater, value=3, comment="Agreed.")
    ask_again(dispute=dispute, note="The guideline was read differently.", by=cast.admin)
    answer_dispute(dispute=dispute, rater=cast.annotators[2], value=3, comment="Agreed.")
    assert "The values have met, but an answer is missing from you and Rater B." in page(client, cast)


def test_who_is_not_counted_keeps_no_unit_open(scene):
    client, cast, _ = scene
    Membership.objects.filter(pk=cast.annotators[2].pk).update(counted=False)
    assert "You and Rater B are 2 apart." in page(client, cast)


def test_every_value_but_ones_own_can_be_changed_to(scene):
    client, cast, _ = scene
    html = page(client, cast)
    assert "Keep 1" in html
    assert re.findall(r'<button name="value" value="(\d)"', html) == ["2", "3", "4", "5"]


# Evidence


def test_passages_of_all_raters_appear_in_source_and_output_by_alias(client):
    cast = make_project()
    round = opened(cast)
    item = cast.items[0]
    marks = [((0, 0, 4), (1, 0, 6)), ((1, 3, 11),), ()]
    for annotator, value, passages in zip(cast.annotators, (1, 3, 5), marks, strict=True):
        save_rating(
            assignment=assigned(cast, round, annotator, item),
            dimension=frozen(round),
            answer=Answer(value=value, evidence=tuple(Passage(*each) for each in passages)),
            by=annotator.user,
        )
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    client.force_login(cast.annotators[0].user)
    html = page(client, cast)
    assert re.findall(r'<mark class="([^"]*)" data-by="([^"]*)">([^<]*)<sup>', html) == [
        ("marked marked-mine", "you", "Rev"),
        ("marked marked-mine", "you B", "iew"),
        ("marked ", "B", " 1 of"),
        ("marked marked-mine", "you", "What"),
    ]
    assert re.findall(r"(\d) passages? marked", html) == ["2", "1"]
    assert "marked by you B" in without_blanks(html)
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[1], value=4)
    assert re.findall(r"(\d) passages? marked", page(client, cast)) == ["2", "1"]


def test_answer_has_its_own_evidence_which_undo_removes(client):
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    mine, first, second = cast.annotators[0], Passage(0, 0, 4), Passage(1, 0, 6)

    def stands() -> list[dict[str, int]] | None:
        return Rating.objects.get(assignment__round__number=2, assignment__annotator=mine).evidence

    answer_dispute(dispute=dispute, rater=mine, value=2, evidence=(first,))
    answer_dispute(dispute=dispute, rater=mine, value=3, evidence=(first, second))
    assert stands() == [asdict(first), asdict(second)]
    take_back(dispute=dispute, rater=mine, revision=2)
    assert stands() == [asdict(first)]
    answer_dispute(dispute=dispute, rater=mine, value=4)  # from where passages are not shown
    assert stands() == [asdict(first)]
    with pytest.raises(InvalidValueError, match="of the text, which has"):
        answer_dispute(dispute=dispute, rater=mine, value=4, evidence=(Passage(0, 0, 9_999),))
    client.force_login(mine.user)
    sent = {"rater": mine.alias, "value": 5, "seen_revision": 4, "evidence": "[[1,0,6]]"}
    client.post(reverse("dispute_answer", args=[cast.project.slug, dispute.number]), sent)
    assert stands() == [asdict(second)]


# Keep, change, post


def test_a_kept_value_is_recorded_and_the_next_dispute_follows(client):
    cast = make_project()
    all_disputed(cast)
    client.force_login(cast.annotators[0].user)
    assert answer(client, cast, 3, keep=1, comment="I stay.").url == url("dispute", cast, 4) + "?after=3"
    assert (
        answer(client, cast, 4, short_reason="It is that severe").url == url("dispute", cast, 1) + "?after=4"
    )
    rating = Rating.objects.get(
        assignment__round__number=2, assignment__item=Dispute.objects.get(number=3).item
    )
    assert (rating.value, rating.comment, rating.revision) == (1, "I stay.", 1)
    assert "kept" in page(client, cast, 3)


def test_htmx_redirects_to_the_next_page_instead_of_a_swap(client):
    cast = make_project()
    all_disputed(cast)
    client.force_login(cast.annotators[0].user)
    reply = answer(client, cast, 3, keep=1, comment="I stay.", headers=HTMX)
    assert (reply.status_code, reply.headers["HX-Redirect"]) == (200, url("dispute", cast, 4) + "?after=3")
    assert reply.content == b""


def test_answer_to_a_page_outdated_by_another_window_is_not_saved(scene):
    client, cast, _ = scene
    assert answer(client, cast, value=2, comment="Better so.").status_code == 302
    for headers in ({}, HTMX):
        reply = answer(client, cast, keep=1, comment="I stay.", headers=headers)
        html = reply.content.decode()
        assert reply.status_code == 422
        assert "Not saved: you answered in another window" in html
        assert "your value is now 2" in html
        assert "Keep 2" in html
        assert 'name="seen_revision" value="1"' in html
        assert ("hx-swap-oob" in html) == bool(headers)
    assert answer(client, cast, value=5, seen_revision=1).status_code == 302
    given = Rating.objects.get(assignment__round__number=2)
    assert (given.value, given.revision) == (5, 2)


def test_the_same_answer_sent_twice_is_one_answer(scene):
    client, cast, _ = scene
    for _ in range(2):
        assert answer(client, cast, value=2, comment="Better so.").status_code == 302
    assert Rating.objects.get(assignment__round__number=2).revision == 1


def test_page_rendered_for_another_rater_accepts_nothing(scene):
    client, cast, _ = scene
    client.force_login(cast.annotators[1].user)
    for reply in (answer(client, cast, keep=1, rater="A"), post_as(client, cast, "A", "Hm.")):
        assert reply.status_code == 422
        assert "This page belongs to another rater, so your answers were not saved." in reply.content.decode()
    assert not Rating.objects.filter(assignment__round__number=2).exists()
    assert not Post.objects.exists()


def post_as(client, cast, rater, text):
    return answer(client, cast, only_send="on", comment=text, rater=rater)


def test_after_the_last_dispute_comes_the_work_list(scene):
    client, cast, _ = scene
    assert (
        answer(client, cast, keep=1, differs="on").url
        == reverse("disputes", args=[cast.project.slug]) + "?after=1"
    )


def test_change_shows_its_origin_and_equal_values_settle(scene):
    client, cast, dispute = scene
    assert answer(client, cast, value=4, comment="You are right.").status_code == 302
    html = page(client, cast)
    assert "1 → 4" in html
    assert "You are right." in html
    assert "Rater B and Rater C are 2 apart." in html
    answer_dispute(dispute=dispute, rater=cast.annotators[1], value=4)
    assert "The values have met. The unit is settled." in without_blanks(page(client, cast))


def test_a_post_is_signed_you_for_its_author_and_by_the_alias_for_others(scene):
    client, cast, _ = scene
    assert post(client, cast, "What of aspect two?").url == url("dispute", cast)
    assert thread(page(client, cast)) == [("You", "What of aspect two?")]
    client.force_login(cast.annotators[1].user)
    assert thread(page(client, cast)) == [("Rater A", "What of aspect two?")]


def thread(html):
    return re.findall(
        r"<li[^>]*><strong>([^<]*)</strong> <time.*?</time><div class=\"text\">(.*?)</div>", html
    )


# Fragment


def test_the_fragment_is_its_part_of_the_page(scene):
    client, cast, dispute = scene
    post_message(dispute=dispute, author=cast.annotators[1], text="It is missing.")
    answer_dispute(dispute=dispute, rater=cast.annotators[2], value=4)
    fragment = client.get(url("dispute", cast), headers=HTMX)
    assert fragment.content.decode().strip().startswith('<div id="discussion"')
    assert "It is missing." in fragment.content.decode()
    assert fragment.content.decode().strip() in page(client, cast)


def test_caches_separate_fragment_and_page(scene):
    client, cast, _ = scene
    for headers in ({}, HTMX):
        assert "HX-Request" in client.get(url("dispute", cast), headers=headers).headers["Vary"]


def test_rejected_post_shows_an_error_without_live_updates(scene):
    client, cast, _ = scene
    html = post(client, cast, "  ", headers=HTMX).content.decode()
    discussion, refusal = html.split('<div id="refusal" data-rater="A" hx-swap-oob="true">')
    assert "Write something before you send it." in refusal
    assert "Write something" not in discussion


# Following others


def following(client, cast):
    """Return the address at which a page asks what is new, as the page names it."""
    address = re.search(r'hx-get="([^"]*)"', page(client, cast))
    assert address is not None
    return unescape(address[1])


def asked(client, address):
    with CaptureQueriesContext(connection) as counted:
        reply = client.get(address, headers=HTMX)
    return reply.status_code, len(counted)


def test_poll_without_news_needs_three_queries(scene):
    client, cast, _ = scene
    address = following(client, cast)
    assert asked(client, address) == (204, 3)  # session, user, version
    client.force_login(cast.researcher)
    assert asked(client, address) == (204, 3)


def posted(cast, dispute):
    post_message(dispute=dispute, author=cast.annotators[1], text="It is missing.")


def kept(cast, dispute):
    answer_dispute(dispute=dispute, rater=cast.annotators[2], value=None, comment="Because.")


def settled(cast, dispute):
    for rater in cast.annotators:
        answer_dispute(dispute=dispute, rater=rater, value=3, comment="Agreed.")


def adjudicated(cast, dispute):
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)


def closed(cast, dispute):
    close_round_two(project=cast.project, by=cast.admin)


@pytest.mark.parametrize("event", [posted, kept, settled, adjudicated, closed])
def test_whatever_others_do_is_new_once(scene, event):
    client, cast, dispute = scene
    before = following(client, cast)
    event(cast, dispute)
    reply = client.get(before, headers=HTMX)
    assert reply.status_code == 200
    assert reply.content.decode().strip().startswith('<div id="discussion"')
    if event not in (adjudicated, closed):  # nothing more can come then, and nothing is asked
        assert asked(client, following(client, cast))[0] == 204
    assert client.get(before).status_code == 200  # without htmx it is a page


def test_user_without_access_to_a_dispute_gets_no_update_status(scene):
    client, cast, _ = scene
    address = following(client, cast)
    for stranger in (cast.outsider, make_member(cast.project).user):
        client.force_login(stranger)
        assert client.get(address, headers=HTMX).status_code == 404


@pytest.mark.parametrize("ended", ["closed", "adjudicated"])
def test_discussion_polls_only_while_it_can_change(scene, ended):
    client, cast, dispute = scene
    assert 'hx-trigger="refresh"' in page(client, cast)
    if ended == "closed":
        close_round_two(project=cast.project, by=cast.admin)
    else:
        adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    for html in (page(client, cast), client.get(url("dispute", cast), headers=HTMX).content.decode()):
        assert "hx-get" not in html


def test_the_buttons_leave_an_open_page_when_the_dispute_has_ended(scene):
    client, cast, dispute = scene
    assert "answer-buttons" not in client.get(url("dispute", cast), headers=HTMX).content.decode()
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    html = client.get(url("dispute", cast), headers=HTMX).content.decode()
    assert '<div class="answer-buttons" id="answer-buttons" hx-swap-oob="true"' in html
    assert "Keep" not in html


# Invalid input


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"value": 9}, "rated from 1 to 5; 9 is not on this scale"),
        ({"value": "good"}, "number on the scale"),
        ({"value": ""}, "Choose the value to change to, or keep yours."),
        ({}, "Choose the value to change to, or keep yours."),
    ],
)
def test_invalid_answer_returns_with_its_message_and_the_input(scene, sent, says):
    client, cast, _ = scene
    reply = answer(client, cast, comment="Because <of> two.", **sent)
    html = reply.content.decode()
    assert reply.status_code == 422
    assert says in html
    assert "Because &lt;of&gt; two.</textarea>" in html
    assert Rating.objects.filter(assignment__round__number=2).count() == 0


def test_too_long_reason_is_rejected_and_stays_in_the_form(scene):
    client, cast, _ = scene
    reply = answer(client, cast, value=3, comment="x" * 10_001)
    assert reply.status_code == 422
    assert "The comment has 10,001 characters; at most 10,000 can be kept." in reply.content.decode()
    assert "x" * 10_001 + "</textarea>" in reply.content.decode()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (" \n", "Write something before you send it."),
        ("y" * 10_001, "The message has 10,001 characters"),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_invalid_post_returns_with_its_message_and_the_input(scene, text, says):
    client, cast, _ = scene
    reply = post(client, cast, text)
    html = reply.content.decode()
    assert reply.status_code == 422
    assert says in html
    assert text + "</textarea>" in html
    assert not Post.objects.exists()


def test_typed_number_stays_on_a_long_scale(client):
    cast = make_project()
    Dimension.objects.update(scale_minimum=0, scale_maximum=100)
    discussed(cast, 10, 30, 50)
    client.force_login(cast.annotators[0].user)
    html = answer(client, cast, value=700).content.decode()
    assert re.search(r'<input type="number" name="value"[^>]* value="700"', html)


def test_on_a_long_scale_the_enter_key_changes_rather_than_keeps(client):
    # A browser sends the form as if its first button had been pressed.
    cast = make_project()
    Dimension.objects.update(scale_minimum=0, scale_maximum=100)
    discussed(cast, 10, 30, 50)
    client.force_login(cast.annotators[0].user)
    form = re.search(r'<form class="steps answer".*?</form>', page(client, cast), flags=re.S)
    assert form is not None
    assert re.findall(r"<button[^>]*>(\w+)", form[0])[:2] == ["Change", "Keep"]


# Access


def paths(cast):
    return [("get", url("dispute", cast))] + [
        ("post", url(name, cast)) for name in ("dispute_answer", "dispute_undo", "dispute_decide")
    ]


def test_an_outsider_finds_nothing(scene):
    client, cast, _ = scene
    client.force_login(cast.outsider)
    for method, path in [*paths(cast), ("get", reverse("disputes", args=[cast.project.slug]))]:
        assert getattr(client, method)(path, {"keep": 1, "text": "Me too."}).status_code == 404


def test_an_annotator_who_did_not_rate_the_unit_finds_nothing(scene):
    client, cast, _ = scene
    other = make_member(cast.project)
    client.force_login(other.user)
    for method, path in paths(cast):
        assert getattr(client, method)(path, {"value": 3, "text": "Me too."}).status_code == 404
    assert "0 need you" in without_blanks(work(client, cast))
    assert not Post.objects.exists()


def test_rater_with_a_closed_membership_gets_not_found(scene):
    client, cast, _ = scene
    membership = cast.annotators[0]
    membership.active = False
    membership.save(update_fields=["active"])
    for method, path in paths(cast):
        assert getattr(client, method)(path, {"value": 3, "text": "Me too."}).status_code == 404


def test_before_round_two_a_rater_finds_nothing(client):
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    client.force_login(cast.annotators[0].user)
    for method, path in paths(cast):
        assert getattr(client, method)(path, {"value": 3, "text": "Me too."}).status_code == 404
    assert client.get(reverse("disputes", args=[cast.project.slug]), {"all": 1}).status_code == 404


@pytest.mark.parametrize("number", [0, 2, 10**30])
@pytest.mark.parametrize("who", ["annotator", "admin"])
def test_a_number_that_no_dispute_has_is_not_found(scene, number, who):
    client, cast, _ = scene
    client.force_login(cast.admin if who == "admin" else cast.annotators[0].user)
    assert client.get(url("dispute", cast, number)).status_code == 404


def test_a_dispute_of_another_project_is_not_found_under_this_one(scene):
    client, *_ = scene
    other = make_project()
    discussed(other, 1, 3, 5)
    assert client.get(url("dispute", other)).status_code == 404


def test_signed_out_user_gets_a_sign_in_prompt(scene):
    client, cast, _ = scene
    client.logout()
    assert client.get(url("dispute", cast)).url.startswith("/accounts/login/")


@pytest.mark.parametrize("name", ["dispute_answer", "dispute_decide"])
def test_user_signed_out_at_submit_returns_to_the_dispute(scene, name):
    client, cast, _ = scene
    client.logout()
    reply = client.post(url(name, cast), {"value": 3, "text": "Hm.", "note": "Hm."})
    assert reply.url == f"/accounts/login/?next={url('dispute', cast)}"
    client.force_login(cast.annotators[0].user)
    assert client.get(url("dispute", cast)).status_code == 200


def test_fragment_of_a_signed_out_page_reports_the_sign_out(scene):
    client, cast, _ = scene
    client.logout()
    for reply in (
        client.get(url("dispute", cast), headers=HTMX),
        post(client, cast, "Hm.", headers=HTMX),
        answer(client, cast, value=3, comment="Hm.", headers=HTMX),
        client.post(url("dispute_decide", cast), {"note": "Hm."}, headers=HTMX),
    ):
        html = reply.content.decode()
        assert reply.status_code == 422
        assert html.startswith('<div id="discussion"')
        assert f'href="/accounts/login/?next={url("dispute", cast)}"' in html
        assert "Reason of" not in html
    assert not Post.objects.exists()


def test_a_researcher_reads_without_controls(scene):
    client, cast, _ = scene
    client.force_login(cast.researcher)
    html = page(client, cast)
    assert "Reason of B." in html
    assert "Rater A and Rater C are 4 apart." in html
    assert "<form" not in html
    for name in ("dispute_answer", "dispute_decide"):
        assert client.post(url(name, cast), {"value": 3, "text": "Hm.", "note": "Hm."}).status_code == 404


# Adjudication


def test_an_admin_decides_and_the_raters_read_the_reason(scene):
    client, cast, dispute = scene
    client.force_login(cast.admin)
    assert "Decide this dispute" in page(client, cast)
    assert decide(client, cast, value=3, note="Two aspects of three.").url == url("dispute", cast)
    dispute.refresh_from_db()
    assert (dispute.status, dispute.adjudicated_value) == ("adjudicated", 3)
    client.force_login(cast.annotators[0].user)
    html = page(client, cast)
    assert "Decided by adjudication: 3." in html
    assert "Adjudicated as 3 : Two aspects of three." in without_blanks(html)
    assert "<form" not in html


def test_an_admin_leaves_a_dispute_open(scene):
    client, cast, dispute = scene
    client.force_login(cast.admin)
    decide(client, cast, leave_open="on", note="The text is ambiguous.")
    dispute.refresh_from_db()
    assert (dispute.status, dispute.adjudicated_value) == ("left_open", None)
    html = without_blanks(page(client, cast))
    assert "This dispute was left open. Rater A and Rater C are 4 apart." in html
    assert "The text is ambiguous." in html


def test_an_admin_opens_a_decided_dispute_again(scene):
    client, cast, dispute = scene
    client.force_login(cast.admin)
    assert ">Leave open<" in page(client, cast)
    assert ">Open again<" not in page(client, cast)
    decide(client, cast, value=3, note="So it is.")
    assert ">Open again<" in page(client, cast)
    assert ">Leave open<" not in page(client, cast)
    assert decide(client, cast, open_again="on", note="").status_code == 422
    decide(client, cast, open_again="on", note="I misread it.")
    dispute.refresh_from_db()
    assert (dispute.status, dispute.adjudicated_value) == ("open", None)
    client.force_login(cast.annotators[0].user)
    html = page(client, cast)
    assert "Opened again : I misread it." in without_blanks(html)
    assert "Keep 1" in html


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"note": "", "leave_open": "on"}, "Say why you decide so"),
        ({"note": "Because."}, "Choose the final value."),
        ({"note": "Because.", "value": "x"}, "number on the scale"),
        ({"note": "Because.", "value": 8}, "8 is not on this scale"),
        ({"note": "", "value": 4}, "Say why you decide so"),
    ],
)
def test_rejected_decision_keeps_note_and_value(scene, sent, says):
    client, cast, dispute = scene
    client.force_login(cast.admin)
    reply = decide(client, cast, **sent)
    html = reply.content.decode()
    assert reply.status_code == 422
    assert says in html
    assert f"{sent['note']}</textarea>" in html
    assert re.findall(r'name="value" value="(\d)" checked', html) == (["4"] if sent.get("value") == 4 else [])
    dispute.refresh_from_db()
    assert dispute.status == "open"


def test_a_rater_cannot_decide(scene):
    client, cast, _ = scene
    assert "Decide this dispute" not in page(client, cast)
    assert decide(client, cast, value=3, note="I say so.").status_code == 404


# Closed


def test_a_closed_round_shows_how_the_unit_ended_and_takes_nothing(scene):
    client, cast, _ = scene
    close_round_two(project=cast.project, by=cast.admin)
    html = page(client, cast)
    assert "Round II is closed; this is how the unit ended." in html
    assert "Round II was closed before the values met." in html
    assert "<form" not in html
    client.force_login(cast.admin)
    assert "<form" not in page(client, cast)
    assert decide(client, cast, value=3, note="Too late.").status_code == 422
    assert not Rating.objects.filter(assignment__round__number=2).exists()


@pytest.mark.parametrize("ended", ["closed", "adjudicated"])
def test_input_typed_while_the_dispute_ended_is_not_lost(scene, ended):
    client, cast, dispute = scene
    if ended == "closed":
        close_round_two(project=cast.project, by=cast.admin)
    else:
        adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    for reply in (
        answer(client, cast, value=3, comment="My long reason."),
        post(client, cast, "My thoughts."),
    ):
        html = reply.content.decode()
        assert reply.status_code == 422
        assert "This was not kept; copy it if you still need it" in html
        assert "My long reason." in html or "My thoughts." in html


def test_remaining_disputes_are_equal_by_index_and_by_full_scan(monkeypatch):
    cast = make_project(documents=3)
    disputes = all_disputed(cast)
    answer_dispute(dispute=disputes[1], rater=cast.annotators[0], value=4)
    membership = cast.annotators[0]
    few = [count_remaining(membership, each) for each in disputes]
    monkeypatch.setattr(dispute_queries, "MANY", -1)
    assert [count_remaining(membership, each) for each in disputes] == few
    assert {each.following is None for each in few} == {False}


# Queries


def queries(client, path):
    with CaptureQueriesContext(connection) as counted:
        assert client.get(path).status_code == 200
    return len(counted)


@pytest.mark.parametrize(("documents", "posts"), [(1, 1), (6, 20)])
def test_queries_are_the_same_whatever_the_number_of_disputes_and_posts(client, documents, posts):
    cast = make_project(documents=documents)
    disputes = all_disputed(cast)
    for number in range(posts):
        author = cast.annotators[number % 3]
        post_message(dispute=disputes[0], author=author, text=f"Post {number}.")
    answer_dispute(dispute=disputes[0], rater=cast.annotators[1], value=4)
    client.force_login(cast.annotators[0].user)
    listing = reverse("disputes", args=[cast.project.slug])
    # session, user, place, dimensions, documents twice, counts twice, nudge, keys and rows of those that
    # need me, round, pace, guideline, values, roles
    assert queries(client, listing) == 16
    # session, user, version, place twice, dispute, look, the page's nine, on the text twice, what is left
    # twice, pace, where the text stands (3)
    assert queries(client, url("dispute", cast)) == 24
    client.force_login(cast.admin)
    # session, user, place twice, rates, dimensions, raters, rounds, count, keys, disputes, whom for,
    # roles twice, reasons
    assert queries(client, listing) == 15


# Request


def test_system_names_never_reach_a_rater(scene):
    client, cast, dispute = scene
    System.objects.filter(pk=dispute.item.system_id).update(name="UNSEEN-SYSTEM")
    Item.objects.update(text="A text that names nobody.")
    sent = [
        client.get(url("dispute", cast)),
        client.get(url("dispute", cast), headers=HTMX),
        client.get(reverse("disputes", args=[cast.project.slug])),
        answer(client, cast, value=9),
        post(client, cast, ""),
    ]
    for reply in sent:
        assert b"UNSEEN-SYSTEM" not in reply.content
        assert b"UNSEEN-SYSTEM" not in str(reply.headers).encode()


HOSTILE = '<script>alert("x")</script> & شكرا <b>bold</b>'


def test_html_and_right_to_left_strings_are_escaped(client):
    cast = make_project()
    Document.objects.update(title=HOSTILE, parts=[{"label": HOSTILE, "text": HOSTILE}])
    Item.objects.update(text=HOSTILE)
    Dimension.objects.update(name=HOSTILE, definition=HOSTILE, guidelines=HOSTILE)
    cast.dimensions[0].points.update(label=HOSTILE, description=HOSTILE)
    dispute = discussed(cast, 1, 3, 5)
    first, second, _ = cast.annotators
    answer_dispute(dispute=dispute, rater=second, value=2, comment=HOSTILE)
    post_message(dispute=dispute, author=second, text=HOSTILE)
    adjudicate(dispute=dispute, value=3, note=HOSTILE, by=cast.admin)
    client.force_login(first.user)
    for html in (page(client, cast), work(client, cast)):
        assert "<script>alert" not in html
        assert "<b>bold" not in html
    html = page(client, cast)
    discussion = html[html.index('<div id="discussion"') :]
    assert (
        discussion.count("&lt;script&gt;alert") == 3 + 6
    )  # reason, note, post; two points as tooltips, labels and descriptions
    assert discussion.count("شكرا") == 9
    client.force_login(cast.admin)
    assert "<script>alert" not in work(client, cast)
