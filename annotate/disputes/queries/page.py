"""One disputed unit as its raters and admins see it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotate.core.guideline import FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.models import (
    Dispute,
    DisputeEvent,
    Item,
    Membership,
    Post,
    Rating,
    RatingChange,
    Round,
    TextFormat,
)
from annotate.core.models.rounds import without_checks
from annotate.core.raters import raters_of
from annotate.core.scale import distance
from annotate.core.scale_text import format_value, name_on_page
from annotate.disputes.queries.list import dispute_rows
from annotate.disputes.scale_axis import Held, ScaleAxis, scale_axis
from annotate.rating.evidence import Passage, passages_as_sent, passages_from_json
from annotate.rating.queries.work import Row


@dataclass(frozen=True)
class Mark:
    """Characters `start` to before `end` of a text, and the name of who marked them."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Segment:
    """A piece of a text that the same people marked, none where `by` is empty."""

    text: str
    by: tuple[str, ...] = ()


def segments_of(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Return the text in pieces as long as possible, each with those who marked it, in the order given.

    What of a mark does not lie in the text is left out.
    """
    inside = [Mark(each.name, max(0, each.start), min(len(text), each.end)) for each in marks]
    inside = [each for each in inside if each.start < each.end]
    edges = sorted({0, len(text), *(each.start for each in inside), *(each.end for each in inside)})
    pieces = [(text[start:end], _names(inside, start, end)) for start, end in pairwise(edges)]
    return [
        Segment("".join(piece for piece, _ in group), by)
        for by, group in groupby(pieces, key=lambda piece: piece[1])
    ]


def _names(marks: list[Mark], start: int, end: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in marks if each.start <= start and end <= each.end))


def you() -> str:
    """Return how a sentence calls who reads it."""
    return _("you")


def join_names(names: list[str]) -> str:
    """Return names as a sentence lists them."""
    return _(" and ").join(names)


@dataclass(frozen=True)
class Standpoint:
    """What one rater holds about a disputed unit, before and after discussion."""

    rater: Membership
    is_me: bool
    first: Rating
    last: Rating | None
    last_change: RatingChange | None
    dimension: FrozenDimension

    @property
    def answer(self) -> Rating | None:
        """What was answered in Round II, None where it was taken back."""
        return self.last if self.last and self.last.value is not None else None

    @property
    def kept_because(self) -> str:
        """The short reason with which the value was kept, or that we differ; empty without either."""
        if self.last_change is None:
            return ""
        if self.differs:
            return _("we differ")
        return self.last_change.short_reason

    @property
    def differs(self) -> bool:
        """Whether the value was kept because nothing new is left to say."""
        return self.last_change is not None and self.last_change.cause == RatingChange.Cause.DIFFERS

    @property
    def value_before(self) -> float | None:
        """The value of Round I."""
        return self.first.value

    @property
    def comment_before(self) -> str:
        """The reason given in Round I."""
        return self.first.comment

    @property
    def value(self) -> float:
        """The value that stands now."""
        value = (self.answer or self.first).value
        assert value is not None  # a rater gave one in Round I, and an answer is one
        return value

    @property
    def point(self) -> FrozenPoint | None:
        """What that value means, None where nothing was written about it, or its name says it."""
        return None if self.dimension.is_named else self.dimension.point(self.value)

    @property
    def revision(self) -> int:
        """The revision of the answer that stands or was taken back, 0 where none was given."""
        return self.last.revision if self.last else 0

    @property
    def name(self) -> str:
        """How a sentence of the page calls this rater."""
        return you() if self.is_me else self.rater.rater_name

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What was marked in the texts as evidence: with the answer, else in Round I."""
        return passages_from_json((self.answer and self.answer.evidence) or self.first.evidence)

    @property
    def evidence(self) -> str:
        """The same as the page reads and sends it."""
        return passages_as_sent(self.passages)

    @property
    def held(self) -> Held:
        """The same as a mark at the scale, where names are short."""
        return Held(you() if self.is_me else self.rater.alias, self.value, self.is_me)

    @property
    def moved(self) -> bool:
        """Whether the value was changed in discussion."""
        return self.answer is not None and self.answer.value != self.value_before


@dataclass(frozen=True)
class MarkedPart:
    """A part of the document, or the text rated, with what its raters marked."""

    label: str
    text: str
    segments: list[Segment]
    format: str = TextFormat.PLAIN


@dataclass(frozen=True)
class Category:
    """A named value, what it means, the raters who hold it, and whether it was decided."""

    name: str
    meaning: str
    raters: list[Standpoint]
    is_decided: bool


@dataclass(frozen=True)
class ScaleStep:
    """A value of the scale, its point if one is written, and the raters who chose it."""

    value: float
    point: FrozenPoint | None
    standpoints: list[Standpoint]


@dataclass(frozen=True)
class OwnValue:
    """What the reader holds on another dimension of the item."""

    dimension: FrozenDimension
    value: float


@dataclass(frozen=True)
class DisputePage:
    """Everything about one disputed unit that its raters may see; no system.

    `not_applicable`: who said in Round I that the
    dimension does not apply to the item, and so takes no part. `waits_for`: how the page calls those who are
    to answer now. `invites`: the reader's value lies between the ends, so the reader may answer and need not.
    `own_values`: what the reader holds on other dimensions of the item.
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
    own_values: list[OwnValue]
    posts: list[Post]
    events: list[DisputeEvent]

    @property
    def mine(self) -> Standpoint | None:
        """The reader's own standpoint; an admin who does not rate has none."""
        return next((each for each in self.standpoints if each.is_me), None)

    @property
    def text(self) -> str:
        """The text that was rated."""
        return self.rated.text

    @property
    def takes_answers(self) -> bool:
        """Whether values may still be kept or changed."""
        return self.round_two is not None and self.round_two.is_open and self.dispute.takes_answers

    @property
    def answer_state(self) -> str:
        """What the answer bar shows: controls ("open"), or why there are none."""
        if self.round_two is None or not self.round_two.is_open:
            return "closed"
        if self.dispute.status in (Dispute.Status.OPEN, Dispute.Status.IRRESOLVABLE):
            return "open"
        return str(self.dispute.status)

    @property
    def form_row(self) -> Row:
        """The dimension as the rating form offers it: its values, with the digits that choose them."""
        return Row(self.dimension, None)

    @property
    def axis(self) -> ScaleAxis:
        """The scale as a line, with who stands where."""
        return scale_axis(
            self.dimension.values,
            [each.held for each in self.standpoints],
            decided=self.dispute.adjudicated_value,
        )

    @property
    def scale_steps(self) -> list[ScaleStep]:
        """The values from the lowest to the highest that a rater chose, in the order of the scale.

        Values that no rater chose appear if the scale describes them.
        """
        chosen: dict[float, list[Standpoint]] = {}
        for each in self.standpoints:
            chosen.setdefault(each.value, []).append(each)
        points = () if self.dimension.is_named else self.dimension.points
        described: dict[float, FrozenPoint] = {each.value: each for each in points}
        between = {value for value in described if min(chosen) < value < max(chosen)}
        return [
            ScaleStep(value, described.get(value), chosen.get(value, []))
            for value in sorted(chosen.keys() | between)
        ]

    @property
    def categories(self) -> list[Category]:
        """The named values with who holds them."""
        decided, point = self.dispute.adjudicated_value, self.dimension.point
        return [
            Category(
                name=name_on_page(self.dimension, value),
                meaning=described.description if (described := point(value)) else "",
                raters=[each for each in self.standpoints if each.value == value],
                is_decided=decided == value,
            )
            for value in self.dimension.values
        ]

    @property
    def apart(self) -> str:
        """What keeps the unit open, or that nothing does."""
        counted = [each for each in self.standpoints if each.rater.counted] or self.standpoints
        values = [each.value for each in counted]
        apart = distance(min(values), max(values))
        if apart <= self.dispute.tolerance:
            return self._met
        if self.dimension.is_named:
            return _("The raters chose different categories.")
        low = [each.name for each in counted if each.value == min(values)]
        high = [each.name for each in counted if each.value == max(values)]
        said = {"low": join_names(low), "high": join_names(high), "distance": format_value(apart)}
        if len(low) == len(high) == 1:
            return _sentence(_("%(low)s and %(high)s are %(distance)s apart.") % said)
        if len(high) > 1 or high == [you()]:
            return _sentence(_("%(high)s are %(distance)s above %(low)s.") % said)
        return _sentence(_("%(high)s is %(distance)s above %(low)s.") % said)

    @property
    def _met(self) -> str:
        if self.dispute.status != Dispute.Status.OPEN:
            return _("The values have met.")
        missing = {"raters": join_names(self.waits_for)}
        return _("The values have met, but an answer is missing from %(raters)s.") % missing


def dispute_page(dispute: Dispute, *, reader: Membership | None) -> DisputePage:
    """Return a disputed unit (see `access`) with values, reasons and thread. Nine queries."""
    item = Item.objects.select_related("document").get(pk=dispute.item_id)
    rounds = Round.objects.select_related("guideline").filter(project=dispute.round.project_id)
    by_number = {round.number: round for round in rounds}
    guideline = FrozenGuideline.from_json((by_number.get(2) or by_number[1]).guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    given = _ratings_of_unit(dispute)
    standpoints = _standpoints(dispute, given, reader, dimension)
    rated, *parts = _mark_passages(item, standpoints)
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
        waits_for=_waits_for(dispute, reader),
        invites=_invites(dispute, standpoints, dimension),
        own_values=_own_values(dispute, reader, guideline),
        posts=list(dispute.posts.select_related("author")),
        events=list(dispute.events.select_related("actor")),
    )


def _ratings_of_unit(dispute: Dispute) -> dict[tuple[int, int | None], Rating]:
    """Return the ratings of the unit by round and annotator."""
    ratings = Rating.objects.filter(
        assignment__item=dispute.item_id, dimension=dispute.dimension_id
    ).select_related("assignment__round", "assignment__annotator")
    return {(each.assignment.round.number, each.assignment.annotator_id): each for each in ratings}


def _last_changes(dispute: Dispute) -> dict[int, RatingChange]:
    """Return what each rater last did about the unit in Round II, by the key of the rating."""
    changes = RatingChange.objects.filter(
        rating__assignment__item=dispute.item_id,
        rating__assignment__round__number=2,
        rating__dimension=dispute.dimension_id,
        revision=F("rating__revision"),
    )
    return {each.rating_id: each for each in changes}


def _standpoints(
    dispute: Dispute,
    given: dict[tuple[int, int | None], Rating],
    reader: Membership | None,
    dimension: FrozenDimension,
) -> list[Standpoint]:
    changes = _last_changes(dispute)
    return [
        Standpoint(
            rater=rater,
            is_me=reader is not None and rater.pk == reader.pk,
            first=given[1, rater.pk],
            last=last,
            last_change=changes.get(last.pk) if last else None,
            dimension=dimension,
        )
        for rater in raters_of(dispute)
        for last in [given.get((2, rater.pk))]
    ]


def _mark_passages(item: Item, standpoints: list[Standpoint]) -> list[MarkedPart]:
    """Return the text rated and the document's parts, counted as passages count them."""
    parts = [{"label": "", "text": item.text, "format": item.format}, *item.document.parts]
    return [
        MarkedPart(
            part["label"],
            part["text"],
            segments_of(
                part["text"].replace("\r\n", "\n"),
                [
                    Mark(each.held.name, passage.start, passage.end)
                    for each in standpoints
                    for passage in each.passages
                    if passage.part == number
                ],
            ),
            part.get("format", TextFormat.PLAIN),
        )
        for number, part in enumerate(parts)
    ]


def _invites(dispute: Dispute, standpoints: list[Standpoint], dimension: FrozenDimension) -> bool:
    values = [each.value for each in standpoints if each.rater.counted] or [
        each.value for each in standpoints
    ]
    mine = next((each.value for each in standpoints if each.is_me), None)
    is_open = dispute.status == Dispute.Status.OPEN
    return is_open and mine is not None and not dimension.is_named and min(values) < mine < max(values)


def _own_values(dispute: Dispute, reader: Membership | None, guideline: FrozenGuideline) -> list[OwnValue]:
    """Return the reader's last values of the item's other dimensions, in the guideline's order."""
    if reader is None:
        return []
    rows = (
        Rating.objects.filter(assignment__item=dispute.item_id, assignment__annotator=reader)
        .filter(without_checks("assignment__round__"), value__isnull=False)
        .exclude(dimension=dispute.dimension_id)
        .order_by("assignment__round__number")
    )
    held = {
        dimension: value for dimension, value in rows.values_list("dimension", "value") if value is not None
    }
    return [OwnValue(each, held[each.id]) for each in guideline.dimensions if each.id in held]


def _waits_for(dispute: Dispute, reader: Membership | None) -> list[str]:
    me = reader.rater_name if reader else None
    return [you() if each.name == me else each.name for each in dispute_rows([dispute])[0].waits_for]


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def version_of(dispute: QuerySet[Dispute]) -> str:
    """Return a word that is another whenever a post, an answer or a decision came, or Round II was closed.

    What it counts is never deleted, so it never comes back to what it was. Empty where there is no such
    dispute. One query.
    """
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
