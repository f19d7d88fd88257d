"""The screen of a project's people."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core.errors import DomainError
from annotate.core.jobs import run_job
from annotate.core.models import Invitation, Membership, Role
from annotate.people.commands import add_member, change_role, deactivate_member, invite, withdraw_invitation
from annotate.people.installation import block_person, erase_person, unblock_person
from annotate.people.invitations import invitation_token
from annotate.people.queries import projects_needing
from tests.factories import Cast, make_member, make_project

pytestmark = pytest.mark.django_db


def make_scene() -> Cast:
    return make_project(annotators=2)


@pytest.fixture
def admin(client: Client, cast: Cast) -> Client:
    client.force_login(cast.admin)
    return client


def address(cast: Cast, rest: str = "") -> str:
    return f"/projects/{cast.project.slug}/{rest}"


def test_people_are_listed_with_role_and_alias(admin: Client, cast: Cast) -> None:
    page = admin.get(address(cast, "people/")).content.decode()
    for membership in Membership.objects.filter(project=cast.project).select_related("user"):
        assert membership.user
        assert membership.label in page
        assert membership.user.email in page
    assert "<td>researcher</td>" in page
    assert "<td>B</td>" in page


def test_link_is_created_and_appears_whole(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, "people/"), {"role": "researcher", "email": "new@example.org"})
    made = Invitation.objects.get()
    assert response["Location"] == address(cast, f"people/#invitation-{made.pk}")
    page = admin.get(address(cast, "people/")).content.decode()
    assert f'value="http://testserver/invitations/{invitation_token(made)}/"' in page
    assert "new@example.org" in page
    assert (made.role, made.created_by) == ("researcher", cast.admin)


@pytest.mark.parametrize("wrong", [{}, {"role": "owner"}, {"role": "annotator", "email": "not an address"}])
def test_a_wrong_invitation_answers_with_the_form(admin: Client, cast: Cast, wrong: dict[str, str]) -> None:
    response = admin.post(address(cast, "people/"), wrong)
    assert response.status_code == 422
    assert 'class="errorlist"' in response.content.decode()
    assert not Invitation.objects.exists()


def test_empty_membership_gets_its_own_link(admin: Client, cast: Cast) -> None:
    empty = add_member(project=cast.project, role=Role.ANNOTATOR, label="A1")
    assert "no account yet" in admin.get(address(cast, "people/")).content.decode()
    admin.post(address(cast, f"people/{empty.pk}/invite/"))
    assert Invitation.objects.get().membership == empty
    page = admin.get(address(cast, "people/")).content.decode()
    assert "Copy the link" in page
    assert "Links not used yet" not in page


def test_invitation_to_an_occupied_membership_gives_a_message(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, f"people/{cast.annotators[0].pk}/invite/"), follow=True)
    assert "already has an account" in response.content.decode()
    assert not Invitation.objects.exists()


def test_a_link_is_withdrawn(admin: Client, cast: Cast) -> None:
    made = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR)
    response = admin.post(address(cast, f"invitations/{made.pk}/withdraw/"), follow=True)
    assert "The invitation is withdrawn" in response.content.decode()
    assert invitation_token(made) not in response.content.decode()


def test_membership_is_closed_and_reopened(admin: Client, cast: Cast) -> None:
    membership = cast.annotators[0]
    response = admin.post(address(cast, f"people/{membership.pk}/change/"), {"deactivate": "1"}, follow=True)
    assert "Open again" in response.content.decode()
    membership.refresh_from_db()
    assert not membership.active
    admin.post(address(cast, f"people/{membership.pk}/change/"), {"reactivate": "1"})
    membership.refresh_from_db()
    assert membership.active


def test_last_admin_cannot_close_their_own_membership(admin: Client, cast: Cast) -> None:
    membership = Membership.objects.get(project=cast.project, role=Role.ADMIN)
    response = admin.post(address(cast, f"people/{membership.pk}/change/"), {"deactivate": "1"}, follow=True)
    assert "only admin" in response.content.decode()
    membership.refresh_from_db()
    assert membership.active


@pytest.mark.parametrize(
    "leave",
    [
        lambda membership: deactivate_member(membership=membership),
        lambda membership: change_role(membership=membership, role=Role.RESEARCHER),
        lambda membership: erase_person(user=membership.user),
    ],
)
def test_an_admin_leaves_a_project_to_another_who_can_sign_in(
    cast: Cast, leave: Callable[[Membership], object]
) -> None:
    own = Membership.objects.get(project=cast.project, role=Role.ADMIN)
    other = make_member(cast.project, Role.ADMIN).user
    assert other is not None
    block_person(user=other)
    with pytest.raises(DomainError, match="only admin"):
        leave(own)
    assert Membership.objects.get(pk=own.pk).active
    unblock_person(user=other)
    leave(own)
    assert list(projects_needing(other)) == [cast.project]


def test_link_goes_out_if_mail_is_configured(
    admin: Client, cast: Cast, mailoutbox: list[EmailMessage]
) -> None:
    entered = {"role": "annotator", "email": "new@example.org", "send": "1"}
    page = admin.post(address(cast, "people/"), entered, follow=True).content.decode()
    made = Invitation.objects.get()
    assert "A worker sends the invitation to new@example.org." in page
    assert "in the mail queue" in page
    run_job("invitation", made.pk)
    made.refresh_from_db()
    assert made.sent_at
    assert "in the mail queue" not in admin.get(address(cast, "people/")).content.decode()
    assert mailoutbox[0].to == ["new@example.org"]
    assert f"http://testserver/invitations/{invitation_token(made)}/" in str(mailoutbox[0].body)
    admin.post(address(cast, f"invitations/{made.pk}/send/"))
    run_job("invitation", made.pk)
    assert len(mailoutbox) == 2
    withdraw_invitation(invitation=made)
    page = admin.post(address(cast, f"invitations/{made.pk}/send/"), follow=True).content.decode()
    assert "was withdrawn" in page
    assert len(mailoutbox) == 2


def test_several_people_are_invited_once_and_learn_the_workload(
    admin: Client, cast: Cast, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    member = cast.annotators[0].user
    assert member
    note = "12 texts, two hours, by Friday."
    entered = {"role": "annotator", "note": note, "send": "1"}
    entered["addresses"] = f"new@example.org\nAnn <Ann@Example.org>, {member.email}; new@example.org"
    for made in (2, 0):
        with django_capture_on_commit_callbacks(execute=True):
            page = admin.post(address(cast, "people/invite/"), entered, follow=True).content.decode()
        assert f"{made} invitations created. Members already: {member.email}." in page
    assert "Have a link that waits: new@example.org, ann@example.org." in page
    assert sorted(Invitation.objects.values_list("email", "note")) == [
        ("ann@example.org", note),
        ("new@example.org", note),
    ]
    for offer in Invitation.objects.all():
        run_job("invitation", offer.pk)
    assert sorted(each.to[0] for each in mailoutbox) == ["ann@example.org", "new@example.org"]
    assert all(note in str(each.body) for each in mailoutbox)
    link = f"/invitations/{invitation_token(Invitation.objects.all()[0])}/"
    assert note in Client().get(link).content.decode()


def test_invalid_emails_are_listed_and_no_one_is_invited(admin: Client, cast: Cast) -> None:
    entered = {"role": "annotator", "addresses": "new@example.org\nAnn\nbo@"}
    response = admin.post(address(cast, "people/invite/"), entered)
    assert response.status_code == 422
    page = response.content.decode()
    assert "Not valid e-mails: Ann, bo@." in page
    assert "new@example.org\nAnn\nbo@</textarea>" in page, "what was entered stays"
    assert not Invitation.objects.exists()


def test_mailing_needs_an_email(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, "people/"), {"role": "annotator", "send": "1"})
    assert response.status_code == 422
    assert "Enter an e-mail to send the link" in response.content.decode()
    assert not Invitation.objects.exists()


def test_page_reports_a_missing_mail_server(admin: Client, cast: Cast, settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    page = admin.get(address(cast, "people/")).content.decode()
    assert "no mail server is configured (CONCORD_EMAIL_URL)" in page
    assert "Send by e-mail" not in page
    entered = {"role": "annotator", "email": "new@example.org", "send": "1"}
    assert admin.post(address(cast, "people/"), entered).status_code == 422


def test_link_outlives_a_rejecting_mail_server(admin: Client, cast: Cast, settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    entered = {"role": "annotator", "email": "new@example.org", "send": "1"}
    page = admin.post(address(cast, "people/"), entered, follow=True).content.decode()
    made = Invitation.objects.get()
    run_job("invitation", made.pk)
    page = admin.get(address(cast, "people/")).content.decode()
    assert "in the mail queue" in page
    assert invitation_token(made) in page


def test_role_changes_and_the_old_membership_stays(admin: Client, cast: Cast) -> None:
    membership = cast.annotators[0]
    page = admin.post(address(cast, f"people/{membership.pk}/role/"), {"role": "admin"}, follow=True)
    assert "is now admin" in page.content.decode()
    membership.refresh_from_db()
    now = Membership.objects.get(project=cast.project, user=membership.user, role=Role.ADMIN)
    assert (membership.active, now.active) == (False, True)
    admin.post(address(cast, f"people/{now.pk}/role/"), {"role": "annotator"})
    membership.refresh_from_db()
    assert (membership.active, membership.alias) == (True, "A")
    assert admin.post(address(cast, f"people/{membership.pk}/role/"), {"role": "owner"}).status_code == 422


def test_the_last_admin_keeps_the_role(admin: Client, cast: Cast) -> None:
    membership = Membership.objects.get(project=cast.project, role=Role.ADMIN)
    page = admin.post(address(cast, f"people/{membership.pk}/role/"), {"role": "researcher"}, follow=True)
    assert "only admin" in page.content.decode()
    assert Membership.objects.filter(project=cast.project, user=cast.admin).count() == 1


def test_only_admins_get_to_people(client: Client, cast: Cast) -> None:
    made = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR)
    posts = (
        "people/",
        f"people/{cast.annotators[0].pk}/invite/",
        f"people/{cast.annotators[0].pk}/change/",
        f"people/{cast.annotators[0].pk}/role/",
        f"people/{cast.annotators[0].pk}/hand-over/",
        f"invitations/{made.pk}/withdraw/",
        f"invitations/{made.pk}/send/",
    )
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        assert client.get(address(cast, "people/")).status_code == 404
        assert client.get(address(cast, f"people/{cast.annotators[0].pk}/")).status_code == 404
        for rest in posts:
            assert client.post(address(cast, rest), {"role": "admin"}).status_code == 404
    made.refresh_from_db()
    assert made.withdrawn_at is None
    assert Invitation.objects.count() == 1


def test_memberships_and_links_of_another_project_are_not_found(admin: Client, cast: Cast) -> None:
    other = make_project()
    made = invite(project=other.project, by=other.admin, role=Role.ADMIN)
    assert admin.post(address(cast, f"people/{other.annotators[0].pk}/change/")).status_code == 404
    assert admin.post(address(cast, f"invitations/{made.pk}/withdraw/")).status_code == 404


def test_the_number_of_queries_is_fixed(
    admin: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        make_member(cast.project)
        empty = add_member(
            project=cast.project, role=Role.ANNOTATOR, label=f"A{make_member(cast.project).pk}"
        )
        invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, membership=empty)
        invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR)
        with django_assert_num_queries(9):
            admin.get(address(cast, "people/"))
