"""One disputed unit as its raters and admins see it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotate.evidence import Passage, passages_as_sent, passages_from_json
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.marked_text import Mark, Segment, segments_of
from annotate.models import Dispute, DisputeEvent, Item, Membership, Post, Rating, Round
from annotate.queries.dispute_list import dispute_rows
from annotate.queries.raters import raters_of
from annotate.queries.work import Row
from annotate.scale_axis import Held, ScaleAxis, scale_axis


def you() -> str:
    """Return how a sentence calls who reads it."""
    return _("you")


def listed(names: list[str]) -> str:
    """Return names as a sentence lists them."""
    return _(" and ").join(names)


@dataclass(frozen=True)
class Standpoint:
    """What one rater holds about a disputed unit, before and after discussion."""

    rater: Membership
    is_me: bool
    first: Rating
    last: Rating | None

    @property
    def answer(self) -> Rating | None:
        """What was answered in Round II, None where it was taken back."""
        return self.last if self.last and self.last.value is not None else None

    @property
    def value_before(self) -> int | None:
        """The value of Round I."""
        return self.first.value

    @property
    def comment_before(self) -> str:
        """The reason given in Round I."""
        return self.first.comment

    @property
    def value(self) -> int:
        """The value that stands now."""
        value = (self.answer or self.first).value
        assert value is not None  # a rater gave one in Round I, and an answer is one
        return value

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


@dataclass(frozen=True)
class Category:
    """A named value and the raters who hold it."""

    name: str
    raters: list[Standpoint]


@dataclass(frozen=True)
class DisputePage:
    """Everything about one disputed unit that its raters may see; no system.

    `not_applicable`: who said in Round I that the
    dimension does not apply to the item, and so takes no part. `waits_for`: how the page calls those who are
    to answer now.
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
    def form_row(self) -> Row:
        """The dimension as the rating form offers it: its values, with the digits that choose them."""
        return Row(self.dimension, None)

    @property
    def axis(self) -> ScaleAxis:
        """The scale as a line, with who stands where."""
        return scale_axis(self.dimension.values, [each.held for each in self.standpoints])

    @property
    def categories(self) -> list[Category]:
        """The named values with who holds them."""
        return [
            Category(
                self.dimension.name_of(value), [each for each in self.standpoints if each.value == value]
            )
            for value in self.dimension.values
        ]

    @property
    def apart(self) -> str:
        """What keeps the unit open, or that nothing does."""
        counted = [each for each in self.standpoints if each.rater.counted] or self.standpoints
        values = [each.value for each in counted]
        distance = max(values) - min(values)
        if distance <= self.dispute.tolerance:
            return self._met
        if self.dimension.is_named:
            return _("The raters hold different categories.")
        low = [each.name for each in counted if each.value == min(values)]
        high = [each.name for each in counted if each.value == max(values)]
        said = {"low": listed(low), "high": listed(high), "distance": distance}
        if len(low) == len(high) == 1:
            return _sentence(_("%(low)s and %(high)s are %(distance)s apart.") % said)
        if len(high) > 1 or high == [you()]:
            return _sentence(_("%(high)s are %(distance)s above %(low)s.") % said)
        return _sentence(_("%(high)s is %(distance)s above %(low)s.") % said)

    @property
    def _met(self) -> str:
        if self.dispute.status != Dispute.Status.OPEN:
            return _("The values have met.")
        missing = {"raters": listed(self.waits_for)}
        return _("The values have met, but an answer is missing from %(raters)s.") % missing


def dispute_page(dispute: Dispute, *, reader: Membership | None) -> DisputePage:
    """Return a disputed unit (see `access`) with values, reasons and thread. Seven queries."""
    item = Item.objects.select_related("document").get(pk=dispute.item_id)
    rounds = Round.objects.select_related("guideline").filter(project=dispute.round.project_id)
    by_number = {round.number: round for round in rounds}
    guideline = FrozenGuideline.from_json(by_number[1].guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    given = _given(dispute)
    standpoints = _standpoints(dispute, given, reader)
    rated, *parts = _marked(item, standpoints)
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
        posts=list(dispute.posts.select_related("author")),
        events=list(dispute.events.select_related("actor")),
    )


def _given(dispute: Dispute) -> dict[tuple[int, int | None], Rating]:
    """Return the ratings of the unit by round and annotator."""
    ratings = Rating.objects.filter(
        assignment__item=dispute.item_id, dimension=dispute.dimension_id
    ).select_related("assignment__round", "assignment__annotator")
    return {(each.assignment.round.number, each.assignment.annotator_id): each for each in ratings}


def _standpoints(
    dispute: Dispute, given: dict[tuple[int, int | None], Rating], reader: Membership | None
) -> list[Standpoint]:
    return [
        Standpoint(
            rater=rater,
            is_me=reader is not None and rater.pk == reader.pk,
            first=given[1, rater.pk],
            last=given.get((2, rater.pk)),
        )
        for rater in raters_of(dispute)
    ]


def _marked(item: Item, standpoints: list[Standpoint]) -> list[MarkedPart]:
    """Return the text rated and the document's parts, counted as passages count them."""
    parts = [("", item.text), *((part["label"], part["text"]) for part in item.document.parts)]
    return [
        MarkedPart(
            label,
            text,
            segments_of(
                text.replace("\r\n", "\n"),
                [
                    Mark(each.held.name, passage.start, passage.end)
                    for each in standpoints
                    for passage in each.passages
                    if passage.part == number
                ],
            ),
        )
        for number, (label, text) in enumerate(parts)
    ]


def _waits_for(dispute: Dispute, reader: Membership | None) -> list[str]:
    me = reader.rater_name if reader else None
    return [you() if each.name == me else each.name for each in dispute_rows([dispute])[0].waits_for]


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]
