"""Projects as lists show them."""

from dataclasses import dataclass

from django.db.models import Prefetch, Q

from annotate.core.access import SomeUser, places_of, projects_of
from annotate.core.models import Addition, Membership, Project, Role, Round


@dataclass(frozen=True)
class ProjectCard:
    """A project in a person's list: what they are in it and how far it is.

    `as_annotator`: the membership with which they rate. `adjudicates`: whether they decide disputes.
    `addition`: what makes it an addition to another project.
    """

    project: Project
    as_annotator: Membership | None
    adjudicates: bool
    roles: list[str]
    rounds: list[Round]
    addition: Addition | None = None


def is_frozen(project: Project) -> bool:
    """Return whether a round was ever opened, which froze the configuration. One query."""
    return project.rounds.exists()


def project_cards(user: SomeUser) -> list[ProjectCard]:
    """Return this person's projects, the newest first, additions below their benchmark. Three queries."""
    mine = Prefetch("memberships", places_of(user), to_attr="mine")
    rounds = Prefetch("rounds", Round.objects.select_related("guideline").order_by("number"))
    # Raters see a calibration session only while they have something to do in it.
    own = projects_of(user).filter(Q(calibrates=None) | Q(rounds__status=Round.Status.OPEN)).distinct()
    found = own.select_related("addition__benchmark").prefetch_related(mine, rounds)
    projects = _below_benchmarks(list(found.order_by("-created_at", "-pk")))
    return [
        ProjectCard(
            project,
            next((place for place in project.mine if place.role == Role.ANNOTATOR), None),
            any(place.role == Role.ADJUDICATOR for place in project.mine),
            sorted(str(Role(place.role).label) for place in project.mine),
            list(project.rounds.all()),
            addition_to(project),
        )
        for project in projects
    ]


def _below_benchmarks(projects: list[Project]) -> list[Project]:
    """Put additions below their benchmark, in order of their numbers, if the person has it, too."""
    listed = {project.pk for project in projects}
    below: dict[int, list[Project]] = {}
    for project in projects:
        if addition := addition_to(project):
            below.setdefault(addition.benchmark_id, []).append(project)
    found: list[Project] = []
    for project in projects:
        addition = addition_to(project)
        if addition is None or addition.benchmark_id not in listed:
            found.append(project)
        found += sorted(below.get(project.pk, []), key=lambda each: each.addition.number)
    return found


def addition_to(project: Project) -> Addition | None:
    """Return the addition that a project is, if any. One query unless it was loaded with the project."""
    return getattr(project, "addition", None)
