"""Rounds of a project."""

from annotate.models import Project, Round


def rounds_of(project: Project) -> dict[int, Round]:
    """Return the project's rounds by number, each with its guideline. One query."""
    return {round.number: round for round in project.rounds.select_related("guideline")}


def round_one(project: Project) -> Round | None:
    """Return Round I, None before it was opened. One query."""
    return project.rounds.select_related("guideline").filter(number=1).first()
