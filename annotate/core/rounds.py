"""The rounds of a project, the raters of a disputed unit, and raters that do not count."""

from django.db.models import Exists, F, Q, QuerySet, Subquery

from agreement.streams import Stream
from annotate.core.models import Assignment, Dispute, Membership, Project, Role, Round
from annotate.fastpath.queries import NUMBERS, Prepared, compile_once


def rounds_of(project: Project) -> dict[int, Round]:
    """Return the project's rounds by number, each with its guideline. One query."""
    found = {round.number: round for round in _ROUNDS.all(project.pk)}
    for round in found.values():
        round.project = project  # as a related manager does, so that it is not read again
    return found


def last_round(project: Project) -> Round | None:
    """Return the round that was opened last, with its guideline; None before Round I. One query."""
    return project.rounds.select_related("guideline").order_by("number").last()


def round_one(project: Project) -> Round | None:
    """Return Round I, None before it was opened. One query."""
    return _ROUND_ONE.first(project.pk)


_ROUNDS = compile_once(
    lambda project: Round.objects.select_related("guideline").filter(project=project), NUMBERS[0]
)
_ROUND_ONE = Prepared(
    lambda project: Round.objects.select_related("guideline").filter(project=project, number=1), NUMBERS[0]
)


def seed_of_round(project: Project, number: int) -> int:
    """Return the seed that a round of the project has, or will have."""
    return Stream(project.seed).of("round", number).shuffler().randrange(2**31)


# Raters of a disputed unit have a value for it in Round I. Reserving the item, or reporting that it cannot be
# rated, does not make an annotator a rater of its units.

_ASSIGNMENTS = "item__assignments"
# Joins a dispute to the Round I assignments with a value for its unit. Further conditions must be in the same
# filter(), or they apply to other assignments.
RATED = Q(
    item__assignments__round=F("round"),
    item__assignments__ratings__dimension=F("dimension"),
    item__assignments__ratings__value__isnull=False,
)


def raters_of(dispute: Dispute) -> QuerySet[Membership]:
    """Return the raters of a disputed unit, in the order of their aliases."""
    return _raters(Dispute.objects.filter(RATED, pk=dispute.pk)).order_by("alias")


def raters_in(slug: str, number: int) -> QuerySet[Membership]:
    return _raters(Dispute.objects.filter(RATED, round__project__slug=slug, number=number))


def _raters(rated: QuerySet[Dispute]) -> QuerySet[Membership]:
    # `rated` has been joined with RATED.
    return Membership.objects.filter(pk__in=rated.values(f"{_ASSIGNMENTS}__annotator"))


def disputes_in(project: Project | int) -> QuerySet[Dispute]:
    """Return the disputes of a project (or of the one with this key), all of which belong to Round I.

    PostgreSQL looks the round up first, and then finds disputes by an index of number or status; through a
    join it reads all of them.
    """
    round_one = Round.objects.filter(project=project, number=1)
    return Dispute.objects.filter(round=Subquery(round_one.values("pk")))


def disputes_of(membership: Membership) -> QuerySet[Dispute]:
    """Return the disputes that this annotator is a rater of; empty before Round II has been opened."""
    return disputes_in(membership.project_id).filter(
        round_two_was_opened(membership), raters__rater=membership
    )


def round_two_was_opened(membership: Membership) -> Exists:
    """Return the condition that the membership's project has a Round II.

    The database evaluates it once; a join through the project would evaluate it for each dispute.
    """
    return Exists(Round.objects.filter(project=membership.project_id, number=2))


def assignments_of_raters(round: Round) -> QuerySet[Assignment]:
    """Return the assignments of Round I with a value for at least one disputed unit of their item."""
    rated = Dispute.objects.filter(RATED, round=round)
    return Assignment.objects.filter(pk__in=rated.values(_ASSIGNMENTS))


def uncounted_annotators(project: Project) -> list[Membership]:
    """Return the annotators that the statistics exclude. One query."""
    memberships = Membership.objects.filter(project=project, role=Role.ANNOTATOR, counted=False)
    return list(memberships.order_by("joined_at", "pk"))
