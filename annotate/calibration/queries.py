"""The state of calibration sessions, and agreement before and after discussion."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from agreement.coefficient import Coefficient
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Dispute, DisputeRater, Membership, Project, Role, Round
from annotate.core.rounds import rounds_of
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import default_drawn, rated_rounds

RaterState = tuple[Membership, int, int, int]
"""A rater of a session with their answered items, all items, and pending disputes."""
BothAlphas = tuple[FrozenDimension, Coefficient, Coefficient | None]
"""Agreement on one question, blind and after discussion; `after` is missing before there is any."""


@dataclass(frozen=True)
class SessionState:
    """A calibration session as its host sees it. The agreement is empty until the answers are revealed."""

    session: Project
    blind: Round | None
    discussion: Round | None
    raters: Sequence[RaterState]
    disputes: int
    open: int
    agreement: Sequence[BothAlphas]

    @property
    def is_blind(self) -> bool:
        """Return True if raters still answer without seeing each other's answers."""
        return self.blind is not None and self.blind.is_open

    @property
    def is_discussed(self) -> bool:
        return self.discussion is not None and self.discussion.is_open


def sessions_of(project: Project) -> QuerySet[Project]:
    return Project.objects.filter(calibrates=project).order_by("-pk")


def complete_sessions() -> QuerySet[Project]:
    """Return the sessions to reveal: all is answered, or the blind round closed and nothing followed."""
    # Open blind rounds in which everything is answered.
    unfinished = Assignment.objects.filter(round=OuterRef("pk"), completed_at=None)
    # A round without any assignment has no unfinished one either, and is not complete.
    some = Assignment.objects.filter(round=OuterRef("pk"))
    rounds = Round.objects.filter(
        Exists(some), ~Exists(unfinished), number=1, status=Round.Status.OPEN, is_unfinished=False
    )
    # Closed blind rounds with differences, whose discussion has not opened.
    second = Round.objects.filter(project=OuterRef("project"), number=2)
    halfway = Round.objects.filter(
        ~Exists(second), number=1, status=Round.Status.CLOSED, is_unfinished=False, disputes__isnull=False
    )
    wanted = Q(pk__in=rounds.values("project")) | Q(pk__in=halfway.values("project"))
    return Project.objects.filter(wanted, calibrates__isnull=False)


def session_state(session: Project) -> SessionState:
    """Return the state of a session. Seven queries, and more for agreement once it is revealed."""
    rounds = rounds_of(session)
    first, second = rounds.get(1), rounds.get(2)
    disputes = Dispute.objects.filter(round__project=session).aggregate(
        all=Count("pk"), open=Count("pk", filter=Q(status=Dispute.Status.OPEN))
    )
    return SessionState(
        session=session,
        blind=first,
        discussion=second,
        raters=_raters(session, first),
        disputes=disputes["all"],
        open=disputes["open"],
        agreement=_agreement(session) if first and not first.is_open else [],
    )


def _raters(session: Project, first: Round | None) -> list[RaterState]:
    members = session.memberships.filter(role=Role.ANNOTATOR).order_by("alias")
    own = Assignment.objects.filter(round=first).values_list("annotator")
    counts = {
        annotator: (done, whole)
        for annotator, done, whole in own.annotate(
            done=Count("pk", filter=Q(completed_at__isnull=False)), whole=Count("pk")
        )
    }
    waiting = DisputeRater.objects.filter(dispute__round__project=session, since__isnull=False)
    waits = dict(waiting.values_list("rater").annotate(Count("pk")))
    return [(each, *counts.get(each.pk, (0, 0)), waits.get(each.pk, 0)) for each in members]


def _agreement(session: Project) -> list[BothAlphas]:
    rounds = rated_rounds(session, default_drawn(session))
    before, after = rounds[0], rounds[1] if len(rounds) > 1 else None
    return [
        (each, alpha_of(before, each), alpha_of(after, each) if after else None) for each in before.dimensions
    ]
