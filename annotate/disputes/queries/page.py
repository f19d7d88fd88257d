"""The page of one disputed unit: its texts with marks, its raters, and its thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotate.core.guideline import FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.guidelines import format_value
from annotate.core.models import (
    Assignment,
    Dispute,
    DisputeEvent,
    Item,
    Membership,
    Post,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.models.material import TextFormat
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import raters_of
from annotate.core.scale import SMALLEST_STEP, normalize
from annotate.disputes.queries.activity import dispute_rows
from annotate.disputes.queries.standpoints import (
    Category,
    HeldPart,
    HeldSpan,
    ScaleAxis,
    Standpoint,
    categories_held,
    describe_to,
    join_names,
    parts_held,
    ranks_held,
    scale_axis,
    spans_held,
    you,
)
from annotate.questions import Given, ItemContent, QuestionKind, kind_of
from annotate.questions.preference import PREFERENCE
from annotate.questions.scale import SCALE
from annotate.rating.queries.assignments import content_of
from annotate.rating.queries.work import Row, ScaleChoice

MOST_COLOURS = 2  # raters with a separate colour for their spans


@dataclass(frozen=True)
class Mark:
    """Characters `start` to before `end` of a source or output, and the name of the rater who marked them.

    colour: the rater of a span, "1" or "2" of two raters, "0" if there are more; empty for evidence.
    """

    name: str
    start: int
    end: int
    colour: str = ""


@dataclass(frozen=True)
class Segment:
    """A piece of a source or output that the same raters marked; no rater did if `by` is empty.

    colour: the colour of the span that contains it; "both" if two raters marked it.
    """

    text: str
    by: tuple[str, ...] = ()
    colour: str = ""


def segments_of(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Split a source or output into pieces of maximum length, each with its raters in the order of `marks`.

    Marks are clipped to the source.
    """
    inside = [replace(each, start=max(0, each.start), end=min(len(text), each.end)) for each in marks]
    inside = [each for each in inside if each.start < each.end]
    # Between two neighbouring edges the set of marks does not change.
    edges = sorted({0, len(text), *(each.start for each in inside), *(each.end for each in inside)})
    pieces = []
    for start, end in pairwise(edges):
        here = [each for each in inside if each.start <= start and end <= each.end]
        colours = {each.colour for each in here if each.colour}
        colour = "both" if len(colours) > 1 else "".join(colours)
        # A rater can mark the same words as evidence and as a span, but the name appears once.
        pieces.append((text[start:end], tuple(dict.fromkeys(each.name for each in here)), colour))
    return [
        Segment("".join(piece for piece, *_ in group), *names_and_colour)
        for names_and_colour, group in groupby(pieces, key=lambda piece: piece[1:])
    ]


@dataclass(frozen=True)
class MarkedPart:
    """A part of the document, or the output, with its raters' marks."""

    label: str
    text: str
    segments: list[Segment]
    format: str = TextFormat.PLAIN


@dataclass(frozen=True)
class DisputedSide:
    """An output of a comparison: its number for the reader, and the different number for some raters."""

    number: int
    part: int
    marked: MarkedPart
    elsewhere: Sequence[tuple[str, int]]


def mark_texts(item: Item, standpoints: list[Standpoint], content: ItemContent) -> list[MarkedPart]:
    """Return the output, the document's parts and compared outputs, numbered as in passages."""
    plain = TextFormat.PLAIN
    # The same numbers as in passages: output, parts of the document, outputs of a comparison.
    parts = [("", item.text, item.format)]
    parts += [(part["label"], part["text"], part.get("format", plain)) for part in item.document.parts]
    parts += [("", *side) for side in zip(content.sides, content.formats, strict=True)]
    marks: dict[int, list[Mark]] = {}
    for position, each in enumerate(standpoints, start=1):
        colour = str(position) if len(standpoints) <= MOST_COLOURS else "0"
        for passage in each.passages:
            marks.setdefault(passage.part, []).append(Mark(each.short_name, passage.start, passage.end))
        for span in each.spans:
            mark = Mark(each.short_name, span["start"], span["end"], colour)
            marks.setdefault(span["part"], []).append(mark)
    return [
        MarkedPart(label, text, segments_of(text.replace("\r\n", "\n"), marks.get(number, [])), format)
        for number, (label, text, format) in enumerate(parts)
    ]


def sides_shown(
    content: ItemContent, marked: Sequence[MarkedPart], standpoints: list[Standpoint], document_parts: int
) -> list[DisputedSide]:
    """Return compared outputs in the reader's order, each with the numbers under which others know it."""
    orders = [
        (each.name, order)
        for each in standpoints
        if not each.is_me and (order := (each.data or {}).get("order"))
    ]
    return [
        DisputedSide(
            number,
            document_parts + 1 + side,
            marked[side],
            [(name, theirs) for name, order in orders if (theirs := order.index(side) + 1) != number],
        )
        for number, side in enumerate(content.order, start=1)
    ]


@dataclass(frozen=True)
class DisputePage:
    """Everything about one disputed unit that its raters may see; no system.

    `not_applicable`: the ratings "not applicable" of Round I; their raters are not part of the dispute.
    `waits_for`: the names of the raters who must answer now, as the page shows them. `invites`: the reader's
    value is between the ends, so the reader may answer but need not. `own_values`: the reader's values on
    other dimensions of the item. `content`: the item of the question, with outputs in the reader's order;
    empty if the kind of question does not need it.
    """

    dispute: Dispute
    title: str
    parts: list[MarkedPart]
    rated: MarkedPart
    dimension: FrozenDimension
    guideline: FrozenGuideline
    round_two: Round | None
    standpoints: list[Standpoint]
    not_applicable: list[Rating]
    waits_for: list[str]
    invites: bool
    own_values: list[tuple[FrozenDimension, str]]
    posts: list[Post]
    events: list[DisputeEvent]
    content: ItemContent = field(default_factory=ItemContent)
    sides: Sequence[DisputedSide] = ()

    @property
    def kind(self) -> QuestionKind:
        return kind_of(self.dimension)

    @property
    def has_buttons(self) -> bool:
        """Whether a button gives a whole answer."""
        return self.kind is PREFERENCE or (self.dimension.is_scale and self.form_row.has_buttons)

    @property
    def is_composed(self) -> bool:
        """Whether an answer has several pieces, which the input of the question's kind puts together."""
        return not self.dimension.is_scale and self.kind is not PREFERENCE

    @property
    def has_words(self) -> bool:
        """Whether the buttons have words rather than numbers."""
        return self.dimension.is_named or self.kind is PREFERENCE

    @property
    def mine(self) -> Standpoint | None:
        """The reader's own standpoint; an admin who does not rate has none."""
        return next((each for each in self.standpoints if each.is_me), None)

    @property
    def takes_answers(self) -> bool:
        return self.round_two is not None and self.round_two.is_open and self.dispute.takes_answers

    @property
    def answer_state(self) -> str:
        """Return the state of the answer bar: controls ("open"), or the reason why there are none."""
        if self.round_two is None or not self.round_two.is_open:
            return "closed"
        if self.dispute.status in (Dispute.Status.OPEN, Dispute.Status.IRRESOLVABLE):
            return "open"
        return str(self.dispute.status)

    @property
    def form_row(self) -> Row:
        held = self.mine.rating if self.mine and not self.dimension.is_scale else None
        return Row(self.dimension, held, self.content)

    @property
    def choices(self) -> Sequence[ScaleChoice]:
        """The answers of the buttons, with the digits that choose them."""
        if self.kind is not PREFERENCE:
            return self.form_row.choices
        return [
            ScaleChoice(each["value"], each["name"], FrozenPoint(0, "", ""), each["digit"])
            for each in self.form_row.question["choices"]
        ]

    @property
    def others(self) -> list[Standpoint]:
        """The raters with another answer than the reader, who can copy it."""
        mine = self.mine
        return [
            each for each in self.standpoints if not each.is_me and (not mine or each.given != mine.given)
        ]

    @property
    def decided(self) -> Given | None:
        value = self.dispute.adjudicated_value
        return None if value is None else Given(value, self.dispute.adjudicated_data)

    @property
    def decided_says(self) -> str:
        return describe_to(self.dimension, self.decided, self.content.order) if self.decided else ""

    @property
    def noted_events(self) -> list[tuple[DisputeEvent, str]]:
        """Return the events with a reason, each with the decided answer in words, if there is one."""
        return [
            (each, describe_to(self.dimension, given, self.content.order) if given else "")
            for each in self.events
            if each.note
            for given in [None if each.value is None else Given(each.value, each.data)]
        ]

    @property
    def axis(self) -> ScaleAxis:
        return scale_axis(
            self.dimension.values,
            [(each.short_name, each.value, each.is_me) for each in self.standpoints],
            decided=self.dispute.adjudicated_value,
        )

    @property
    def scale_steps(self) -> list[tuple[float, FrozenPoint | None, list[Standpoint]]]:
        """Return the values from the lowest to the highest that a rater chose, in the order of the scale.

        Each has its point, if one is written, and the raters who chose it. Values that no rater chose appear
        if the scale describes them.
        """
        chosen: dict[float, list[Standpoint]] = {}
        for each in self.standpoints:
            chosen.setdefault(each.value, []).append(each)
        # Between the ends, described values help to compare; categories have no order.
        points = () if self.dimension.is_named else self.dimension.points
        described: dict[float, FrozenPoint] = {each.value: each for each in points}
        between = {value for value in described if min(chosen) < value < max(chosen)}
        return [
            (value, described.get(value), chosen.get(value, [])) for value in sorted(chosen.keys() | between)
        ]

    @property
    def categories(self) -> list[Category]:
        return categories_held(self.dimension, self.standpoints, self.decided, self.content)

    @property
    def part_answers(self) -> list[HeldPart]:
        return parts_held(self.dimension, self.standpoints, self.decided, self.content)

    @property
    def rank_answers(self) -> list[tuple[int, Sequence[str], str]]:
        return ranks_held(self.dimension, self.standpoints, self.decided, self.content)

    @property
    def span_answers(self) -> list[HeldSpan]:
        return spans_held(self.dimension, self.standpoints, self.decided, self.content)

    @property
    def apart(self) -> str:
        """Return the reason why the unit is open, or a note that its answers agree."""
        # The same raters decide about the status: the ones that statistics include, or all.
        counted = [each for each in self.standpoints if each.rater.counted] or self.standpoints
        apart = self.kind.spread(self.dimension, [each.given for each in counted])
        # Agreeing answers keep a dispute open only while an admin's request is pending.
        if apart <= self.dispute.tolerance:
            if self.dispute.status != Dispute.Status.OPEN:
                return _("The values have met.")
            missing = {"raters": join_names(self.waits_for)}
            return _("The values have met, but an answer is missing from %(raters)s.") % missing
        if self.kind is not SCALE:
            return self.kind.describe_distance(self.dimension.options, apart)
        values = [each.value for each in counted]
        low = [each.name for each in counted if each.value == min(values)]
        high = [each.name for each in counted if each.value == max(values)]
        said = {"low": join_names(low), "high": join_names(high), "distance": format_value(apart)}
        if len(low) == len(high) == 1:
            sentence = _("%(low)s and %(high)s are %(distance)s apart.") % said
        elif len(high) > 1 or high == [you()]:
            sentence = _("%(high)s are %(distance)s above %(low)s.") % said
        else:
            sentence = _("%(high)s is %(distance)s above %(low)s.") % said
        # The message can start with “you”.
        return sentence[0].upper() + sentence[1:]

    @property
    def opened(self) -> str:
        """Return why Round I opened the dispute, and what settles it, for kinds other than scales."""
        apart = self.kind.describe_distance(self.dimension.options, self.dispute.spread)
        if self.kind is PREFERENCE:
            return _("In Round I: %(difference)s That opened a dispute.") % {"difference": apart}
        threshold, tolerance = self.dispute.threshold, self.dispute.tolerance
        if not tolerance:
            sentence = _(
                "In Round I: %(difference)s A difference of %(threshold)s or more opened a dispute; it "
                "settles when all answers are equal."
            )
        elif tolerance == normalize(threshold - SMALLEST_STEP):
            sentence = _(
                "In Round I: %(difference)s A difference of %(threshold)s or more opened a dispute; it "
                "settles below that."
            )
        else:
            sentence = _(
                "In Round I: %(difference)s A difference of %(threshold)s or more opened a dispute; it "
                "settles at %(tolerance)s or less."
            )
        said = {"threshold": format_value(threshold), "tolerance": format_value(tolerance)}
        return sentence % {"difference": apart, **said}


def dispute_page(dispute: Dispute, *, reader: Membership | None) -> DisputePage:
    """Return a disputed unit (see `access`) with values, reasons and thread.

    Nine queries; up to six more if its kind of question reads the item.
    """
    item = Item.objects.select_related("document").get(pk=dispute.item_id)
    # The wording of Round II once it has opened, as raters answer under it.
    rounds = Round.objects.select_related("guideline").filter(project=dispute.round.project_id)
    by_number = {round.number: round for round in rounds}
    guideline = FrozenGuideline.from_json((by_number.get(2) or by_number[1]).guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    # Each rater's answers of both rounds, by round and rater.
    ratings = Rating.objects.filter(assignment__item=item, dimension=dispute.dimension_id)
    ratings = ratings.select_related("assignment__round", "assignment__annotator")
    given = {(each.assignment.round.number, each.assignment.annotator_id): each for each in ratings}
    content = ItemContent()
    if kind_of(dimension).reads_item:
        # Not saved: the content is read through an assignment, which has the item and the reader.
        content = content_of(Assignment(round=by_number[1], item=item, annotator=reader))
    # The last change of each answer has the reason for keeping it.
    last_changes = RatingChange.objects.filter(
        rating__assignment__item=item,
        rating__assignment__round__number=2,
        rating__dimension=dispute.dimension_id,
        revision=F("rating__revision"),
    )
    changes = {each.rating_id: each for each in last_changes}
    standpoints = [
        Standpoint(
            rater=rater,
            is_me=reader is not None and rater.pk == reader.pk,
            first=given[1, rater.pk],
            last=last,
            last_change=changes.get(last.pk) if last else None,
            dimension=dimension,
            order=content.order if kind_of(dimension).compares else (),
        )
        for rater in raters_of(dispute)
        for last in [given.get((2, rater.pk))]
    ]
    me = reader.rater_name if reader else None
    rated, *parts = mark_texts(item, standpoints, content)
    parts, sides = parts[: len(item.document.parts)], parts[len(item.document.parts) :]
    return DisputePage(
        dispute=dispute,
        title=item.document.title,
        parts=parts,
        rated=rated,
        dimension=dimension,
        guideline=guideline,
        round_two=by_number.get(2),
        standpoints=standpoints,
        not_applicable=[each for (number, _), each in given.items() if number == 1 and each.not_applicable],
        waits_for=[you() if each.name == me else each.name for each in dispute_rows([dispute])[0][1]],
        invites=_invites(dispute, standpoints, dimension),
        own_values=_own_values(dispute, reader, guideline),
        posts=list(dispute.posts.select_related("author")),
        events=list(dispute.events.select_related("actor")),
        content=content,
        sides=sides_shown(content, sides, standpoints, len(item.document.parts)),
    )


def _invites(dispute: Dispute, standpoints: list[Standpoint], dimension: FrozenDimension) -> bool:
    counted = [each for each in standpoints if each.rater.counted] or standpoints
    values = [each.value for each in counted]
    mine = next((each.value for each in standpoints if each.is_me), None)
    # Only values of a scale have ends between which another value can be.
    if mine is None or dispute.status != Dispute.Status.OPEN or kind_of(dimension) is not SCALE:
        return False
    return min(values) < mine < max(values)


def _own_values(
    dispute: Dispute, reader: Membership | None, guideline: FrozenGuideline
) -> list[tuple[FrozenDimension, str]]:
    if reader is None:
        return []
    # Round II comes last, so its value replaces the value of Round I.
    rows = (
        Rating.objects.filter(assignment__item=dispute.item_id, assignment__annotator=reader)
        .filter(rounds_of_study("assignment__round__"), value__isnull=False)
        .exclude(dimension=dispute.dimension_id)
        .order_by("assignment__round__number")
    )
    held = {
        dimension: Given(value, data)
        for dimension, value, data in rows.values_list("dimension", "value", "data")
        if value is not None
    }
    return [
        (each, kind_of(each).describe(each, held[each.id]))
        for each in guideline.dimensions
        if each.id in held
    ]


def version_of(dispute: QuerySet[Dispute]) -> str:
    """Return a version that changes with every post, answer or decision, and when Round II closes.

    It counts rows that are never deleted, so no version repeats. Empty if the dispute does not exist. One
    query.
    """
    # Revisions of answers and posts only grow, and decisions change `updated_at`.
    posts = Post.objects.filter(dispute=OuterRef("pk")).order_by().values("dispute")
    answers = (
        Rating.objects.filter(
            assignment__round__project=OuterRef("round__project"),
            assignment__round__number=2,
            assignment__item=OuterRef("item"),
            dimension=OuterRef("dimension"),
        )
        .order_by()
        .values("assignment__item")
    )
    round_two = Round.objects.filter(project=OuterRef("round__project"), number=2, status=Round.Status.OPEN)
    found = dispute.values_list(
        "updated_at",
        Coalesce(Subquery(answers.annotate(n=Sum("revision")).values("n")), 0),
        Coalesce(Subquery(posts.annotate(n=Count("pk")).values("n")), 0),
        Exists(round_two),
    ).first()
    if found is None:
        return ""
    decided, *counts = found
    return ".".join(f"{count:x}" for count in (round(decided.timestamp() * 1_000_000), *counts))
