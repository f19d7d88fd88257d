"""The raters of a dispute: their places on the scale, their answers before and after discussion."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.guideline import FrozenDimension, FrozenPoint
from annotate.core.guidelines import name_on_page
from annotate.core.models import Membership, Rating, RatingChange
from annotate.questions import Given, ItemContent, kind_of
from annotate.questions.labels import labels_in
from annotate.questions.preference import PREFERENCE
from annotate.rating.evidence import Passage, passages_as_sent, passages_from_json

ALL_TICKS = 11  # A scale with up to this number of values labels each of them.
NEAR = 9.0  # Percent of the line; marks closer than this are below each other.
NEAR_ON_LONG_SCALES = 17.0  # The same if a mark shows its value too.


@dataclass(frozen=True)
class Tick:
    """A labelled value of the axis, with its position in percent."""

    value: float
    at: float

    @property
    def left(self) -> str:
        """Return the position as CSS, independent of the page's language."""
        return f"{self.at:.2f}%"


@dataclass(frozen=True)
class AxisMark(Tick):
    """One rater's position on the axis; `lane` counts from the axis downwards."""

    name: str
    is_me: bool
    lane: int


@dataclass(frozen=True)
class ScaleAxis:
    """The axis: its labelled values, its raters from low to high, its number of values, and the decision."""

    ticks: tuple[Tick, ...]
    marks: tuple[AxisMark, ...]
    values: int
    decided: Tick | None = None

    @property
    def is_long(self) -> bool:
        """Return True if most values have no tick, so that a mark must show its value."""
        return self.values > len(self.ticks)

    @property
    def lanes(self) -> int:
        return 1 + max(mark.lane for mark in self.marks)

    @property
    def start(self) -> str:
        return self.marks[0].left

    @property
    def width(self) -> str:
        return f"{self.marks[-1].at - self.marks[0].at:.2f}%"


def scale_axis(
    values: Sequence[float], held: Iterable[tuple[str, float, bool]], *, decided: float | None = None
) -> ScaleAxis:
    """Return the axis of a scale with its raters and the adjudicated value.

    held: each rater's short name and value, and whether that is the reader; one rater or more.
    """
    ticks = tuple(Tick(value, _position_at(values, value)) for value in _labelled_values(values))
    near = NEAR if len(values) <= ALL_TICKS else NEAR_ON_LONG_SCALES
    last: list[float] = []  # where the last mark of each lane stands
    marks = []
    # From low to high, so only the last mark of each lane can be too near.
    for name, value, is_me in sorted(held, key=lambda each: each[1]):
        at = _position_at(values, value)
        # The first lane with room for the mark, else a new one.
        lane = next((lane for lane, before in enumerate(last) if at - before >= near), len(last))
        last[lane : lane + 1] = [at]
        marks.append(AxisMark(value, at, name, is_me, lane))
    decision = None if decided is None else Tick(decided, _position_at(values, decided))
    return ScaleAxis(ticks, tuple(marks), len(values), decision)


def _position_at(values: Sequence[float], value: float) -> float:
    return 100 * (value - values[0]) / (values[-1] - values[0])


def _labelled_values(values: Sequence[float]) -> list[float]:
    if len(values) <= ALL_TICKS:
        return list(values)
    # The ends of a long scale, and round numbers between them: multiples of 1, 2, 5 or 10 times a power.
    first, last = int(values[0]), int(values[-1])
    rough = (last - first) / 5
    power = 10 ** (len(str(int(rough))) - 1)
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    inside = range(-(-first // step) * step, last + 1, step)
    return [first, *(each for each in inside if min(each - first, last - each) * 2 >= step), last]


def you() -> str:
    return _("you")


def join_names(names: list[str]) -> str:
    return _(" and ").join(names)


def describe_to(dimension: FrozenDimension, given: Given, order: Sequence[int]) -> str:
    """Return an answer in a few words; outputs have the numbers of a reader who sees them in this order."""
    if order:
        given = Given(given.value, {**(given.data or {}), "order": list(order)})
    return kind_of(dimension).describe(dimension, given)


@dataclass(frozen=True)
class Standpoint:
    """One rater's answers about a disputed unit, before and after discussion.

    order: the order in which the reader of the page sees the outputs of a comparison.
    """

    rater: Membership
    is_me: bool
    first: Rating
    last: Rating | None
    last_change: RatingChange | None
    dimension: FrozenDimension
    order: Sequence[int] = ()

    @property
    def answer(self) -> Rating | None:
        """The answer of Round II; None without one, and if the rater withdrew it."""
        return self.last if self.last and self.last.value is not None else None

    @property
    def reason_for_keeping(self) -> str:
        """The short reason for keeping the value, or "we differ"; empty without either."""
        if self.differs:
            return _("we differ")
        return self.last_change.short_reason if self.last_change else ""

    @property
    def differs(self) -> bool:
        """Return True if the rater kept the value because the raters differ."""
        return self.last_change is not None and self.last_change.cause == RatingChange.Cause.DIFFERS

    @property
    def value(self) -> float:
        return self.given.value

    @property
    def data(self) -> dict[str, Any] | None:
        return self.given.data

    @property
    def rating(self) -> Rating:
        return self.answer or self.first

    @property
    def given(self) -> Given:
        assert self.rating.value is not None  # a rater gave one in Round I, and an answer is one
        return Given(self.rating.value, self.rating.data)

    @property
    def round_one_answer(self) -> Given:
        assert self.first.value is not None
        return Given(self.first.value, self.first.data)

    @property
    def says(self) -> str:
        return describe_to(self.dimension, self.given, self.order)

    @property
    def says_before(self) -> str:
        return describe_to(self.dimension, self.round_one_answer, self.order)

    @property
    def data_as_sent(self) -> str:
        return json.dumps(self.data) if self.data else ""

    @property
    def point(self) -> FrozenPoint | None:
        """The description of the current value; None without one, and if values have names."""
        return None if self.dimension.is_named else self.dimension.point(self.value)

    @property
    def revision(self) -> int:
        """The revision of the last answer of Round II, even if withdrawn; 0 without one."""
        return self.last.revision if self.last else 0

    @property
    def name(self) -> str:
        """The rater's name, or "you", for messages on the page."""
        return you() if self.is_me else self.rater.rater_name

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages marked as evidence: with the answer, else in Round I."""
        return passages_from_json((self.answer and self.answer.evidence) or self.first.evidence)

    @property
    def evidence(self) -> str:
        return passages_as_sent(self.passages)

    @property
    def spans(self) -> Sequence[Mapping[str, Any]]:
        """The spans that are the answer, of the kind that has spans."""
        found: Sequence[Mapping[str, Any]] = (self.data or {}).get("spans", ())
        return found

    @property
    def short_name(self) -> str:
        return you() if self.is_me else self.rater.alias

    @property
    def moved(self) -> bool:
        return self.answer is not None and self.given != self.round_one_answer


@dataclass(frozen=True)
class Category:
    """A named answer with its meaning, its raters, and whether an admin decided it."""

    name: str
    meaning: str
    raters: Sequence[Standpoint]
    is_decided: bool


@dataclass(frozen=True)
class HeldPart:
    """A part of the item, counted from 1, with its labels and their raters."""

    number: int
    text: str
    labels: Sequence[Category]

    @property
    def differs(self) -> bool:
        return sum(bool(each.raters) for each in self.labels) > 1


@dataclass(frozen=True)
class HeldSpan:
    """A span with its words, the raters who marked it so, and whether it was decided."""

    span: Mapping[str, Any]
    words: str
    category: str
    severity: str
    raters: Sequence[Standpoint]
    is_decided: bool

    @property
    def is_mine(self) -> bool:
        return any(each.is_me for each in self.raters)

    @property
    def field_value(self) -> str:
        return json.dumps(self.span)


def categories_held(
    dimension: FrozenDimension, standpoints: Sequence[Standpoint], decided: Given | None, content: ItemContent
) -> list[Category]:
    """Return the answers to choose from, each with its raters; outputs are in the reader's order.

    Only the labels in an answer or a decision. The last one is for raters without a label.
    """
    if dimension.is_scale:
        meanings: dict[object, str] = {each.value: each.description for each in dimension.points}
        values = [(each, name_on_page(dimension, each), meanings.get(each, "")) for each in dimension.values]
        return _categories(lambda given: [given.value], values, standpoints, decided)
    if kind_of(dimension) is PREFERENCE:
        # The kind of question gives the choices in the order of this reader's outputs.
        choices = PREFERENCE.input_context(dimension, None, content)["choices"]
        values = [(each["value"], each["name"], "") for each in choices]
        return _categories(lambda given: [given.value], values, standpoints, decided)
    labels = [
        (each["key"], each["name"], each.get("description", "")) for each in dimension.options["labels"]
    ]
    labels.append(("", _("none of them"), ""))
    rows = _categories(lambda given: labels_in(given) or {""}, labels, standpoints, decided)
    return [each for each in rows if each.raters or each.is_decided]


def _categories(
    keys_of: Callable[[Given], Collection[object]],
    choices: Iterable[tuple[object, str, str]],
    standpoints: Sequence[Standpoint],
    decided: Given | None,
) -> list[Category]:
    """choices: the key, name and meaning of each. keys_of: the keys in an answer."""
    return [
        Category(
            name=name,
            meaning=meaning,
            raters=[each for each in standpoints if key in keys_of(each.given)],
            is_decided=decided is not None and key in keys_of(decided),
        )
        for key, name, meaning in choices
    ]


def parts_held(
    dimension: FrozenDimension, standpoints: Sequence[Standpoint], decided: Given | None, content: ItemContent
) -> list[HeldPart]:
    """Return the parts of the item with their labels; parts with different labels come first."""

    def label_at(position: int, given: Given) -> Sequence[str | None]:
        labels: Sequence[str | None] = (given.data or {}).get("parts", ())
        return labels[position : position + 1]

    labels = [(each["key"], each["name"], "") for each in dimension.options["labels"]]
    rows = []
    for position, text in enumerate(content.parts):
        found = _categories(partial(label_at, position), labels, standpoints, decided)
        rows.append(HeldPart(position + 1, text, [each for each in found if each.raters or each.is_decided]))
    return sorted(rows, key=lambda row: (not row.differs, row.number))


def ranks_held(
    dimension: FrozenDimension, standpoints: Sequence[Standpoint], decided: Given | None, content: ItemContent
) -> list[tuple[int, Sequence[str], str]]:
    """Return each output by its number for the reader: the rank of each rater, and the decided one."""
    best_worst = {1: _("best"), 2: "–", 3: _("worst")}

    def rank_of(given: Given | None, side: int) -> str:
        ranks: Sequence[int] = (given.data or {}).get("ranks", ()) if given else ()
        if side >= len(ranks):
            return ""
        return best_worst[ranks[side]] if dimension.options["best_worst"] else str(ranks[side])

    return [
        (number, [rank_of(each.given, side) for each in standpoints], rank_of(decided, side))
        for number, side in enumerate(content.order, start=1)
    ]


def spans_held(
    dimension: FrozenDimension, standpoints: Sequence[Standpoint], decided: Given | None, content: ItemContent
) -> list[HeldSpan]:
    """Return every span of a rater or of a decision, sorted by position."""
    names = {
        kind: {each["key"]: each["name"] for each in dimension.options[kind]}
        for kind in ("categories", "severities")
    }
    chosen = _spans_in(decided.data if decided else None)
    by_rater = [(each, _spans_in(each.data)) for each in standpoints]
    # A span that several raters marked in the same way is one row.
    spans = {key: span for found in (*(own for _, own in by_rater), chosen) for key, span in found.items()}
    return [
        HeldSpan(
            span=span,
            words=content.texts[span["part"]][span["start"] : span["end"]],
            category=names["categories"].get(span["category"], span["category"]),
            severity=names["severities"].get(span["severity"], span["severity"]),
            raters=[each for each, own in by_rater if key in own],
            is_decided=key in chosen,
        )
        for key, span in sorted(spans.items())
    ]


def _spans_in(data: Mapping[str, Any] | None) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    names = ("part", "start", "end", "category", "severity")
    spans: Iterable[Mapping[str, Any]] = (data or {}).get("spans", ())
    return {tuple(span[name] for name in names): span for span in spans}
