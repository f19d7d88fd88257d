"""What is read of quality: fixed numbers of database queries, nothing is written."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Max, Min, QuerySet, Sum
from django.db.models.functions import Length

from annotate.core.guidelines import current_guideline
from annotate.core.models import (
    Assignment,
    CountingDecision,
    GoldItem,
    GoldValue,
    Membership,
    PracticeAnswer,
    Project,
    Rating,
    Role,
)
from annotate.disputes.queries.rules import Rule, rules_of
from annotate.quality import RatedItem, Signs, signs_of
from annotate.rating.queries.hidden_checks import Checks, checks_of
from annotate.rating.queries.work import Row

# The gold items of a project.

MOST_NAMES = 500


def gold_of(project: Project) -> "QuerySet[GoldItem]":
    """Return a project's gold items with the number of their values, practice first."""
    found = GoldItem.objects.filter(item__document__project=project).annotate(known=Count("values"))
    return found.select_related("item__document", "item__system").order_by("-use", "pk")


def names_to_choose(project: Project) -> dict[str, list[str]]:
    """Return the names of documents and systems that a page offers, at most 500 of each. Two queries."""
    documents = project.documents.order_by("pk").values_list("key", flat=True)[:MOST_NAMES]
    systems = project.systems.order_by("name").values_list("name", flat=True)[:MOST_NAMES]
    return {"documents": list(documents), "systems": list(systems)}


# How far an annotator is with practice, and what is right.


@dataclass(frozen=True)
class Practice:
    """An annotator's present attempt: values to give, given and right, and the item that comes next."""

    attempt: int
    asked: int
    given: int
    right: int
    bar: int
    next: GoldItem | None
    items: int
    items_done: int

    @property
    def is_finished(self) -> bool:
        """Whether everything was answered."""
        return self.given == self.asked

    @property
    def is_passed(self) -> bool:
        """Whether enough of it is right."""
        return self.right * 100 >= self.bar * self.asked


@dataclass(frozen=True)
class Lesson:
    """A dimension of an answered practice item: what was answered, what is right, and why."""

    name: str
    value: int
    gold: int
    is_right: bool
    explanation: str


def must_practise(place: Membership) -> bool:
    """Return whether the annotator has to pass practice before work. No query, with the project at hand."""
    return place.project.practice_bar is not None and place.practised_at is None


def practice_values(project: Project) -> "QuerySet[GoldValue]":
    """Return the values that practice asks for, by item."""
    values = GoldValue.objects.filter(gold__item__document__project=project, gold__use=GoldItem.Use.PRACTICE)
    return values.select_related("gold").order_by("gold", "dimension__position", "dimension")


def practice_of(place: Membership) -> Practice:
    """Return the annotator's present attempt. Three queries."""
    asked = list(practice_values(place.project))
    given = _practice_values(place)
    rules = rules_of(place.project)
    items = {each.gold_id for each in asked}
    left = {each.gold_id: each.gold for each in asked if each.pk not in given}
    return Practice(
        attempt=place.practice_attempt,
        asked=len(asked),
        given=sum(each.pk in given for each in asked),
        right=sum(_is_right(each, given[each.pk], rules) for each in asked if each.pk in given),
        bar=place.project.practice_bar or 0,
        next=next(iter(left.values()), None),
        items=len(items),
        items_done=len(items) - len(left),
    )


def practice_rows(gold: GoldItem, project: Project) -> list[Row]:
    """Return the dimensions that a practice item asks for, as rows of a form. Three queries."""
    asked = set(gold.values.values_list("dimension", flat=True))
    return [Row(each, None) for each in current_guideline(project).dimensions if each.id in asked]


def lessons(gold: GoldItem, place: Membership) -> list[Lesson]:
    """Return what there is to learn of a practice item, nothing before it was answered. Three queries."""
    given = _practice_values(place)
    rules = rules_of(place.project)
    return [
        Lesson(
            each.dimension.name,
            given[each.pk],
            each.value,
            _is_right(each, given[each.pk], rules),
            each.explanation,
        )
        for each in gold.values.select_related("dimension")
        if each.pk in given
    ]


def _practice_values(place: Membership) -> dict[int, int]:
    answers = PracticeAnswer.objects.filter(place=place, attempt=place.practice_attempt)
    return dict(answers.values_list("gold_value", "value"))


def _is_right(gold: GoldValue, value: int, rules: Mapping[int, Rule]) -> bool:
    return abs(gold.value - value) <= rules[gold.dimension_id].tolerance


# How each annotator rated in Round I, as evidence for an admin.

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
    shown = _shown_items(wanted)
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


def _shown_items(assignments: set[int]) -> dict[int, ShownItem]:
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
