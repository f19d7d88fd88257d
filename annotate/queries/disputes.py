"""Disputed units as their raters and admins see them."""

from dataclasses import dataclass

from django.db.models import QuerySet

from annotate.guideline import FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.models import Dispute, DisputeEvent, Item, Membership, Nudge, Post, Rating, Round
from annotate.queries.dispute_activity import needing
from annotate.queries.raters import disputes_of, raters_of


@dataclass(frozen=True)
class WorkList:
    """A rater's disputes: those that need an answer, those that wait for others, those that are done.

    `nudge` is the last time an admin asked to look at those that need an answer, None where none does.
    `round_two` is None until it has been opened; nothing is listed before, since Round I's spreads are not
    a rater's to know.
    """

    round_two: Round | None
    needing_me: list[Dispute]
    waiting: list[Dispute]
    done: list[Dispute]
    nudge: Nudge | None


@dataclass(frozen=True)
class Standpoint:
    """What one rater holds about a disputed unit, before and after discussion."""

    rater: Membership
    is_me: bool
    first: Rating
    answer: Rating | None

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
        """The revision of the answer that stands, 0 where it is the value of Round I."""
        return self.answer.revision if self.answer else 0

    @property
    def name(self) -> str:
        """How the page calls this rater."""
        return "You" if self.is_me else self.rater.rater_name

    @property
    def moved(self) -> bool:
        """Whether the value was changed in discussion."""
        return self.answer is not None and self.answer.value != self.value_before


@dataclass(frozen=True)
class Position:
    """A point of the scale and the raters who hold it."""

    value: int
    name: str
    point: FrozenPoint | None
    raters: list[Standpoint]


@dataclass(frozen=True)
class DisputePage:
    """Everything about one disputed unit that its raters may see; no system."""

    dispute: Dispute
    title: str
    parts: list[dict[str, str]]
    text: str
    dimension: FrozenDimension
    guideline: FrozenGuideline
    round_two: Round | None
    standpoints: list[Standpoint]
    posts: list[Post]
    events: list[DisputeEvent]

    @property
    def mine(self) -> Standpoint | None:
        """The reader's own standpoint; an admin who does not rate has none."""
        return next((each for each in self.standpoints if each.is_me), None)

    @property
    def takes_answers(self) -> bool:
        """Whether values may still be kept or changed."""
        return self.round_two is not None and self.round_two.is_open and self.dispute.takes_answers

    @property
    def positions(self) -> list[Position]:
        """The scale from low to high with who stands where; on long scales only the points in use."""
        used = {each.value for each in self.standpoints}
        values = self.dimension.values
        listed = self.dimension.is_named or len(values) <= 11
        return [
            Position(
                value,
                self.dimension.name_of(value),
                self.dimension.point(value),
                [each for each in self.standpoints if each.value == value],
            )
            for value in values
            if listed or value in used
        ]

    @property
    def apart(self) -> str:
        """What keeps the unit open, or that nothing does."""
        values = [each.value for each in self.standpoints]
        distance = max(values) - min(values)
        if distance <= self.dispute.tolerance:
            return "The values have met."
        if self.dimension.is_named:
            return "The raters hold different categories."
        low = [each.name for each in self.standpoints if each.value == min(values)]
        high = [each.name for each in self.standpoints if each.value == max(values)]
        if len(low) == len(high) == 1:
            return f"{low[0]} and {high[0]} are {distance} apart."
        verb = "are" if len(high) > 1 or high == ["You"] else "is"
        return f"{' and '.join(high)} {verb} {distance} above {' and '.join(low)}."


def work_list(place: Membership) -> WorkList:
    """Return the rater's disputes by what they wait for. Four queries at most."""
    round_two = Round.objects.filter(project=place.project_id, number=2).first()
    disputes = list(disputes_of(place).select_related("dimension").order_by("number"))
    open_ones = [dispute for dispute in disputes if dispute.status == Dispute.Status.OPEN]
    needing = set(_needing(place).values_list("pk", flat=True))
    return WorkList(
        round_two=round_two,
        needing_me=[dispute for dispute in open_ones if dispute.pk in needing],
        waiting=[dispute for dispute in open_ones if dispute.pk not in needing],
        done=[dispute for dispute in disputes if dispute.status != Dispute.Status.OPEN],
        nudge=place.nudges.order_by("-at").first() if needing else None,
    )


def _needing(place: Membership) -> QuerySet[Dispute]:
    return needing(disputes_of(place))


def dispute_page(dispute: Dispute, *, reader: Membership | None) -> DisputePage:
    """Return a disputed unit (see `access`) with values, reasons and thread. Six queries."""
    item = Item.objects.select_related("document").get(pk=dispute.item_id)
    rounds = Round.objects.select_related("guideline").filter(project=dispute.round.project_id)
    by_number = {round.number: round for round in rounds}
    guideline = FrozenGuideline.from_json(by_number[1].guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    return DisputePage(
        dispute=dispute,
        title=item.document.title,
        parts=item.document.parts,
        text=item.text,
        dimension=dimension,
        guideline=guideline,
        round_two=by_number.get(2),
        standpoints=_standpoints(dispute, reader),
        posts=list(dispute.posts.select_related("author")),
        events=list(dispute.events.select_related("actor")),
    )


def _standpoints(dispute: Dispute, reader: Membership | None) -> list[Standpoint]:
    ratings = Rating.objects.filter(
        assignment__item=dispute.item_id, dimension=dispute.dimension_id
    ).select_related("assignment__round")
    given = {(each.assignment.round.number, each.assignment.annotator_id): each for each in ratings}
    return [
        Standpoint(
            rater=rater,
            is_me=reader is not None and rater.pk == reader.pk,
            first=given[1, rater.pk],
            answer=given.get((2, rater.pk)),
        )
        for rater in raters_of(dispute)
    ]


def next_needing(place: Membership, after: int) -> int | None:
    """Return the number of the next dispute that needs this rater, going round at the end. One query."""
    numbers = _needing(place).exclude(number=after).order_by("number").values_list("number", flat=True)
    return next((number for number in numbers if number > after), numbers[0] if numbers else None)
