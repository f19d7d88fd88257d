from agreement.streams import Stream
from annotate.core.models import Project, Round
from annotate.fastpath.queries import NUMBERS, Prepared


def rounds_of(project: Project) -> dict[int, Round]:
    """Return the project's rounds by number, each with its guideline. One query."""
    return {round.number: round for round in project.rounds.select_related("guideline")}


def last_round(project: Project) -> Round | None:
    """Return the round that was opened last, with its guideline; None before Round I. One query."""
    return project.rounds.select_related("guideline").order_by("number").last()


def round_one(project: Project) -> Round | None:
    """Return Round I, None before it was opened. One query."""
    return _ROUND_ONE.first(project.pk)


_ROUND_ONE = Prepared(
    lambda project: Round.objects.select_related("guideline").filter(project=project, number=1), NUMBERS[0]
)


def seed_of_round(project: Project, number: int) -> int:
    """Return the seed that a round of the project has, or will have."""
    return Stream(project.seed).of("round", number).shuffler().randrange(2**31)
