"""Notices that people subscribe to, stored in the transaction of the event; `people.notice_mail` sends
them.
"""

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
    """Write a notice for each subscriber of its kind among `to`, once for each subject. Two queries.

    page: the route of the link in the mail, with the project's slug as argument. Call it in the transaction
    of the event. Workers find pending notices. Nothing is written if no mail leaves the installation.
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
    """Return the users with an active membership in one of these roles, in any role without `roles`."""
    memberships = Membership.objects.filter(project=project, active=True)
    memberships = memberships.filter(role__in=roles) if roles else memberships
    return User.objects.filter(pk__in=memberships.values("user"))
