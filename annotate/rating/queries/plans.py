"""The assignment of a project's items: planned before Round I opens, and actual afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, Q, QuerySet

from annotate.core.models import Assignment, AssignmentPlan, Dimension, Item, Membership, Project, Role, Round
from annotate.core.rounds import seed_of_round
from annotate.fastpath.queries import NUMBERS, compile_once
from annotate.questions import KINDS
from annotate.rating.planning import (
    CannotBeMetError,
    DealtPlan,
    deal_balanced,
    everyone,
    plan_from_list,
    severity_between_systems,
    sharing,
)

Kind, DealtBy = AssignmentPlan.Kind, AssignmentPlan.DealtBy
MOST_COMPARED = 5_000  # items up to which a preview deals all plans to compare them


@dataclass(frozen=True)
class PlannedWork:
    """A plan with the keys of its people, items and systems, in the order of its numbers."""

    plan: DealtPlan
    annotators: Sequence[Membership]
    items: Sequence[int]
    systems: Sequence[int]

    @cached_property
    def severity(self) -> tuple[float, float] | None:
        return severity_between_systems(self.plan, self.systems)

    @property
    def without_raters(self) -> int:
        return self.plan.raters_per_item.get(0, 0)

    @cached_property
    def rows(self) -> list[tuple[Membership, int, list[int]]]:
        return list(zip(self.annotators, self.plan.loads, self.plan.overlap.tolist(), strict=True))


def plan_of(project: Project) -> AssignmentPlan:
    """Return the project's plan; the shared queue without a choice. One query."""
    return _PLAN.first(project.pk) or AssignmentPlan(project=project)


_PLAN = compile_once(
    lambda project: AssignmentPlan.objects.select_related("project").filter(project=project), NUMBERS[0]
)


def planned_work(choice: AssignmentPlan) -> PlannedWork | None:
    """Return the planned raters of each item, the same on each call; None for the shared queue. Two queries.

    Raises CannotBeMetError.
    """
    if choice.kind == Kind.QUEUE:
        return None
    return _plan_work(choice, planned_annotators(choice.project), _rated_items(choice.project))


def severity_by_plan(choice: AssignmentPlan) -> list[tuple[str, tuple[float, float]]]:
    """Return the effect of severity on the difference of systems under each possible plan, in words.

    Two queries.

    Fixed lists are compared only if they are chosen; with more than 5,000 items there is no comparison.
    """
    project = choice.project
    # Read once for all plans that are compared.
    annotators, items = planned_annotators(project), _rated_items(project)
    if len(items) > MOST_COMPARED:
        return []
    found = []
    for kind in Kind:
        if kind == Kind.QUEUE or (kind == Kind.LISTED and choice.kind != kind):
            continue
        # Only these two plans deal bundles, so only they differ by the kind of bundle.
        for dealt_by in DealtBy if kind in (Kind.BALANCED, Kind.SHARING) else (DealtBy(choice.dealt_by),):
            other = AssignmentPlan(
                project=project, kind=kind, share=choice.share, dealt_by=dealt_by, pairs=choice.pairs
            )
            try:
                severity = _plan_work(other, annotators, items).severity
            except CannotBeMetError:
                continue
            if severity is not None:
                found.append((other.in_words, severity))
    return found


def _plan_work(
    choice: AssignmentPlan, annotators: Sequence[Membership], rows: Sequence[tuple[int, int, int]]
) -> PlannedWork:
    project = choice.project
    items = [item for item, _, _ in rows]
    # Items of one bundle get the same raters.
    bundles = [document if choice.dealt_by == DealtBy.DOCUMENTS else item for item, document, _ in rows]
    there, wanted, seed = len(annotators), project.raters_per_item, seed_of_round(project, 1)
    if choice.kind == Kind.EVERYONE:
        plan = everyone(len(items), there)
    elif choice.kind == Kind.BALANCED:
        plan = deal_balanced(bundles, there, wanted, seed)
    elif choice.kind == Kind.SHARING:
        plan = sharing(bundles, there, wanted, choice.share / 100, seed)
    else:
        pairs = [(item, annotator) for item, annotator in choice.pairs]
        plan = plan_from_list(pairs, items, [annotator.pk for annotator in annotators])
    return PlannedWork(plan, annotators, items, [system for _, _, system in rows])


def shared_out(round: Round) -> PlannedWork:
    """Return the actual raters of each item of an opened round. Two queries."""
    held = Assignment.objects.filter(round=round, annotator__isnull=False)
    annotators = list(Membership.objects.filter(project=round.project_id, role=Role.ANNOTATOR).order_by("pk"))
    number = {annotator.pk: index for index, annotator in enumerate(annotators)}
    raters: dict[int, list[int]] = {}
    systems: dict[int, int] = {}
    for item, system, annotator in held.values_list("item", "item__system", "annotator").iterator(20_000):
        raters.setdefault(item, []).append(number[annotator or 0])
        systems[item] = system
    plan = DealtPlan(len(annotators), tuple(map(tuple, raters.values())))
    return PlannedWork(plan, annotators, list(raters), list(systems.values()))


def planned_annotators(project: Project) -> list[Membership]:
    """Return the annotators for a plan: active memberships, with or without an account."""
    memberships = Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True)
    return list(memberships.order_by("pk"))


def _rated_items(project: Project) -> list[tuple[int, int, int]]:
    # A fixed order, so that the seed alone decides about the plan.
    return list(items_of_round_one(project).order_by("pk").values_list("pk", "document", "system"))


def items_of_round_one(project: Project) -> QuerySet[Item]:
    """Return the items of Round I: all with a question about them, except items with gold values."""
    asked = Dimension.objects.filter(project=project)
    comparing = [kind.key for kind in KINDS.values() if kind.compares]
    asks_of_outputs = Exists(asked.exclude(kind__in=comparing)) | ~Exists(asked.filter(kind__in=comparing))
    is_asked = Q(asks_of_outputs, kind=Item.Kind.OUTPUT)
    for item_kind in Item.Kind.values[1:]:
        own = [kind.key for kind in KINDS.values() if kind.item_kind == item_kind]
        is_asked |= Q(Exists(asked.filter(kind__in=own)), kind=item_kind)
    return Item.objects.filter(is_asked, document__project=project, gold__isnull=True)


def names_of_items(project: Project) -> dict[str, int]:
    """Return the keys of items by their name in a list: document, a slash, system. One query."""
    items = Item.objects.filter(document__project=project)
    rows = items.values_list("document__key", "system__name", "pk")
    return {f"{document}/{system}": pk for document, system, pk in rows}


def names_of_annotators(project: Project) -> dict[str, int]:
    """Return the keys of active annotators by alias, label and e-mail, in lower case. One query."""
    memberships = Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True)
    names: dict[str, int] = {}
    # The oldest membership comes last and so keeps a name that several share.
    for membership in memberships.select_related("user").order_by("-pk"):
        address = membership.user.email if membership.user else ""
        named = (membership.alias, membership.rater_name, address, membership.label)
        names |= {name.lower(): membership.pk for name in named if name}
    return names
