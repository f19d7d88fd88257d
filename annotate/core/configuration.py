"""Projects: locking, freezing, the quota of their files, and the list of a person."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils.translation import gettext

from annotate.core.access import SomeUser, memberships_of, projects_of
from annotate.core.errors import FrozenError, NotReadyError
from annotate.core.models import Addition, DataImport, Export, Membership, Project, Role, Round
from annotate.fastpath.queries import NO_KEY, NUMBERS, compile_once

# True while this context itself writes in steps: its own reservation must not reject its own steps.
_HOLDS: ContextVar[bool] = ContextVar("holds", default=False)


class ProjectHeldError(NotReadyError):
    """A long write into the project has committed some steps and not the last one."""

    def __init__(self) -> None:
        super().__init__(
            gettext("An import or a round of this project is being written. Try again in a moment.")
        )


def lock_project(project: Project, *, held_by: DataImport | None = None) -> Project:
    """Lock the project's row until the transaction ends, and return its current state.

    Raises ProjectHeldError while another import, or a round, is written step by step. held_by: the caller's
    import.
    """
    locked: Any = _LOCKED.first(project.pk, (held_by and held_by.pk) or NO_KEY)
    if locked is None:
        raise Project.DoesNotExist
    if locked.held and not _HOLDS.get():
        raise ProjectHeldError
    found: Project = locked
    return found


def _lock_row(project: int, held_by: int) -> QuerySet[Any]:
    # An import in a state without written rows can still be cancelled, so it holds nothing.
    imports = DataImport.objects.filter(project=OuterRef("pk")).exclude(written="").exclude(pk=held_by)
    # Between the steps of a long write the row is not locked: these columns show that one runs.
    rounds = Round.objects.filter(project=OuterRef("pk"), is_unfinished=True)
    locked = Project.objects.select_for_update().annotate(held=Exists(imports) | Exists(rounds))
    return locked.filter(pk=project)


_LOCKED = compile_once(_lock_row, *NUMBERS[:2])


@contextmanager
def holding_project() -> Iterator[None]:
    token = _HOLDS.set(True)
    try:
        yield
    finally:
        _HOLDS.reset(token)


def refuse_frozen(project: Project) -> None:
    """Raise FrozenError if a round was ever opened."""
    if is_frozen(project):
        raise FrozenError(gettext("Round I was opened, and froze this. It can no longer be changed."))


def lock_configurable(project: Project) -> Project:
    """Lock the project's row and return it. Raises FrozenError if a round was ever opened.

    Opening a round locks the same row, so nothing changes between the check and the write.
    """
    locked = lock_project(project)
    refuse_frozen(locked)
    return locked


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
    # Additions stand below their benchmark, in order of their numbers, if the person has it, too.
    listed = {card.project.pk for card in cards}
    below: dict[int, list[ProjectCard]] = {}
    for card in sorted(cards, key=lambda card: card.addition.number if card.addition else 0):
        if card.addition and card.addition.benchmark_id in listed:
            below.setdefault(card.addition.benchmark_id, []).append(card)
    found: list[ProjectCard] = []
    for card in cards:
        # An addition without its benchmark in the list gets its own position, or it would disappear.
        if card.addition is None or card.addition.benchmark_id not in listed:
            found += [card, *below.get(card.project.pk, [])]
    return found


MIB = 1024**2


def bytes_kept(project: Project) -> int:
    """Return the size of a project's files in bytes. Two queries."""
    uploads = DataImport.objects.filter(project=project).exclude(file="")
    exports = Export.objects.filter(project=project).exclude(file="")
    return sum(files.aggregate(all=Sum("size"))["all"] or 0 for files in (uploads, exports))


def refuse_over_quota(project: Project, *, more: int = 0) -> None:
    """Raise NotReadyError if a project's files, with `more` bytes, exceed its quota."""
    if bytes_kept(project) + more > settings.PROJECT_BYTES:
        raise NotReadyError(
            gettext(
                "The files of this project would take more than {limit:,} MiB. Delete exports or discard "
                "imports first, or ask the operator for more room."
            ).format(limit=settings.PROJECT_BYTES // MIB)
        )
