"""How each annotator rated in Round I, as evidence for an admin."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import Length

from annotate.models import Assignment, CountingDecision, Membership, Project, Rating, Role
from annotate.quality import RatedItem, Signs, signs_of
from annotate.queries.checks import Checks, checks_of

MOST_SHOWN = 100


@dataclass(frozen=True)
class Rater:
    """An annotator with what the items show."""

    place: Membership
    signs: Signs
    checks: Checks


@dataclass(frozen=True)
class ShownItem:
    """An item with a sign, and the values that were given, in the order of the dimensions."""

    position: int | None
    document: str
    characters: int
    seconds: float
    values: list[int | None]


@dataclass(frozen=True)
class RaterEvidence:
    """One annotator's signs with the items that show them, at most 100 of a kind, and past decisions."""

    rater: Rater
    too_fast: list[ShownItem]
    straight: list[ShownItem]
    decisions: list[CountingDecision]


def raters_with_signs(project: Project) -> list[Rater]:
    """Return every annotator with the signs of Round I, by letter. Five queries."""
    items, checks = _items(project), checks_of(project)
    places = Membership.objects.filter(project=project, role=Role.ANNOTATOR).order_by("joined_at", "pk")
    return [
        Rater(place, signs_of(items.get(place.pk, [])), checks.get(place.pk, Checks())) for place in places
    ]


def evidence(place: Membership) -> RaterEvidence:
    """Return one annotator's signs with their items. Seven queries."""
    checks = checks_of(place.project).get(place.pk, Checks())
    signs = signs_of(_items(place.project, place).get(place.pk, []))
    wanted = {*signs.too_fast[:MOST_SHOWN], *signs.straight[:MOST_SHOWN]}
    shown = _shown(wanted)
    return RaterEvidence(
        rater=Rater(place, signs, checks),
        too_fast=[shown[key] for key in signs.too_fast[:MOST_SHOWN]],
        straight=[shown[key] for key in signs.straight[:MOST_SHOWN]],
        decisions=list(place.counting_decisions.select_related("by")),
    )


def left_out(project: Project) -> list[Membership]:
    """Return the annotators whose ratings the statistics leave out. One query."""
    places = Membership.objects.filter(project=project, role=Role.ANNOTATOR, counted=False)
    return list(places.order_by("joined_at", "pk"))


def _items(project: Project, place: Membership | None = None) -> Mapping[int, list[RatedItem]]:
    finished = Assignment.objects.filter(
        round__project=project, round__number=1, completed_at__isnull=False, annotator__isnull=False
    )
    if place:
        finished = finished.filter(annotator=place)
    rows = (
        finished.order_by("annotator", "position")
        .annotate(
            characters=Length("item__text"),
            seconds=Sum("ratings__active_seconds"),
            values_given=Count("ratings__value"),
            lowest=Min("ratings__value"),
            highest=Max("ratings__value"),
        )
        .values_list("annotator", "pk", "characters", "seconds", "values_given", "lowest", "highest")
    )
    items: dict[int, list[RatedItem]] = defaultdict(list)
    for annotator, pk, characters, seconds, count, lowest, highest in rows.iterator(20_000):
        items[annotator or 0].append(RatedItem(pk, characters, seconds or 0, count, lowest, highest))
    return items


def _shown(assignments: set[int]) -> dict[int, ShownItem]:
    rows = Assignment.objects.filter(pk__in=assignments).annotate(characters=Length("item__text"))
    ratings = Rating.objects.filter(assignment__in=assignments).order_by("dimension__position", "dimension")
    given: dict[int, list[tuple[int | None, float]]] = defaultdict(list)
    for assignment, value, seconds in ratings.values_list("assignment", "value", "active_seconds"):
        given[assignment].append((value, seconds))
    columns = ("pk", "position", "item__document__key", "characters")
    return {
        pk: ShownItem(
            position,
            document,
            characters,
            sum(seconds for _, seconds in given[pk]),
            [value for value, _ in given[pk]],
        )
        for pk, position, document, characters in rows.values_list(*columns)
    }
