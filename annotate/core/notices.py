"""Notices that people chose to get, written with what they are about; `people.notice_mail` sends them."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotate.core.mails import mail_is_sent
from annotate.core.models import Membership, Notice, NoticeKind, Project, Role, User
from annotate.core.preferences import preferences_of


def give_notice(
    *,
    project: Project,
    kind: NoticeKind,
    about: str,
    facts: Mapping[str, object],
    to: QuerySet[User],
    page: str = "project",
) -> None:
    """Write a notice for each of these people who chose its kind, once for what it is about. Two queries.

    page: the route that the mail leads to, which takes the project's slug. Belongs into the transaction of
    what happened. Workers find what is due; nothing is written where no mail leaves the installation.
    """
    if not mail_is_sent():
        return
    now, path = timezone.now(), reverse(page, args=[project.slug])
    people = to.filter(is_active=True, preferences__notice_address__gt="").select_related("preferences")
    wanting = [each for each in people if kind in preferences_of(each).notices]
    Notice.objects.bulk_create(
        (
            Notice(
                user=each,
                project=project,
                kind=kind,
                about=about,
                facts=dict(facts),
                link=f"{preferences_of(each).notice_address}{path}",
                at=now,
                mail_due_at=now,
            )
            for each in wanting
        ),
        ignore_conflicts=True,
    )


def members_of(project: Project, *roles: Role) -> QuerySet[User]:
    """Return who holds an active place with one of these roles, any where none is named."""
    places = Membership.objects.filter(project=project, active=True)
    places = places.filter(role__in=roles) if roles else places
    return User.objects.filter(pk__in=places.values("user"))
