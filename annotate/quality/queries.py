"""Read-only queries about quality, each with a fixed number of SQL queries."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Length
from django.utils.translation import gettext, gettext_lazy

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import guideline_at, name_on_page
from annotate.core.models import (
    Assignment,
    CountingDecision,
    GoldItem,
    GoldValue,
    Guideline,
    Membership,
    PracticeAnswer,
    Project,
    Rating,
    Role,
    Round,
)
from annotate.core.rounds import round_one
from annotate.core.scale import distance
from annotate.disputes.queries.rules import Rule, rules_of
from annotate.quality import RatedItem, Signals, signals_of
from annotate.questions.scale import SCALE
from annotate.rating.queries.assignments import order_for_rater
from annotate.rating.queries.hidden_checks import Checks, RaterCalibration, calibrate, checks_of
from annotate.rating.queries.work import ItemPage, Row
from annotate.results.queries.kept import KeptPage, ratings_of, version_of_round_one
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import Section

# The gold items of a project.

MOST_NAMES = 500


def gold_of(project: Project) -> "QuerySet[GoldItem]":
    found = GoldItem.objects.filter(item__document__project=project, bridging__isnull=True).annotate(
        known=Count("values")
    )
    return found.select_related("item__document", "item__system").order_by("-use", "pk")


def names_to_choose(project: Project) -> dict[str, list[str]]:
    """Return the document and system names for a page, up to 500 of each. Two queries."""
    documents = project.documents.order_by("pk").values_list("key", flat=True)[:MOST_NAMES]
    listed = project.systems.filter(compares=False)
    systems = listed.order_by("name").values_list("name", flat=True)[:MOST_NAMES]
    return {"documents": list(documents), "systems": list(systems)}


# An annotator's progress in practice, and the right values.


@dataclass(frozen=True)
class Practice:
    """An annotator's present attempt: numbers of required, final and right values, and the next item.

    right: the exact values and those within the tolerance. given: final values; their annotator has seen the
    reference values. items_done: completely answered items, whether or not the annotator has seen the
    reference values.
    """

    attempt: int
    asked: int
    given: int
    right: int
    exact: int
    bar: int
    next: GoldItem | None
    items: int
    items_done: int

    @property
    def near(self) -> int:
        return self.right - self.exact

    @property
    def wrong(self) -> int:
        return self.given - self.right

    @property
    def is_finished(self) -> bool:
        return self.given == self.asked

    @property
    def is_passed(self) -> bool:
        return self.right * 100 >= self.bar * self.asked


@dataclass(frozen=True)
class Lesson:
    """Feedback on a final answer: the reference value, the reason, and all answers on its dimension."""

    answer: PracticeAnswer
    value: str
    reference: float
    reference_name: str
    is_right: bool
    points_off: float
    explanation: str
    calibration: RaterCalibration | None


@dataclass(frozen=True)
class PracticeRow(Row):
    """A dimension of a practice item; with a lesson after its annotator has seen the reference values."""

    lesson: Lesson | None = None


@dataclass(frozen=True)
class PracticeItem:
    """A practice item as the rating page shows it; `previous` and `following` are keys of others."""

    gold: GoldItem
    page: ItemPage
    guideline: FrozenGuideline
    practice: Practice
    is_settled: bool
    is_answered: bool
    previous: int | None
    following: int | None

    @property
    def token(self) -> str:
        return f"practice-{self.gold.pk}-{self.practice.attempt}"


@dataclass(frozen=True)
class DimensionPractice:
    """The present attempt on a dimension; `again`: numbers and keys of the items not answered right."""

    dimension: FrozenDimension
    asked: int
    right: int
    exact: int
    calibration: RaterCalibration | None
    again: list[tuple[int, int]]


@dataclass(frozen=True)
class _Attempt:
    asked: list[GoldValue]
    answers: Mapping[int, PracticeAnswer]
    rules: Mapping[int, Rule]

    @property
    def items(self) -> list[int]:
        return list(dict.fromkeys(each.gold_id for each in self.asked))

    def answers_about(self, gold: int) -> list[PracticeAnswer | None]:
        return [self.answers.get(each.pk) for each in self.asked if each.gold_id == gold]

    def is_answered(self, gold: int) -> bool:
        return all(each and each.is_answered for each in self.answers_about(gold))

    def is_settled(self, gold: int) -> bool:
        return all(each and each.settled_at for each in self.answers_about(gold))

    def settled_pairs(self, dimension: int | None = None) -> list[tuple[GoldValue, PracticeAnswer]]:
        pairs = [(each, self.answers[each.pk]) for each in self.asked if each.pk in self.answers]
        wanted = [each for each in pairs if dimension in (None, each[0].dimension_id)]
        return [(gold, answer) for gold, answer in wanted if answer.settled_at]

    def is_right(self, gold: GoldValue, answer: PracticeAnswer) -> bool:
        if answer.value is None:
            return False
        return distance(gold.value, answer.value) <= self.rules[gold.dimension_id].tolerance

    def calibration(self, dimension: FrozenDimension) -> RaterCalibration | None:
        pairs = [(a.value, gold.value) for gold, a in self.settled_pairs(dimension.id) if a.value is not None]
        return calibrate(pairs, is_named=dimension.is_named)


def practice_values(project: Project) -> "QuerySet[GoldValue]":
    values = GoldValue.objects.filter(gold__item__document__project=project, gold__use=GoldItem.Use.PRACTICE)
    return values.select_related("gold").order_by("gold", "dimension__position", "dimension")


def _attempt(membership: Membership) -> _Attempt:
    answers = PracticeAnswer.objects.filter(membership=membership, attempt=membership.practice_attempt)
    return _Attempt(
        list(practice_values(membership.project)),
        {each.gold_value_id: each for each in answers},
        rules_of(membership.project),
    )


def practice_of(membership: Membership) -> Practice:
    """Return the annotator's present attempt. Three queries."""
    return _practice(membership, _attempt(membership))


def _practice(membership: Membership, attempt: _Attempt) -> Practice:
    settled = attempt.settled_pairs()
    # The items with a value that is not final, in order.
    left = {each.gold_id: each.gold for each in attempt.asked if not attempt.is_settled(each.gold_id)}
    return Practice(
        attempt=membership.practice_attempt,
        asked=len(attempt.asked),
        given=len(settled),
        right=sum(attempt.is_right(*each) for each in settled),
        exact=sum(gold.value == answer.value for gold, answer in settled),
        bar=membership.project.practice_bar or 0,
        next=next(iter(left.values()), None),
        items=len(attempt.items),
        items_done=sum(map(attempt.is_answered, attempt.items)),
    )


def practice_item_of(gold: GoldItem, membership: Membership) -> PracticeItem:
    """Return a practice item for the rating page. Up to seven queries.

    Its round and assignment are unsaved, as in a preview; their closed status means that nothing can be
    changed.
    """
    attempt, opened = _attempt(membership), round_one(membership.project)
    guideline = guideline_at(membership.project, opened)
    is_settled, items = attempt.is_settled(gold.pk), attempt.items
    # Before Round I no guideline is frozen.
    wording = opened.guideline if opened else Guideline(version=1)
    status = Round.Status.CLOSED if is_settled else Round.Status.OPEN
    round = Round(project=membership.project, number=1, guideline=wording, status=status)
    number = items.index(gold.pk) if gold.pk in items else 0
    left = [each for each in items if each != gold.pk and not attempt.is_settled(each)]
    # In the order in which this rater will see the dimensions in Round I.
    dimensions = order_for_rater(guideline.dimensions, opened, membership) if opened else guideline.dimensions
    return PracticeItem(
        gold=gold,
        page=ItemPage(
            assignment=Assignment(round=round, position=number + 1),
            title=gold.item.document.title,
            parts=gold.item.document.parts,
            text=gold.item.text,
            format=gold.item.format,
            rows=_practice_rows(gold, dimensions, attempt),
            previous=None,
            next=None,
            document=gold.item.document_id,
        ),
        guideline=guideline,
        practice=_practice(membership, attempt),
        is_settled=is_settled,
        is_answered=attempt.is_answered(gold.pk),
        # Going back leads only to items whose answers are final.
        previous=items[number - 1] if number and attempt.is_settled(items[number - 1]) else None,
        following=left[0] if left else None,
    )


def _practice_rows(gold: GoldItem, dimensions: Sequence[FrozenDimension], attempt: _Attempt) -> list[Row]:
    asked = {each.dimension_id: each for each in attempt.asked if each.gold_id == gold.pk}
    is_settled = attempt.is_settled(gold.pk)
    rows: list[Row] = []
    for dimension in dimensions:
        if right := asked.get(dimension.id):
            answer = attempt.answers.get(right.pk)
            lesson = _lesson(right, answer, dimension, attempt) if answer and is_settled else None
            rows.append(PracticeRow(dimension, _build_rating(answer), lesson=lesson))
    return rows


def _build_rating(answer: PracticeAnswer | None) -> Rating | None:
    if answer is None:
        return None
    names = ("value", "unsure", "cannot_rate", "not_applicable", "comment", "evidence")
    return Rating(**{name: getattr(answer, name) for name in names}, revision=0)


def _lesson(
    right: GoldValue, answer: PracticeAnswer, dimension: FrozenDimension, attempt: _Attempt
) -> Lesson:
    return Lesson(
        answer=answer,
        value="" if answer.value is None else name_on_page(dimension, answer.value),
        reference=right.value,
        reference_name=name_on_page(dimension, right.value),
        is_right=attempt.is_right(right, answer),
        points_off=0 if answer.value is None else distance(right.value, answer.value),
        explanation=right.explanation,
        calibration=attempt.calibration(dimension),
    )


def practice_summary(membership: Membership) -> list[DimensionPractice]:
    """Return the present attempt by dimension, in guideline order. Up to six queries."""
    attempt = _attempt(membership)
    items = attempt.items
    guideline = guideline_at(membership.project, round_one(membership.project))
    found = []
    for dimension in guideline.dimensions:
        settled = attempt.settled_pairs(dimension.id)
        wrong = [gold.gold_id for gold, answer in settled if not attempt.is_right(gold, answer)]
        again = [(items.index(each) + 1, each) for each in wrong]
        calibration = attempt.calibration(dimension)
        if settled:
            right = len(settled) - len(wrong)
            exact = sum(gold.value == answer.value for gold, answer in settled)
            found.append(DimensionPractice(dimension, len(settled), right, exact, calibration, again))
    return found


@dataclass(frozen=True)
class MiddleRater:
    """The practice result of a rater who always gives the middle of the scale."""

    asked: int
    right: int
    exact: int
    bar: int

    @property
    def percent(self) -> int:
        return self.right * 100 // self.asked

    @property
    def passes(self) -> bool:
        return self.right * 100 >= self.bar * self.asked


def middle_rater(project: Project) -> MiddleRater | None:
    """Return the practice result of always choosing the middle; None without a scale to practise on.

    Categories have no middle and are excluded. Up to four queries.
    """
    rules = rules_of(project)
    scales = {each.id: each for each in guideline_at(project, round_one(project)).scales if not each.is_named}
    apart = [
        (distance(each.value, _middle(scales[each.dimension_id])), rules[each.dimension_id].tolerance)
        for each in practice_values(project)
        if each.dimension_id in scales
    ]
    if not apart:
        return None
    right = sum(points <= tolerance for points, tolerance in apart)
    exact = sum(points == 0 for points, _ in apart)
    return MiddleRater(len(apart), right, exact, project.practice_bar or 0)


def _middle(dimension: FrozenDimension) -> float:
    # Of an even number of values, the lower one of the two in the middle.
    return dimension.values[(len(dimension.values) - 1) // 2]


# How each annotator rated in Round I, as evidence for an admin.


@dataclass(frozen=True)
class Rater:
    membership: Membership
    signals: Signals
    checks: Checks


@dataclass(frozen=True)
class ShownItem:
    position: int | None
    document: str
    characters: int
    seconds: float
    values: list[float | None]


@dataclass(frozen=True)
class RaterEvidence:
    """One annotator's signals with their items, up to 100 of each kind, and past decisions."""

    rater: Rater
    too_fast: list[ShownItem]
    straight: list[ShownItem]
    decisions: list[CountingDecision]


def signal_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return the signals of every annotator by key, packed as JSON. One query."""
    kept = {membership: asdict(signals_of(items)) for membership, items in _items(project).items()}
    return [Section(gettext("Annotator quality"), "", [], packed=json.dumps(kept))]


SIGNALS = ResultsPage(
    "signals",
    gettext_lazy("Annotator quality"),
    gettext_lazy("Time and patterns in the finished items of Round I."),
    signal_sections,
    version_of_round_one,
    ratings_of,
    shown_on="quality",
)


def raters_with_signals(project: Project, kept: KeptPage) -> list[Rater]:
    """Return every annotator with the stored signals of Round I, by alias. Four queries."""
    signals, checks = _signals_in(kept), checks_of(project)
    memberships = Membership.objects.filter(project=project, role=Role.ANNOTATOR).order_by("joined_at", "pk")
    return [
        Rater(membership, signals.get(membership.pk, Signals()), checks.get(membership.pk, Checks()))
        for membership in memberships
    ]


def evidence(membership: Membership, kept: KeptPage) -> RaterEvidence:
    """Return one annotator's signals with their items. Six queries."""
    checks = checks_of(membership.project).get(membership.pk, Checks())
    signals = _signals_in(kept).get(membership.pk, Signals())
    assignments = {*signals.too_fast_shown, *signals.straight_shown}
    rows = Assignment.objects.filter(pk__in=assignments).annotate(characters=Length("item__text"))
    ratings = Rating.objects.filter(assignment__in=assignments).order_by("dimension__position", "dimension")
    # The values of each item on scales, and its active time on all questions.
    given: dict[int, list[float | None]] = defaultdict(list)
    seconds: Counter[int] = Counter()
    names = ("assignment", "dimension__kind", "value", "active_seconds")
    for assignment, kind, value, active in ratings.values_list(*names):
        seconds[assignment] += active
        if kind == SCALE.key:
            given[assignment].append(value)
    columns = ("pk", "position", "item__document__key", "characters")
    shown = {
        pk: ShownItem(
            position,
            document,
            characters,
            seconds[pk],
            given[pk],
        )
        for pk, position, document, characters in rows.values_list(*columns)
    }
    return RaterEvidence(
        rater=Rater(membership, signals, checks),
        too_fast=[shown[key] for key in signals.too_fast_shown if key in shown],
        straight=[shown[key] for key in signals.straight_shown if key in shown],
        decisions=list(membership.counting_decisions.select_related("by")),
    )


def _signals_in(kept: KeptPage) -> Mapping[int, Signals]:
    return {
        int(membership): Signals(**signals)
        for section in kept.sections
        for membership, signals in json.loads(section.packed).items()
    }


_OF_SCALES = Q(ratings__dimension__kind=SCALE.key)
"""Equal numbers of different kinds, such as of labels and of sides, are no pattern."""


def _items(project: Project) -> Mapping[int, list[RatedItem]]:
    finished = Assignment.objects.filter(
        round__project=project, round__number=1, completed_at__isnull=False, annotator__isnull=False
    )
    rows = (
        finished.order_by("annotator", "position")
        .annotate(
            characters=Length("item__text"),
            seconds=Sum("ratings__active_seconds"),
            values_given=Count("ratings__value", filter=_OF_SCALES),
            lowest=Min("ratings__value", filter=_OF_SCALES),
            highest=Max("ratings__value", filter=_OF_SCALES),
        )
        .values_list("annotator", "pk", "characters", "seconds", "values_given", "lowest", "highest")
    )
    items: dict[int, list[RatedItem]] = defaultdict(list)
    for annotator, pk, characters, seconds, count, lowest, highest in rows.iterator(20_000):
        items[annotator or 0].append(RatedItem(pk, characters, seconds or 0, count, lowest, highest))
    return items
