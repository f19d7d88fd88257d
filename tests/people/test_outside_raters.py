"""Raters from outside: they join by a link, agree, answer, rate or are screened out, and get a code."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from django.test import Client
from django.utils import timezone

from annotate.api.tokens import make_token
from annotate.core.audit import digest_of
from annotate.core.errors import InvitationUnusableError
from annotate.core.mails import send_mail
from annotate.core.models import (
    Assignment,
    AuditEntry,
    Membership,
    OutsideRater,
    OutsideStudy,
    Project,
    Rating,
    User,
)
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.registry import TABLES, ExportPart
from annotate.people.installation import erase_person
from annotate.people.outside import Consent, consent_now, join_study, read_parameters, save_study
from annotate.people.own_data import data_as_json
from annotate.people.views.outside import CONSENT_IN_SESSION, StudyForm
from annotate.quality.commands import RightValue, describe_gold, mark_gold, practise_again, set_practice_bar
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.own_items import count_left, progress
from tests.factories import Cast, make_project
from tests.people.test_erasure import rows_with
from tests.questions.asking import make_questions
from tests.rating.rounds import opened, rate

LINK = "?PROLIFIC_PID=pid-1&STUDY_ID=study-1&SESSION_ID=session-1&lab=north"
ENTERED = {
    "is_open": "on",
    "most_raters": "5",
    "consent": "We study *texts*.",
    "questions": "First language? | English | another\nHow old are you?",
    "items_per_rater": "2",
    "completion_code": "C-DONE",
    "completion_url": "https://app.example.org/complete?cc=C-DONE",
    "screened_code": "C-SCREENED",
    "screened_url": "",
    "pay_rule": "item",
    "pay_rate": "0.25",
    "currency": "GBP",
}
ABOUT = {"answer_0": "English", "answer_1": "42"}


@pytest.fixture
def cast(db: None) -> Cast:
    return make_project(annotators=1)


def make_study(cast: Cast, **entered: str) -> OutsideStudy:
    form = StudyForm({**ENTERED, **entered})
    assert form.is_valid(), form.errors
    return save_study(project=cast.project, values=form.cleaned_data, by=cast.admin)


def browser(address: str = "203.0.113.7") -> Client:
    return Client(REMOTE_ADDR=address)


def agree(client: Client, study: OutsideStudy, link: str = LINK) -> Any:
    study.refresh_from_db()
    return client.post(f"/join/{study.token}/{link}", {"agree": digest_of(study.consent)})


def join(client: Client, study: OutsideStudy, link: str = LINK) -> OutsideRater:
    """Agree and answer; return the new rater."""
    agree(client, study, link)
    answer = client.post(f"/join/{study.token}/{link}", ABOUT)
    assert answer["Location"] == f"/projects/{study.project.slug}/rate/"
    return OutsideRater.objects.latest("pk")


def rate_item(client: Client, cast: Cast) -> str:
    """Rate the item that comes next without scripts; return the page that follows."""
    home = f"/projects/{cast.project.slug}/rate/"
    page = client.get(home, follow=True)
    sent = {"assignment": page.context["token"], "fluency-value": "4"}
    client.post(page.redirect_chain[-1][0], sent)
    return client.get(home, follow=True).content.decode()


def raters_table(cast: Cast) -> list[dict[str, Any]]:
    return [dict(row) for row in TABLES["raters"].rows(cast.project)]


# Joining.


def test_time_left_counts_no_more_items_than_the_study_gives(db: None) -> None:
    cast = make_questions("text", "labels", "spans", "preference", annotators=1)
    opened(cast)
    rater = join(browser(), make_study(cast, items_per_rater="3")).membership
    round = cast.project.rounds.get()
    reserve_items(round=round, annotator=rater, how_many=1)
    rated = Assignment.objects.get(annotator=rater)
    dimension = cast.project.dimensions.get(kind="preference" if rated.item.is_comparison else "text")
    now = timezone.now()
    times = {"active_seconds": 10, "created_at": now, "updated_at": now}
    Rating.objects.create(assignment=rated, dimension=dimension, cannot_rate=True, **times)
    Assignment.objects.filter(pk=rated.pk).update(started_at=now, completed_at=now)
    # Eleven outputs and pairs are free. Two of them come, with at least one question each.
    assert progress(round, rater).seconds_left == 2 * 10


def test_page_without_consent_shows_and_stores_nothing(cast: Cast) -> None:
    opened(cast)
    study, client = make_study(cast), browser()
    page = client.get(f"/join/{study.token}/{LINK}").content.decode()
    assert "<em>texts</em>" in page
    assert "First language?" not in page
    people = User.objects.count()
    answered = client.post(f"/join/{study.token}/{LINK}", ABOUT).content.decode()
    assert "I agree" in answered
    assert client.get(f"/projects/{cast.project.slug}/rate/")["Location"].startswith("/accounts/login/")
    assert (User.objects.count(), OutsideRater.objects.count()) == (people, 0)


def test_who_agrees_and_answers_becomes_an_annotator(cast: Cast) -> None:
    opened(cast)
    study, client = make_study(cast), browser()
    rater = join(client, study)
    assert rater.parameters == {
        "PROLIFIC_PID": "pid-1",
        "STUDY_ID": "study-1",
        "SESSION_ID": "session-1",
        "lab": "north",
    }
    assert rater.answers == [
        {"question": "First language?", "answer": "English"},
        {"question": "How old are you?", "answer": "42"},
    ]
    assert rater.consent_digest == digest_of("We study *texts*.")
    assert rater.membership.user
    assert not rater.membership.user.has_usable_password()
    assert (rater.membership.role, rater.membership.label) == ("annotator", "Outside rater")
    assert client.get(f"/projects/{cast.project.slug}/rate/", follow=True).status_code == 200


def test_questions_come_after_consent_and_must_be_answered(cast: Cast) -> None:
    study, client = make_study(cast), browser()
    assert agree(client, study).status_code == 302
    url = f"/join/{study.token}/{LINK}"
    assert "First language?" in client.get(url).content.decode()
    refused = client.post(url, {"answer_0": "Klingon", "answer_1": ""})
    assert refused.status_code == 422
    assert not OutsideRater.objects.exists()


def test_study_without_questions_lets_in_at_once(cast: Cast) -> None:
    study = make_study(cast, questions="")
    assert agree(browser(), study)["Location"] == f"/projects/{cast.project.slug}/rate/"


def test_consent_to_an_older_version_does_not_count(cast: Cast) -> None:
    study, client = make_study(cast), browser()
    url = f"/join/{study.token}/{LINK}"
    agree(client, study)
    make_study(cast, consent="We study texts and record clicks.")
    assert "record clicks" in client.post(url, ABOUT).content.decode()
    old = client.post(url, {"agree": digest_of("We study *texts*.")}).content.decode()
    assert "record clicks" in old
    assert not OutsideRater.objects.exists()
    with pytest.raises(InvitationUnusableError, match="out of date"):
        join_study(
            study=study,
            consent=Consent(digest_of("We study *texts*."), consent_now(study).at),
            parameters={},
            answers=[],
        )


def test_consent_of_one_person_does_not_count_for_another(cast: Cast) -> None:
    study, client = make_study(cast), browser()
    agree(client, study)
    assert "pid-1" not in str(dict(client.session.items()))
    page = client.get(f"/join/{study.token}/?PROLIFIC_PID=pid-2").content.decode()
    assert "I agree" in page


@pytest.mark.parametrize(
    ("entered", "said"),
    [({"is_open": ""}, "takes no more raters"), ({"most_raters": "1"}, "has all its raters")],
)
def test_closed_or_full_study_accepts_only_its_raters(cast: Cast, entered: dict[str, str], said: str) -> None:
    study, client = make_study(cast), browser()
    join(client, study)
    make_study(cast, **entered)
    refused = browser().get(f"/join/{study.token}/?PROLIFIC_PID=pid-2")
    assert (refused.status_code, said in refused.content.decode()) == (410, True)
    assert client.get(f"/join/{study.token}/{LINK}").status_code == 302


def test_old_and_invented_links_lead_nowhere(cast: Cast) -> None:
    study = make_study(cast)
    admin = Client()
    admin.force_login(cast.admin)
    assert admin.post(f"/projects/{cast.project.slug}/people/outside/link/").status_code == 302
    for token in (study.token, "invented", "nul%00"):
        assert browser().get(f"/join/{token}/").status_code == 404
    before, study.token = study.token, OutsideStudy.objects.get().token
    assert len(study.token) >= 43
    assert study.token != before
    assert browser().get(f"/join/{study.token}/").status_code == 200


def test_people_with_an_account_do_not_join_by_the_link(cast: Cast) -> None:
    study, client = make_study(cast), Client()
    client.force_login(cast.outsider)
    page = client.get(f"/join/{study.token}/{LINK}")
    assert (page.status_code, "private window" in page.content.decode()) == (409, True)
    assert agree(client, study).status_code == 409
    assert not Membership.objects.filter(user=cast.outsider).exists()


# Continuing.


def test_same_person_continues_in_the_same_browser(cast: Cast) -> None:
    study, client = make_study(cast), browser()
    join(client, study)
    again = client.get(f"/join/{study.token}/?PROLIFIC_PID=pid-1&SESSION_ID=another")
    assert again["Location"] == f"/projects/{cast.project.slug}/rate/"
    assert OutsideRater.objects.count() == 1


def test_same_session_of_the_platform_continues_in_another_browser(cast: Cast) -> None:
    study = make_study(cast)
    rater, other = join(browser(), study), browser()
    assert other.get(f"/join/{study.token}/{LINK}").status_code == 302
    assert int(other.session["_auth_user_id"]) == rater.membership.user_id


@pytest.mark.parametrize(
    "link",
    [
        "?PROLIFIC_PID=pid-1",
        "?PROLIFIC_PID=pid-1&STUDY_ID=study-1&SESSION_ID=",
        "?PROLIFIC_PID=pid-1&STUDY_ID=study-1&SESSION_ID=session-2",
        "?PROLIFIC_PID=pid-1&STUDY_ID=study-2&SESSION_ID=session-1",
    ],
)
def test_id_of_a_person_alone_opens_nothing(cast: Cast, link: str) -> None:
    study = make_study(cast)
    join(browser(), study)
    other = browser()
    refused = other.get(f"/join/{study.token}/{link}")
    assert (refused.status_code, "_auth_user_id" in other.session) == (409, False)
    assert agree(other, study, link).status_code == 409
    assert OutsideRater.objects.count() == 1


def test_rater_without_a_session_of_the_platform_is_never_taken_over(cast: Cast) -> None:
    study, link = make_study(cast), "?PROLIFIC_PID=pid-1"
    join(browser(), study, link)
    assert browser().get(f"/join/{study.token}/{link}").status_code == 409


def test_sessions_of_the_platform_are_not_guessed(cast: Cast) -> None:
    study = make_study(cast)
    join(browser(), study)
    guess = f"/join/{study.token}/?PROLIFIC_PID=pid-1&STUDY_ID=study-1&SESSION_ID="
    tried = [browser("192.0.2.66").get(f"{guess}{number}").status_code for number in range(7)]
    assert tried == [409] * 5 + [429] * 2


def test_many_people_of_one_network_join_but_not_without_end(cast: Cast) -> None:
    study = make_study(cast, questions="", most_raters="100")
    codes = [agree(browser(), study, f"?PROLIFIC_PID=p{number}").status_code for number in range(62)]
    assert codes == [302] * 60 + [429] * 2


def test_another_person_in_the_same_browser_is_another_rater(cast: Cast) -> None:
    study, client = make_study(cast), browser()
    first = join(client, study)
    second = join(client, study, "?PROLIFIC_PID=pid-2")
    assert first.membership != second.membership
    assert int(client.session["_auth_user_id"]) == second.membership.user_id


@pytest.mark.django_db(transaction=True)
def test_person_who_joins_twice_at_once_is_one_rater() -> None:
    study = make_study(make_project(annotators=0))

    def try_to_join(_: int) -> str:
        try:
            join_study(
                study=OutsideStudy.objects.select_related("project").get(pk=study.pk),
                consent=consent_now(study),
                parameters={"PROLIFIC_PID": "pid-1"},
                answers=[],
            )
        except InvitationUnusableError:
            return "refused"
        else:
            return "joined"
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(try_to_join, range(4))) == ["joined", "refused", "refused", "refused"]


def test_parameters_are_bounded_and_the_platforms_come_first() -> None:
    others = [(f"extra{number}", "x") for number in range(40)]
    long = [("n" * 61, "x"), ("value", "x" * 201), ("nul", "a\0b"), ("empty", "")]
    read = read_parameters([*long, *others, ("PROLIFIC_PID", "me"), ("PROLIFIC_PID", "other")])
    assert read["PROLIFIC_PID"] == "me"
    assert len(read) == 20
    assert set(read) == {"PROLIFIC_PID", *(f"extra{number}" for number in range(19))}


# Rating, to an end.


def test_rater_at_the_limit_gets_the_completion_code(cast: Cast) -> None:
    opened(cast)
    study, client = make_study(cast), browser()
    rater = join(client, study)
    assert "C-DONE" not in rate_item(client, cast)
    page = rate_item(client, cast)
    assert "C-DONE" in page
    assert "https://app.example.org/complete?cc=C-DONE" in page
    rater.refresh_from_db()
    assert (rater.outcome, rater.ended_at is not None) == ("completed", True)
    assert Rating.objects.filter(assignment__annotator=rater.membership).count() == 2
    ended_at = rater.ended_at
    client.get(f"/projects/{cast.project.slug}/rate/", follow=True)
    rater.refresh_from_db()
    assert rater.ended_at == ended_at


def test_limit_holds_for_programs_too(cast: Cast) -> None:
    round = opened(cast)
    rater = join(browser(), make_study(cast))
    user = rater.membership.user
    assert user
    _, secret = make_token(user=user, name="t", scopes=["rate"], lasts=timedelta(days=1))
    program = {"Authorization": f"Bearer {secret}"}
    for _ in range(2):
        Client().post(f"/api/v1/projects/{cast.project.slug}/work/", headers=program)
    assert Assignment.objects.filter(annotator=rater.membership).count() == 2
    assert reserve_items(round=round, annotator=rater.membership) == 0


def test_progress_counts_up_to_the_limit(cast: Cast) -> None:
    round = opened(cast)
    rater = join(browser(), make_study(cast, items_per_rater="3"))
    reserve_items(round=round, annotator=rater.membership, how_many=1)
    assert (progress(round, rater.membership).total, count_left(round, rater.membership)) == (3, 3)
    expert = cast.annotators[0]
    assert (progress(round, expert).total, count_left(round, expert)) == (4, 4)


def test_rater_without_remaining_items_is_done(cast: Cast) -> None:
    opened(cast)
    client = browser()
    join(client, make_study(cast, items_per_rater=""))
    pages = [rate_item(client, cast) for _ in cast.items]
    assert ["C-DONE" in page for page in pages] == [False] * 3 + [True]


def test_rater_without_any_item_gets_no_code(cast: Cast) -> None:
    round = opened(cast)
    client = browser()
    rater = join(client, make_study(cast))
    close_round_one(project=cast.project, by=cast.admin)
    page = client.get(f"/projects/{cast.project.slug}/rate/", follow=True).content.decode()
    assert "C-DONE" not in page
    assert client.get(f"/projects/{cast.project.slug}/end/").status_code == 302
    rater.refresh_from_db()
    assert rater.outcome == ""
    assert round


def test_experts_have_no_end_page(cast: Cast) -> None:
    opened(cast)
    make_study(cast)
    expert = cast.annotators[0].user
    assert expert
    client = Client()
    client.force_login(expert)
    for _ in cast.items:
        page = rate_item(client, cast)
    assert "All done" in page
    assert client.get(f"/projects/{cast.project.slug}/end/").status_code == 404


def screening(cast: Cast) -> None:
    gold = mark_gold(project=cast.project, item=cast.items[0], use="practice")
    right = {cast.dimensions[0].pk: RightValue(5, "It deserves 5.")}
    describe_gold(project=cast.project, gold=gold, explanation="", values=right)
    set_practice_bar(project=cast.project, bar=100)
    opened(cast)


def practise(client: Client, cast: Cast, value: int) -> str:
    home = f"/projects/{cast.project.slug}/practice/"
    item = client.get(home)["Location"]
    token = client.get(item).context["token"]
    client.post(item, {"assignment": token, "fluency-value": str(value)})
    client.get(f"{item}feedback/")
    return client.get(home, follow=True).content.decode()


def test_rater_who_fails_practice_is_screened_out(cast: Cast) -> None:
    screening(cast)
    client = browser()
    rater = join(client, make_study(cast))
    page = practise(client, cast, 1)
    assert "C-SCREENED" in page
    assert "Practise again" not in page
    rater.refresh_from_db()
    assert (rater.outcome, rater.ended_at is not None) == ("screened_out", True)
    practise_again(membership=rater.membership)
    client.post(f"/projects/{cast.project.slug}/practice/again/")
    assert Membership.objects.get(pk=rater.membership_id).practice_attempt == 1
    assert "C-SCREENED" in client.get(f"/projects/{cast.project.slug}/rate/", follow=True).content.decode()
    assert not Assignment.objects.filter(annotator=rater.membership).exists()


def test_rater_who_passes_practice_rates(cast: Cast) -> None:
    screening(cast)
    client = browser()
    rater = join(client, make_study(cast))
    assert "Practice is passed" in practise(client, cast, 5)
    rate_item(client, cast)
    assert "C-DONE" in rate_item(client, cast)
    rater.refresh_from_db()
    assert rater.outcome == "completed"


# The settings.


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example.org/",
        "javascript:alert(1)",
        "//app.example.org/",
        "https:///nowhere",
        "https://user:secret@app.example.org/",
        "data:text/html,x",
        "ftp://example.org/",
        "https://app.example.org/ x",
    ],
)
def test_only_https_urls_are_accepted(cast: Cast, url: str) -> None:
    form = StudyForm({**ENTERED, "completion_url": url})
    assert not form.is_valid()
    assert list(form.errors) == ["completion_url"]


def test_database_holds_no_other_redirect(cast: Cast) -> None:
    make_study(cast)
    with pytest.raises(IntegrityError), transaction.atomic():
        OutsideStudy.objects.update(screened_url="http://example.org/")
    with pytest.raises(IntegrityError), transaction.atomic():
        OutsideStudy.objects.update(consent="")
    with pytest.raises(IntegrityError), transaction.atomic():
        OutsideStudy.objects.update(pay_rate=None)


@pytest.mark.parametrize(
    ("entered", "field"),
    [
        ({"consent": ""}, "consent"),
        ({"pay_rate": ""}, "pay_rate"),
        ({"currency": "pounds"}, "currency"),
        ({"questions": "Age? | 18"}, "questions"),
        ({"questions": "| yes | no"}, "questions"),
        ({"questions": "Same? | yes | yes"}, "questions"),
        ({"questions": "\n".join(f"Question {number}?" for number in range(21))}, "questions"),
        ({"items_per_rater": "0"}, "items_per_rater"),
        ({"most_raters": ""}, "most_raters"),
    ],
)
def test_settings_list_missing_values(cast: Cast, entered: dict[str, str], field: str) -> None:
    form = StudyForm({**ENTERED, **entered})
    assert not form.is_valid()
    assert list(form.errors) == [field]


def test_settings_are_stored_shown_again_and_in_the_audit_log(cast: Cast) -> None:
    client, address = Client(), f"/projects/{cast.project.slug}/people/outside/"
    client.force_login(cast.admin)
    assert "/join/" not in client.get(address).content.decode()
    assert address not in client.get(f"/projects/{cast.project.slug}/people/").content.decode()
    assert client.post(address, {**ENTERED, "pay_rate": ""}).status_code == 422
    assert client.post(address, ENTERED).status_code == 302
    page = client.get(address).content.decode()
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}" in page
    assert "First language? | English | another" in page
    assert address in client.get(f"/projects/{cast.project.slug}/people/").content.decode()
    client.post(address, {**ENTERED, "consent": "Another text."})
    entry = AuditEntry.objects.filter(act="outside.changed").latest("pk")
    assert entry.before == {"consent": "We study *texts*."}
    assert entry.after == {"consent": "Another text."}


def test_people_show_the_id_on_the_platform_and_the_outcome(cast: Cast) -> None:
    opened(cast)
    client = browser()
    join(client, make_study(cast))
    address, admin = f"/projects/{cast.project.slug}/people/", Client()
    admin.force_login(cast.admin)
    page = admin.get(address).content.decode()
    assert "pid-1" in page
    assert "outside.invalid" not in page
    assert cast.annotators[0].user
    assert cast.annotators[0].user.email in page
    assert ">completed<" not in page
    rate_item(client, cast)
    rate_item(client, cast)
    assert ">completed<" in admin.get(address).content.decode()


# Export and erasing.


def test_export_has_parameters_consent_answers_work_and_pay(cast: Cast) -> None:
    opened(cast)
    client = browser()
    rater = join(client, make_study(cast))
    rate_item(client, cast)
    rate_item(client, cast)
    Rating.objects.filter(assignment__annotator=rater.membership).update(active_seconds=90)
    [row] = raters_table(cast)
    assert (row["rater"], row["parameters"]["lab"]) == (rater.membership.pseudonym, "north")
    assert row["answers"][1] == {"question": "How old are you?", "answer": "42"}
    assert (row["outcome"], row["items"], row["active_seconds"]) == ("completed", 2, 180)
    assert (row["pay_rule"], row["currency"], row["pay"]) == ("item", "GBP", "0.50")
    make_study(cast, pay_rule="hour", pay_rate="9.60")
    assert raters_table(cast)[0]["pay"] == "0.48"
    make_study(cast, pay_rule="none")
    assert (raters_table(cast)[0]["pay"], raters_table(cast)[0]["pay_rate"]) == (None, None)


def test_fixed_sum_is_paid_for_completed_studies_only(cast: Cast) -> None:
    opened(cast)
    client = browser()
    join(client, make_study(cast, pay_rule="fixed", pay_rate="3.5"))
    rate_item(client, cast)
    assert raters_table(cast)[0]["pay"] == "0.00"
    rate_item(client, cast)
    assert raters_table(cast)[0]["pay"] == "3.50"


def test_data_sets_never_identify_raters_from_outside(cast: Cast) -> None:
    def columns(format: Format, *left_out: ExportPart) -> set[str]:
        tables = ExportChoice(format, frozenset(left_out)).tables_of(cast.project)
        return {column.name for table in tables if table.name == "raters" for column in table.columns}

    own = {"parameters", "answers"}
    assert own <= columns(Format.JSONL)
    assert not own & columns(Format.JSONL, ExportPart.RATERS)
    assert not own & columns(Format.HUGGING_FACE)


def test_erased_rater_keeps_consent_and_pay_alone(cast: Cast) -> None:
    opened(cast)
    client = browser()
    link = "?PROLIFIC_PID=zaphod&SESSION_ID=beeblebrox"
    rater = join(client, make_study(cast), link)
    rate_item(client, cast)
    user = rater.membership.user
    assert user
    assert CONSENT_IN_SESSION not in client.session
    assert rows_with({"zaphod", "beeblebrox"}) == {"annotate_outsiderater"}
    assert str(json.loads("".join(data_as_json(user)))["outside"]).count("zaphod") == 1
    erase_person(user=user, by=cast.admin)
    assert rows_with({"zaphod", "beeblebrox"}) == set()
    [row] = raters_table(cast)
    assert (row["parameters"], row["answers"], row["pay"]) == ({}, [], "0.25")
    assert row["consent_digest"] == digest_of("We study *texts*.")
    rater.refresh_from_db()
    assert rater.platform_id == ""
    assert client.get(f"/projects/{cast.project.slug}/rate/").status_code == 302
    # The link makes another rater of the same person.
    assert join(browser(), OutsideStudy.objects.get(), link).pk != rater.pk


def test_accounts_without_a_mailbox_get_no_mail(cast: Cast, mailoutbox: list[Any]) -> None:
    rater = join(browser(), make_study(cast))
    assert rater.membership.user
    send_mail(to=rater.membership.user.email, subject="Disputes", body="They wait.")
    send_mail(to="ann@example.org", subject="Disputes", body="They wait.")
    assert [mail.to for mail in mailoutbox] == [["ann@example.org"]]


def test_projects_of_experts_have_no_rows_about_it(cast: Cast) -> None:
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 4)
    assert raters_table(cast) == []
    assert not OutsideStudy.objects.filter(project=Project.objects.get()).exists()
