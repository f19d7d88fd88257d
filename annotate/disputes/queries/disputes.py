"""The disputes of one rater: news since the last visit, the work list, and what remains."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from itertools import groupby, pairwise
from operator import or_
from statistics import median

from django.db import models
from django.db.models import (
    Count,
    DateTimeField,
    Exists,
    F,
    FilteredRelation,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    Dispute,
    DisputeEvent,
    DisputeRater,
    Document,
    Membership,
    Nudge,
    Post,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.rounds import disputes_of, round_two_was_opened
from annotate.core.strings import natural_key
from annotate.disputes.queries.activity import HAS_ENDED, LONG_AGO, START_OF_TEXT, to_decide
from annotate.questions import Given, kind_of
from annotate.rating.queries.own_items import rough_time
from annotate.rating.queries.work import PositionInOrder


def annotate_news(disputes: QuerySet[Dispute], rater: Membership) -> QuerySet[Dispute]:
    """Return disputes with the activity of others since the rater's last visit, in the same query.

    Before the first visit all activity of others is new. `looked_at`: None then. `new_posts`, `new_answers`:
    counts. `new_event`: the last kind of event, empty if there is none.
    """
    posts, answers, others = _news(rater)
    return _annotate_last_visit(disputes, rater).annotate(
        new_posts=_count(posts, "dispute"),
        new_answers=_count(answers, "assignment__item"),
        new_event=Coalesce(Subquery(others.order_by("-at", "-pk").values("kind")[:1]), Value("")),
    )


def having_news(disputes: QuerySet[Dispute], rater: Membership) -> QuerySet[Dispute]:
    """Return the disputes with activity of others since the rater's last visit."""
    # First the dispute's own row: nothing happened since its creation, or since the visit.
    made_at = Coalesce("round__closed_at", LONG_AGO, output_field=DateTimeField())
    active = _annotate_last_visit(disputes, rater).filter(active_at__gt=made_at)
    posts, answers, others = _news(rater)
    return active.filter(Exists(posts) | Exists(others) | Exists(answers), active_at__gt=F("visited_at"))


def _annotate_last_visit(disputes: QuerySet[Dispute], rater: Membership) -> QuerySet[Dispute]:
    # A join, which the database computes once for all; a subquery looks each dispute up.
    visit = FilteredRelation("looks", condition=Q(looks__rater=rater))
    visited_at = Coalesce("visit__at", LONG_AGO, output_field=DateTimeField())
    return disputes.annotate(visit=visit, looked_at=F("visit__at"), visited_at=visited_at)


def _news(rater: Membership) -> tuple[QuerySet[Post], QuerySet[Rating], QuerySet[DisputeEvent]]:
    """Return others' posts, answers and acts in a dispute with `visited_at`, each as a separate query."""
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
    return posts, answers, others


def _count(rows: QuerySet[Post] | QuerySet[Rating], group: str) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n")), 0)


MOST_NEW = 100


def count_needing_and_new(membership: Membership) -> tuple[int, int]:
    """Return the number of disputes that need this rater, and of those with news, up to 100. Two queries.

    A search for news in 90,000 disputes took .9 s, and raters with news in 100 do not need the exact number.
    """
    needing = _pending_for(membership).count()
    return needing, having_news(disputes_of(membership), membership)[:MOST_NEW].count()


class PendingStep(models.TextChoices):
    ME = "me", _("for me")
    OTHERS = "others", _("for others")
    NOBODY = "nobody", _("for nobody: settled or decided")


@dataclass(frozen=True)
class WorkFilter:
    """A filter for a rater's disputes: empty matches all.

    `is_new`: with news since the rater's last visit. `words`: in the output, or in its document's title or
    key.
    """

    waits: str = ""
    dimension: str = ""
    document: str = ""
    is_new: bool = False
    words: str = ""


EVERYTHING = WorkFilter()


@dataclass(frozen=True)
class OnItem:
    """Disputes about one item, the start of its output, and the rater's value in each."""

    document: str
    start: str
    disputes: list[tuple[Dispute, str]]


@dataclass(frozen=True)
class WorkCounts:
    """The numbers of a rater's disputes that need an answer, that need others only, and that are done.

    `nudge` is the time of an admin's last reminder about disputes that need an answer, None without any.
    """

    needing_me: int
    waiting: int
    done: int
    nudge: Nudge | None


@dataclass(frozen=True)
class WorkList:
    """A rater's disputes: those needing an answer, those needing others, and finished ones.

    `counts`: the total numbers; the lists may have only the first disputes. `round_two` is None until it has
    been opened; before, the lists are empty, because raters must not know Round I's spreads. `seconds_each`:
    the rater's pace, None if it is unknown.
    """

    round_two: Round | None
    counts: WorkCounts
    needing_me: list[Dispute]
    waiting: list[Dispute]
    done: list[Dispute]
    seconds_each: float | None = None

    @property
    def time_left(self) -> str:
        """The estimated time for the disputes that need the rater, in words, empty without a known pace."""
        return rough_time(self.counts.needing_me * (self.seconds_each or 0))


def work_list(
    membership: Membership, chosen: WorkFilter = EVERYTHING, *, most: int | None = None
) -> WorkList:
    """Return the rater's disputes in parts, by the answers that they need, with news. Up to twelve queries.

    most: the maximum number of disputes in each part; None: all of them.
    """
    meant = _filter(membership, chosen)
    counts = _counts(membership, meant, chosen)
    needing_me, waiting, done = (
        _first(meant.filter(_WAITS[part]), membership, most) if count else []
        for part, count in (
            (PendingStep.ME, counts.needing_me),
            (PendingStep.OTHERS, counts.waiting),
            (PendingStep.NOBODY, counts.done),
        )
    )
    # A filter may hide the disputes that need the rater: nudge and pace concern all of them.
    needs_me = bool(counts.needing_me) or _pending_for(membership).exists()
    return WorkList(
        round_two=Round.objects.filter(project=membership.project_id, number=2).first(),
        counts=counts if needs_me else replace(counts, nudge=None),
        needing_me=needing_me,
        waiting=waiting,
        done=done,
        seconds_each=seconds_for_a_dispute(membership) if needs_me else None,
    )


def work_counts(membership: Membership) -> WorkCounts:
    """Return the numbers of the rater's disputes by the answers that they need. Three queries."""
    counts = _counts(membership, _filter(membership, EVERYTHING), EVERYTHING)
    return counts if counts.needing_me else replace(counts, nudge=None)


def _filter(membership: Membership, chosen: WorkFilter) -> QuerySet[Dispute]:
    """Return the rater's disputes that match the filter, in any state, with `asked_since`."""
    found: QuerySet[Dispute] = disputes_of(membership).annotate(asked_since=F("raters__since"))
    if chosen.dimension:
        found = found.filter(dimension__key=chosen.dimension)
    if chosen.document:
        found = found.filter(item__document__key=chosen.document)
    if chosen.is_new:
        found = having_news(found, membership)
    if chosen.words:
        document = [f"item__document__{column}__icontains" for column in ("title", "key")]
        among = [Q(**{column: chosen.words}) for column in ("item__text__icontains", *document)]
        found = found.filter(reduce(or_, among))
    return found


_OPEN = Q(status=Dispute.Status.OPEN)
_WAITS = {
    PendingStep.ME: _OPEN & Q(asked_since__isnull=False),
    PendingStep.OTHERS: _OPEN & Q(asked_since__isnull=True),
    PendingStep.NOBODY: ~_OPEN,
}


def _first(disputes: QuerySet[Dispute], membership: Membership, most: int | None) -> list[Dispute]:
    if most is not None:
        # Keys first: the database would look for news in all before it takes the first.
        keys = disputes.order_by("number").values_list("pk", flat=True)[:most]
        disputes = _filter(membership, EVERYTHING).filter(pk__in=list(keys))
    # Outputs are long, and the list shows only their first words.
    light = annotate_news(disputes, membership).select_related("dimension", "item__document")
    light = light.annotate(start=START_OF_TEXT)
    return list(light.defer("item__text", "item__document__parts").order_by("number"))


def _counts(membership: Membership, meant: QuerySet[Dispute], chosen: WorkFilter) -> WorkCounts:
    by_part: dict[str, int]
    if chosen == replace(EVERYTHING, waits=chosen.waits):
        # Without a filter only ended disputes are joined.
        rows = DisputeRater.objects.filter(round_two_was_opened(membership), rater=membership)
        counts = rows.aggregate(every=Count("pk"), me=Count("since"))
        ended = disputes_of(membership).filter(HAS_ENDED).count()
        # Only open disputes have a time in `since`, so the rest of the open ones needs others.
        others = counts["every"] - counts["me"] - ended
        by_part = {PendingStep.ME: counts["me"], PendingStep.OTHERS: others, PendingStep.NOBODY: ended}
    else:
        # A filter needs the disputes' own rows, so one query counts all three parts.
        by_part = meant.aggregate(**{part: Count("pk", filter=where) for part, where in _WAITS.items()})
    by_part = {part: count for part, count in by_part.items() if chosen.waits in ("", part)}
    return WorkCounts(
        needing_me=by_part.get(PendingStep.ME, 0),
        waiting=by_part.get(PendingStep.OTHERS, 0),
        done=by_part.get(PendingStep.NOBODY, 0),
        nudge=membership.nudges.order_by("-at").first(),
    )


@dataclass(frozen=True)
class Listed:
    """A part of the work list under its heading, by item, and its number of disputes."""

    title: str
    items: list[OnItem]
    count: int
    has_more: bool


def sections_of(work: WorkList, membership: Membership, chosen: WorkFilter = EVERYTHING) -> list[Listed]:
    """Return the work list for the page, with the rater's values. Up to two queries."""
    shown = [each.item_id for each in (*work.needing_me, *work.waiting, *work.done)]
    names = _names_of_values(membership, shown) if work.round_two else {}
    parts = {
        PendingStep.ME: (gettext("Need you"), work.needing_me, work.counts.needing_me),
        PendingStep.OTHERS: (gettext("Wait for others"), work.waiting, work.counts.waiting),
        PendingStep.NOBODY: (gettext("Settled or decided"), work.done, work.counts.done),
    }
    return [
        Listed(title, _group_by_item(disputes, names), count, has_more=count > len(disputes))
        for part, (title, disputes, count) in parts.items()
        if chosen.waits in ("", part)
    ]


def _group_by_item(disputes: list[Dispute], names: Mapping[tuple[int, int], str]) -> list[OnItem]:
    # Disputes have numbers in random order; a person finds a document by its title.
    disputes = sorted(
        disputes, key=lambda each: (natural_key(each.item.document.title), each.item_id, each.number)
    )
    return [
        OnItem(
            own[0].item.document.title,
            own[0].start,  # type: ignore[attr-defined]  # annotated by `_first`
            [(each, names.get((each.item_id, each.dimension_id), "")) for each in own],
        )
        for _, some in groupby(disputes, key=lambda each: each.item_id)
        for own in [list(some)]
    ]


def _names_of_values(membership: Membership, items: Collection[int]) -> dict[tuple[int, int], str]:
    """Return the names of the rater's values on items (ids), by item and dimension."""
    first = Round.objects.select_related("guideline").get(project=membership.project_id, number=1)
    dimensions = {each.id: each for each in FrozenGuideline.from_json(first.guideline.content).dimensions}
    given = Rating.objects.filter(
        assignment__annotator=membership,
        assignment__round__number__in=(1, 2),
        assignment__item__in=items,
        value__isnull=False,
    ).order_by("assignment__round__number")
    return {
        (item, dimension): kind_of(dimensions[dimension]).describe(dimensions[dimension], Given(value, data))
        for item, dimension, value, data in given.values_list(
            "assignment__item", "dimension", "value", "data"
        )
        if value is not None
    }


def _pending_for(membership: Membership) -> QuerySet[DisputeRater]:
    """Return the condition that disputes need a rater, without joining them: only open ones need one."""
    return DisputeRater.objects.filter(
        round_two_was_opened(membership), rater=membership, since__isnull=False
    )


@dataclass(frozen=True)
class Remaining:
    """The remaining work: the number of disputes, the next one, and the first of the next document.

    Disputes about the same item come first. `seconds_each`: a rater's pace, None if it is unknown.
    """

    disputes: int
    following: int | None
    next_document: int | None
    seconds_each: float | None = None

    @property
    def time_left(self) -> str:
        """Return the estimated duration in words, empty if the pace is unknown."""
        return rough_time(self.disputes * (self.seconds_each or 0))


def count_remaining(membership: Membership, after: Dispute) -> Remaining:
    """Return the other disputes that need this rater, those after this one first. Three queries."""
    count = _pending_for(membership).exclude(dispute=after).count()
    left = _count_queue(_filter(membership, EVERYTHING).filter(_WAITS[PendingStep.ME]), after, count)
    return replace(left, seconds_each=seconds_for_a_dispute(membership))


def count_undecided(after: Dispute) -> Remaining:
    """Return the other disputes that need an adjudicator, those after this one first. Two queries."""
    waiting = to_decide(Dispute.objects.filter(round=after.round_id))
    return _count_queue(waiting, after, waiting.exclude(pk=after.pk).count())


MANY = 1_000


def _count_queue(disputes: QuerySet[Dispute], after: Dispute, count: int) -> Remaining:
    """Return the first dispute of each kind, and the first after this one. One query."""
    same_text, later = Q(item=after.item_id), Q(number__gt=after.number)
    other_document = ~Q(item__document=after.item.document_id)
    # The first four find the next dispute, in the order of preference; the last two, the next document.
    wanted = [
        *(same_text & later, same_text, ~same_text & later, ~same_text),
        *(other_document & later, other_document),
    ]
    others = disputes.exclude(pk=after.pk).order_by()
    if count > MANY:
        # Each is near the beginning of its index; to read them all takes a third of a second.
        each_first = [
            Subquery(others.filter(each).order_by("number").values("number")[:1]) for each in wanted
        ]
        following, next_document = Coalesce(*each_first[:4]), Coalesce(*each_first[4:])
        own = Round.objects.filter(pk=after.round_id)
        return Remaining(count, *own.values_list(following, next_document).get())
    # An index may be read to its end for the last few.
    firsts = {f"first_{index}": Min("number", filter=condition) for index, condition in enumerate(wanted)}
    numbers = list(others.aggregate(**firsts).values())
    return Remaining(count, _first_number(numbers[:4]), _first_number(numbers[4:]))


def _first_number(numbers: Sequence[int | None]) -> int | None:
    return next((number for number in numbers if number is not None), None)


def position_of_text(membership: Membership, dispute: Dispute) -> PositionInOrder:
    """Return the position of a dispute's item among the disputed items of its rater. Three queries."""
    own, here = disputes_of(membership), dispute.item.document_id
    on_document = list(own.filter(item__document=here).order_by("number").values_list("item", "number"))
    # Items follow the order of their first dispute.
    texts = list(dict.fromkeys(item for item, _ in on_document))
    # Documents follow the order of their first dispute, so that few disputes precede this document.
    until_here = own.filter(number__lte=on_document[0][1]).order_by()
    one_of_them = Subquery(own.filter(item__document=OuterRef("pk")).order_by().values("pk")[:1])
    documents = Document.objects.filter(project=membership.project_id).annotate(dispute=one_of_them)
    return PositionInOrder(
        nth_item=texts.index(dispute.item_id) + 1,
        all_items=len(texts),
        nth_document=until_here.aggregate(count=Count("item__document", distinct=True))["count"],
        all_documents=documents.filter(dispute__isnull=False).count(),
    )


@dataclass(frozen=True)
class OnText:
    """A dispute about the item on a page: whether it is the current one, and whether it needs the reader.

    `held`: the name of the reader's value, empty if there is none.
    """

    dispute: Dispute
    is_at_work: bool
    needs_me: bool
    held: str


def disputes_on_text(dispute: Dispute, reader: Membership | None, held: Mapping[int, str]) -> list[OnText]:
    """Return the disputes about an item that the reader may see, including the current one. Two queries.

    held: the names of the reader's values by dimension.
    """
    same = disputes_of(reader) if reader else Dispute.objects.filter(round=dispute.round_id)
    found = same.filter(item=dispute.item_id).select_related("dimension").order_by("number")
    asked = DisputeRater.objects.filter(dispute__item=dispute.item_id, rater=reader, since__isnull=False)
    # An admin who does not rate answers none of them.
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
class UndoableAnswer:
    """A new answer that its rater can undo: True if it changed the value, and the new value."""

    dispute: Dispute
    rater: Membership
    revision: int
    changed: bool
    value: str


def just_answered(membership: Membership, number: int) -> UndoableAnswer | None:
    """Return the rater's answer to a dispute while the rater can undo it. Up to three queries."""
    dispute = disputes_of(membership).select_related("round__guideline").filter(number=number).first()
    if dispute is None or not dispute.takes_answers:
        return None
    rating = Rating.objects.filter(
        assignment__round__project=membership.project_id,
        assignment__round__number=2,
        assignment__round__status=Round.Status.OPEN,
        assignment__item=dispute.item_id,
        assignment__annotator=membership,
        dimension=dispute.dimension_id,
        value__isnull=False,
    ).first()
    change = rating.changes.order_by("-revision").first() if rating else None
    if rating is None or rating.value is None or change is None:
        return None
    # An answer can be undone once: its undoing is the last change after that.
    if change.cause == RatingChange.Cause.TAKEN_BACK:
        return None
    guideline = FrozenGuideline.from_json(dispute.round.guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    changed = change.cause == RatingChange.Cause.CHANGED
    says = kind_of(dimension).describe(dimension, Given(rating.value, rating.data))
    return UndoableAnswer(dispute, membership, rating.revision, changed, says)


RECENT_ANSWERS = 50
BREAK = timedelta(minutes=10)
LEAST_PAUSES = 3


def seconds_for_a_dispute(membership: Membership) -> float | None:
    """Return the median time between two answers of the rater; None before there are three. One query.

    Answers after more than ten minutes followed a break, and carry no information about the pace.
    """
    # By time first, of which there is an index; otherwise it reads all that the rater gave in Round I.
    begun = Round.objects.filter(project=membership.project_id, number=2).values("opened_at")
    answers = RatingChange.objects.filter(
        at__gte=Subquery(begun), rating__assignment__annotator=membership, rating__assignment__round__number=2
    ).exclude(cause=RatingChange.Cause.TAKEN_BACK)
    # One time more than pauses, since each pause is between two answers.
    latest = list(answers.order_by("-at").values_list("at", flat=True)[: RECENT_ANSWERS + 1])
    pauses = [later - earlier for later, earlier in pairwise(latest) if later - earlier <= BREAK]
    if len(pauses) < LEAST_PAUSES:
        return None
    return median(pause.total_seconds() for pause in pauses)
