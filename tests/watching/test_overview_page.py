import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.core.models import Dimension, Dispute, Item, Membership, Round, System
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.api.client import concord
from tests.factories import make_project
from tests.rating.rounds import assigned, discussed, frozen, opened, rate

pytestmark = pytest.mark.django_db


def page(client, cast, user=None):
    if user:
        client.force_login(user)
    return client.get(reverse("project", args=[cast.project.slug])).content.decode()


def step(client, cast, name):
    return client.post(reverse("step", args=[cast.project.slug, name]), follow=True).content.decode()


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def states(cast):
    return list(Round.objects.filter(project=cast.project).order_by("number").values_list("number", "status"))


def rate_everything(cast, round, *values):
    for annotator, value in zip(cast.annotators, values, strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value)


# Admins


def test_admin_sees_the_missing_requirements_of_round_one(client):
    cast = make_project(dimensions=(), documents=0, annotators=1)
    html = page(client, cast, cast.admin)
    assert f'href="{reverse("dimensions", args=[cast.project.slug])}">Add dimensions' in html
    assert f'href="{reverse("imports", args=[cast.project.slug])}">Import items' in html
    assert "1 annotator for 3 raters per item – invite more , or no item can be complete" in text(html)


def test_admin_sees_the_existing_material(client):
    cast = make_project(dimensions=("fluency", "coherence"))
    html = text(page(client, cast, cast.admin))
    for what in ("✓ 2 dimensions", "✓ 4 items", "✓ 3 annotators for 3 raters per item"):
        assert what in html


def test_an_admin_leads_the_project_through_both_rounds(client):
    cast = make_project(documents=1)
    client.force_login(cast.admin)
    assert "Opening the round freezes dimensions and scales." in page(client, cast)
    html = text(step(client, cast, "open-1"))
    assert "Round I is open: annotators can rate." in html
    assert "0 of 6 assignments are rated. If you close the round now" in html
    rate_everything(cast, Round.objects.get(project=cast.project), 1, 3, 5)
    html = page(client, cast)
    assert "Every assignment is rated." in html
    assert 'data-confirm="Close Round I? No rating can be given or changed afterwards."' in html
    html = text(step(client, cast, "close-1"))
    assert "Round I is closed and its disputes are open." in html
    assert "2 units are disputed. Their raters discuss them in Round II." in html
    html = text(step(client, cast, "open-2"))
    assert "2 of 2 disputes are still open." in html
    adjudicate(dispute=Dispute.objects.get(number=1), value=3, note="So it is.", by=cast.admin)
    assert (
        "Close Round II for good? 1 dispute is still open. Its values stay different, and agreement after "
        "discussion uses them."
    ) in page(client, cast)
    html = text(step(client, cast, "close-2"))
    assert "Both rounds are closed" in html
    assert "0 settled, 1 adjudicated, 1 unresolved (1 left open). See them" in html
    assert states(cast) == [(1, "closed"), (2, "closed")]
    html = text(client.get(f"/projects/{cast.project.slug}/results/agreement/").content.decode())
    assert "2 disputes: 0 settled, 1 adjudicated, 1 unresolved." in html


def test_unresolved_disputes_have_one_number_everywhere(client):
    cast = make_project(documents=1, systems=3)
    rate_everything(cast, opened(cast), 1, 3, 5)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    first, second, _ = Dispute.objects.order_by("number")
    adjudicate(dispute=first, value=3, note="So it is.", by=cast.admin)
    for rater in (cast.annotators[0], cast.annotators[2]):
        answer_dispute(dispute=second, rater=rater, value=None, differs=True)
    assert "2 unresolved (1 open, 1 irresolvable by discussion)" in text(page(client, cast, cast.admin))
    closed = concord(cast.admin, "rounds", "close-2", cast.project.slug)
    breakdown = "1 left open, 1 irresolvable by discussion"
    assert closed["disputes"] == {"total": 3, "unresolved": 2, "breakdown": breakdown}
    breakdown = f"({breakdown})"
    html = text(page(client, cast))
    assert f"1 adjudicated. 2 are unresolved {breakdown}: their values stay apart." in html
    assert f"0 settled, 1 adjudicated, 2 unresolved {breakdown}. See them" in html
    html = text(client.get(f"/projects/{cast.project.slug}/results/agreement/").content.decode())
    assert "3 disputes: 0 settled, 1 adjudicated, 2 unresolved." in html


def test_parent_url_of_a_project_leads_to_the_project_list(client):
    assert client.get("/projects/").url == "/"


def test_closing_with_unrated_assignments_prompts_first(client):
    cast = make_project()
    opened(cast)
    html = page(client, cast, cast.admin)
    assert 'data-confirm="Some assignments are not rated. Close Round I for good?"' in html


def test_admin_sees_the_progress_of_every_annotator(client):
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    first, second, _ = cast.annotators
    rate(cast, round, first, cast.items[0], 3)
    rate(cast, round, second, cast.items[0], 3)
    complete(round, assigned(cast, round, first, cast.items[0]), first)
    html = page(client, cast, cast.admin)
    rows = re.findall(r'<th dir="auto">([^<]*).*?</tr>', html, flags=re.S)
    counts = re.findall(
        r"\s*".join(3 * [r'<td class="number">(?:<progress[^>]*></progress> )?(\d+)</td>']), html
    )
    assert rows == [membership.label for membership in cast.annotators]
    assert counts == [("1", "0", "4"), ("0", "1", "4"), ("0", "0", "0")]
    assert "1 of 12 assignments rated (4 items, 3 raters each)." in text(html)


def complete(round, assignment, annotator):
    save_rating(
        assignment=assignment,
        dimension=frozen(round, "coherence"),
        answer=Answer(value=3),
        by=annotator.user,
    )


def test_without_disputes_there_is_nothing_to_discuss(client):
    cast = make_project()
    rate_everything(cast, opened(cast), 3, 3, 4)
    close_round_one(project=cast.project, by=cast.admin)
    assert "No unit is disputed, so there is nothing to discuss." in page(client, cast, cast.admin)
    assert "Round I left no disputes" in step(client, cast, "open-2")
    assert states(cast) == [(1, "closed")]


# Refusals


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("close-1", "Round I has not been opened."),
        ("open-2", "Close Round I before you open Round II."),
        ("close-2", "Round II has not been opened."),
    ],
)
def test_step_out_of_order_is_rejected_with_a_message(client, name, says):
    cast = make_project()
    client.force_login(cast.admin)
    assert says in step(client, cast, name)
    assert states(cast) == []


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        (Dimension, "Add at least one dimension before you open Round I."),
        (Item, "Import items before you open Round I."),
    ],
)
def test_round_one_does_not_open_without_material(client, missing, says):
    cast = make_project()
    missing.objects.all().delete()
    client.force_login(cast.admin)
    assert says in step(client, cast, "open-1")
    assert states(cast) == []


def test_a_closed_round_is_not_opened_again(client):
    cast = make_project()
    discussed(cast, 1, 3, 5)
    client.force_login(cast.admin)
    assert "a closed round is not opened again" in step(client, cast, "open-1")
    step(client, cast, "close-2")
    assert "a closed round is not opened again" in step(client, cast, "open-2")
    assert states(cast) == [(1, "closed"), (2, "closed")]


def test_round_two_needs_a_closed_round_one(client):
    cast = make_project()
    opened(cast)
    client.force_login(cast.admin)
    assert "Close Round I before you open Round II." in step(client, cast, "open-2")
    assert states(cast) == [(1, "open")]


# Annotators and researchers


def test_annotator_sees_the_pending_work_in_each_state(client):
    cast = make_project()
    me = cast.annotators[0]
    assert "Round I has not been opened yet." in page(client, cast, me.user)
    round = opened(cast)
    assert "Round I: 0 of 4 items rated, 0 today." in text(page(client, cast))
    assert "Begin rating" in page(client, cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    assert "Round I: 1 of 4 items rated, 1 today." in text(page(client, cast))
    assert "Go on rating" in page(client, cast)
    close_round_one(project=cast.project, by=cast.admin)
    assert "Round I is closed. Units on which raters differ will be discussed" in page(client, cast)
    open_round_two(project=cast.project, by=cast.admin)
    says = "Round II: 1 dispute needs you, 0 wait for others, 0 ended."
    assert says in text(page(client, cast))


def test_annotator_sees_no_other_annotator_and_no_system(client):
    cast = make_project()
    discussed(cast, 1, 3, 5)
    System.objects.filter(name="system-1").update(name="UNSEEN-SYSTEM")
    html = page(client, cast, cast.annotators[0].user)
    for other in (*cast.annotators[1:], *Membership.objects.exclude(role="annotator")):
        assert other.label not in html
    assert "UNSEEN-SYSTEM" not in html
    assert "<form" not in html


def test_a_researcher_sees_the_counts_and_no_steps(client):
    cast = make_project()
    opened(cast)
    html = page(client, cast, cast.researcher)
    assert "0 of 12 assignments rated" in text(html)
    assert "Next step" not in html
    assert "<form" not in html


def test_labels_of_annotators_are_for_admins_and_aliases_for_researchers(client):
    cast = make_project()
    opened(cast)
    for_admin, for_researcher = page(client, cast, cast.admin), page(client, cast, cast.researcher)
    for annotator in cast.annotators:
        assert annotator.label in for_admin
        assert annotator.label not in for_researcher
        assert str(annotator.user) not in for_researcher
        assert annotator.rater_name in for_researcher


def test_an_outsider_finds_nothing(client):
    cast = make_project()
    client.force_login(cast.outsider)
    assert client.get(reverse("project", args=[cast.project.slug])).status_code == 404


@pytest.mark.parametrize("who", ["annotator", "researcher", "outsider"])
@pytest.mark.parametrize("name", ["open-1", "close-1", "open-2", "close-2"])
def test_only_an_admin_takes_steps(client, who, name):
    cast = make_project()
    round = opened(cast)
    client.force_login(cast.annotators[0].user if who == "annotator" else getattr(cast, who))
    assert client.post(reverse("step", args=[cast.project.slug, name])).status_code == 404
    assert states(cast) == [(1, "open")]
    assert Round.objects.get() == round


def test_a_step_is_never_taken_by_a_link(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert client.get(reverse("step", args=[cast.project.slug, "open-1"])).status_code == 405
    assert client.post(f"/projects/{cast.project.slug}/rounds/open-3/").status_code == 404
    assert states(cast) == []


# Request, and what it costs

HOSTILE = '<script>alert("x")</script> & شكرا <b>bold</b>'


def test_html_and_right_to_left_strings_are_escaped(client):
    cast = make_project()
    cast.project.name = cast.project.description = HOSTILE
    cast.project.save()
    Membership.objects.filter(pk=cast.annotators[0].pk).update(label=HOSTILE)
    opened(cast)
    html = page(client, cast, cast.admin)
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    assert html.count("شكرا") == 5  # title, bar, heading, description, annotator


def queries(client, cast, user):
    client.force_login(user)
    with CaptureQueriesContext(connection) as counted:
        page(client, cast)
    return len(counted)


def test_last_rating_times_appear_while_round_one_is_open(client):
    cast = make_project()
    rate_everything(cast, opened(cast), 1, 3, 5)
    assert "Last rated" in page(client, cast, cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    with CaptureQueriesContext(connection) as asked:
        html = page(client, cast, cast.admin)
    assert "Assigned" in html
    assert "Last rated" not in html
    assert not [each["sql"] for each in asked if "MAX(" in each["sql"] and "annotate_rating" in each["sql"]]


@pytest.mark.parametrize(("documents", "annotators"), [(1, 3), (8, 6)])
def test_queries_are_the_same_whatever_the_projects_size(client, documents, annotators):
    cast = make_project(documents=documents, annotators=annotators, raters_per_item=annotators)
    round = opened(cast)
    # session, user, place, roles, the twelve of the overview, imports, webhooks, submissions, additions,
    # workers, four of judges, roles for tabs
    assert queries(client, cast, cast.admin) == 26
    # session, user, place, roles, place as annotator, rounds, progress (3), guideline, practice (2), roles
    assert queries(client, cast, cast.annotators[0].user) == 13
    for item in cast.items:
        for number, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + 2 * (number % 3))
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    assert (
        queries(client, cast, cast.admin) == 26
    )  # three of the open disputes; no pace of Round I, nor who rated when
    # session, user, place, roles, place as annotator, rounds, the disputes' counts (2) and nudge, roles
    assert queries(client, cast, cast.annotators[0].user) == 10
