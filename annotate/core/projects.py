"""Projects as lists show them."""

from dataclasses import dataclass

from django.db.models import Prefetch, Q

from annotate.core.access import SomeUser, places_of, projects_of
from annotate.core.models import Membership, Project, Role, Round


@dataclass(frozen=True)
class ProjectCard:
    """A project in a person's list: what they are in it and how far it is.

    `as_annotator`: the membership with which they rate. `adjudicates`: whether they decide disputes.
    """

    project: Project
    as_annotator: Membership | None
    adjudicates: bool
    roles: list[str]
    rounds: list[Round]


def is_frozen(project: Project) -> bool:
    """Return whether a round was ever opened, which froze the configuration. One query."""
    return project.rounds.exists()


def project_cards(user: SomeUser) -> list[ProjectCard]:
    """Return this person's projects, the newest first. Three queries."""
    mine = Prefetch("memberships", places_of(user), to_attr="mine")
    rounds = Prefetch("rounds", Round.objects.select_related("guideline").order_by("number"))
    # Raters see a calibration session only while they have something to do in it.
    own = projects_of(user).filter(Q(calibrates=None) | Q(rounds__status=Round.Status.OPEN)).distinct()
    projects = own.prefetch_related(mine, rounds).order_by("-created_at", "-pk")
    return [
        ProjectCard(
            project,
            next((place for place in project.mine if place.role == Role.ANNOTATOR), None),
            any(place.role == Role.ADJUDICATOR for place in project.mine),
            sorted(str(Role(place.role).label) for place in project.mine),
            list(project.rounds.all()),
        )
        for project in projects
    ]
