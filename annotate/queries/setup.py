"""How far a project is set up: five steps, read from what is there and stored nowhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.models import Dimension, Invitation, Item, Membership, Project, Role, Round


@dataclass(frozen=True)
class SetupStep:
    """A step: the route of its page, whether it is done, and where it stands in a few words."""

    name: str
    route: str
    done: bool
    says: str


@dataclass(frozen=True)
class Setup:
    """The steps of a project whose Round I was not opened yet; `current` is the one of the page shown."""

    steps: list[SetupStep]
    needed: list[str]
    advised: list[str]
    current: SetupStep | None = None
    next: SetupStep | None = None

    @property
    def can_open(self) -> bool:
        """Whether Round I can be opened."""
        return not self.needed


# The pages of each step; the first is the one that its link leads to.
PAGES = {
    "data": ("imports", "data_import"),
    "dimensions": ("dimensions", "dimension", "dimension_new", "images"),
    "people": ("people", "person"),
    "rounds": ("settings", "plan", "dispute_rules", "gold", "gold_item"),
    "review": ("review",),
}
STEP_OF_PAGE = {page: step for step, pages in PAGES.items() for page in pages}


def setup_of(project: Project, page: str = "") -> Setup | None:
    """Return how far a project is set up, on a page (its route); None once a round opened. One query."""
    own = Project.objects.filter(pk=project.pk)
    members = Membership.objects.filter(role=Role.ANNOTATOR, active=True)
    found = own.values(
        frozen=Exists(Round.objects.filter(project=OuterRef("pk"))),
        item_count=_count(Item.objects.all(), "document__project"),
        dimension_count=_count(Dimension.objects.all(), "project"),
        annotator_count=_count(members, "project"),
        empty_count=_count(members.filter(user__isnull=True), "project"),
        invited_count=_count(_pending_invitations(), "project"),
    ).get()
    return None if found["frozen"] else _setup(project, page, found)


def _count(rows: "QuerySet[Any]", path: str) -> Coalesce:
    counted = rows.filter(**{path: OuterRef("pk")}).order_by().values(path).annotate(count=Count("pk"))
    return Coalesce(Subquery(counted.values("count")), 0)


def _pending_invitations() -> QuerySet[Invitation]:
    pending = Invitation.objects.filter(accepted_at__isnull=True, withdrawn_at__isnull=True)
    return pending.filter(role=Role.ANNOTATOR, place__isnull=True, expires_at__gt=timezone.now())


def _setup(project: Project, page: str, found: Mapping[str, Any]) -> Setup:
    items, dimensions = found["item_count"], found["dimension_count"]
    annotators, invited = found["annotator_count"], found["invited_count"]
    raters = project.raters_per_item
    enough = annotators + invited >= raters
    needed = ["Import items."] if not items else []
    needed += ["Add at least one dimension."] if not dimensions else []
    people = _counted(annotators, "annotator") + (f", {invited} invited" if invited else "")
    if not enough:
        people = f"{annotators + invited} of {raters} annotators needed"
    steps = [
        SetupStep("data", "imports", items > 0, _counted(items, "item")),
        SetupStep("dimensions", "dimensions", dimensions > 0, _counted(dimensions, "dimension")),
        SetupStep("people", "people", enough, people),
        SetupStep("rounds", "settings", True, _counted(raters, "rater") + " per item"),
        SetupStep("review", "review", not needed and enough, "everything at a glance"),
    ]
    here = next((at for at, each in enumerate(steps) if each.name == STEP_OF_PAGE.get(page)), None)
    following = None if here is None or here + 1 == len(steps) else steps[here + 1]
    return Setup(
        steps=steps,
        needed=needed,
        advised=_advised(annotators, raters, found["empty_count"] + invited),
        current=None if here is None else steps[here],
        next=following,
    )


def _advised(annotators: int, raters: int, waiting: int) -> list[str]:
    advised = []
    if annotators < raters:
        advised.append(
            f"Each item needs {_counted(raters, 'rater')}; there {'is' if annotators == 1 else 'are'} "
            f"{_counted(annotators, 'annotator')}, and until more join, no item can be complete."
        )
    if waiting:
        links = "An invitation was" if waiting == 1 else f"{waiting} invitations were"
        advised.append(f"{links} not opened yet.")
    return advised


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}" if count else f"no {name}s yet"
