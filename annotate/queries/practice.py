"""How far an annotator is with practice, and what is right."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotate.models import GoldItem, GoldValue, Membership, PracticeAnswer, Project
from annotate.queries.dispute_rules import Rule, rules_of
from annotate.queries.guidelines import current_guideline
from annotate.queries.work import Row


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
    given = _given(place)
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
    given = _given(place)
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


def _given(place: Membership) -> dict[int, int]:
    answers = PracticeAnswer.objects.filter(place=place, attempt=place.practice_attempt)
    return dict(answers.values_list("gold_value", "value"))


def _is_right(gold: GoldValue, value: int, rules: Mapping[int, Rule]) -> bool:
    return abs(gold.value - value) <= rules[gold.dimension_id].tolerance
