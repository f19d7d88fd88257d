"""A rater's disputes, by what they wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from django.db import models
from django.db.models import Count, DateTimeField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    AskedRater,
    Dispute,
    DisputeEvent,
    DisputeLook,
    Membership,
    Nudge,
    Post,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.raters import disputes_of
from annotate.disputes.queries.activity import LONG_AGO, needing, to_decide
from annotate.disputes.queries.pace import seconds_for_a_dispute
from annotate.rating.queries.progress import rough_time
from annotate.rating.queries.work import PlaceInOrder

# What happened to disputes since one of their raters last looked at them.


HAS_NEWS = Q(new_posts__gt=0) | Q(new_answers__gt=0) | ~Q(new_event="")


def with_news(disputes: QuerySet[Dispute], rater: Membership) -> QuerySet[Dispute]:
    """Return disputes with what others did since the rater's last visit, in the same query.

    Before the first visit all that others did is new. `looked_at`: None then. `new_posts`, `new_answers`:
    counts. `new_event`: the last kind of event, empty where there was none.
    """
    looks = DisputeLook.objects.filter(rater=rater, dispute=OuterRef("pk")).values("at")
    posts = Post.objects.filter(dispute=OuterRef("pk"), at__gt=OuterRef("visited_at")).exclude(author=rater)
    answers = Rating.objects.filter(
        assignment__round__project=OuterRef("round__project"),
        assignment__round__number=2,
        assignment__item=OuterRef("item"),
        dimension=OuterRef("dimension"),
        value__isnull=False,
        updated_at__gt=OuterRef("visited_at"),
    ).exclude(assignment__annotator=rater)
    events = DisputeEvent.objects.filter(dispute=OuterRef("pk"), at__gt=OuterRef("visited_at"))
    others = events.exclude(kind=DisputeEvent.Kind.OPENED).exclude(actor=rater.user_id)
    looked_at = Subquery(looks, output_field=DateTimeField())
    visited_at = Coalesce(looked_at, LONG_AGO, output_field=DateTimeField())
    return disputes.annotate(looked_at=looked_at, visited_at=visited_at).annotate(
        new_posts=_count(posts, "dispute"),
        new_answers=_count(answers, "assignment__item"),
        new_event=Coalesce(Subquery(others.order_by("-at", "-pk").values("kind")[:1]), Value("")),
    )


def _count(rows: QuerySet[Post] | QuerySet[Rating], group: str) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n")), 0)


def count_needing_and_new(place: Membership) -> tuple[int, int]:
    """Return how many disputes need this rater, and in how many something is new. Two queries."""
    with_new = with_news(disputes_of(place), place).filter(HAS_NEWS)
    return _needing(place).count(), with_new.count()


class Waits(models.TextChoices):
    """What a rater's dispute waits for."""

    ME = "me", _("for me")
    OTHERS = "others", _("for others")
    NOBODY = "nobody", _("for nobody: settled or decided")


@dataclass(frozen=True)
class WorkFilter:
    """Which of a rater's disputes are meant: empty is any.

    `is_new`: with news since the rater's last visit. `words`: in the text, or in the title of its document.
    """

    waits: str = ""
    dimension: str = ""
    document: str = ""
    is_new: bool = False
    words: str = ""


EVERYTHING = WorkFilter()


@dataclass(frozen=True)
class OnItem:
    """Disputes about one item, each with the value that the rater holds."""

    document: str
    disputes: list[tuple[Dispute, str]]


@dataclass(frozen=True)
class WorkList:
    """A rater's disputes: those that need an answer, those that wait for others, those that are done.

    `nudge` is the last time an admin asked to look at those that need an answer, None where none does.
    `round_two` is None until it has been opened; nothing is listed before, since Round I's spreads are not
    a rater's to know. `seconds_each`: the rater's pace, None where it is not known.
    """

    round_two: Round | None
    needing_me: list[Dispute]
    waiting: list[Dispute]
    done: list[Dispute]
    nudge: Nudge | None
    seconds_each: float | None = None

    @property
    def time_left(self) -> str:
        """How long those that need the rater may take, in words, empty where no pace is known."""
        return rough_time(len(self.needing_me) * (self.seconds_each or 0))


def work_list(place: Membership, chosen: WorkFilter = EVERYTHING) -> WorkList:
    """Return the rater's disputes by what they wait for, with what is new. Six queries at most."""
    round_two = Round.objects.filter(project=place.project_id, number=2).first()
    found = with_news(disputes_of(place), place).select_related("dimension", "item__document")
    if chosen.dimension:
        found = found.filter(dimension__key=chosen.dimension)
    if chosen.document:
        found = found.filter(item__document__key=chosen.document)
    if chosen.is_new:
        found = found.filter(HAS_NEWS)
    if chosen.words:
        in_title = Q(item__document__title__icontains=chosen.words)
        found = found.filter(Q(item__text__icontains=chosen.words) | in_title)
    disputes = list(found.order_by("number"))
    open_ones = [dispute for dispute in disputes if dispute.status == Dispute.Status.OPEN]
    needing = set(_needing(place).values_list("pk", flat=True))
    parts = {
        Waits.ME: [dispute for dispute in open_ones if dispute.pk in needing],
        Waits.OTHERS: [dispute for dispute in open_ones if dispute.pk not in needing],
        Waits.NOBODY: [dispute for dispute in disputes if dispute.status != Dispute.Status.OPEN],
    }
    meant = {part: found for part, found in parts.items() if chosen.waits in ("", part)}
    return WorkList(
        round_two=round_two,
        needing_me=meant.get(Waits.ME, []),
        waiting=meant.get(Waits.OTHERS, []),
        done=meant.get(Waits.NOBODY, []),
        nudge=place.nudges.order_by("-at").first() if needing else None,
        seconds_each=seconds_for_a_dispute(place) if needing else None,
    )


@dataclass(frozen=True)
class Listed:
    """A part of the work list under its heading, by item, and how many disputes it has."""

    title: str
    items: list[OnItem]
    count: int


def listed(work: WorkList, place: Membership, chosen: WorkFilter = EVERYTHING) -> list[Listed]:
    """Return the work list as it is shown, with the values that the rater holds. Two queries at most."""
    names = _names_of_values(place) if work.round_two else {}
    parts = {
        Waits.ME: (gettext("Need you"), work.needing_me),
        Waits.OTHERS: (gettext("Wait for others"), work.waiting),
        Waits.NOBODY: (gettext("Settled or decided"), work.done),
    }
    return [
        Listed(title, _by_item(disputes, names), len(disputes))
        for part, (title, disputes) in parts.items()
        if chosen.waits in ("", part)
    ]


def _by_item(disputes: list[Dispute], names: Mapping[tuple[int, int], str]) -> list[OnItem]:
    return [
        OnItem(
            own[0].item.document.title,
            [(each, names.get((each.item_id, each.dimension_id), "")) for each in own],
        )
        for _, some in groupby(disputes, key=lambda each: each.item_id)
        for own in [list(some)]
    ]


def _names_of_values(place: Membership) -> dict[tuple[int, int], str]:
    """Return what the values are called that the rater holds on disputed items, by item and dimension."""
    first = Round.objects.select_related("guideline").get(project=place.project_id, number=1)
    dimensions = {each.id: each for each in FrozenGuideline.from_json(first.guideline.content).dimensions}
    given = Rating.objects.filter(
        assignment__annotator=place,
        assignment__round__number__in=(1, 2),
        assignment__item__in=disputes_of(place).order_by().values("item"),
        value__isnull=False,
    ).order_by("assignment__round__number")
    return {
        (item, dimension): dimensions[dimension].name_of(value)
        for item, dimension, value in given.values_list("assignment__item", "dimension", "value")
        if value is not None
    }


def _needing(place: Membership) -> QuerySet[Dispute]:
    return needing(disputes_of(place))


@dataclass(frozen=True)
class Left:
    """What still needs somebody: how many disputes, the next of them, the first of the next document.

    Those about the same text come first. `seconds_each`: a rater's pace, None where it is not known.
    """

    disputes: int
    following: int | None
    next_document: int | None
    seconds_each: float | None = None

    @property
    def time_left(self) -> str:
        """How long they may take, in words, empty where no pace is known."""
        return rough_time(self.disputes * (self.seconds_each or 0))


def left_after(place: Membership, after: Dispute) -> Left:
    """Return what needs this rater beside a dispute, going round at the end. Two queries."""
    return replace(_what_is_left(_needing(place), after), seconds_each=seconds_for_a_dispute(place))


def left_to_decide(after: Dispute) -> Left:
    """Return what waits for an adjudicator beside a dispute, going round at the end. One query."""
    return _what_is_left(to_decide(Dispute.objects.filter(round=after.round_id)), after)


def _what_is_left(disputes: QuerySet[Dispute], after: Dispute) -> Left:
    rows = disputes.exclude(pk=after.pk).values_list("number", "item", "item__document")
    found = sorted(rows, key=lambda row: (row[1] != after.item_id, row[0] < after.number, row[0]))
    elsewhere = (number for number, _, document in found if document != after.item.document_id)
    return Left(len(found), found[0][0] if found else None, next(elsewhere, None))


def place_of_text(place: Membership, dispute: Dispute) -> PlaceInOrder:
    """Return where a dispute's text stands among the disputed texts of its rater. One query."""
    rows = disputes_of(place).order_by("number").values_list("item__document", "item")
    texts = list(dict.fromkeys(rows))
    documents = list(dict.fromkeys(document for document, _ in texts))
    of_document = [item for document, item in texts if document == dispute.item.document_id]
    return PlaceInOrder(
        nth_item=of_document.index(dispute.item_id) + 1,
        all_items=len(of_document),
        nth_document=documents.index(dispute.item.document_id) + 1,
        all_documents=len(documents),
    )


@dataclass(frozen=True)
class OnText:
    """A dispute about the text that a page shows: whether it is at work, and whether it needs the reader.

    `held`: the name of the reader's value, empty where there is none.
    """

    dispute: Dispute
    is_at_work: bool
    needs_me: bool
    held: str


def disputes_on_text(dispute: Dispute, reader: Membership | None, held: Mapping[int, str]) -> list[OnText]:
    """Return the disputes about a text that the reader may see, the one at work among them. Two queries.

    held: the names of the reader's values by dimension.
    """
    same = disputes_of(reader) if reader else Dispute.objects.filter(round=dispute.round_id)
    found = same.filter(item=dispute.item_id).select_related("dimension").order_by("number")
    asked = AskedRater.objects.filter(dispute__item=dispute.item_id, rater=reader)
    needs = set(asked.values_list("dispute", flat=True)) if reader else set()
    return [
        OnText(
            each,
            is_at_work=each.pk == dispute.pk,
            needs_me=each.pk in needs and each.status == Dispute.Status.OPEN,
            held=held.get(each.dimension_id, ""),
        )
        for each in found
    ]


@dataclass(frozen=True)
class Answered:
    """An answer that its rater has just given and may take back: whether it changed the value, to what."""

    dispute: Dispute
    rater: Membership
    revision: int
    changed: bool
    value: str


def just_answered(place: Membership, number: int) -> Answered | None:
    """Return the rater's answer to a dispute while it can be taken back. Three queries at most."""
    dispute = disputes_of(place).select_related("round__guideline").filter(number=number).first()
    if dispute is None or not dispute.takes_answers:
        return None
    rating = Rating.objects.filter(
        assignment__round__project=place.project_id,
        assignment__round__number=2,
        assignment__round__status=Round.Status.OPEN,
        assignment__item=dispute.item_id,
        assignment__annotator=place,
        dimension=dispute.dimension_id,
        value__isnull=False,
    ).first()
    change = rating.changes.order_by("-revision").first() if rating else None
    if rating is None or rating.value is None or change is None or change.cause == _TAKEN_BACK:
        return None
    guideline = FrozenGuideline.from_json(dispute.round.guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    changed = change.cause == RatingChange.Cause.CHANGED
    return Answered(dispute, place, rating.revision, changed, dimension.name_of(rating.value))


_TAKEN_BACK = RatingChange.Cause.TAKEN_BACK
