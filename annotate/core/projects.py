from dataclasses import dataclass

from django.db.models import Prefetch, Q

from annotate.core.access import SomeUser, memberships_of, projects_of
from annotate.core.models import Addition, Membership, Project, Role, Round


@dataclass(frozen=True)
class ProjectCard:
    """A project in a person's list, with the person's roles and the project's progress.

    `as_annotator`: the membership with which they rate. `adjudicates`: True if they decide disputes.
    `addition`: the link to another project if it is an addition.
    """

    project: Project
    as_annotator: Membership | None
    adjudicates: bool
    roles: list[str]
    rounds: list[Round]
    addition: Addition | None = None


def is_frozen(project: Project) -> bool:
    """Return True if a round was ever opened, which froze the configuration. One query."""
    return project.rounds.exists()


def project_cards(user: SomeUser) -> list[ProjectCard]:
    """Return this person's projects, the newest first, additions below their benchmark. Three queries."""
    mine = Prefetch("memberships", memberships_of(user), to_attr="mine")
    rounds = Prefetch("rounds", Round.objects.select_related("guideline").order_by("number"))
    # Raters see a calibration session only while they have something to do in it.
    own = projects_of(user).filter(Q(calibrates=None) | Q(rounds__status=Round.Status.OPEN)).distinct()
    projects = own.select_related("addition__benchmark").prefetch_related(mine, rounds)
    cards = [
        ProjectCard(
            project,
            next((membership for membership in project.mine if membership.role == Role.ANNOTATOR), None),
            any(membership.role == Role.ADJUDICATOR for membership in project.mine),
            sorted(str(Role(membership.role).label) for membership in project.mine),
            list(project.rounds.all()),
            getattr(project, "addition", None),
        )
        for project in projects.order_by("-created_at", "-pk")
    ]
    # Put additions below their benchmark, in order of their numbers, if the person has it,
    # too.
    listed = {card.project.pk for card in cards}
    below: dict[int, list[ProjectCard]] = {}
    for card in sorted(cards, key=lambda card: card.addition.number if card.addition else 0):
        if card.addition and card.addition.benchmark_id in listed:
            below.setdefault(card.addition.benchmark_id, []).append(card)
    found: list[ProjectCard] = []
    for card in cards:
        if card.addition is None or card.addition.benchmark_id not in listed:
            found += [card, *below.get(card.project.pk, [])]
    return found
