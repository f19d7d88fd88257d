"""Records of changes to a person's account, in all their projects."""

import logging

from annotate.core.audit import record
from annotate.core.models import Membership, User

logger = logging.getLogger(__name__)


def record_everywhere(person: User, act: str, *, by: User | None, note: str, **after: object) -> None:
    """Record an act once in each project of the person, in the caller's transaction, and in the log."""
    logger.warning("%s: account %d, by account %s", act, person.pk, by.pk if by else "(command line)")
    memberships = Membership.objects.filter(user=person).select_related("project").order_by("project", "pk")
    by_project = {membership.project_id: membership for membership in memberships}
    for membership in by_project.values():
        record(membership.project, act, person, after={"email": person.email, **after}, note=note, by=by)
