"""Starting, revealing and ending calibration sessions, and adding agreements to the guidelines.

A session is a separate project with a copy of some documents. Its Round I is the blind round, and its Round
II the discussion of all differences. So every kind of question, statistic and page works in it. The results
of the calibrated project do not include it.
"""

import logging
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext

from annotate.calibration.queries import complete_sessions, sessions_of
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.models import AssignmentPlan, Dimension, Membership, Project, Role, Round, User
from annotate.core.rounds import rounds_of
from annotate.core.scale import SMALLEST_STEP
from annotate.material.commands.copying import copy_documents, copy_outputs
from annotate.people.commands import add_member
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_one, open_round_two
from annotate.setup.commands import create_project, reword_guidelines, update_project
from annotate.setup.queries import template_of

MOST_DOCUMENTS = 20
logger = logging.getLogger(__name__)


def start_session(
    *, project: Project, documents: Sequence[int], annotators: Sequence[int], by: User | None
) -> Project:
    """Start a session with these documents and annotators, by their keys. Each annotator answers everything.

    Any two different answers will be discussed. Raises InvalidValueError, and NotReadyError if the project
    has no questions or items.
    """
    if not 1 <= len(documents) <= MOST_DOCUMENTS:
        raise InvalidValueError(
            gettext("Choose 1 to {most} documents.").format(most=MOST_DOCUMENTS),
            fields={"documents": gettext("Choose some documents.")},
        )
    # Raters of recorded ratings have no account, so they could not discuss.
    raters = list(
        project.memberships.filter(
            pk__in=annotators, role=Role.ANNOTATOR, active=True, user__isnull=False
        ).order_by("alias")
    )
    if len(raters) < 2:
        raise InvalidValueError(
            gettext("Choose two annotators or more who have an account."),
            fields={"annotators": gettext("Choose two or more.")},
        )
    with transaction.atomic():
        session = _make_session(project, raters, by)
        copy_outputs(copy_documents(project, session, documents), session)
    # Outside the transaction: only there a long write on SQLite commits in steps.
    open_round_one(project=session, by=by)
    return session


def _make_session(project: Project, raters: Sequence[Membership], by: User | None) -> Project:
    # The lock gives two sessions that start at once different numbers.
    lock_project(project)
    number = sessions_of(project).count() + 1
    name = gettext("Calibration {number} of {project}").format(number=number, project=project.name)
    session = create_project(user=by, name=name[:150], template=template_of(project))
    session.calibrates, session.raters_per_item = project, len(raters)
    # Every difference is discussed, and only equal answers settle it.
    session.dispute_threshold, session.tolerance, session.practice_bar = 1, 0, None
    session.save()
    for dimension in session.dimensions.all():
        smallest = dimension.scale_step if dimension.kind == "scale" else SMALLEST_STEP
        Dimension.objects.filter(pk=dimension.pk).update(dispute_threshold=smallest, tolerance=0)
    watching = project.memberships.filter(
        role__in=[Role.ADMIN, Role.RESEARCHER], active=True, user__isnull=False
    )
    for member in (*watching, *raters):
        add_member(project=session, role=Role(member.role), user=member.user, label=member.label)
    choose_plan(project=session, kind=AssignmentPlan.Kind.EVERYONE)
    record(project, "calibration.started", session.name, after={"raters": len(raters)}, by=by)
    return session


def reveal_session(*, session: Project, by: User | None) -> None:
    """End the blind round: raters see each other's answers if these differ, and discuss them.

    Safe to run twice. Raises NotReadyError before it was opened.
    """
    close_round_one(project=session, by=by)
    first = rounds_of(session)[1]
    # Without a difference there is nothing to discuss, so no Round II opens.
    if first.disputes.exists():
        open_round_two(project=session, by=by)


def reveal_complete_sessions() -> None:
    for session in complete_sessions():
        try:
            reveal_session(session=session, by=None)
        except DomainError as error:  # one that cannot be revealed now must not keep the others
            logger.warning("%s could not be revealed: %s", session.slug, error)


def end_session(*, session: Project, by: User | None) -> None:
    """End the discussion; remaining differences are final. Safe to run twice. Raises NotReadyError."""
    rounds = rounds_of(session)
    if 1 not in rounds or rounds[1].status == Round.Status.OPEN:
        raise NotReadyError(gettext("Reveal the answers before you end the session."))
    if 2 in rounds:
        close_round_two(project=session, by=by)


@transaction.atomic
def add_to_guidelines(*, session: Project, text: str, by: User | None) -> Project:
    """Add an agreement to the guidelines of the calibrated project.

    Raises InvalidValueError for an empty agreement, and the errors of changing the guidelines.
    """
    project = session.calibrates
    assert project is not None
    if not text.strip():
        raise InvalidValueError(gettext("Write the agreement."), fields={"text": gettext("Write it here.")})
    guidelines = f"{project.guidelines.rstrip()}\n\n{text.strip()}\n".lstrip()
    # Raters of an open round must see new wording as a version with a note.
    if rounds_of(project):
        note = gettext("Agreed in {session}.").format(session=session.name)
        reword_guidelines(project=project, guidelines=guidelines, note=note, by=by)
        return project
    return update_project(project=project, guidelines=guidelines)
